// Single long calls, one by one: when each began, how long it lasted, what it cost.

import { clear, h } from './dom.js';
import { DataTable } from './datatable.js';
import * as fmt from './format.js';

const COLUMNS = [
  { key: 'name', label: 'Call', kind: 'name' },
  { key: 'track', label: 'Track', kind: 'text' },
  { key: 'start_ns', label: 'Start', kind: 'time', about: 'when it began, from the start of the recording' },
  { key: 'duration_ns', label: 'Duration', kind: 'time' },
  { key: 'best_j', label: 'Energy', kind: 'energy', about: 'of all that ran below it while it was open; by time or by power, the one of the narrower interval' },
  { key: 'best_uncertainty_j', label: '±', kind: 'energy', like: 'best_j', about: 'half-width of the 95 % interval' },
  { key: 'estimate', label: 'Divided by', kind: 'text', about: 'by time or by power' },
  { key: 'mean_w', label: 'Mean power', kind: 'power' },
  { key: 'flags', label: 'Notes', kind: 'flags' },
];

export class LongCalls {
  constructor(ctx) {
    this.table = ctx.report.table('energy_calls');
    this.note = h('p', { cls: 'muted' });
    this.el = h('section', { cls: 'long-calls', hidden: true, 'aria-label': 'energy of single calls' }, h('h2', null, 'Single calls'), this.note);
  }

  show({ counter, device, view }) {
    const col = (c) => this.table.col(c);
    const rows = !this.table ? [] : [...Array(this.table.rows).keys()].filter((i) => col('counter')[i] === counter && col('device')[i] === device && col('view')[i] === view);
    this.el.hidden = !rows.length;
    if (!rows.length) return;
    const tracks = new Set(rows.map((i) => col('track')[i]));
    const columns = COLUMNS.filter((c) => c.key !== 'track' || tracks.size > 1);
    const part = Math.min(...rows.map((i) => Number(col('covered')[i])));
    clear(this.note, `The longest ${view === 'device' ? 'pieces of device work' : 'calls'} that last four periods of the sensor or more, with all that ran below them.${
      part < 0.995 ? ` Of some only a part was kept (at least ${fmt.percent(part)}); the rest is taken to be like it.` : ''}`);
    if (this.data) this.data.setRows(rows, columns);
    else {
      this.data = new DataTable({ table: this.table, columns, rows, label: 'energy of single calls', sort: { key: 'best_j', dir: -1 } });
      this.el.append(this.data.el);
    }
  }
}
