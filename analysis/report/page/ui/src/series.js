// The timeline table as series in bins, grouped into charts; windows over them. No element is made here.

import { isAccelerator, UNATTRIBUTED } from './facts.js';

const RANK = [[/^W$/i, 0], [/^J$/i, 1], [/^%$/, 2], [/^bytes$/i, 3]];
// An energy counter is drawn as the power it makes: its unit is then W.
const words = (c) => {
  const known = WORDS[c.base.toLowerCase()];
  if (c.unit === 'W' && c.series.every((s) => s.kind === 'cumulative')) return `Power from ${known === 'Energy' ? 'the energy counter' : c.base.replace(/_/g, ' ').replace(/:{2,}/g, ' ')}`;
  return known || c.base.replace(/_/g, ' ').replace(/:{2,}/g, ' ');
};
const WORDS = {
  power: 'Power', energy: 'Energy', busy: 'Utilisation', util: 'Utilisation', vram_used: 'Memory used', vram_total: 'Memory size', cpu: 'CPU utilisation', cpu_util: 'CPU utilisation',
  rss: 'Resident memory', pss: 'Proportional memory', temperature: 'Temperature', temp: 'Temperature', clock: 'Clock',
};

// [{ series, device, unit, kind, t, dt, mean, min, max, label }]; t, dt in ns since the origin.
export function seriesOf(report) {
  const table = report.table('timeline');
  if (!table) return [];
  const [series, device, unit, kind] = ['series', 'device', 'unit', 'kind'].map((c) => table.col(c));
  const [t, dt, mean, min, max] = ['t_ns', 'dt_ns', 'mean', 'min', 'max'].map((c) => table.num(c));
  const map = new Map();
  for (let i = 0; i < table.rows; i++) {
    const key = `${series[i]}\n${device[i]}`;
    let s = map.get(key);
    if (!s) {
      s = { series: series[i], device: device[i] || '', unit: unit[i] || '', kind: kind[i] || '', t: [], dt: [], mean: [], min: [], max: [] };
      map.set(key, s);
    }
    s.t.push(t[i]);
    s.dt.push(dt[i]);
    s.mean.push(mean[i]);
    s.min.push(min[i]);
    s.max.push(max[i]);
  }
  const out = [...map.values()];
  for (const s of out) {
    // profrig's own files call a process's series cpu.proc: the part behind the dot plays the device's role.
    const own = !s.device && /^([a-z_]+)\.([\w-]+)$/i.exec(s.series);
    s.base = own ? own[1] : baseName(s.series, s.device);
    s.label = s.device || (own ? own[2] : s.series);
  }
  return out;
}

// What is left of a series' name without its device: "power.gpu0" → "power"; "rocm_smi:::power_average:device=3" of gpu3 →
// "rocm_smi:::power_average"; "coretemp:::hwmon2:power1" of hwmon2 → "coretemp:::power1".
export function baseName(series, device) {
  let b = String(series);
  const index = /(\d+)$/.exec(device || '');
  if (index) b = b.replace(new RegExp(`[.:/_ ]*(device[=_ ]?|gpu)0*${index[1]}(?=$|[^0-9])`, 'i'), '');
  const at = device ? b.split(/([.:/]+)/).indexOf(device) : -1;
  if (at >= 0) {
    const parts = b.split(/([.:/]+)/);
    parts.splice(at === parts.length - 1 ? at - 1 : at, 2);
    b = parts.join('');
  }
  return b || String(series);
}

// One chart per quantity: series of one base name and unit share axes.
export function chartsOf(list) {
  const map = new Map();
  for (const s of list) {
    const key = `${s.base}\n${s.unit}`;
    if (!map.has(key)) map.set(key, { base: s.base, unit: s.unit, series: [] });
    map.get(key).series.push(s);
  }
  const weight = (c) => (c.series.some((s) => isAccelerator(s.device)) ? 0 : 2) + (c.series.every((s) => s.kind === 'cumulative') ? 0 : 1);
  const rank = (c) => (RANK.find(([re]) => re.test(c.unit)) || [null, 4])[1];
  return [...map.values()]
    .map((c) => ({ ...c, title: words(c) }))
    .sort((a, b) => rank(a) - rank(b) || weight(a) - weight(b));
}

export function extent(list) {
  let lo = Infinity;
  let hi = -Infinity;
  for (const s of list) {
    if (!s.t.length) continue;
    lo = Math.min(lo, s.t[0]);
    hi = Math.max(hi, s.t[s.t.length - 1] + (s.dt[s.dt.length - 1] || 0));
  }
  return hi > lo ? [lo, hi] : null;
}

// Index of the bin that holds t, or -1.
export function binAt(s, t) {
  let lo = 0;
  let hi = s.t.length - 1;
  while (lo <= hi) {
    const mid = (lo + hi) >> 1;
    if (s.t[mid] <= t) lo = mid + 1;
    else hi = mid - 1;
  }
  return hi >= 0 && t <= s.t[hi] + s.dt[hi] ? hi : -1;
}

// Time-weighted mean, min and max of the bins that overlap [a, b], and how much of it they cover.
export function windowStats(s, a, b) {
  let weight = 0;
  let sum = 0;
  let min = Infinity;
  let max = -Infinity;
  for (let i = 0; i < s.t.length; i++) {
    const from = Math.max(a, s.t[i]);
    const to = Math.min(b, s.t[i] + s.dt[i]);
    if (to < from || !Number.isFinite(s.mean[i]) || (to === from && s.dt[i] > 0)) continue;
    const w = to - from || 1;
    weight += w;
    sum += w * s.mean[i];
    if (s.min[i] < min) min = s.min[i];
    if (s.max[i] > max) max = s.max[i];
  }
  return weight > 0 ? { mean: sum / weight, min, max, covered_ns: weight } : null;
}

// Energy of each device in a window, from power bins (mean × covered time).
export function windowEnergy(report, [a, b]) {
  const out = [];
  const seen = new Set();
  const rates = seriesOf(report).filter((s) => s.unit === 'W');
  // A rate made from an energy counter is exact; a power reading of the same device is not needed beside it.
  rates.sort((x, y) => (x.kind === 'cumulative' ? 0 : 1) - (y.kind === 'cumulative' ? 0 : 1));
  for (const s of rates) {
    const key = s.device || s.series;
    if (seen.has(key)) continue;
    const w = windowStats(s, a, b);
    if (!w) continue;
    seen.add(key);
    out.push({ label: key, j: (w.mean * w.covered_ns) / 1e9, w: w.mean });
  }
  return out;
}

export const OTHER = '[other]';

// The table power_timeline by counter, device and view, each a list of layers as seriesOf has them, from top to bottom: by
// energy, then [other], then [unattributed]. All layers have the same bins: those in which anything has a row; a name without one draws nothing.
export function powerLayers(report) {
  const table = report.table('power_timeline');
  const groups = new Map();
  if (!table) return groups;
  const [counter, device, view, names] = ['counter', 'device', 'view', 'name'].map((c) => table.col(c));
  const [t, dt, w] = ['t_ns', 'dt_ns', 'modelled_w'].map((c) => table.num(c));
  for (let i = 0; i < table.rows; i++) {
    if (!Number.isFinite(t[i]) || !(dt[i] > 0) || !Number.isFinite(w[i])) continue;
    const key = `${counter[i]}\n${device[i]}\n${view[i]}`;
    if (!groups.has(key)) groups.set(key, { bins: new Map(), names: new Map() });
    const g = groups.get(key);
    g.bins.set(t[i], dt[i]);
    if (!g.names.has(names[i])) g.names.set(names[i], new Map());
    g.names.get(names[i]).set(t[i], w[i]);
  }
  return new Map([...groups].map(([key, g]) => [key, layersOf(g)]));
}

function layersOf({ bins, names }) {
  const t = [...bins.keys()].sort((a, b) => a - b);
  const dt = t.map((x) => bins.get(x));
  const last = (l) => (l.name === UNATTRIBUTED ? 2 : l.name === OTHER ? 1 : 0);
  return [...names].map(([name, at]) => {
    const w = t.map((x) => at.get(x) ?? 0);
    return { name: name ?? '', ran: t.map((x) => at.has(x)), t, dt, mean: w, min: w, max: w, ns_w: w.reduce((a, v, i) => a + v * dt[i], 0) };
  }).sort((a, b) => last(a) - last(b) || b.ns_w - a.ns_w);
}
