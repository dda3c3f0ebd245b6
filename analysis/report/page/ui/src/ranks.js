// Ranks: devices side by side over time, kernels and functions by device, and what sets a rank apart.

import { choice, clear, h } from './dom.js';
import * as fmt from './format.js';
import { counterRanks } from './facts.js';
import { HeatGrid, heatTable, scale } from './heat.js';
import { first, tabOf } from './sections.js';

const BINS = 300;
const ROWS = 128;
const NAMES = 24;

const VALUES = [['busy', 'busy'], ['comm', 'communication'], ['compute', 'compute'], ['idle', 'idle']];

// Share of each part of the recording by device: { device, rank, busy, comm, compute, idle: Float64Array }.
export function overTime(lanes, windows, n = BINS) {
  const [t0, t1] = lanes.extent;
  const width = (t1 - t0) / n;
  const rank = new Map(lanes.byId.map((l) => [l.device, l.rank]));
  return windows.devices(lanes.extent).map((d) => {
    const out = { device: d.device, rank: rank.get(d.device) ?? null, busy: new Float64Array(n), comm: new Float64Array(n), compute: new Float64Array(n), idle: new Float64Array(n) };
    const fill = (to, list) => {
      let last = -Infinity;
      for (const k of list) {
        const from = Math.max(k.start, last);
        if (k.end <= from) continue;
        for (let x = Math.max(0, Math.floor((from - t0) / width)); x < n && t0 + x * width < k.end; x++) to[x] += Math.max(0, Math.min(k.end, t0 + (x + 1) * width) - Math.max(from, t0 + x * width)) / width;
        last = k.end;
      }
    };
    fill(out.busy, d.list);
    fill(out.comm, d.list.filter((k) => windows.classOf(k) === 'comm'));
    fill(out.compute, d.list.filter((k) => windows.classOf(k) === 'compute'));
    for (let x = 0; x < n; x++) out.idle[x] = Math.max(0, 1 - out.busy[x]);
    return out;
  });
}

const outlierWords = (w) => String(w || '').replace(/iteration_median_ns/g, 'iteration').replace(/exposed_comm_ns/g, 'exposed communication').replace(/_ns\b/g, '').replace(/_/g, ' ').replace(/\|/g, ', ');
const mean = (v) => v.reduce((a, x) => a + x, 0) / v.length;
const rowName = (r) => (fmt.known(r.rank) ? `rank ${r.rank}, ${r.device}` : r.device);

// Rows are devices, columns parts of the recording.
function timeHeat(ctx) {
  const lanes = ctx.lanes();
  if (!lanes) return null;
  const rows = overTime(lanes, ctx.windows());
  if (rows.length < 2) return null;
  let value = 'busy';
  let order = 'device';
  let shown = [];
  const [t0, t1] = lanes.extent;
  const bin = (t1 - t0) / BINS;
  const word = () => VALUES.find(([k]) => k === value)[1];
  const grid = new HeatGrid({
    label: 'devices over time',
    words: (r, from, to) => `${rowName(shown[r])}, ${fmt.time(t0 + from * bin)} to ${fmt.time(t0 + to * bin)}: ${word()} ${fmt.percent(Math.max(...shown[r][value].subarray(from, to)))}${to > from + 1 ? ' at most' : ''}`,
    onpress: (r, from, to) => ctx.has('timeline') && ctx.go('timeline', { '': `${Math.max(0, Math.floor(t0 + (from - 3) * bin))}:${Math.ceil(t0 + (to + 3) * bin)}` }),
  });
  const draw = () => {
    shown = (order === 'value' ? [...rows].sort((a, b) => mean(b[value]) - mean(a[value])) : rows).slice(0, ROWS);
    grid.show(shown.map((r) => ({ label: rowName(r), side: fmt.percent(mean(r[value])), values: r[value] })), BINS);
  };
  draw();
  return h('div', { cls: 'drawing card' }, h('div', { cls: 'toolbar' },
    choice('Value', VALUES, value, (v) => { value = v; draw(); }, { id: 'heat-value' }), choice('Order', [['device', 'by device'], ['value', 'largest first']], order, (v) => { order = v; draw(); }, { id: 'heat-order' })),
  grid.el, scale('0 %', '100 %', `of each ${fmt.time(bin)}; a press, or Enter, shows that moment in the timeline.`), rows.length > ROWS && h('p', { cls: 'muted' }, `The first ${ROWS} of ${rows.length} devices.`));
}

// [{ name, of: Map device → value }] heaviest first, and the devices.
export function byDevice(rows, value) {
  const devices = [...new Set(rows.map((r) => r.device))];
  const map = new Map();
  for (const r of rows) {
    if (!(Number(r[value]) > 0)) continue;
    if (!map.has(r.name)) map.set(r.name, { name: r.name, sum: 0, of: new Map() });
    const g = map.get(r.name);
    g.sum += Number(r[value]);
    g.of.set(r.device, (g.of.get(r.device) || 0) + Number(r[value]));
  }
  return { devices, rows: [...map.values()].sort((a, b) => b.sum - a.sum) };
}

// Energy of a counter's device view, where it was sampled: power is its joules over the time of the calls.
function measures(ctx) {
  const k = ctx.shown().table('kernels');
  const out = k ? [['time', 'time', byDevice(k.objects(), 'total_ns'), fmt.time]] : [];
  const e = ctx.report.table('energy');
  const rows = e ? e.objects().filter((r) => r.view === 'device' && r.name !== '[unattributed]') : [];
  const counters = new Map();
  for (const r of rows) if (!counters.has(r.device)) counters.set(r.device, r.counter);
  const own = rows.filter((r) => counters.get(r.device) === r.counter);
  if (own.length) out.push(['energy', 'energy', byDevice(own, e.has('best_j') ? 'best_j' : 'exclusive_j'), fmt.energy], ['power', 'mean power', byDevice(own, 'mean_w'), fmt.power]);
  return out.filter(([, , m]) => m.devices.length > 1);
}

// Rows are kernels, columns devices.
function nameHeat(ctx) {
  const all = measures(ctx);
  if (!all.length) return null;
  const box = h('div');
  const draw = (id) => {
    const [, words, m, format] = all.find(([k]) => k === id);
    clear(box, heatTable(`${words} of kernels by device`, 'Kernel', m.devices.slice(0, ROWS).map((d) => [d, d]), m.rows.slice(0, NAMES).map((r) => ({ ...r, short: ctx.report.shortName(r.name) })), format), m.rows.length > NAMES && h('p', { cls: 'muted' }, `The ${NAMES} heaviest of ${fmt.group(m.rows.length)} kernels.`));
  };
  draw(all[0][0]);
  return h('div', { cls: 'drawing' }, all.length > 1 && h('div', { cls: 'toolbar' }, choice('Value', all.map(([k, w]) => [k, w]), all[0][0], draw, { id: 'heat-measure' })), box, scale('0', 'the largest'));
}

// A counter of each device is one of all: their numbers are left out of its name.
const kindOf = (counter) => String(counter).replace(/[:=_]*(device|gpu|socket|package|pkg|card)?[:=_]*\d+$/i, '') || String(counter);

// Energy of the host's functions by rank, of counters of one kind: [{ kind, ranks, rows: [{ name, calls, j: Map, ns: Map }] }].
export function energyByRank(report) {
  const t = report.table('energy_ranks');
  const kinds = new Map();
  const rank = counterRanks(report);
  for (const r of t ? t.objects() : []) {
    if (!fmt.known(r.exclusive_j)) continue;
    const kind = kindOf(r.counter);
    if (!kinds.has(kind)) kinds.set(kind, { kind, order: rank(r.counter, r.device), ranks: new Set(), names: new Map() });
    const k = kinds.get(kind);
    k.ranks.add(String(r.rank));
    if (!k.names.has(r.name)) k.names.set(r.name, { name: r.name, sum: 0, j: new Map(), ns: new Map() });
    const f = k.names.get(r.name);
    f.sum += Number(r.exclusive_j);
    f.j.set(String(r.rank), (f.j.get(String(r.rank)) || 0) + Number(r.exclusive_j));
    // Each device's counter has the function's time again: its power is that of all devices together.
    f.ns.set(String(r.rank), Math.max(f.ns.get(String(r.rank)) || 0, Number(r.exclusive_ns) || 0));
  }
  return [...kinds.values()].sort((a, b) => a.order - b.order).map((k) => ({ kind: k.kind, ranks: [...k.ranks].sort((a, b) => Number(a) - Number(b)), rows: [...k.names.values()].sort((a, b) => b.sum - a.sum) }));
}

// Rows are functions of the host, columns ranks.
function rankEnergy(ctx) {
  const all = energyByRank(ctx.report).filter((k) => k.ranks.length > 1);
  if (!all.length) return null;
  const box = h('div');
  let [kind, value] = [all[0], 'energy'];
  const draw = () => {
    const rows = kind.rows.slice(0, NAMES).map((f) => ({ name: f.name, of: value === 'energy' ? f.j : value === 'time' ? f.ns : new Map([...f.j].map(([r, j]) => [r, f.ns.get(r) > 0 ? j / (f.ns.get(r) / 1e9) : 0])) }));
    clear(box, heatTable(`${value} of functions by rank`, 'Function', kind.ranks.slice(0, ROWS).map((r) => [r, `rank ${r}`]), rows, { energy: fmt.energy, power: fmt.power, time: fmt.time }[value]), kind.rows.length > NAMES && h('p', { cls: 'muted' }, `The ${NAMES} dearest of ${fmt.group(kind.rows.length)} functions; the table has all.`));
  };
  draw();
  return h('div', { cls: 'drawing' }, h('div', { cls: 'toolbar' },
    choice('Value', [['energy', 'energy'], ['power', 'mean power'], ['time', 'time']], value, (v) => { value = v; draw(); }, { id: 'rank-energy-value' }),
    all.length > 1 && choice('Counter', all.map((k, i) => [String(i), k.kind]), '0', (v) => { kind = all[Number(v)]; draw(); }, { id: 'rank-energy-counter' })),
  box, scale('0', 'the largest'));
}

const tab = tabOf({
  id: 'ranks',
  label: 'Ranks',
  about: 'needs work on more than one device, or ranks',
  reasons: ['ranks'],
  parts: [
    { title: 'Devices over time', drawing: (ctx) => timeHeat(ctx) },
    { table: 'ranks', title: 'Ranks', about: 'what sets one apart is more than three times the usual deviation', sort: { key: 'rank', dir: 1 }, columns: (t) => [first('rank', 'Rank'), 'compute_ns:Compute', 'exposed_comm_ns:Exposed communication', 'idle_ns:Idle', 'iteration_median_ns:Iteration', 'wait_ns:Waits', { key: 'outlier', label: 'Stands out by', kind: 'text', text: (row) => outlierWords(t.col('outlier')[row]) }] },
    { table: 'rank_classes', title: 'Classes of kernels', about: 'how far ranks differ in them', sort: { key: 'max_ns', dir: -1 }, columns: () => [first('class', 'Class'), 'ranks:Ranks', 'median_ns:Median', 'max_ns:Longest', { key: 'spread', label: 'Longest to median', kind: 'number' }, 'max_rank:Rank of it'] },
    { title: 'Kernels by device', drawing: (ctx) => nameHeat(ctx) },
    { table: 'energy_ranks', title: 'Energy by rank', about: 'which functions of the host were open while it was spent', drawing: (ctx) => rankEnergy(ctx), sort: { key: 'exclusive_j', dir: -1 }, columns: () => [first('name', 'Function'), 'rank:Rank', 'device:Device', 'counter:Counter', 'calls:Calls', { key: 'exclusive_j', label: 'Own', kind: 'energy', about: 'energy spent while it was the innermost one on a thread of the rank' }, { key: 'uncertainty_j', label: '±', kind: 'energy', like: 'exclusive_j' }, 'exclusive_ns:Own time', { key: 'mean_w', label: 'Mean power', kind: 'power' }] },
  ],
});

const severalRanks = (t) => Boolean(t && new Set(t.col('rank')).size > 1);

export const ranks = { ...tab, available: (r) => Boolean(severalRanks(r.table('energy_ranks')) || (r.table('ranks') && r.table('ranks').rows > 1) || (r.table('busy') && r.table('busy').rows > 1 && r.table('lanes'))) };
