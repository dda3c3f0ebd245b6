// The facts of the first screen, computed from the tables alone. No element is made here, so node can test it.

import { group } from './format.js';

export const UNATTRIBUTED = '[unattributed]';
const ACCELERATOR = /(^|:)(gpu|xpu|npu|tpu|aiu|hpu|gcd)\d+$/i;
const WHOLE_NODE = /(^|:)(node\d*|psys|system)$/i;

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
};

export function flagWords(text) {
  return flagsOf(text).map((f) => FLAG_WORDS[f] || f.replace(/_/g, ' '));
}

export const isEstimated = (flags) => flagsOf(flags).includes('estimated');
export const isCoarse = (flags) => flagsOf(flags).some((f) => f === 'short' || f === 'below_resolution');

// The analysis names its range; without one the tables' own extent has to do.
export function recordedRange(r) {
  const w = r.analysis.window;
  if (w && Number(w.end_ns) > Number(w.start_ns)) return [Number(w.start_ns), Number(w.end_ns)];
  let end = 0;
  const counters = r.table('counters');
  if (counters) for (const v of counters.num('last_ns')) if (v > end) end = v;
  const timeline = r.table('timeline');
  if (timeline) {
    const t = timeline.num('t_ns');
    const dt = timeline.num('dt_ns');
    for (let i = 0; i < t.length; i++) if (t[i] + dt[i] > end) end = t[i] + dt[i];
  }
  if (end > 0) return [0, end];
  const paths = r.table('callpaths');
  if (paths) {
    const perTrack = new Map();
    const depth = paths.num('depth');
    const incl = paths.num('inclusive_ns');
    const track = paths.col('track');
    for (let i = 0; i < incl.length; i++) if (depth[i] === 0) perTrack.set(track[i], (perTrack.get(track[i]) || 0) + incl[i]);
    end = Math.max(0, ...perTrack.values());
  }
  return end > 0 ? [0, end] : null;
}

// Tools in front of the workload, and how much of its time lies between the first and the last event that tools recorded: they
// take time of their own before and behind that.
function around(r, workload) {
  const tools = (Array.isArray(r.run && r.run.tools) ? r.run.tools : []).filter((t) => t && Array.isArray(t.argv) && t.argv.length).map((t) => String(t.name));
  const traces = (Array.isArray(r.analysis.inputs) ? r.analysis.inputs : []).filter((i) => i && /\/artifacts\//.test(i.path) && i.clock && i.clock.aligned
    && Number.isFinite(i.start_ns) && Number.isFinite(i.end_ns));
  if (!tools.length || !traces.length) return null;
  const shift = (i) => Number(i.clock.shift_ns) || 0;
  const ns = Math.max(...traces.map((i) => i.end_ns + shift(i))) - Math.min(...traces.map((i) => i.start_ns + shift(i)));
  return ns > 0 && ns < 0.9 * workload ? { tools, ns } : null;
}

export function timeFigure(r) {
  const d = (r.run && r.run.durations_s) || {};
  const workload = Number(d.workload);
  const beside = ['build', 'pre', 'post', 'analyze'].filter((k) => Number(d[k]) > 0)
    .map((k) => ({ name: k === 'analyze' ? 'analysis' : k, ns: Number(d[k]) * 1e9 }));
  if (d.workload !== null && d.workload !== undefined && Number.isFinite(workload)) {
    return { ns: workload * 1e9, what: 'workload', beside, around: around(r, workload * 1e9) };
  }
  const range = recordedRange(r);
  return range ? { ns: range[1] - range[0], what: 'recorded', beside } : { ns: null, what: 'none', beside };
}

// How much a counter of energy_totals is to be believed: accelerators first, a measured one before an estimate, an energy
// counter before integrated power. Smaller is better.
export function counterRanks(r) {
  const counters = r.table('counters');
  const ranks = new Map();
  for (const c of counters ? counters.objects() : []) {
    ranks.set(`${c.series}\n${c.device}`, (isAccelerator(c.device) ? 0 : 8) + (isEstimated(c.flags) ? 4 : 0) + (c.kind === 'gauge' ? 2 : 0));
  }
  return (counter, device) => ranks.get(`${counter}\n${device}`) ?? (isAccelerator(device) ? 0 : 8);
}

// One counter per device, so that nothing is added twice.
export function energyTotals(r) {
  const totals = r.table('energy_totals');
  if (!totals) return [];
  const counters = r.table('counters');
  const rank = counterRanks(r);
  const facts = new Map(counters ? counters.objects().map((c) => [`${c.series}\n${c.device}`, c]) : []);
  const best = new Map();
  for (const row of totals.objects()) {
    const c = facts.get(`${row.counter}\n${row.device}`) || {};
    const entry = {
      ...row, kind: c.kind || '', estimated: isEstimated(c.flags), flags: c.flags || '',
      rank: rank(row.counter, row.device) + (row.view === 'host' ? 0 : 1), accelerator: isAccelerator(row.device),
    };
    const known = best.get(row.device);
    if (!known || entry.rank < known.rank) best.set(row.device, entry);
  }
  return [...best.values()];
}

// What a counter drew in the idle time around the workload, which its total has too.
function idleEnergies(r) {
  const t = r.table('idle_power');
  return new Map(t ? t.objects().map((o) => [`${o.counter}\n${o.device}`, Number(o.idle_j) || 0]) : []);
}

export function energyFigure(r) {
  const idle = idleEnergies(r);
  const all = energyTotals(r).filter((e) => Number.isFinite(Number(e.total_j)) && e.total_j !== null)
    .map((e) => ({ ...e, total_j: Number(e.total_j) - (idle.get(`${e.counter}\n${e.device}`) || 0) }));
  if (!all.length) return null;
  const acc = all.filter((e) => e.accelerator);
  let main = acc.length ? acc : all.filter((e) => !WHOLE_NODE.test(e.device));
  if (!main.length) main = all;
  return {
    j: main.reduce((a, e) => a + Number(e.total_j), 0),
    estimated: main.some((e) => e.estimated),
    integrated: main.some((e) => !e.estimated && e.kind === 'gauge'),
    devices: main,
    beside: all.filter((e) => !main.includes(e)),
    worstError: Math.max(...all.map((e) => Number(e.error_rel) || 0)),
  };
}

// Of the whole recording, or of the windows that it was cut to; 0: not known.
function recordedNs(r) {
  const w = r.analysis.window;
  if (!w) return 0;
  const parts = Array.isArray(w.parts) && w.parts.length ? w.parts : [w];
  return parts.reduce((a, p) => a + (Number(p.end_ns) - Number(p.start_ns) || 0), 0);
}

// How much of the recording the devices worked, over all of them: also before their first kernel, behind their last, and those without any.
export function busyFigure(r) {
  const busy = r.table('busy');
  if (!busy) return null;
  const devices = busy.objects();
  const wall = devices.reduce((a, d) => a + Number(d.wall_ns), 0);
  const union = devices.reduce((a, d) => a + Number(d.union_ns), 0);
  const seen = new Set(devices.map((d) => d.device));
  const known = Array.isArray(r.analysis.devices) ? r.analysis.devices : [];
  const without = known.filter((d) => isAccelerator(d) && !seen.has(d));
  const recorded = recordedNs(r);
  const all = recorded > 0 ? recorded * (devices.length + without.length) : wall;
  const of = (d) => (recorded > 0 ? Number(d.union_ns) / recorded : Number(d.busy));
  return { share: all > 0 ? union / all : null, devices, of, wall, union, without, recorded };
}

// Where the time went: [{name, ns, kind}] that add up to `total`, and what the bar as a whole stands for.
export function timeSplit(r) {
  return splitByOverlap(r) || splitByBusy(r) || splitByHost(r);
}

function splitByOverlap(r) {
  const t = r.table('overlap');
  if (!t) return null;
  const sum = (c) => t.num(c).reduce((a, v) => a + (v || 0), 0);
  return {
    of: 'device time from first to last kernel', devices: t.rows, total: sum('wall_ns'),
    parts: [
      { name: 'compute', ns: sum('compute_ns'), kind: 'compute' },
      { name: 'exposed communication', ns: sum('exposed_comm_ns'), kind: 'comm' },
      { name: 'exposed copy', ns: sum('exposed_copy_ns'), kind: 'copy' },
      { name: 'idle', ns: sum('idle_ns'), kind: 'idle' },
    ],
  };
}

function splitByBusy(r) {
  const b = busyFigure(r);
  if (!b || !(b.wall > 0)) return null;
  return {
    of: 'device time from first to last kernel', devices: b.devices.length, total: b.wall,
    parts: [
      { name: 'device busy', ns: b.union, kind: 'compute' },
      { name: 'device idle', ns: b.wall - b.union, kind: 'idle' },
    ],
  };
}

// Without devices: the outermost host functions. A wrapper such as main() that holds nearly everything says nothing, so it
// is opened until the stack branches; its own time, and what stands beside it, stay parts of the bar.
function splitByHost(r) {
  const t = r.table('callpaths');
  if (!t) return null;
  const path = t.col('path');
  const incl = t.num('inclusive_ns');
  const excl = t.num('exclusive_ns');
  const depth = t.num('depth');
  const within = (prefix, level) => {
    const sums = new Map();
    for (let i = 0; i < path.length; i++) {
      if (depth[i] !== level || (prefix && !path[i].startsWith(prefix))) continue;
      const last = path[i].slice(prefix.length);
      if (last === UNATTRIBUTED) continue;
      sums.set(last, (sums.get(last) || 0) + incl[i]);
    }
    return [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
  };
  let prefix = '';
  let level = 0;
  let tops = within('', 0);
  const total = tops.reduce((a, [, ns]) => a + ns, 0);
  if (!(total > 0)) return null;
  const beside = [];
  let self = 0;
  while (tops.length && tops[0][1] > 0.95 * total && level < 32) {
    const next = within(`${prefix}${tops[0][0]};`, level + 1);
    if (!next.length) break;
    const opened = prefix + tops[0][0];
    for (let i = 0; i < path.length; i++) if (depth[i] === level && path[i] === opened) self += excl[i];
    beside.push(...tops.slice(1));
    prefix = `${opened};`;
    level++;
    tops = next;
  }
  const all = [...tops, ...beside].sort((a, b) => b[1] - a[1]);
  const parts = all.slice(0, 5).map(([name, ns]) => ({ name, ns, kind: 'host' }));
  const rest = total - self - parts.reduce((a, p) => a + p.ns, 0);
  // a page that was cut does not know how many there are
  if (rest > 0.0005 * total) parts.push({ name: all.length > 5 && !t.cut ? `${group(all.length - 5)} more` : 'other calls', ns: rest, kind: 'rest' });
  if (self > 0.0005 * total) parts.push({ name: `inside ${prefix.slice(0, -1).split(';').join(' › ')} itself`, ns: self, kind: 'idle' });
  return { of: 'host time in recorded calls', within: prefix.slice(0, -1), mostly: beside.length > 0, total, parts };
}

// The three largest costs: device work where there is any, else host functions; with their energy where it is known.
export function largestCosts(r, n = 3) {
  const t = r.table('functions');
  if (!t) return { scope: '', rows: [] };
  const rows = t.objects().filter((f) => f.name !== UNATTRIBUTED && Number(f.exclusive_ns) > 0);
  const scope = rows.some((f) => f.scope === 'device') ? 'device' : 'host';
  const joules = energyByName(r, scope);
  return {
    scope,
    rows: rows.filter((f) => f.scope === scope).sort((a, b) => Number(b.exclusive_ns) - Number(a.exclusive_ns)).slice(0, n)
      .map((f) => ({ ...f, energy_j: joules.get(f.name) })),
  };
}

function energyByName(r, view) {
  const t = r.table('energy');
  const sums = new Map();
  if (!t) return sums;
  const fig = energyFigure(r);
  const used = new Set(fig ? fig.devices.map((d) => `${d.counter}\n${d.device}`) : []);
  for (const e of t.objects()) {
    if (e.view !== view || e.name === UNATTRIBUTED || !used.has(`${e.counter}\n${e.device}`)) continue;
    sums.set(e.name, (sums.get(e.name) || 0) + Number(e.exclusive_j));
  }
  return sums;
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

// Failed checks one by one, then those that hold; three or more of one kind (the same first two words) share a line.
export function checkLines(checks) {
  const words = (c) => `${String(c.name).replace(/_/g, ' ')}${c.detail ? `: ${c.detail}` : ''}`;
  const kind = (c) => String(c.name).replace(/_/g, ' ').split(' ').slice(0, 2).join(' ');
  const good = new Map();
  for (const c of checks) if (c.ok) good.set(kind(c), [...(good.get(kind(c)) || []), c]);
  return [
    ...checks.filter((c) => !c.ok).map((c) => ({ ok: false, text: words(c) })),
    ...[...good].flatMap(([k, list]) => (list.length < 3 ? list.map((c) => ({ ok: true, text: words(c) }))
      : [{ ok: true, text: `${k}: all ${list.length} hold` }])),
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
