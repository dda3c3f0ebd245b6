// Functions and kernels: every name with its calls and times.

import { append, segmented } from './dom.js';
import { DataTable } from './datatable.js';

const SCOPES = { host: 'Host functions', device: 'Device work' };

const FUNCTION_COLUMNS = [
  { key: 'name', label: 'Function', kind: 'name' },
  { key: 'category', label: 'Category', kind: 'text' },
  { key: 'calls', label: 'Calls', kind: 'count' },
  { key: 'share', label: 'Share', kind: 'share', about: 'own time divided by the own time of all rows of the scope' },
  { key: 'exclusive_ns', label: 'Own', kind: 'time', about: 'time in the function itself (exclusive)' },
  { key: 'inclusive_ns', label: 'Inclusive', kind: 'time', like: 'exclusive_ns', about: 'time in the function and what it called; recursion once' },
  { key: 'mean_ns', label: 'Mean', kind: 'time' },
  { key: 'median_ns', label: 'Median', kind: 'time', like: 'mean_ns' },
  { key: 'p95_ns', label: '95 %', kind: 'time', like: 'mean_ns', about: '95th percentile of the calls' },
  { key: 'min_ns', label: 'Min', kind: 'time', like: 'mean_ns' },
  { key: 'max_ns', label: 'Max', kind: 'time', like: 'mean_ns' },
  { key: 'stddev_ns', label: 'Std dev', kind: 'time', like: 'mean_ns' },
];

const KERNEL_COLUMNS = [
  { key: 'name', label: 'Kernel', kind: 'name' },
  { key: 'class', label: 'Class', kind: 'text' },
  { key: 'device', label: 'Device', kind: 'text' },
  { key: 'calls', label: 'Calls', kind: 'count' },
  { key: 'share', label: 'Share', kind: 'share', about: 'of all work on the same device' },
  { key: 'total_ns', label: 'Total', kind: 'time' },
  { key: 'mean_ns', label: 'Mean', kind: 'time' },
  { key: 'median_ns', label: 'Median', kind: 'time', like: 'mean_ns' },
  { key: 'min_ns', label: 'Min', kind: 'time', like: 'mean_ns' },
  { key: 'max_ns', label: 'Max', kind: 'time', like: 'mean_ns' },
];

// A share is of one device's work in the file; of all devices side by side it is of the work of all, so that it adds up to 100 %.
export function kernelColumns(report, device) {
  if (!report.table('kernels')) return KERNEL_COLUMNS;
  if (device !== '') return KERNEL_COLUMNS;
  const busy = report.table('busy');
  const total = report.table('kernels').num('total_ns');
  const all = (busy ? busy.num('sum_ns') : total).reduce((a, v) => a + (v || 0), 0);
  return KERNEL_COLUMNS.map((c) => (c.key !== 'share' ? c : { ...c, about: 'of the work on all devices', text: (row) => (all > 0 ? total[row] / all : null) }));
}

// "-exclusive_ns" ⇄ { key, dir }
export function parseSort(text, fallback) {
  if (!text) return fallback;
  return text.startsWith('-') ? { key: text.slice(1), dir: -1 } : { key: text, dir: 1 };
}

export const sortText = (s) => (s.dir < 0 ? '-' : '') + s.key;

// One table split by one column (scope, device) into a row of buttons, its state kept in the address.
export class SplitTable {
  constructor(panel, ctx, o) {
    Object.assign(this, { ctx, ...o });
    this.values = [...new Set(this.table.col(this.by))];
    const p = ctx.params(this.id);
    this.value = this.values.includes(p.get('')) ? p.get('') : this.all ? '' : this.values[0];
    const options = [...(this.all ? [['', this.all]] : []), ...this.values.map((v) => [v, this.words(v)])];
    this.buttons = options.length > 1 ? segmented(this.byLabel, options, this.value, (v) => this.choose(v)) : null;
    this.data = new DataTable({
      table: this.table, columns: this.columnsFor(ctx, this.value), rows: this.rowsOf(), label: this.label, filter: p.get('filter') || '',
      sort: parseSort(p.get('sort'), this.sort), onstate: () => this.store(false),
    });
    append(panel, [ctx.windowNote(`The table of ${this.label}`, this.id), this.buttons, this.data.el]);
    if (ctx.window()) this.windowed();
    ctx.on('window', () => this.windowed());
  }

  // The same of the selected window, where the table knows windows.
  windowed() {
    const t = this.ctx.shown().table(this.id);
    if (t === this.table) return;
    this.table = t;
    this.data.setTable(t, this.rowsOf(), this.columnsFor(this.ctx, this.value));
  }

  rowsOf() {
    const col = this.table.col(this.by);
    return col.map((v, i) => i).filter((i) => this.value === '' || col[i] === this.value);
  }

  choose(v) {
    this.value = v;
    this.data.setRows(this.rowsOf(), this.columnsFor(this.ctx, this.value));
    this.store(true);
    if (this.onchoose) this.onchoose();
  }

  setParams(p) {
    const v = p.get('');
    if (v !== undefined && v !== this.value && (this.values.includes(v) || (v === '' && this.all))) {
      this.value = v;
      if (this.buttons) this.buttons.set(v);
      this.data.setRows(this.rowsOf(), this.columnsFor(this.ctx, this.value));
    }
    this.data.sort = parseSort(p.get('sort'), this.sort);
    this.data.setFilter(p.get('filter') || '');
  }

  store(push) {
    const p = { '': this.value };
    if (this.data.filter) p.filter = this.data.filter;
    if (sortText(this.data.sort) !== sortText(this.sort)) p.sort = sortText(this.data.sort);
    this.ctx.store(this.id, p, push);
  }

  escape() {
    return this.data.escape();
  }

  focusFilter() {
    this.data.focusFilter();
  }
}

export const functions = {
  id: 'functions',
  tables: ['functions'],
  label: 'Functions',
  about: 'needs the functions table: a trace with calls or device work',
  available: (r) => Boolean(r.table('functions')),
  render: (panel, ctx) => new SplitTable(panel, ctx, {
    id: 'functions', table: ctx.report.table('functions'), by: 'scope', byLabel: 'Scope', label: 'functions',
    words: (v) => SCOPES[v] || v, sort: { key: 'exclusive_ns', dir: -1 },
    columnsFor: (c, scope) => FUNCTION_COLUMNS.filter((x) => scope !== 'device' || x.key !== 'inclusive_ns').map((x) => (x.key === 'name' && scope === 'device' ? { ...x, short: (n) => c.report.shownName(n) } : x.key === 'name' && c.has('flame') ? {
      ...x,
      link: (row) => {
        const t = c.shown().table('functions');
        const name = t.col('name')[row];
        return t.col('scope')[row] === 'host' ? { label: 'Show in the flame graph', run: () => c.go('flame', { '': 'time', q: name }) } : null;
      },
    } : x)),
  }),
};

export const kernels = {
  id: 'kernels',
  tables: ['kernels'],
  label: 'Kernels',
  about: 'needs device work: a trace of kernels, copies or fills',
  available: (r) => Boolean(r.table('kernels')),
  render: (panel, ctx) => new SplitTable(panel, ctx, {
    id: 'kernels', table: ctx.report.table('kernels'), by: 'device', byLabel: 'Device', label: 'kernels', all: 'All devices',
    words: (v) => v, sort: { key: 'total_ns', dir: -1 }, columnsFor: (c, device) => kernelColumns(c.shown(), device).map((x) => (x.key === 'name' ? { ...x, short: (n) => c.report.shownName(n) } : x)),
  }),
};
