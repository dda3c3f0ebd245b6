// A table that answers by sorting and filtering. Only the rows asked for enter the document; copying takes all that match.
//
//   new DataTable({ table, columns, rows, sort, filter, label, onstate }).el
//     columns: [{ key, label, kind, text?, link?, mayLack?, extra? }], kind: text name count time energy power bytes share number flags
//     rows: indexes into the table (default all);  text(row): a derived cell;  link(row): what a click on the name does; mayLack: a name that may be empty;
//     unitOf(table, row): the unit of each cell where a column has no common one; draw(row): an element, by which nothing is sorted

import { announce, clear, copyText, h, name as nameEl } from './dom.js';
import * as fmt from './format.js';
import { flagsOf, flagWords, isCoarse, isEstimated } from './facts.js';

const STEP = 200;
const WIDE = 11; // of more columns those marked extra wait for a press
const CEILING = 5000;
const NUMERIC = new Set(['count', 'time', 'energy', 'power', 'bytes', 'share', 'number']);
const UNIT_OF = { time: 'ns', energy: 'J', power: 'W', bytes: 'B' };

export class DataTable {
  constructor(opts) {
    Object.assign(this, { columns: [], label: 'table', filter: '', sort: null, flags: 'flags', scaleBy: null }, opts);
    this.all = opts.rows || Array.from({ length: opts.table.rows }, (_, i) => i);
    this.setColumns(this.columns);
    if (!this.sort) this.sort = { key: this.columns[0].key, dir: 1 };
    this.shown = STEP;
    this.build();
    this.apply();
  }

  build() {
    this.input = h('input', {
      type: 'search', cls: 'filter', placeholder: 'Filter  ( / )', 'aria-label': `Filter ${this.label}`,
      value: this.filter, autocomplete: 'off', spellcheck: 'false',
      oninput: () => { this.filter = this.input.value; this.shown = STEP; this.apply(); this.tell(); },
    });
    this.info = h('span', { cls: 'muted table-info', role: 'status' });
    const copy = h('button', { type: 'button', cls: 'quiet', onclick: () => this.copy() }, 'Copy as CSV');
    this.widthButton = h('button', { type: 'button', cls: 'quiet all-columns', hidden: true, onclick: () => this.widen() });
    this.head = h('tr');
    this.body = h('tbody');
    this.caption = h('caption', { cls: 'visually-hidden' }, this.label);
    this.scroller = h('div', { cls: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': this.label },
      h('table', { cls: 'data' }, this.caption, h('thead', null, this.head), this.body));
    this.more = h('div', { cls: 'table-more' });
    this.el = h('div', { cls: 'table-box' },
      h('div', { cls: 'toolbar' }, this.input, this.info, h('span', { cls: 'spring' }), this.widthButton, copy), this.scroller, this.more);
    this.looks();
  }

  setColumns(columns) {
    const said = (c) => c.kind !== 'text' || this.table.col(c.key).some((v) => v !== null && v !== '');
    this.wanted = columns;
    const all = columns.filter((c) => c.text || c.draw || (this.table.has(c.key) && said(c)));
    this.hides = all.length > WIDE && all.some((c) => c.extra);
    this.columns = this.hides && !this.wide ? all.filter((c) => !c.extra) : all;
    if (this.el) this.looks();
  }

  // Of many columns each takes less room, of few each may be wide.
  looks() {
    const t = this.el.querySelector('table');
    this.widthButton.hidden = !this.hides;
    this.widthButton.textContent = this.wide ? 'Fewer columns' : 'All columns';
    t.classList.toggle('dense', this.columns.length > 8);
    t.classList.toggle('denser', this.columns.length > 11);
    t.classList.toggle('roomy', this.columns.length < 8 && this.columns.filter((c) => c.kind === 'text').length <= 3);
  }

  widen() {
    this.wide = !this.wide;
    this.setColumns(this.wanted);
    this.apply();
  }

  setRows(rows, columns) {
    this.all = rows;
    if (columns) this.setColumns(columns);
    this.shown = STEP;
    this.apply();
  }

  // Another table with the same columns.
  setTable(table, rows, columns) {
    this.table = table;
    this.setRows(rows || Array.from({ length: table.rows }, (_, i) => i), columns);
  }

  setFilter(text) {
    this.filter = text;
    this.input.value = text;
    this.shown = STEP;
    this.apply();
    this.tell();
  }

  setSort(key, dir) {
    this.sort = { key, dir };
    this.shown = STEP;
    this.apply();
    this.tell();
    const c = this.columns.find((x) => x.key === key);
    announce(`sorted by ${c ? c.label : key}, ${dir < 0 ? 'largest' : 'smallest'} first`);
  }

  tell() {
    if (this.onstate) this.onstate({ filter: this.filter, sort: this.sort });
  }

  value(c, row) {
    return c.text ? c.text(row) : this.table.col(c.key)[row];
  }

  apply() {
    this.match();
    this.order();
    this.scales();
    this.drawHead();
    this.drawBody();
  }

  match() {
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const cols = this.columns.filter((c) => !NUMERIC.has(c.kind));
    this.rows = !words.length ? this.all.slice() : this.all.filter((r) => {
      const text = cols.map((c) => [this.value(c, r) ?? '', c.short ? c.short(String(this.value(c, r) ?? '')) : '']).flat().join('\n').toLowerCase();
      return words.every((w) => text.includes(w));
    });
  }

  order() {
    const c = this.columns.find((x) => x.key === this.sort.key);
    if (!c) return;
    const { dir } = this.sort;
    const key = new Map();
    if (NUMERIC.has(c.kind)) {
      for (const r of this.rows) {
        const v = this.value(c, r);
        key.set(r, fmt.known(v) ? Number(v) : NaN);
      }
      // Unknown values stand last in either direction; equal ones keep the order of the table file.
      this.rows.sort((a, b) => {
        const x = key.get(a);
        const y = key.get(b);
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
        return (x - y) * dir || a - b;
      });
      return;
    }
    for (const r of this.rows) key.set(r, String(this.value(c, r) ?? ''));
    this.rows.sort((a, b) => (key.get(a) < key.get(b) ? -dir : key.get(a) > key.get(b) ? dir : a - b));
  }

  scales() {
    for (const c of this.columns) {
      c.max = 0;
      c.scale = { div: 1, unit: c.kind === 'share' ? '%' : c.unit || '' };
      if (!UNIT_OF[c.kind] && c.kind !== 'share') continue;
      const values = this.rows.map((r) => Number(this.value(c, r)));
      for (const v of values) if (v > c.max && Number.isFinite(v)) c.max = v;
      if (UNIT_OF[c.kind]) c.scale = fmt.columnScale(c.kind, values);
    }
    // An uncertainty stands in the unit of what it belongs to.
    for (const c of this.columns) {
      const of = c.like && [c.like].flat().map((k) => this.columns.find((x) => x.key === k)).find(Boolean);
      if (of) c.scale = of.scale;
    }
  }

  drawHead() {
    clear(this.head, this.columns.map((c) => {
      if (c.draw) return h('th', { scope: 'col', cls: `k-${c.kind}` }, h('span', { cls: 'th-label th-drawn' }, c.label));
      const on = c.key === this.sort.key;
      const numeric = NUMERIC.has(c.kind);
      const next = on ? -this.sort.dir : numeric ? -1 : 1;
      return h('th', {
        scope: 'col', cls: `k-${c.kind}`, 'aria-sort': on ? (this.sort.dir < 0 ? 'descending' : 'ascending') : 'none',
      }, h('button', { type: 'button', title: this.headTitle(c), onclick: () => this.resort(c.key, next) },
        h('span', { cls: 'th-label' }, c.label, ' ', c.scale.unit && h('span', { cls: 'unit' }, c.scale.unit)),
        h('span', { cls: 'arrow', 'aria-hidden': 'true' }, on ? (this.sort.dir < 0 ? '▼' : '▲') : '')));
    }));
  }

  headTitle(c) {
    return `${c.about || c.label}: column ${c.key} of tables/${this.table.name}.csv. Press to sort.`;
  }

  // Redrawing the header replaces the pressed button: the focus has to follow it.
  resort(key, dir) {
    this.setSort(key, dir);
    const i = this.columns.findIndex((c) => c.key === key);
    this.head.children[i].querySelector('button').focus({ preventScroll: true });
  }

  drawBody() {
    const n = Math.min(this.shown, this.rows.length);
    clear(this.body, this.rows.slice(0, n).map((r) => this.row(r)));
    if (!this.rows.length) {
      clear(this.body, h('tr', { cls: 'empty' }, h('td', { colspan: this.columns.length },
        this.all.length ? `No row matches “${this.filter}”. Press Esc to clear the filter.` : 'No rows.')));
    }
    const cut = this.table.cut;
    clear(this.info, this.rows.length === this.all.length ? fmt.plural(this.all.length, 'row')
      : `${fmt.group(this.rows.length)} of ${fmt.plural(this.all.length, 'row')}`);
    clear(this.more,
      n < this.rows.length && n < CEILING && h('button', { type: 'button', onclick: () => this.showMore() },
        `Show ${Math.min(STEP, this.rows.length - n)} more`),
      n < this.rows.length && h('span', { cls: 'muted' }, ` ${fmt.group(n)} of ${fmt.group(this.rows.length)} rows shown` +
        (n >= CEILING ? '; filter to see others, or open the CSV file.' : '.')),
      cut && h('span', { cls: 'muted cut' }, ` ${cut.text}`));
  }

  showMore() {
    const first = Math.min(this.shown, this.rows.length);
    this.shown = Math.min(this.shown + STEP, CEILING);
    this.drawBody();
    const button = this.more.querySelector('button');
    if (button) button.focus({ preventScroll: true });
    announce(`rows ${first + 1} to ${Math.min(this.shown, this.rows.length)} added`);
  }

  row(r) {
    return h('tr', null, this.columns.map((c, i) => {
      const td = this.cell(c, r);
      if (i === 0) td.setAttribute('data-first', '');
      return td;
    }));
  }

  cell(c, r) {
    const v = this.value(c, r);
    const cls = `k-${c.kind}`;
    if (c.draw) return h('td', { cls }, c.draw(r));
    if (c.unitOf) return h('td', { cls, title: fmt.exact(v, c.unitOf(this.table, r)) }, fmt.quantity(v, c.unitOf(this.table, r)));
    switch (c.kind) {
      case 'name': {
        if (c.mayLack && !v) return h('td', { cls });
        const go = c.link && c.link(r);
        const full = v === null || v === undefined ? '' : String(v);
        const label = nameEl(c.short ? c.short(full) : full, full ? { title: full } : {});
        return h('td', { cls }, go ? h('button', { type: 'button', cls: 'link', onclick: go.run, 'aria-label': `${go.label}: ${v}` }, label) : label);
      }
      case 'count':
        return h('td', { cls, title: fmt.exact(v) }, fmt.count(v));
      case 'share':
        return this.shareCell(c, r, v);
      case 'flags':
        return h('td', { cls, title: flagWords(v).join('; ') }, flagsOf(v).map((f) =>
          h('span', { cls: `flag flag-${f}` }, f.replace(/_/g, ' '))));
      case 'time': case 'energy': case 'power': case 'bytes': case 'number': {
        const [text, pad] = fmt.cell(v, c.scale.div);
        return h('td', { cls, title: fmt.exact(v, UNIT_OF[c.kind] || c.unit || '') }, text,
          pad && h('span', { cls: 'pad', 'aria-hidden': 'true' }, pad));
      }
      default:
        return h('td', { cls: c.wide ? `${cls} wide` : cls }, v === null || v === undefined ? '' : h('bdi', { title: String(v) }, c.short ? c.short(String(v)) : String(v)));
    }
  }

  // Shares carry a bar; it is hatched where the number is an estimate or below what the sensor resolves.
  shareCell(c, r, v) {
    const flags = this.table.has(this.flags) ? this.table.col(this.flags)[r] : '';
    const hatched = isEstimated(flags) || isCoarse(flags);
    const width = fmt.known(v) && c.max > 0 ? Math.max(0, Number(v) / Math.max(c.max, 1e-12)) * 100 : 0;
    const [text, pad] = fmt.known(v) ? fmt.cell(Number(v) * 100, 1) : [fmt.UNKNOWN, ''];
    return h('td', { cls: 'k-share', title: fmt.known(v) ? `${Number(v) * 100}\u00a0%` : 'unknown' },
      h('span', { cls: `bar${hatched ? ' hatched' : ''}`, 'aria-hidden': 'true' }, h('span', { style: { width: `${width}%` } })), text,
      h('span', { cls: 'pad', 'aria-hidden': 'true' }, pad));
  }

  csv() {
    const cols = this.table.columns;
    const lines = [cols.map((c) => fmt.csvField(c.name)).join(',')];
    for (const r of this.rows) lines.push(cols.map((c) => fmt.csvField(this.table.col(c.name)[r])).join(','));
    return `${lines.join('\r\n')}\r\n`;
  }

  copy() {
    return copyText(this.csv(), fmt.plural(this.rows.length, 'row'));
  }

  // What Esc clears first. true when there was something.
  escape() {
    if (!this.filter) return false;
    this.setFilter('');
    return true;
  }

  focusFilter() {
    this.input.focus();
    this.input.select();
  }
}

// Small fixed tables of the Run tab: header words and rows of nodes or strings.
export function plainTable(label, heads, rows, cls = '') {
  return h('div', { cls: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': label },
    h('table', { cls: `data plain ${cls}` }, h('caption', { cls: 'visually-hidden' }, label),
      h('thead', null, h('tr', null, heads.map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, rows.map((cells) => h('tr', null, cells.map((c) => h('td', null, c)))))));
}
