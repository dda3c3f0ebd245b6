// Calls of libraries by configuration, and what one library handed on to another.

import { append, h } from './dom.js';
import * as fmt from './format.js';
import { SplitTable } from './functions.js';

const flop = () => 'flop';

const COLUMNS = [
  { key: 'key', label: 'Configuration', kind: 'name', about: 'sizes, types, layouts and scalars of the call; equal for equal calls of different libraries' },
  { key: 'library', label: 'Library', kind: 'text' },
  { key: 'operation', label: 'Operation', kind: 'text' },
  { key: 'calls', label: 'Calls', kind: 'count' },
  { key: 'ranks', label: 'Ranks', kind: 'count', about: 'that made these calls; 0: the log tells none' },
  { key: 'share', label: 'Share', kind: 'share', about: 'of all flops, without those that a library handed on' },
  { key: 'flops', label: 'Work', kind: 'number', unitOf: flop, about: 'of all calls of the row' },
  { key: 'bytes', label: 'Data', kind: 'bytes', about: 'that all calls of the row read and write' },
  { key: 'logged_ns', label: 'Time', kind: 'time', about: 'as the library logged it' },
  { key: 'tflops', label: 'Tflop/s', kind: 'number', about: 'work by logged time' },
  { key: 'trace_ns', label: 'Traced', kind: 'time', about: 'of the calls that the trace has: the work on devices that they launched, or, of a library of the processor, themselves' },
  { key: 'trace_share', label: 'Of work', kind: 'share', about: 'of all work on devices; of a library of the processor, of the time that the inputs cover' },
  { key: 'trace_tflops', label: 'Traced Tflop/s', kind: 'number', about: 'work by traced time' },
  { key: 'trace_calls', label: 'Found', kind: 'count', about: 'calls that the trace has, too' },
  { key: 'kernel', label: 'Kernel', kind: 'name', mayLack: true, about: 'that took most of the traced time' },
  { key: 'kernels', label: 'Kernels', kind: 'count', about: 'different ones' },
  { key: 'called_by', label: 'Called by', kind: 'name', mayLack: true, about: 'function or operator that most calls were made in' },
  { key: 'unmatched', label: 'Not found', kind: 'text', about: 'why calls were not found in the trace' },
  { key: 'config', label: 'As logged', kind: 'name', about: 'the text of the first call' },
];

const ALWAYS = ['key', 'library', 'operation', 'calls', 'share', 'flops', 'config'];
const TEXTS = ['name', 'text'];

// What no row tells has no column.
function told(table) {
  const tells = (c) => (TEXTS.includes(c.kind) ? table.col(c.key).some((v) => v !== '') : table.num(c.key).some((v) => v > 0));
  return COLUMNS.filter((c) => ALWAYS.includes(c.key) || (table.has(c.key) && tells(c)));
}

// "miopen handed 40 calls (1.2 Tflop) on to rocblas"
export function layerWords(table) {
  const sums = new Map();
  for (let i = 0; i < (table ? table.rows : 0); i++) {
    const caller = table.col('caller')[i];
    if (!caller) continue;
    const key = `${caller} → ${table.col('library')[i]}`;
    const s = sums.get(key) || { calls: 0, flops: 0 };
    s.calls += Number(table.col('calls')[i]);
    s.flops += Number(table.col('flops')[i]);
    sums.set(key, s);
  }
  return [...sums].map(([key, s]) => `${key}: ${fmt.count(s.calls)} calls, ${fmt.si(s.flops, 'flop')}`);
}

export const libraries = {
  id: 'libraries',
  label: 'Libraries',
  about: 'needs a log of a library: a run with rocblas_trace, onednn_trace, nccl_trace or the like',
  available: (r) => Boolean(r.table('library_calls')),
  render: (panel, ctx) => {
    const words = layerWords(ctx.report.table('library_layers'));
    const table = ctx.report.table('library_calls');
    const columns = told(table);
    const view = new SplitTable(panel, ctx, {
      id: 'libraries', table, by: 'library', byLabel: 'Library', label: 'library calls', all: 'All libraries',
      words: (v) => v, sort: { key: 'flops', dir: -1 }, columnsFor: (c, library) => columns.filter((x) => x.key !== 'library' || library === ''),
    });
    if (words.length) append(panel, [h('p', { cls: 'muted' }, `Handed on from library to library, and counted once in the shares: ${words.join('; ')}.`)]);
    return view;
  },
};
