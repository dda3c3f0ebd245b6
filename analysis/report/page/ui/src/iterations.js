// Iterations: how long each took, which are steady, and what was on the critical path.

import { h } from './dom.js';
import * as fmt from './format.js';
import { HeatGrid } from './heat.js';
import { KIND_COLORS, devicesOf } from './overlap.js';
import { first, shareOf, tabOf } from './sections.js';
import { legend, stackedBars } from './svgchart.js';

const SHOWN = 60;
const COLUMNS = 600;
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

// The work of devices in n parts of stretches that begin at `from` and are `width` long, until `dur` of it: rows: [{ device, from, dur }]; → for each
// { compute, comm, copy }, the share of each part in which one of them ran and none of those before it.
export function alignedWork(devices, classOf, rows, width, n) {
  const bin = width / n;
  return rows.map((r) => {
    const out = { compute: new Float64Array(n), comm: new Float64Array(n), copy: new Float64Array(n) };
    const list = (devices.find((d) => d.device === r.device) || { list: [] }).list;
    const to = r.from + r.dur;
    const all = { compute: [], comm: [], copy: [] };
    for (const k of list) {
      if (k.start >= to) break; // by start
      if ((k.bin ? k.start + k.bin : k.end) > r.from) all[classOf(k)].push(k);
    }
    const taken = new Float64Array(n);
    for (const kind of ['compute', 'comm', 'copy']) {
      const mine = new Float64Array(n);
      let last = r.from;
      for (const k of all[kind]) {
        const a = Math.max(k.start, k.bin ? r.from : last);
        const b = Math.min(k.bin ? k.start + k.bin : k.end, to);
        const dense = k.bin ? Math.min(1, k.ns / k.bin) : 1; // short ones may be anywhere in their bin
        for (let x = Math.max(0, Math.floor((a - r.from) / bin)); x < n && r.from + x * bin < b; x++) mine[x] += (dense * Math.max(0, Math.min(b, r.from + (x + 1) * bin) - Math.max(a, r.from + x * bin))) / bin;
        if (!k.bin) last = Math.max(last, b);
      }
      for (let x = 0; x < n; x++) {
        out[kind][x] = Math.max(0, Math.min(mine[x], 1 - taken[x]));
        taken[x] += out[kind][x];
      }
    }
    return out;
  });
}

// Iterations below each other, each from its own start: what took longer, and what came later, is seen beside the others.
function aligned(ctx) {
  const lanes = ctx.lanes();
  const table = ctx.report.table('iterations');
  const of = ctx.report.table('iteration_overlap');
  if (!lanes || !table || !of) return null;
  const begin = new Map(table.objects().map((i) => [`${i.rank}\n${i.marker === 'period' ? i.index : i.marker}`, i]));
  const rows = of.objects().map((o) => ({ o, i: begin.get(`${o.rank}\n${o.iteration}`) })).filter((x) => x.i).slice(0, SHOWN).map(({ o, i }) => {
    const host = Number(i.dur_ns) > 0;
    const from = host ? Number(i.start_ns) : Number(o.start_ns);
    return { device: String(o.device), iteration: String(o.iteration), from, dur: Math.max(host ? Number(i.dur_ns) : 0, Number(o.start_ns) + Number(o.wall_ns) - from), host: host ? Number(i.dur_ns) : null };
  });
  if (rows.length < 2) return null;
  const several = new Set(rows.map((r) => r.device)).size > 1;
  const width = Math.max(...rows.map((r) => r.dur));
  const windows = ctx.windows();
  const shares = alignedWork(windows.devices(lanes.extent), (k) => windows.classOf(k), rows, width, COLUMNS);
  const bin = width / COLUMNS;
  const label = (r) => (several ? `${r.iteration}, ${r.device}` : r.iteration);
  const mean = (v, a, b) => v.subarray(a, b).reduce((s, x) => s + x, 0) / (b - a);
  const grid = new HeatGrid({
    label: 'iterations side by side, each from its own start', height: 18,
    words: (r, a, b) => {
      const s = shares[r];
      return `${label(rows[r])}, ${fmt.time(a * bin)} to ${fmt.time(b * bin)} after its start${a * bin >= rows[r].dur ? ', over by then' : ''}: compute ${fmt.percent(mean(s.compute, a, b))}, communication alone ${fmt.percent(mean(s.comm, a, b))}, copies alone ${fmt.percent(mean(s.copy, a, b))}`;
    },
    onpress: (r, a, b) => ctx.has('timeline') && ctx.go('timeline', { '': `${Math.max(0, Math.floor(rows[r].from + (a - 10) * bin))}:${Math.ceil(rows[r].from + (b + 10) * bin)}` }),
  });
  grid.show(rows.map((r, i) => ({
    label: label(r), side: fmt.time(r.dur), values: shares[i].compute,
    paint: (g, x, a, b, height) => {
      if (a * bin >= r.dur) return;
      g.fillStyle = 'rgba(140, 150, 165, .22)';
      g.fillRect(x, 0, 1, height);
      let y = height;
      for (const kind of ['compute', 'comm', 'copy']) {
        const px = mean(shares[i][kind], a, b) * height;
        g.fillStyle = KIND_COLORS[kind];
        g.fillRect(x, y - px, 1, px);
        y -= px;
      }
    },
  })), COLUMNS);
  return h('div', { cls: 'drawing card' }, grid.el, legend([['compute', KIND_COLORS.compute], ['communication alone', KIND_COLORS.comm], ['copies alone', KIND_COLORS.copy], ['idle', 'rgba(140, 150, 165, .22)']]),
    h('p', { cls: 'muted' }, `From 0 to ${fmt.time(width)} after the start of each${rows[0].host === null ? ' on its device' : ''}; a press, or Enter, shows that moment in the timeline.${windows.exact ? '' : ` Short spans come from bins of ${fmt.time(windows.bin)}, as high as they are busy.`}`), rest(of.rows));
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

const work = (key, label, kind = 'time') => ({ key, label, kind, mayBeZero: true });

export const iterations = tabOf({
  id: 'iterations',
  label: 'Iterations',
  about: 'needs iterations: ranges that mark them, or work that repeats itself',
  reasons: ['iterations', 'critical_path'],
  needs: ['iterations', 'critical_path'],
  parts: [
    { table: 'iterations', title: 'Iterations', drawing: times, sort: { key: 'start_ns', dir: 1 }, columns: () => [first('marker', 'Iteration'), 'rank:Rank', 'index:Number', 'start_ns:Start', 'dur_ns:Time', work('device_span_ns', 'On the device'), 'steady:Steady', work('works', 'Works', 'count'), work('sum_ns', 'Work'), work('union_ns', 'Busy'), 'change:Level changes'] },
    { title: 'Side by side', about: 'what the devices did, from the start of each iteration', drawing: aligned },
    { table: 'iteration_overlap', title: 'Where their time went', about: 'from the first start to the last end of an iteration’s work on a device', drawing: overlaps, sort: { key: 'start_ns', dir: 1 }, columns: () => [first('iteration', 'Iteration'), 'device:Device', 'start_ns:Start', 'wall_ns:Time', 'compute_ns:Compute', 'comm_ns:Communication', 'exposed_comm_ns:Exposed', 'copy_ns:Copies', 'exposed_copy_ns:Exposed', 'idle_ns:Idle', 'own_ns:Own work', 'steady:Steady'] },
    { table: 'critical_path', title: 'Critical path', about: 'shortening a part of it saves at most that time', drawing: paths, sort: { key: 'ns', dir: -1 }, columns: (t) => [first('iteration', 'Iteration'), 'rank:Rank', 'class:Class', 'ns:Time', { key: 'share', label: 'Of the iteration', kind: 'share' }, new Set(t.col('iteration')).size > 1 && shareOf(t, 'ns', 'Share', 'of all iterations')].filter(Boolean).map((c) => (c === 'ns:Time' ? { key: 'ns', label: 'Time', kind: 'time' } : c)) },
    { table: 'critical_spans', title: 'Longest parts of critical paths', sort: { key: 'dur_ns', dir: -1 }, columns: (t, ctx) => [first('name', 'What', { short: (n) => (n ? ctx.report.shortName(n) : '(no call open)') }), 'class:Class', 'iteration:Iteration', 'rank:Rank', 'start_ns:Start', 'dur_ns:Time'] },
    { table: 'periods', title: 'Periods', about: 'how the work of a device repeats itself', sort: { key: 'device', dir: 1 }, columns: () => [first('device', 'Device'), 'works:Works', 'period:Period', 'match:Matches', 'of:Of', 'accepted:Accepted'] },
  ],
});
