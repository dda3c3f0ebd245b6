// The facts of the first screen: the figures of the headline that the analysis made, and what run.json and analysis.json say in words.
// No element is made here, so node can test it.

import { energy, group, time } from './format.js';

export const UNATTRIBUTED = '[unattributed]';
const ACCELERATOR = /(^|:)(gpu|xpu|npu|tpu|aiu|hpu|gcd)\d+$/i;

export const isAccelerator = (device) => ACCELERATOR.test(device || '');

export const STATUS_WORDS = {
  planned: 'planned', running: 'unfinished', success: 'success', failed: 'failed', timeout: 'timed out',
  interrupted: 'interrupted', partial: 'partial',
};

export function flagsOf(text) {
  return text ? String(text).split('|').filter(Boolean) : [];
}

const FLAG_WORDS = {
  wrap: 'the counter wrapped around and was unwrapped',
  reset: 'the counter went backwards: the energy of that interval is unknown',
  stuck: 'the counter did not move',
  stale: 'the counter repeated old values',
  gap: 'there is a hole between samples',
  rate_out_of_range: 'steps faster than the device can draw',
  unknown: 'an unknown counter: never integrated',
  estimated: 'estimated by a model, not measured by a sensor',
  short: 'shorter than the sensor can resolve',
  below_resolution: 'shorter than the sensor can resolve',
  idle: 'no call was open',
  double_counting: 'counted once per sharer: rows must not be added',
  few: 'of few events',
  varies: 'the frequency varies by more than 10 %',
  epoch: 'the clock contradicts the durations',
  back: 'the counter goes back',
};

export function flagWords(text) {
  return flagsOf(text).map((f) => FLAG_WORDS[f] || f.replace(/_/g, ' '));
}

export const isEstimated = (flags) => flagsOf(flags).includes('estimated');
export const isCoarse = (flags) => flagsOf(flags).some((f) => f === 'short' || f === 'below_resolution');

export function timeFigure(r) {
  const d = (r.run && r.run.durations_s) || {};
  const t = r.headline.time || {};
  const beside = ['build', 'pre', 'post', 'analyze'].filter((k) => Number(d[k]) > 0)
    .map((k) => ({ name: k === 'analyze' ? 'analysis' : k, ns: Number(d[k]) * 1e9 }));
  const around = t.around && t.around.length ? { tools: t.around, ns: t.around_ns } : null;
  return { ns: t.ns ?? null, what: t.what || 'none', beside, around };
}

// How much a counter of energy_totals is to be believed: smaller is better.
export function counterRanks(r) {
  const ranks = new Map(countersOf(r).map((c) => [`${c.counter}\n${c.device}`, c.rank]));
  return (counter, device) => ranks.get(`${counter}\n${device}`) ?? (isAccelerator(device) ? 0 : 8);
}

const countersOf = (r) => (r.headline.energy && r.headline.energy.counters) || [];

// One counter per device, so that nothing is added twice; null where no energy is known.
export function energyFigure(r) {
  const e = r.headline.energy;
  const used = (use) => countersOf(r).filter((c) => c.use === use);
  return used('summed').length ? { ...e, devices: used('summed'), beside: used('beside') } : null;
}

// How much of the recording the devices worked, over all of them: also before their first kernel, behind their last, and those without any.
export function busyFigure(r) {
  const b = r.headline.busy;
  return b && b.devices.length ? b : null;
}

// Where the time went: [{name, ns, kind}] that add up to `total`, and what the bar as a whole stands for.
export function timeSplit(r) {
  const s = r.headline.split;
  return s && s.of ? { ...s, parts: s.parts.map((p) => (p.kind === 'rest' && s.more ? { ...p, name: `${group(s.more)} more` } : p)) } : null;
}

// The three largest costs: device work where there is any, else host functions; with their energy where it is known.
export function largestCosts(r) {
  const c = r.headline.costs;
  return c ? { scope: c.scope, rows: c.rows.filter((f) => Number(f.exclusive_ns) > 0) } : { scope: '', rows: [] };
}

const SEVERITY = { error: 0, warning: 1, note: 2 };

// Warnings of the run and of the analysis, worst first, each once.
export function warnings(r) {
  const seen = new Set();
  const out = [];
  for (const w of [...(r.analysis.warnings || []), ...((r.run && r.run.warnings) || [])]) {
    const one = typeof w === 'string' ? { code: '', severity: 'warning', count: 1, text: w } : w || {};
    const key = `${one.code}\n${one.text}`;
    if (seen.has(key)) continue;
    seen.add(key);
    out.push({ ...one, severity: SEVERITY[one.severity] === undefined ? 'warning' : one.severity });
  }
  return out.sort((a, b) => SEVERITY[a.severity] - SEVERITY[b.severity]);
}

// What a check says, as its reader would: the rule in words, with figures in their units; the check's own words stay in its title.
const SAID = [
  [/^exclusive[ _]time$/, /sum of exclusive times (\d+) ns, time covered by calls (\d+) ns/, (a, b) => `Time of calls adds up: ${time(a)} in calls by themselves = ${time(b)} with any call open`],
  [/^device[ _]time$/, /attributed (\d+) ns \+ unattributed (\d+) ns, device work (\d+) ns/, (a, b, c) => `Device time adds up: ${time(c)} = ${time(a)} launched by calls + ${time(b)} with no known launch`],
  [/^energy conservation /, /total ([\d.e+-]+) J, attributed ([\d.e+-]+) J, unattributed ([\d.e+-]+) J/, (a, b, c, name) => `Energy of ${name.split(' ').slice(-2).join(', ')} view adds up: ${energy(a)} measured = ${energy(b)} in calls + ${energy(c)} outside`],
  [/^energy of classes /, /classes ([\d.e+-]+) J, other devices ([\d.e+-]+) J, idle ([\d.e+-]+) J, dead intervals ([\d.e+-]+) J, total ([\d.e+-]+) J/, (a, b, c, d, all, name) => `Energy of ${name.split(' ').at(-1)} by class adds up: ${energy(all)} = ${energy(a)} in classes of kernels + ${energy(c)} idle${Number(b) > 0 ? ` + ${energy(b)} beside other devices` : ''}${Number(d) > 0 ? ` + ${energy(d)} between samples` : ''}`],
  [/^overlap: /, /^0 of (\d+)/, (n) => `Compute, exposed communication, exposed copies and idle time add up to the time of ${n === '1' ? 'the device' : `all ${n} devices`}`],
  [/^idle: /, /^0 of (\d+)/, (n) => `The causes of idle time add up on ${n === '1' ? 'the device' : `all ${n} devices`}`],
  [/^iteration[ _]overlap: /, /^0 of (\d+)/, (n) => n === '1' ? 'The parts of the iteration add up to its time on the device' : `The parts of all ${n} iterations add up to their times on the device`],
  [/^autograd[ _]time$/, /^(\d+) ns of work by operator and kernel, (\d+) ns/, (a, b) => `Work of operators adds up: ${time(a)} by operator and kernel = ${time(b)} in all`],
  [/^queue: /, /^0 of (\d+)/, (n) => `Waiting work and latencies of launches agree on ${n === '1' ? 'the device' : `all ${n} devices`}`],
];

// Figures of a check whose rule has no words of its own: times and joules as elsewhere, the error in ten's powers.
export const figures = (text) => String(text).replace(/(-?\d{4,}) ns\b/g, (_, v) => time(v)).replace(/(-?\d[\d.]*(?:e[+-]?\d+)?) J\b/g, (_, v) => energy(v));

export function checkWords(c) {
  const plain = (detail) => `${String(c.name).replace(/_/g, ' ')}${detail ? `: ${detail}` : ''}`;
  const own = plain(c.detail);
  for (const [named, detail, words] of c.ok ? SAID : []) {
    const m = named.test(String(c.name)) && detail.exec(String(c.detail || ''));
    if (m) return { text: words(...m.slice(1), String(c.name)), own };
  }
  return { text: plain(c.detail && figures(c.detail)), own };
}

// Failed checks one by one, then those that hold; three or more of one kind (the same first two words) share a line.
export function checkLines(checks) {
  const kind = (c) => String(c.name).replace(/_/g, ' ').split(' ').slice(0, 2).join(' ');
  const good = new Map();
  for (const c of checks) if (c.ok) good.set(kind(c), [...(good.get(kind(c)) || []), c]);
  return [
    ...checks.filter((c) => !c.ok).map((c) => ({ ok: false, ...checkWords(c) })),
    ...[...good].flatMap(([k, list]) => (list.length < 3 ? list.map((c) => ({ ok: true, ...checkWords(c) }))
      : [{ ok: true, text: k === 'energy conservation' ? `Energy adds up for all ${list.length} counters and views` : `${k}: all ${list.length} hold`, own: list.map((c) => checkWords(c).own).slice(0, 20).join('\n') }])),
  ];
}

// What should be here and is not: artifacts that are no good and inputs that could not be read to the end.
export function missing(r) {
  const out = [];
  for (const a of (r.run && r.run.artifacts) || []) {
    if (a && a.verdict && a.verdict !== 'valid') out.push({ word: String(a.verdict), path: String(a.path || ''), what: `${a.path || a.tool || 'an output'}${a.reason ? `: ${a.reason}` : ''}` });
  }
  for (const i of r.analysis.inputs || []) if (i.partial) out.push({ word: 'partial', what: `${i.path} could not be read completely` });
  return out;
}

// The steps that went wrong.
export function failingSteps(r) {
  const steps = (r.run && r.run.steps) || [];
  return steps.filter((s) => s.signal || (s.exit_code !== null && s.exit_code !== undefined && s.exit_code !== 0));
}

export const FAILED = new Set(['failed', 'timeout', 'interrupted', 'running', 'planned']);

export function status(r) {
  if (!r.run || !r.run.status) return null;
  const s = r.run.status;
  return { id: s, word: STATUS_WORDS[s] || s, reason: r.run.reason || '', bad: FAILED.has(s) };
}

// Text of a program's output as a terminal would have left it: no escape sequences, progress lines by their last state,
// other control characters visible.
export function plainLog(text) {
  return String(text || '')
    .replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
    .split('\n')
    .map((line) => {
      const l = line.endsWith('\r') ? line.slice(0, -1) : line;
      return l.slice(l.lastIndexOf('\r') + 1);
    })
    .join('\n')
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\s+$/, '');
}

// The run's steps as stretches of time on the charts, ns since origin.
// Moments that somebody marked, and the times in which tools recorded, in ns since the start.
export function marks(r) {
  const t = r.table('marks');
  return t ? t.objects().map((m) => ({ ...m, t: Number(m.t_ns) })).filter((m) => Number.isFinite(m.t)) : [];
}

export function recordedWindows(r) {
  const t = r.table('windows');
  return t ? t.objects().map((w) => ({ ...w, start: Number(w.start_ns), end: Number(w.end_ns) })).filter((w) => w.end > w.start) : [];
}

// What tools cost, as a person reads it: "+3.1 % (95 %: +1.0 % to +5.2 %)".
export function overheadWords(mean, low, high, percent) {
  const signed = (v) => `${Number(v) > 0 ? '+' : ''}${percent(v)}`;
  const known = (v) => v !== null && v !== undefined && v !== '' && Number.isFinite(Number(v));
  if (!known(mean)) return '';
  return known(low) && known(high) ? `${signed(mean)} (95\u00a0%: ${signed(low)} to ${signed(high)})` : signed(mean);
}

export function phases(r) {
  const origin = r.originNs;
  if (origin === null || !r.run) return [];
  return (r.run.steps || [])
    .filter((s) => Number(s.started_ns) > 0 && Number(s.ended_ns) >= Number(s.started_ns))
    .map((s) => ({ name: s.name || 'step', start: Number(s.started_ns) - origin, end: Number(s.ended_ns) - origin }))
    .sort((a, b) => a.start - b.start);
}

export function title(r) {
  if (r.run && r.run.model) return String(r.run.model);
  const inputs = r.analysis.inputs || [];
  if (inputs.length) {
    const base = String(inputs[0].path || '').replace(/\/+$/, '').split('/').pop() || 'profile';
    return inputs.length > 1 ? `${base} and ${inputs.length - 1} more` : base;
  }
  return 'profile';
}
