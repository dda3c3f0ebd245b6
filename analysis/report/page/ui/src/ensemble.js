// Ensemble: how the numbers of several runs differ. Each number with a dot for every run; the runs of the chosen one in a table of their own.

import { append, clear, h, name, s } from './dom.js';
import { DataTable } from './datatable.js';
import * as fmt from './format.js';
import { SplitTable } from './functions.js';
import { first, sections } from './sections.js';

// What an ensemble's number is counted in: a metric's key is name|unit|source, elsewhere the column's name ends in it.
export function unitOfRow(table, row) {
  const column = String(table.col('column')[row]);
  if (table.col('table')[row] === 'metrics') return String(table.col('key')[row]).split('|')[1] || '';
  return column.endsWith('_ns') ? 'ns' : column.endsWith('_j') ? 'J' : '';
}

const keyOf = (t, row) => `${t.col('table')[row]}\n${t.col('key')[row]}\n${t.col('column')[row]}`;

// Each number's values by run, in the order of the runs: Map key → { rows, runs, values }.
export function valuesOf(t) {
  const map = new Map();
  if (!t) return map;
  const [run, value] = [t.col('run'), t.num('value')];
  for (let i = 0; i < t.rows; i++) {
    const k = keyOf(t, i);
    if (!map.has(k)) map.set(k, { rows: [], runs: [], values: [] });
    const g = map.get(k);
    g.rows.push(i);
    g.runs.push(String(run[i]));
    g.values.push(value[i]);
  }
  return map;
}

// A dot for each run, from the smallest value to the largest; runs that stand out are diamonds, the mean's interval is a band.
export function dots(g, { low, high, mean, out = [], unit, width = 150, height = 18 }) {
  const known = g.values.filter(Number.isFinite);
  const [min, max] = [Math.min(...known), Math.max(...known)];
  const X = (v) => 7 + (max > min ? (Math.max(min, Math.min(max, v)) - min) / (max - min) : 0.5) * (width - 14);
  const y = height / 2;
  const words = g.runs.map((r, i) => `${r}: ${fmt.quantity(g.values[i], unit)}`);
  return s('svg', { class: 'dots', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': words.join(', ') }, s('title', null, words.join('\n')),
    max > min && fmt.known(low) && s('rect', { class: 'dots-band', x: X(low), y: 2, width: Math.max(1, X(high) - X(low)), height: height - 4 }),
    s('line', { class: 'dots-line', x1: 3, x2: width - 3, y1: y, y2: y }),
    max > min && fmt.known(mean) && s('line', { class: 'dots-mean', x1: X(mean), x2: X(mean), y1: 2, y2: height - 2 }),
    g.values.map((v, i) => Number.isFinite(v) && (out.includes(g.runs[i]) ? s('path', { class: 'dot-out', d: `M${X(v) - 5} ${y}l5 -5l5 5l-5 5z` }) : s('circle', { class: 'dot', cx: X(v), cy: y, r: 3.5 }))));
}

const COLUMNS = [
  { key: 'key', label: 'Row', kind: 'name', about: 'the identifying columns of the row, joined by |' },
  { key: 'column', label: 'Number', kind: 'text' },
  { key: 'runs', label: 'Runs', kind: 'count', about: 'that have this number' },
  { key: 'mean', label: 'Mean', kind: 'number', unitOf: unitOfRow },
  { key: 'stddev', label: 'Std dev', kind: 'number', unitOf: unitOfRow },
  { key: 'ci_low', label: 'From', kind: 'number', unitOf: unitOfRow, about: '95 % confidence interval of the mean' },
  { key: 'ci_high', label: 'To', kind: 'number', unitOf: unitOfRow, about: '95 % confidence interval of the mean' },
  { key: 'outlier_runs', label: 'Stands out', kind: 'text', about: 'runs far from the median, measured by the median deviation' },
];

class Ensemble {
  constructor(panel, ctx) {
    this.ctx = ctx;
    this.table = ctx.report.table('ensemble');
    this.each = ctx.report.table('ensemble_runs');
    this.values = valuesOf(this.each);
    this.detail = h('section', { cls: 'card ensemble-runs', tabindex: '-1', 'aria-label': 'runs of one number' });
    this.split = new SplitTable(panel, ctx, {
      id: 'ensemble', table: this.table, by: 'table', byLabel: 'Table', label: 'ensemble',
      words: (v) => v.replace(/_/g, ' '), sort: { key: 'runs', dir: -1 }, columnsFor: () => this.columns(), onchoose: () => this.showFirst(),
    });
    append(panel, [this.each && this.detail]);
    sections(panel, ctx, 'ensemble', [
      { table: 'runs', title: 'Runs', about: 'and what sets one apart from the others', sort: { key: 'outlier_rows', dir: -1 }, columns: () => [first('run', 'Run'), 'model:Model', 'status:Status', 'rows:Numbers', 'outlier_rows:Stands out in', 'sets_apart:Set apart by', 'analysis:Its own analysis'] },
      { table: 'ensemble_outliers', title: 'Numbers in which a run stands out', sort: { key: 'score', dir: -1 }, columns: (t) => [first('run', 'Run'), 'table:Table', 'key:Row', 'column:Number', { key: 'value', label: 'Value', kind: 'number', unitOf: unitOfRow }, { key: 'median', label: 'Median', kind: 'number', unitOf: unitOfRow }, { key: 'difference_rel', label: 'Difference', kind: 'number', unit: '%', text: (row) => { const v = t.col('difference_rel')[row]; return fmt.known(v) ? 100 * Number(v) : null; } }, { key: 'score', label: 'Score', kind: 'number' }] },
    ], false);
    this.showFirst();
  }

  runsOf(row) {
    return this.values.get(keyOf(this.table, row)) || null;
  }

  facts(row) {
    const of = (c) => this.table.col(c)[row];
    return { low: of('ci_low'), high: of('ci_high'), mean: of('mean'), out: String(of('outlier_runs') || '').split('|').filter(Boolean), unit: unitOfRow(this.table, row) };
  }

  columns() {
    if (!this.each) return COLUMNS;
    const link = (row) => (this.runsOf(row) ? { label: 'Show the runs', run: () => this.show(row, true) } : null);
    const drawn = { key: 'values', label: 'Each run', kind: 'drawn', draw: (row) => { const g = this.runsOf(row); return g && dots(g, this.facts(row)); } };
    return COLUMNS.flatMap((c) => (c.key === 'key' ? [{ ...c, link }] : c.key === 'outlier_runs' ? [drawn, c] : [c]));
  }

  // What stands out first, else the first row.
  showFirst() {
    const rows = this.split.data.rows.filter((r) => this.runsOf(r));
    const out = this.table.col('outlier_runs');
    this.show(rows.find((r) => out[r]) ?? rows[0], false);
  }

  show(row, focus) {
    if (!this.each) return;
    if (row === undefined) {
      clear(this.detail, h('p', { cls: 'muted' }, 'The numbers of these rows are not kept by run.'));
      return;
    }
    const g = this.runsOf(row);
    const f = this.facts(row);
    const median = [...g.values].sort((a, b) => a - b);
    const middle = (median[(median.length - 1) >> 1] + median[median.length >> 1]) / 2;
    const rest = this.each.col('value');
    clear(this.detail, h('h2', null, name(String(this.table.col('key')[row])), ' ', h('span', { cls: 'muted' }, `${this.table.col('column')[row]} of ${fmt.plural(g.runs.length, 'run')}`)),
      dots(g, { ...f, width: 560, height: 26 }), h('p', { cls: 'muted' }, 'A dot for each run, from the smallest to the largest; ', f.out.length ? 'diamonds stand out; ' : '', 'the band is the 95 % interval of the mean.'),
      new DataTable({
        table: this.each, rows: g.rows, label: 'runs of the number', sort: { key: 'value', dir: -1 },
        columns: [{ key: 'run', label: 'Run', kind: 'name' }, { key: 'value', label: 'Value', kind: 'number', unitOf: () => f.unit },
          { key: 'difference', label: 'From the median', kind: 'number', unit: '%', about: 'difference from the median, as a share of it', text: (r) => (middle !== 0 && fmt.known(rest[r]) ? (100 * (Number(rest[r]) - middle)) / Math.abs(middle) : null) },
          { key: 'out', label: 'Stands out', kind: 'text', text: (r) => (f.out.includes(String(this.each.col('run')[r])) ? 'yes' : '') }],
      }).el);
    if (focus) {
      this.detail.scrollIntoView({ block: 'nearest' });
      this.detail.focus({ preventScroll: true });
    }
  }

  setParams(p) {
    this.split.setParams(p);
    this.showFirst();
  }

  escape() {
    return this.split.escape();
  }

  focusFilter() {
    this.split.focusFilter();
  }
}

export const ensemble = {
  id: 'ensemble',
  tables: ['ensemble', 'ensemble_runs', 'ensemble_outliers', 'runs'],
  label: 'Ensemble',
  about: '',	// nothing is missing where there was one run
  available: (r) => Boolean(r.table('ensemble')),
  render: (panel, ctx) => new Ensemble(panel, ctx),
};
