// Ranks: devices side by side over time, kernels and functions by device, and what sets a rank apart.

import { choice, clear, h, name } from './dom.js';
import * as fmt from './format.js';
import { first, tabOf } from './sections.js';

const BINS = 300;
const ROWS = 128;
const NAMES = 24;
const CELL = 20;

// Viridis at eleven points, from little to much.
const VIRIDIS = ['#440154', '#482576', '#414487', '#35608d', '#2a788e', '#21908d', '#22a884', '#43bf71', '#7ad151', '#bcdf27', '#fde725'];
const rgb = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
export function viridis(share) {
  const at = Math.max(0, Math.min(1, share)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const [a, b] = [rgb(VIRIDIS[i]), rgb(VIRIDIS[i + 1])];
  return `rgb(${a.map((v, k) => Math.round(v + (b[k] - v) * (at - i))).join(',')})`;
}

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

const outlierWords = (w) => String(w || '').replace(/iteration_median_ns/g, 'iteration').replace(/exposed_comm_ns/g, 'exposed communication').replace(/_ns\b/g, '').replace(/_/g, ' ');
const mean = (v) => v.reduce((a, x) => a + x, 0) / v.length;
const rowName = (r) => (fmt.known(r.rank) ? `rank ${r.rank}, ${r.device}` : r.device);

function scale(low, high, words) {
  return h('p', { cls: 'muted heat-scale' }, low, ' ', h('span', { cls: 'heat-ramp', 'aria-hidden': 'true', style: { background: `linear-gradient(90deg, ${VIRIDIS.join(',')})` } }), ' ', high, words && ` ${words}`);
}

// Rows are devices, columns parts of the recording.
function timeHeat(ctx) {
  const lanes = ctx.lanes();
  if (!lanes) return null;
  const rows = overTime(lanes, ctx.windows());
  if (rows.length < 2) return null;
  const box = h('div', { cls: 'heat' });
  let value = 'busy';
  let order = 'device';
  const [t0, t1] = lanes.extent;
  const go = (x) => ctx.has('timeline') && ctx.go('timeline', { '': `${Math.floor(t0 + (x / BINS - 0.01) * (t1 - t0))}:${Math.ceil(t0 + ((x + 1) / BINS + 0.01) * (t1 - t0))}` });
  const draw = () => {
    const shown = (order === 'value' ? [...rows].sort((a, b) => mean(b[value]) - mean(a[value])) : rows).slice(0, ROWS);
    clear(box, shown.map((r) => {
      const canvas = h('canvas', { cls: 'heat-row', width: String(BINS), height: '1', role: 'img', tabindex: '0', 'aria-label': `${rowName(r)}: ${VALUES.find(([k]) => k === value)[1]} ${fmt.percent(mean(r[value]))} of the recording`,
        onclick: (e) => go(Math.floor(((e.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth) * BINS)), onkeydown: (e) => e.key === 'Enter' && go(r[value].indexOf(Math.max(...r[value]))),
        onpointermove: (e) => { const x = Math.max(0, Math.min(BINS - 1, Math.floor(((e.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth) * BINS))); canvas.title = `${fmt.time(t0 + (x * (t1 - t0)) / BINS)}: ${fmt.percent(r[value][x])}`; } });
      const g = canvas.getContext('2d');
      r[value].forEach((v, x) => { g.fillStyle = viridis(v); g.fillRect(x, 0, 1, 1); });
      return [name(rowName(r)), canvas, h('span', { cls: 'muted' }, fmt.percent(mean(r[value])))];
    }));
  };
  draw();
  return h('div', { cls: 'drawing card' }, h('div', { cls: 'toolbar' },
    choice('Value', VALUES, value, (v) => { value = v; draw(); }, { id: 'heat-value' }), choice('Order', [['device', 'by device'], ['value', 'largest first']], order, (v) => { order = v; draw(); }, { id: 'heat-order' })),
  box, scale('0 %', '100 %', `of each ${fmt.time((t1 - t0) / BINS)}; a press shows that moment in the timeline.`), rows.length > ROWS && h('p', { cls: 'muted' }, `The first ${ROWS} of ${rows.length} devices.`));
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
  const box = h('div', { cls: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'kernels by device' });
  const draw = (id) => {
    const [, words, m, format] = all.find(([k]) => k === id);
    const shown = m.rows.slice(0, NAMES);
    const devices = m.devices.slice(0, ROWS);
    const most = Math.max(...shown.flatMap((r) => [...r.of.values()]));
    clear(box, h('table', { cls: 'data plain heat-table' }, h('caption', { cls: 'visually-hidden' }, `${words} of kernels by device`),
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Kernel'), devices.map((d) => h('th', { scope: 'col' }, name(d))))),
      h('tbody', null, shown.map((r) => h('tr', null, h('td', null, name(ctx.report.shortName(r.name), { title: r.name })), devices.map((d) => {
        const v = r.of.get(d) || 0;
        return h('td', { cls: 'heat-cell', style: { background: viridis(v / most), color: v / most > 0.5 ? '#101418' : '#ffffff' }, title: `${r.name} on ${d}: ${format(v)}` }, v > 0 ? format(v) : '');
      }))))));
  };
  draw(all[0][0]);
  return h('div', { cls: 'drawing' }, all.length > 1 && h('div', { cls: 'toolbar' }, choice('Value', all.map(([k, w]) => [k, w]), all[0][0], draw, { id: 'heat-measure' })), box, scale('0', 'the largest'));
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
  ],
});

export const ranks = { ...tab, available: (r) => Boolean((r.table('ranks') && r.table('ranks').rows > 1) || (r.table('busy') && r.table('busy').rows > 1 && r.table('lanes'))) };
