// Parts of the tab of kernels for devices whose work has stamps of their cycle counter: operators beside ideal cycles, phases of
// executions, utilisation over time.

import { h } from './dom.js';
import { lineStyle } from './colors.js';
import * as fmt from './format.js';
import { first } from './sections.js';
import { legend, stackedBars, stepChart } from './svgchart.js';

const PHASES = [['dma_in', 'copied in', '#1fae85'], ['prep', 'prepared', '#d3d8de'], ['exec', 'executed', '#56b4e9'], ['dma_out', 'copied out', '#e69f00']];
const MODEL = { TTFT: 'prefill', ITL: 'decoding' };
const DEVICES = 4;
const STEPS = 2000;

const phaseWords = (p) => (PHASES.find(([k]) => k === p) || [p, p])[1];

function phaseBars(ctx, table) {
  if (!table) return null;
  const rows = table.objects();
  const of = (d, phase) => rows.filter((r) => r.device === d && r.phase === phase).reduce((a, r) => a + Number(r.total_ns), 0);
  return h('div', { cls: 'drawing' }, stackedBars('phases of the executions of each device', [...new Set(rows.map((r) => r.device))].slice(0, 64).map((d) => ({ label: d, parts: PHASES.map(([phase, words, color]) => ({ name: words, color, value: of(d, phase) })) })), { format: fmt.time }),
    legend(PHASES.map(([, words, color]) => [words, color])));
}

// Neighbours become one step where there are more than a drawing can show, with the mean of their values by time.
export function fewer(steps, most) {
  const n = Math.ceil(steps.length / most);
  if (n <= 1) return steps;
  const out = [];
  for (let i = 0; i < steps.length; i += n) {
    const some = steps.slice(i, i + n);
    const time = some.reduce((a, [from, to]) => a + to - from, 0);
    out.push([some[0][0], Math.max(...some.map(([, to]) => to)), time > 0 ? some.reduce((a, [from, to, v]) => a + (to - from) * v, 0) / time : some[0][2]]);
  }
  return out;
}

function curves(ctx, table) {
  if (!table) return null;
  const rows = table.objects().filter((r) => fmt.known(r.utilisation));
  if (!rows.length) return null;
  const devices = [...new Set(rows.map((r) => r.device))];
  const { color } = lineStyle(0, ctx.dark());
  return h('div', { cls: 'drawing' }, devices.slice(0, DEVICES).map((d) => {
    const own = rows.filter((r) => r.device === d).map((r) => [Number(r.start_ns), Number(r.end_ns), Number(r.utilisation)]).sort((a, b) => a[0] - b[0]);
    const best = own.reduce((a, s) => (s[2] > a[2] ? s : a));
    return [h('h3', null, h('bdi', null, String(d)), ' ', h('span', { cls: 'muted' }, `at most ${fmt.percent(best[2])}, at ${fmt.time(best[0])}`)),
      stepChart({ label: `utilisation of ${d} over time: at most ${fmt.percent(best[2])} at ${fmt.time(best[0])}`, lines: [{ steps: fewer(own, STEPS), color, gaps: true, fill: true, name: 'utilisation of each execution' }], window: ctx.window(), yText: (v) => fmt.percent(v), least: 0.01 }),
      own.length > STEPS && h('p', { cls: 'muted' }, `A step is the mean of ${Math.ceil(own.length / STEPS)} executions.`)];
  }), devices.length > DEVICES && h('p', { cls: 'muted' }, `The first ${DEVICES} of ${devices.length} devices; the table has all.`));
}

const share = (key, label, about) => ({ key, label, kind: 'share', about });
const cycles = (key, label, about, more) => ({ key, label, kind: 'count', about, ...more });

export const CYCLE_PARTS = [
  { table: 'categories', title: 'Operators beside ideal cycles', about: 'what the compiler expects of each kind; Total is all of a device', sort: { key: 'cycles', dir: -1 }, columns: (t) => [first('category', 'Kind'), 'device:Device', 'rank:Rank',
    { key: 'phase', label: 'Phase', kind: 'text', text: (row) => { const p = t.col('phase')[row] || ''; return MODEL[p] || p; }, about: 'prefill (TTFT) or decoding (ITL)', empty: !t.col('phase').some(Boolean) }, 'calls:Calls', share('share', 'Share', 'of the cycles of Total'), 'time_ns:Time', cycles('cycles', 'Cycles', 'of the device’s counter'),
    { key: 'ideal_ns', label: 'Ideal', kind: 'time', about: 'by the ideal cycles of the compiler and the clock of the core' }, { ...share('ideal_share', 'Of ideal', 'of the ideal cycles of Total'), extra: true }, cycles('ideal_cycles', 'Ideal cycles', 'of the clock of the core', { extra: true }),
    share('pt_utilisation', 'Utilisation', 'ideal time by time: how much of the matrix engine was used'), { key: 'match', label: 'Match', kind: 'number', about: 'confidence that these ideal cycles are of this program, from 0 to 1', extra: true },
    { key: 'stated_ns', label: 'Stated time', kind: 'time', about: 'by the clock of --freq', extra: true }, { ...share('stated_utilisation', 'Stated use', 'by the clock of --freq'), extra: true }] },
  { table: 'utilisation', title: 'Utilisation over time', about: 'ideal time of each execution by its time', drawing: curves, sort: { key: 'start_ns', dir: 1 }, columns: () => [first('kernel', 'Kernel'), 'category:Kind', 'device:Device', 'rank:Rank', 'start_ns:Start', 'end_ns:End', cycles('cycles', 'Cycles', 'measured'), cycles('ideal_cycles', 'Ideal cycles', 'that the compiler expects'),
    share('utilisation', 'Utilisation', 'by the measured clock; above 100 %: another clock, or the ideal cycles of another program'), share('stated_utilisation', 'Stated use', 'by the clock of --freq')] },
  { table: 'kernel_phases', title: 'Phases of executions', about: 'from being queued to the results being sent', drawing: phaseBars, sort: { key: 'total_ns', dir: -1 }, columns: (t) => [first('name', 'Kernel'), 'device:Device', { key: 'rank', label: 'Rank', kind: 'count', extra: true },
    { key: 'phase', label: 'Phase', kind: 'text', text: (row) => phaseWords(t.col('phase')[row]) }, 'calls:Calls', share('share', 'Share', 'of the cycles of the device in this phase'), 'total_ns:Time', cycles('cycles', 'Cycles', 'of all executions'),
    cycles('mean_cycles', 'Mean', 'cycles of an execution'), cycles('median_cycles', 'Median', 'cycles of an execution'), cycles('min_cycles', 'Min', 'cycles of an execution', { mayBeZero: true }), cycles('max_cycles', 'Max', 'cycles of an execution'), cycles('stddev_cycles', 'Std dev', 'of the cycles of executions', { mayBeZero: true, extra: true })] },
];
