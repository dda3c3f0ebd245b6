// Programs: modules that XLA compiled, their operations, and what compiling them took.

import { h } from './dom.js';
import { Categories } from './colors.js';
import * as fmt from './format.js';
import { first, shareOf, tabOf } from './sections.js';
import { legend, stackedBars } from './svgchart.js';

const MODULES = 40;
const PHASES = 8;
const OTHERS = ['other phases', '#b8bec7'];
const REST = ['outside of phases', '#e3e6ea'];

// One bar per module, the phases of its compilations in it; of many phases the longest have a colour of their own.
function phases(ctx, table) {
  if (!table) return null;
  const rows = table.objects().map((r) => ({ ...r, phase: r.phase === `XlaCompile ${r.module}` ? REST[0] : r.phase }));
  const weight = new Map();
  const modules = new Map();
  for (const r of rows) {
    if (r.phase !== REST[0]) weight.set(r.phase, (weight.get(r.phase) || 0) + Number(r.self_ns));
    modules.set(r.module, (modules.get(r.module) || 0) + Number(r.self_ns));
  }
  const order = [...weight].sort((a, b) => b[1] - a[1]).map(([p]) => p);
  const named = order.slice(0, PHASES);
  const colors = new Categories(named);
  const parts = (m) => {
    const own = rows.filter((r) => r.module === m);
    const of = (list) => own.filter((r) => list.includes(r.phase)).reduce((a, r) => a + Number(r.self_ns), 0);
    return [...named.map((p) => ({ name: p, color: colors.color(p), value: of([p]) })), { name: OTHERS[0], color: OTHERS[1], value: of(order.slice(PHASES)) }, { name: REST[0], color: REST[1], value: of([REST[0]]) }];
  };
  const longest = [...modules].sort((a, b) => b[1] - a[1]).map(([m]) => m);
  return h('div', { cls: 'drawing' }, stackedBars('compilations of each module by phase', longest.slice(0, MODULES).map((m) => ({ label: m, parts: parts(m) })), { format: fmt.time }),
    legend([...named.map((p) => [p, colors.color(p)]), ...(order.length > PHASES ? [OTHERS] : []), REST]),
    longest.length > MODULES && h('p', { cls: 'muted' }, `The ${MODULES} of ${fmt.group(longest.length)} modules that took longest; the table has all.`));
}

const some = (key, label, about) => ({ key, label, kind: 'count', mayBeZero: true, about });

export const programs = tabOf({
  id: 'programs',
  label: 'Programs',
  about: 'needs programs of XLA (JAX, TensorFlow): ranges or arguments that name a module',
  reasons: ['program_modules', 'compile'],
  parts: [
    { table: 'program_modules', title: 'Modules', about: 'what XLA compiled a function into, by device', sort: { key: 'total_ns', dir: -1 }, columns: () => [first('module', 'Module'), 'device:Device', 'rank:Rank',
      'executions:Executions', { key: 'ops', label: 'Operations', kind: 'number', about: 'mean number in an execution that the recording has whole' }, { key: 'works', label: 'Pieces', kind: 'count', about: 'pieces of device work', extra: true },
      { key: 'share', label: 'Share', kind: 'share', about: 'of the time of all modules on this device' }, { key: 'total_ns', label: 'Total', kind: 'time', about: 'of all executions, each from the start of its first work to the end of its last' },
      { key: 'busy_ns', label: 'Busy', kind: 'time', about: 'while any work of the executions ran' },
      { key: 'mean_ns', label: 'Mean', kind: 'time', about: 'of executions after the warm-up that the recording has whole' }, { key: 'stddev_ns', label: 'Std dev', kind: 'time', extra: true }, { key: 'min_ns', label: 'Min', kind: 'time', extra: true }, { key: 'max_ns', label: 'Max', kind: 'time' },
      { key: 'wait_ns', label: 'Waited', kind: 'time', mayBeZero: true, about: 'in collectives, until the last rank came' }, { key: 'wait_share', label: 'Of total', kind: 'share', about: 'waited time in the total', mayBeZero: true, extra: true },
      { key: 'steady', label: 'Steady', kind: 'count', about: 'executions after the warm-up', extra: true }, { ...some('cut', 'Cut', 'executions in which the recording ended'), extra: true }, { ...some('programs', 'Variants', 'different programs that have this name'), extra: true }] },
    { table: 'program_ops', title: 'Operations', about: 'of the modules, without warm-up and executions that are cut', sort: { key: 'total_ns', dir: -1 }, columns: (t) => [first('op', 'Operation'), 'module:Module', 'class:Class', 'calls:Calls',
      { key: 'works', label: 'Pieces', kind: 'count', about: 'pieces of device work', extra: true }, shareOf(t, 'total_ns', 'Share', 'of all operations'), 'total_ns:Total', 'mean_ns:Mean', 'median_ns:Median', 'min_ns:Min', 'max_ns:Max',
      { key: 'cost_ns', label: 'Cost', kind: 'time', about: 'for the scheduler of XLA: the longest of a collective, the shortest of others' }] },
    { table: 'compile_phases', title: 'Compilations by phase', about: 'each phase with all that is in it', drawing: phases, sort: { key: 'self_ns', dir: -1 }, columns: (t) => [first('phase', 'Phase'), 'module:Module', 'ranges:Times', shareOf(t, 'self_ns', 'Share', 'of the time of all compilations'), 'self_ns:Time'] },
    { table: 'compile', title: 'Compilations by pass', about: 'each pass without those in it', sort: { key: 'self_ns', dir: -1 }, columns: (t) => [first('name', 'Pass'), 'module:Module', 'ranges:Times', some('given', 'On other threads', 'of these, those that another thread did for the compilation'),
      shareOf(t, 'self_ns', 'Share', 'of the time of all compilations'), { key: 'self_ns', label: 'Own', kind: 'time', about: 'its part of the time of the compilation, without passes in it' }, { key: 'total_ns', label: 'With passes in it', kind: 'time' }] },
  ],
});
