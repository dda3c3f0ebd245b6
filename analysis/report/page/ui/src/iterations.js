// Iterations: how long each took, which are steady, and what was on the critical path.

import { h } from './dom.js';
import * as fmt from './format.js';
import { KIND_COLORS, devicesOf } from './overlap.js';
import { first, shareOf, tabOf } from './sections.js';
import { legend, stackedBars } from './svgchart.js';

const SHOWN = 60;
const STEADY = '#56b4e9';
const WARM = '#b8bec7';
const PATH = {
  compute: '#56b4e9', communication: '#e69f00', copy: '#1fae85', kernel_gap: '#d3d8de', launch: '#9ed9c5', host: '#d68fb5', sync_return: '#f0e442', untraced: '#b8bec7', unknown: '#e8793a',
};
const label = (r) => (fmt.known(r.rank) ? `${r.name}, rank ${r.rank}` : r.name);

// Of many iterations the first ones, and how many there are.
const rest = (n) => (n > SHOWN ? h('p', { cls: 'muted' }, `The first ${SHOWN} of ${fmt.group(n)}; the table has all of them.`) : null);

function times(ctx, table) {
  if (!table) return null;
  const rows = table.objects();
  const time = (r) => (Number(r.dur_ns) > 0 ? Number(r.dur_ns) : Number(r.device_span_ns));
  const steady = rows.filter((r) => r.steady === 'yes').map(time).sort((a, b) => a - b);
  const median = steady.length ? steady[steady.length >> 1] : 0;
  const bars = rows.slice(0, SHOWN).map((r) => ({
    at: r, label: label({ name: r.marker === 'period' ? `period ${r.index}` : r.marker, rank: r.rank }), value: [fmt.time(time(r)), median > 0 && time(r) > 1.5 * median ? h('span', { cls: 'tag' }, 'slow') : null],
    parts: [{ name: r.steady === 'yes' ? 'steady' : 'warm-up', value: time(r), color: r.steady === 'yes' ? STEADY : WARM, hatched: r.steady !== 'yes' }],
  }));
  const show = ctx.has('timeline') ? (r) => ctx.go('timeline', { '': `${Math.floor(Number(r.at.start_ns))}:${Math.ceil(Number(r.at.start_ns) + time(r.at))}` }) : null;
  return h('div', { cls: 'drawing' }, stackedBars('time of each iteration', bars, { format: fmt.time, onpress: show }), legend([['steady', STEADY], ['warm-up', WARM, true]]),
    median > 0 && h('p', { cls: 'muted' }, `Median of the steady ones: ${fmt.time(median)}; slow ones take 1.5 times as long.`), rest(rows.length));
}

// Where the time of each device went in each iteration.
function overlaps(ctx) {
  const rows = devicesOf(ctx.report, 'iteration_overlap');
  if (!rows.length) return null;
  const several = new Set(rows.map((r) => r.device)).size > 1;
  return h('div', { cls: 'drawing' }, stackedBars('where the time of each device went in each iteration', rows.slice(0, SHOWN).map((r) => ({
    label: several ? `${r.row.iteration}, ${r.device}` : String(r.row.iteration), value: `${fmt.time(r.wall)}, idle ${fmt.percent(r.parts[3].share)}`,
    parts: r.parts.map((p) => ({ name: p.name, value: p.ns, color: KIND_COLORS[p.kind], hatched: p.kind === 'idle' })),
  })), { format: fmt.time }), legend(rows[0].parts.map((p) => [p.name, KIND_COLORS[p.kind], p.kind === 'idle'])), rest(rows.length));
}

// The critical path of each iteration; its classes add up to its window.
function paths(ctx, table) {
  if (!table) return null;
  const map = new Map();
  for (const r of table.objects()) {
    const key = `${r.rank}\n${r.iteration}`;
    if (!map.has(key)) map.set(key, { label: label({ name: r.iteration, rank: r.rank }), parts: [] });
    map.get(key).parts.push({ name: String(r.class).replace(/_/g, ' '), value: Number(r.ns), color: PATH[r.class] || WARM });
  }
  const rows = [...map.values()];
  const seen = [...new Set(table.col('class'))].filter((c) => table.col('class').some((x, i) => x === c && Number(table.col('ns')[i]) > 0));
  return h('div', { cls: 'drawing' }, stackedBars('critical path of each iteration', rows.slice(0, SHOWN), { format: fmt.time }), legend(seen.map((c) => [String(c).replace(/_/g, ' '), PATH[c] || WARM])), rest(rows.length));
}

export const iterations = tabOf({
  id: 'iterations',
  label: 'Iterations',
  about: 'needs iterations: ranges that mark them, or work that repeats itself',
  reasons: ['iterations', 'critical_path'],
  needs: ['iterations', 'critical_path'],
  parts: [
    { table: 'iterations', title: 'Iterations', drawing: times, sort: { key: 'start_ns', dir: 1 }, columns: () => [first('marker', 'Iteration'), 'rank:Rank', 'index:Number', 'start_ns:Start', 'dur_ns:Time', 'device_span_ns:On the device', 'steady:Steady', 'works:Works', 'sum_ns:Work', 'union_ns:Busy', 'change:Level changes'] },
    { table: 'iteration_overlap', title: 'Where their time went', about: 'from the first start to the last end of an iteration’s work on a device', drawing: overlaps, sort: { key: 'start_ns', dir: 1 }, columns: () => [first('iteration', 'Iteration'), 'device:Device', 'start_ns:Start', 'wall_ns:Time', 'compute_ns:Compute', 'comm_ns:Communication', 'exposed_comm_ns:Exposed', 'copy_ns:Copies', 'exposed_copy_ns:Exposed', 'idle_ns:Idle', 'own_ns:Own work', 'steady:Steady'] },
    { table: 'critical_path', title: 'Critical path', about: 'shortening a part of it saves at most that time', drawing: paths, sort: { key: 'ns', dir: -1 }, columns: (t) => [first('iteration', 'Iteration'), 'rank:Rank', 'class:Class', 'ns:Time', { key: 'share', label: 'Of the iteration', kind: 'share' }, new Set(t.col('iteration')).size > 1 && shareOf(t, 'ns', 'Share', 'of all iterations')].filter(Boolean).map((c) => (c === 'ns:Time' ? { key: 'ns', label: 'Time', kind: 'time' } : c)) },
    { table: 'critical_spans', title: 'Longest parts of critical paths', sort: { key: 'dur_ns', dir: -1 }, columns: () => [first('name', 'What', { mayLack: true }), 'class:Class', 'iteration:Iteration', 'rank:Rank', 'start_ns:Start', 'dur_ns:Time'] },
    { table: 'periods', title: 'Periods', about: 'how the work of a device repeats itself', sort: { key: 'device', dir: 1 }, columns: () => [first('device', 'Device'), 'works:Works', 'period:Period', 'match:Matches', 'of:Of', 'accepted:Accepted'] },
  ],
});
