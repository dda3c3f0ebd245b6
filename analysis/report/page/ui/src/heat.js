// Heat maps: rows of cells in colours of viridis, with a cursor that the keyboard moves and words for the cell below it; and tables whose
// cells have such colours.

import { announce, append, clear, h, name } from './dom.js';

// Viridis at eleven points, from little to much.
const VIRIDIS = ['#440154', '#482576', '#414487', '#35608d', '#2a788e', '#21908d', '#22a884', '#43bf71', '#7ad151', '#bcdf27', '#fde725'];
const rgb = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
export function viridis(share) {
  const at = Math.max(0, Math.min(1, share)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const [a, b] = [rgb(VIRIDIS[i]), rgb(VIRIDIS[i + 1])];
  return `rgb(${a.map((v, k) => Math.round(v + (b[k] - v) * (at - i))).join(',')})`;
}

// Black or white, whichever can be read on it.
const light = (c) => { const x = Number(c) / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
export function ink(color) {
  const [r, g, b] = color.slice(4, -1).split(',').map(light);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
}

export function scale(low, high, words) {
  return h('p', { cls: 'muted heat-scale' }, low, ' ', h('span', { cls: 'heat-ramp', 'aria-hidden': 'true', style: { background: `linear-gradient(90deg, ${VIRIDIS.join(',')})` } }), ' ', high, words && ` ${words}`);
}

// The largest of v[a..b), NaN where none is known.
function most(v, a, b) {
  let m = NaN;
  for (let i = a; i < b; i++) if (!(v[i] <= m) && !Number.isNaN(v[i])) m = v[i];
  return m;
}

// The value up to which colours tell values apart: all but the largest of a hundred lie below it.
export function clipOf(rows) {
  const v = rows.flatMap((r) => Array.from(r.values).filter((x) => x > 0)).sort((a, b) => a - b);
  return v.length ? v[Math.floor((v.length - 1) * 0.99)] : 1;
}

// Rows of cells, as many as there are pixels: where there are more, one shows the largest of several.
//
//	const g = new HeatGrid({ label, words, onpress });	words(row, from, to): what the cells from..to-1 of a row are
//	g.show(rows, columns)				rows: [{ label, title?, side?, values, paint? }]
//	g.el
//
// values: numbers from 0 to 1 by column, NaN: no cell there. paint(context, x, from, to, height) draws a column of a row otherwise.
export class HeatGrid {
  constructor({ label, words, onpress = null, height = 1 }) {
    Object.assign(this, { label, words, onpress, height, rows: [], columns: 0, at: null });
    this.read = h('p', { cls: 'heat-read' });
    this.grid = h('div', { cls: 'heat', tabindex: '0', role: 'group', 'aria-label': `${label}. Arrows move from cell to cell.`, onkeydown: (e) => this.key(e) });
    this.el = h('div', { cls: 'heat-box' }, this.grid, this.read);
    new ResizeObserver(() => this.fit()).observe(this.grid);
  }

  show(rows, columns) {
    Object.assign(this, { rows, columns, at: null, shown: 0 });
    this.lines = rows.map((r, i) => {
      const canvas = h('canvas', { cls: 'heat-row', role: 'img', 'aria-label': [r.label, r.side].filter(Boolean).join(': '), onclick: (e) => { this.point(i, e); this.press(); }, onpointermove: (e) => this.point(i, e) });
      const mark = h('span', { cls: 'heat-mark', hidden: true, 'aria-hidden': 'true' });
      return { canvas, mark, line: [name(r.label, { title: r.title || r.label }), h('div', { cls: 'heat-line' }, canvas, mark), h('span', { cls: 'muted' }, r.side || '')] };
    });
    clear(this.grid, this.lines.map((l) => l.line));
    this.say();
    this.fit();
  }

  // As many columns as there is room for.
  fit() {
    const room = this.lines && this.lines.length ? this.lines[0].canvas.clientWidth : 0;
    const n = Math.max(1, Math.min(this.columns, room || this.columns));
    if (n === this.shown) return;
    this.shown = n;
    this.lines.forEach((l, i) => this.paint(l.canvas, this.rows[i]));
    this.mark();
  }

  span(x) {
    return [Math.floor((x * this.columns) / this.shown), Math.max(Math.floor((x * this.columns) / this.shown) + 1, Math.floor(((x + 1) * this.columns) / this.shown))];
  }

  paint(canvas, r) {
    Object.assign(canvas, { width: this.shown, height: this.height });
    const g = canvas.getContext('2d');
    for (let x = 0; x < this.shown; x++) {
      const [a, b] = this.span(x);
      if (r.paint) r.paint(g, x, a, b, this.height);
      else {
        const v = most(r.values, a, b);
        if (Number.isNaN(v)) continue;
        g.fillStyle = viridis(v);
        g.fillRect(x, 0, 1, this.height);
      }
    }
  }

  point(row, e) {
    const box = this.lines[row].canvas.getBoundingClientRect();
    this.move(row, Math.floor(((e.clientX - box.left) / box.width) * this.shown));
  }

  move(row, x, aloud) {
    this.at = [Math.max(0, Math.min(this.rows.length - 1, row)), Math.max(0, Math.min(this.shown - 1, x))];
    this.mark();
    this.say(aloud);
  }

  mark() {
    if (!this.lines) return;
    this.lines.forEach((l, i) => {
      l.mark.hidden = !this.at || this.at[0] !== i;
      if (!l.mark.hidden) l.mark.style.left = `${(100 * (this.at[1] + 0.5)) / this.shown}%`;
    });
  }

  say(aloud) {
    const words = this.at ? this.words(this.at[0], ...this.span(this.at[1])) : 'Arrows, or the pointer, say what a cell is.';
    clear(this.read, this.at ? words : h('span', { cls: 'muted' }, words));
    if (aloud) announce(words);
  }

  press() {
    if (this.onpress && this.at) this.onpress(this.at[0], ...this.span(this.at[1]));
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const [r, x] = this.at || [0, -1];
    const to = { ArrowRight: [r, x + 1], ArrowLeft: [r, x - 1], ArrowDown: [this.at ? r + 1 : 0, Math.max(0, x)], ArrowUp: [r - 1, Math.max(0, x)], Home: [r, 0], End: [r, this.shown - 1] }[e.key];
    if (!to && e.key !== 'Enter') return;
    e.preventDefault();
    if (to) this.move(to[0], to[1], true);
    else this.press();
  }
}

// A table with a colour behind each number: rows: [{ name, short?, of: Map column → value }].
export function heatTable(label, head, columns, rows, format) {
  const largest = Math.max(...rows.flatMap((r) => [...r.of.values()]));
  return append(h('div', { cls: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': label }), [
    h('table', { cls: 'data plain heat-table' }, h('caption', { cls: 'visually-hidden' }, label),
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, head), columns.map(([, words]) => h('th', { scope: 'col' }, name(words))))),
      h('tbody', null, rows.map((r) => h('tr', null, h('td', null, name(r.short || r.name, { title: r.name })), columns.map(([key, words]) => {
        const v = r.of.get(key) || 0;
        const color = viridis(v / largest);
        return h('td', { cls: 'heat-cell', style: v > 0 ? { background: color, color: ink(color) } : {}, title: `${r.name}, ${words}: ${v > 0 ? format(v) : 'none'}` }, v > 0 ? format(v) : '');
      }))))),
  ]);
}
