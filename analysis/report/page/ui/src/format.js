// Numbers for people: SI prefixes, three significant digits, the unit always beside them. The exact value belongs in the
// title of the element and in every copied cell, so nothing here needs to be reversible.

const NBSP = '\u00a0';
const PREFIXES = [
  [1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''],
  [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n'], [1e-12, 'p'],
];
const TIME_UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

export const UNKNOWN = '–';

export function known(v) {
  return v !== null && v !== undefined && v !== '' && Number.isFinite(Number(v));
}

// Three significant digits for 0.001 ≤ |x| < 1000 (the callers scale first); larger numbers keep their integer digits.
export function sig3(x) {
  const a = Math.abs(x);
  if (a === 0) return '0';
  if (a >= 999.5) return group(Math.round(x));
  const digits = a >= 99.95 ? 0 : a >= 9.995 ? 1 : a >= 0.9995 ? 2 : Math.min(8, 2 - Math.floor(Math.log10(a)));
  return x.toFixed(digits);
}

// 1234567 → "1 234 567" with narrow no-break spaces; also takes the digit strings of integers beyond 2^53.
export function group(v) {
  const s = typeof v === 'number' && Math.abs(v) >= 1e21 ? BigInt(Math.round(v)).toString() : String(v);
  const [, sign, int, rest] = /^(-?)(\d+)(.*)$/.exec(s) || [null, '', s, ''];
  return sign + int.replace(/\B(?=(\d{3})+$)/g, '\u202f') + rest;
}

function scaleOf(a, steps) {
  // 999.6 would print as "1000" in its own unit, so a unit is left a little before the next one begins.
  for (const [div, unit] of steps) {
    if (a >= div * 0.9995) return [div, unit];
  }
  return steps[steps.length - 1];
}

export function si(v, unit) {
  if (!known(v)) return UNKNOWN;
  const x = Number(v);
  if (x === 0) return `0${NBSP}${unit}`;
  const [div, prefix] = scaleOf(Math.abs(x), PREFIXES);
  return `${sig3(x / div)}${NBSP}${prefix}${prefix && unit.startsWith('1/') ? unit.slice(1) : unit}`; // 875 k/s, not 875 k1/s
}

// Durations and instants, from ns. Beyond ten minutes people count in minutes and hours.
export function time(ns) {
  if (!known(ns)) return UNKNOWN;
  const x = Number(ns);
  const a = Math.abs(x);
  if (a === 0) return `0${NBSP}s`;
  if (a >= 600e9) {
    const total = Math.round(a / 1e9);
    const h = Math.floor(total / 3600);
    const min = Math.floor((total % 3600) / 60);
    const s = total % 60;
    const sign = x < 0 ? '−' : '';
    if (h >= 48) return `${sign}${Math.floor(h / 24)}${NBSP}d${NBSP}${h % 24}${NBSP}h`;
    return h ? `${sign}${h}${NBSP}h${NBSP}${min}${NBSP}min` : `${sign}${min}${NBSP}min${NBSP}${s}${NBSP}s`;
  }
  const [div, unit] = scaleOf(a, TIME_UNITS);
  return `${sig3(x / div)}${NBSP}${unit}`;
}

export const seconds = (s) => (known(s) ? time(Number(s) * 1e9) : UNKNOWN);
export const energy = (j) => si(j, 'J');
export const power = (w) => si(w, 'W');
export const bytes = (b) => (Number.isInteger(Number(b)) && Math.abs(Number(b)) < 1000 && known(b) ? `${Number(b)}${NBSP}B` : si(b, 'B'));

// Of a long text the beginning and the end: names of kernels differ in both.
export function middle(text, most = 42, behind = 0.42) {
  const s = String(text);
  const tail = Math.floor(most * behind);
  return s.length <= most ? s : `${s.slice(0, most - tail - 1)}…${s.slice(-tail)}`;
}

// A range of lengths as tables name it: "10-20us", "<10us" → "10 to 20 µs", "< 10 µs".
export const lengths = (text) => String(text).replace(/(\d)us\b/g, `$1${NBSP}µs`).replace(/(\d)(ns|ms|s)\b/g, `$1${NBSP}$2`).replace(/^([<>]=?)(?=\d)/, `$1${NBSP}`).replace(/(\d|s)-(?=\d)/, '$1 to ');

export function count(n) {
  if (!known(n)) return UNKNOWN;
  return Math.abs(Number(n)) < 1e6 ? group(n) : si(n, '').trim();
}

export function percent(share) {
  if (!known(share)) return UNKNOWN;
  const p = Number(share) * 100;
  const a = Math.abs(p);
  if (a === 0) return `0${NBSP}%`;
  if (a < 0.01) return `<${NBSP}0.01${NBSP}%`;
  // 99.97 is not all of it: say 99.9 rather than round up to 100.
  const shown = p < 100 && p >= 99.95 ? 99.9 : p;
  return `${sig3(shown).replace(/^100\.0+$/, '100')}${NBSP}%`;
}

export function plural(n, one, many = `${one}s`) {
  return `${group(n)}${NBSP}${Number(n) === 1 ? one : many}`;
}

// A value in the words of its unit, for charts whose unit is only known from the data.
export function quantity(v, unit) {
  switch (unit) {
    case 'ns': return time(v);
    case 's': return seconds(v);
    case '%': return known(v) ? `${sig3(Number(v))}${NBSP}%` : UNKNOWN;
    case 'bytes': return bytes(v);
    case 'degC': case '°C': return known(v) ? `${sig3(Number(v))}${NBSP}°C` : UNKNOWN;
    case '': case '#': case null: case undefined: return known(v) ? si(v, '').trim() : UNKNOWN;
    default: return si(v, unit);
  }
}

export function exact(v, unit = '') {
  if (v === null || v === undefined || v === '') return 'unknown';
  const s = typeof v === 'number' ? (Number.isInteger(v) ? group(v) : String(v)) : group(v);
  return unit ? `${s}${NBSP}${unit}` : s;
}

const COLUMN_STEPS = {
  time: TIME_UNITS,
  energy: PREFIXES.filter(([d]) => d >= 1e-9).map(([d, p]) => [d, `${p}J`]),
  power: PREFIXES.filter(([d]) => d >= 1e-9).map(([d, p]) => [d, `${p}W`]),
  bytes: PREFIXES.filter(([d]) => d >= 1).map(([d, p]) => [d, `${p}B`]),
};

// One unit for a whole table column: it stands in the header and the cells align at the point. The middle value decides, so
// that half of the cells keep their three digits, unless that would give the largest more than six before the point.
export function columnScale(kind, values) {
  const steps = COLUMN_STEPS[kind];
  const sorted = values.map(Math.abs).filter((v) => v > 0 && Number.isFinite(v)).sort((a, b) => a - b);
  if (!steps || !sorted.length) return { div: kind === 'time' ? 1e9 : 1, unit: steps ? baseUnit(kind) : '' };
  const max = sorted[sorted.length - 1];
  let [div, unit] = scaleOf(sorted[sorted.length >> 1], steps);
  for (let i = steps.length - 1; i >= 0 && max / div >= 1e6; i--) if (steps[i][0] > div) [div, unit] = steps[i];
  return { div, unit };
}

function baseUnit(kind) {
  return { time: 's', energy: 'J', power: 'W', bytes: 'B' }[kind];
}

// A cell in its column's unit: at most three decimals, so that magnitudes can be compared down the column by eye.
// → [text, invisible padding that keeps the decimal points in line]
export function cell(v, div) {
  if (!known(v)) return [UNKNOWN, ''];
  const x = Number(v) / div;
  const a = Math.abs(x);
  if (a === 0) return ['0', '.000'];
  if (a < 0.0005) return ['<0.001', ''];
  if (a >= 99.95) return [group(Math.round(x)), '.000'];
  const digits = a >= 9.995 ? 1 : a >= 0.9995 ? 2 : 3;
  return [x.toFixed(digits), '0'.repeat(3 - digits)];
}

export function date(utc) {
  if (!utc) return null;
  const d = new Date(utc);
  if (Number.isNaN(d.getTime())) return String(utc);
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const two = (n) => String(n).padStart(2, '0');
  return `${d.getUTCDate()}${NBSP}${months[d.getUTCMonth()]}${NBSP}${d.getUTCFullYear()}, ` +
    `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}${NBSP}UTC`;
}

// RFC 4180, as the files in tables/ are written.
export function csvField(v) {
  if (v === null || v === undefined) return '';
  const s = String(v);
  return /[",\r\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
}
