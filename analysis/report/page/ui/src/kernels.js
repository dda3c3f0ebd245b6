// Kernels: every kernel, copy and fill; their classes, the matrix products among them, how long they are, what repeats itself; cycles.

import { append, h } from './dom.js';
import { Categories } from './colors.js';
import * as fmt from './format.js';
import { kernels as plain } from './functions.js';
import { CYCLE_PARTS } from './cycles.js';
import { columns, first, sections, shareOf } from './sections.js';
import { legend, stackedBars } from './svgchart.js';

// One bar per device: its work by class, heaviest first.
export function classBars(ctx, table) {
  if (!table) return null;
  const rows = table.objects();
  const weight = new Map();
  for (const r of rows) weight.set(r.class, (weight.get(r.class) || 0) + Number(r.total_ns));
  const classes = [...weight].sort((a, b) => b[1] - a[1]).map(([c]) => c);
  const colors = new Categories(classes);
  const of = (d) => classes.map((c) => ({ name: c, color: colors.color(c), value: rows.filter((r) => r.device === d && r.class === c).reduce((a, r) => a + Number(r.total_ns), 0) }));
  return h('div', { cls: 'drawing' }, stackedBars('work of each device by class', [...new Set(rows.map((r) => r.device))].map((d) => ({ label: d, parts: of(d) })), { format: fmt.time }),
    legend(classes.map((c) => [c, colors.color(c)])));
}

const tile = (t) => (row) => ['tile_m', 'tile_n', 'tile_k'].map((k) => t.col(k)[row]).filter((v) => v !== null && v !== '').join('\u00d7');

const short = (ctx, key, label) => ({ ...first(key, label), short: (n) => ctx.report.shownName(n) });

const PARTS = [
  { table: 'kernel_classes', title: 'Classes', drawing: classBars, sort: { key: 'total_ns', dir: -1 }, columns: (t) => [first('class', 'Class'), 'device:Device', 'calls:Calls', shareOf(t, 'total_ns', 'Share', 'of the work on all devices'), 'total_ns:Total', 'union_ns:Union', 'joules:Energy'] },
  { table: 'gemm', title: 'Matrix products', about: 'as the names of the kernels tell', sort: { key: 'total_ns', dir: -1 }, columns: (t, ctx) => [short(ctx, 'name', 'Kernel'), 'lib:Library', 'in:In', 'acc:Sum', { key: 'tile', label: 'Tile', kind: 'text', text: tile(t) }, 'layout:Layout', 'path:Path', 'align:Align', 'calls:Calls', 'total_ns:Total', 'wave_efficiency:Waves', 'tile_efficiency:Tiles'] },
  { table: 'kernel_lengths', title: 'Lengths', about: 'kernels below 10 µs cost about as much to launch as to run', sort: { key: 'total_ns', dir: -1 }, columns: (t) => [first('kernel_ns_bucket', 'Length', { short: fmt.lengths }), 'device:Device', 'count:Kernels', shareOf(t, 'total_ns', 'Share', 'of the time of all kernels'), 'total_ns:Total'] },
  { table: 'sequences', title: 'Sequences that repeat', sort: { key: 'total_ns', dir: -1 }, columns: (t, ctx) => [{ ...first('pattern', 'Kernels'), short: (p) => p.split(';').map((n) => fmt.middle(ctx.report.shortName(n), 30)).join(' ; ') }, 'length:Length', 'count:Times', 'total_ns:Total', 'gap_ns:Gaps in it'] },
  { table: 'markers', title: 'Kernels of marked ranges', about: 'ranges inside each other share work', sort: { key: 'total_ns', dir: -1 }, columns: (t, ctx) => [first('marker', 'Range'), 'device:Device', short(ctx, 'kernel', 'Kernel'), 'marker_calls:Ranges', 'calls:Pieces', 'share:Of the range', 'total_ns:Total', 'mean_ns:Mean'] },
  { table: 'graph_kernels', title: 'Kernels of graphs', sort: { key: 'total_ns', dir: -1 }, columns: (t, ctx) => [short(ctx, 'name', 'Kernel'), 'device:Device', 'graph:Graph', 'node:Node', 'sequence:Captured as', 'grid:Grid', 'block:Block', 'calls:Calls', 'total_ns:Total', 'mean_ns:Mean', 'max_ns:Max'] },
  ...CYCLE_PARTS,
];

export const kernels = {
  ...plain,
  tables: ['kernels', ...PARTS.map((p) => p.table)],
  render: (panel, ctx) => {
    const box = h('div');
    const rest = h('div');
    append(panel, [box, rest]);
    const view = plain.render(box, ctx);
    const more = sections(rest, ctxOf(ctx), 'kernels', PARTS);
    const own = view.setParams.bind(view);
    view.setParams = (p) => { own(p); more.setParams(p); };
    return view;
  },
};

// The note on a selected window stands above the first table already.
const ctxOf = (ctx) => Object.assign(Object.create(ctx), { windowNote: () => null, columns });
