// Operators of a framework: what they launched, what that cost, and how near it comes to what the device can do.

import { h } from './dom.js';
import { lineStyle } from './colors.js';
import * as fmt from './format.js';
import { first, shareOf, tabOf } from './sections.js';
import { legend, logChart } from './svgchart.js';

const PLAIN = /nominal|host/;
const round = (v) => (v >= 1 ? fmt.group(Math.round(v)) : String(Number(v.toPrecision(3))));

// The roof of a precision: the peak of matrix units where the maker states one, else that of the plain ones.
export function roofOf(peaks, precision) {
  const of = (p) => peaks.find((x) => x.precision === p && Number(x.value) > 0);
  const memory = of('memory');
  const peak = of(precision);
  return peak && memory ? { precision, tflops: Number(peak.value), tbps: Number(memory.value), name: peak.name } : null;
}

// Operators with an intensity and a rate, each held against the roof of its own precision.
export function rooflineOf(report) {
  const perf = report.table('perf');
  if (!perf) return null;
  const points = perf.objects().filter((p) => Number(p.intensity) > 0 && Number(p.tflops) > 0 && !PLAIN.test(p.flags || ''));
  if (!points.length) return null;
  const peaks = report.table('peaks') ? report.table('peaks').objects() : [];
  const device = peaks.length ? peaks[0].device : '';
  const own = peaks.filter((p) => p.device === device);
  const precisions = [...new Set(points.map((p) => p.precision))];
  return { points, precisions, roofs: precisions.map((p) => roofOf(own, p)).filter(Boolean) };
}

function roofline(ctx) {
  const r = rooflineOf(ctx.report);
  if (!r) return null;
  const dark = ctx.dark();
  const color = (p) => lineStyle(r.precisions.indexOf(p), dark).color;
  const longest = Math.max(...r.points.map((p) => Number(p.total_ns)));
  return h('div', { cls: 'drawing card' }, logChart({
    label: `roofline: ${r.points.map((p) => `${p.op} ${fmt.sig3(Number(p.tflops))} TFLOP/s`).slice(0, 20).join(', ')}`,
    points: r.points.map((p) => ({ x: Number(p.intensity), y: Number(p.tflops), r: 4 + 8 * Math.sqrt(Number(p.total_ns) / longest), color: color(p.precision),
      title: `${p.op} ${p.shapes}: ${fmt.sig3(Number(p.intensity))} flop/B, ${fmt.sig3(Number(p.tflops))} TFLOP/s, ${fmt.time(p.total_ns)}${fmt.known(p.pct_of_attainable) ? `, ${fmt.sig3(Number(p.pct_of_attainable))} % of attainable` : ''}` })),
    lines: r.roofs.map((f) => ({ at: (x) => Math.min(f.tflops, x * f.tbps), label: `${f.precision}: ${fmt.sig3(f.tflops)} TFLOP/s, ${fmt.sig3(f.tbps)} TB/s` })),
    xText: round, yText: round, xName: 'flop per byte', yName: 'TFLOP/s',
  }), legend(r.precisions.map((p) => [p || 'precision not known', color(p)])), h('p', { cls: 'muted' }, r.roofs.length ? `Roofs of ${r.roofs[0].name}; the larger a point, the more time.` : 'The peaks of the device are not known, so there is no roof; --peaks FILE states them.'));
}

// Whether operators launched work; those of a processor did it themselves.
const launched = (t, col) => t.col(col).some((v) => Number(v) > 0);

export const operators = tabOf({
  id: 'operators',
  label: 'Operators',
  about: 'needs operators of a framework',
  reasons: ['operators'],
  needs: ['operators', 'perf', 'modules', 'python_functions'],
  parts: [
    { table: 'operators', title: 'Operators', sort: (t) => ({ key: launched(t, 'own_ns') ? 'own_ns' : 'host_self_ns', dir: -1 }), columns: (t) => [first('name', 'Operator'), { key: 'shapes', label: 'Shapes', kind: 'text', wide: true }, 'calls:Calls', ...(launched(t, 'own_ns') ? [shareOf(t, 'own_ns', 'Share', 'of all device work'), 'own_ns:Own work', 'nested_ns:Nested'] : []), 'host_self_ns:Host', { key: 'backward_ns', label: 'Backward', kind: 'time', mayBeZero: true }, { key: 'tflops', label: 'TFLOP/s', kind: 'number' }, 'bound:Bound by'] },
    { table: 'autograd', title: 'Kernels of operators', about: 'what each launched itself', when: (t) => launched(t, 'calls'), sort: { key: 'total_ns', dir: -1 }, columns: (t, ctx) => [first('name', 'Operator'), { key: 'shapes', label: 'Shapes', kind: 'text', short: (n) => fmt.middle(n, 24) }, { key: 'kernel', label: 'Kernel', kind: 'text', short: (n) => fmt.middle(ctx.report.shownName(n), 34), wide: true }, 'calls:Pieces', shareOf(t, 'total_ns', 'Share', 'of all device work'), 'total_ns:Total', 'mean_ns:Mean', 'inclusive_ns:Nested:time of the operators with what they called'] },
    { table: 'perf', title: 'Roofline', about: 'operators whose work follows from their arguments', drawing: roofline, sort: { key: 'total_ns', dir: -1 }, columns: () => [first('op', 'Operator'), { key: 'shapes', label: 'Shapes', kind: 'text', wide: true }, 'precision:Precision', 'calls:Calls', 'total_ns:Time', { key: 'tflops', label: 'TFLOP/s', kind: 'number' }, { key: 'tbps', label: 'TB/s', kind: 'number' }, 'bound:Bound by', { key: 'pct_of_attainable', label: 'Of attainable', kind: 'number', unit: '%' }, { key: 'flags', label: 'Notes', kind: 'text' }] },
    { table: 'modules', title: 'Modules', about: 'of torch.nn, with the work launched in them', sort: { key: 'nested_ns', dir: -1 }, columns: (t) => [first('module', 'Module'), 'class:Class', 'inside:Inside', 'calls:Calls', shareOf(t, 'own_ns', 'Share', 'of all device work'), 'own_ns:Own work', 'nested_ns:Nested', { key: 'backward_nested_ns', label: 'Backward', kind: 'time', mayBeZero: true }, 'host_ns:Host', 'host_self_ns:Own host', 'joules:Energy'] },
    { table: 'python_functions', title: 'Python functions', sort: { key: 'own_ns', dir: -1 }, columns: (t) => [first('name', 'Function'), 'calls:Calls', shareOf(t, 'own_ns', 'Share', 'of all device work'), 'own_ns:Own work', 'nested_ns:Nested', { key: 'backward_nested_ns', label: 'Backward', kind: 'time', mayBeZero: true }, 'host_ns:Host', 'host_self_ns:Own host', 'joules:Energy'] },
    { table: 'mfu', title: 'Utilisation of the devices', sort: { key: 'device', dir: 1 }, columns: () => [first('device', 'Device'), { key: 'iteration', label: 'Of', kind: 'text', about: 'an iteration; empty: the whole recording' }, 'name:Name', 'precision:Precision', { key: 'tflops', label: 'TFLOP/s', kind: 'number' }, { key: 'peak_tflops', label: 'Peak', kind: 'number' }, 'mfu:Of the peak', 'mfu_busy:While busy'] },
    { table: 'peaks', title: 'Peaks of the devices', sort: { key: 'device', dir: 1 }, columns: () => [first('device', 'Device'), 'precision:Precision', { key: 'value', label: 'Peak', kind: 'number' }, { key: 'reachable', label: 'Reachable', kind: 'number' }, 'unit:Unit', 'source:Source'] },
  ],
});
