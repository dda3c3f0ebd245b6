// Timeline: device lanes, host threads and counters over one axis of time. Drag, wheel and keys move through it, a click says
// what a span is and what launched it, a measured stretch is the window of the whole page.

import { announce, append, clear, h, name as nameEl, placeTip, visible } from './dom.js';
import { DataTable } from './datatable.js';
import * as fmt from './format.js';
import { chartsOf, seriesOf } from './series.js';
import { AXIS, COUNTER, GAP, overviewBars, Painter, ROW } from './spanpaint.js';
import { drawSums, showDetails } from './spanwords.js';

const OVERVIEW = 40;
const MAX_COUNTERS = 8;
const LEAST_NS = 20;
const OPEN_ROWS = 60;

const LANE_COLUMNS = [
  { key: 'name', label: 'Lane', kind: 'name' },
  { key: 'device', label: 'Device', kind: 'text' },
  { key: 'spans', label: 'Spans', kind: 'count' },
  { key: 'exact', label: 'Drawn one by one', kind: 'count' },
  { key: 'binned', label: 'In bins', kind: 'count', about: 'spans too short to be drawn one by one' },
  { key: 'left_out', label: 'Not drawn', kind: 'count', about: 'deeper than the rows of the lane' },
  { key: 'longest_binned_ns', label: 'Longest in bins', kind: 'time' },
  { key: 'bin_ns', label: 'Bin', kind: 'time', about: 'length of a bin' },
];

// Columns that say nothing where every span is drawn by itself.
const BINS = new Set(['binned', 'left_out', 'longest_binned_ns', 'bin_ns']);

export const id = 'timeline';
export const label = 'Timeline';
export const tables = ['lanes', 'lane_spans', 'lane_bins'];
export const about = 'needs single calls or device work';
export const available = (r) => Boolean(r.table('lanes') && (r.table('lane_spans') || r.table('lane_bins')));

// What is drawn and what is not, in one sentence.
export function binnedWords(lanes) {
  const sum = (k) => lanes.reduce((a, l) => a + l[k], 0);
  const [spans, binned, left] = [sum('spans'), sum('binned'), sum('leftOut')];
  const one = lanes.find((l) => l.binned);
  const parts = [`${fmt.group(spans - binned - left)} of ${fmt.plural(spans, 'span')} are drawn one by one`];
  if (binned) parts.push(`${fmt.group(binned)} short ones in bins of ${fmt.time(one.bin)}, as high as they are busy`);
  if (left) parts.push(`${fmt.group(left)} deeper ones not at all`);
  return `${parts.join(', ')}.`;
}

class Timeline {
  constructor(panel, ctx) {
    this.ctx = ctx;
    this.lanes = ctx.lanes();
    this.painter = new Painter(this.lanes);
    [this.t0, this.t1] = this.lanes.extent;
    this.selected = null;
    this.match = null;
    this.marksAt = (ctx.report.table('iterations') ? ctx.report.table('iterations').num('start_ns') : []).slice(0, 5000);
    this.counters = this.findCounters();
    this.foldSome();
    this.build(panel);
    this.layout();
    ctx.on('theme', () => this.theme());
    ctx.on('window', () => { this.draw(); drawSums(this); });
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.setParams(ctx.params(id));
    this.theme();
    drawSums(this);
  }

  findCounters() {
    return chartsOf(seriesOf(this.ctx.report)).flatMap((c) => c.series.map((s) => ({
      s, text: visible(`${s.label} ${c.title.replace(/^Power from /, 'power, ').replace(/^[A-Z](?=[a-z])/, (x) => x.toLowerCase())}`.trim()), max: s.max.reduce((a, v) => (Number.isFinite(v) && v > a ? v : a), 0), y: 0,
      firstAfter: (t) => {
        let lo = 0;
        let hi = s.t.length;
        while (lo < hi) {
          const mid = (lo + hi) >> 1;
          if (s.t[mid] > t) hi = mid;
          else lo = mid + 1;
        }
        return Math.max(0, lo - 1);
      },
    }))).slice(0, MAX_COUNTERS);
  }

  // Of many threads only the first ones stand open.
  foldSome() {
    let rows = 0;
    for (const l of this.lanes.byId) {
      l.folded = l.kind !== 'queue' && rows + l.rows.length > OPEN_ROWS;
      rows += l.folded ? 1 : l.rows.length;
    }
  }

  build(panel) {
    this.pathOn = false;
    const button = (text, title, run) => h('button', { type: 'button', title, 'aria-label': title, onclick: run }, text);
    this.search = h('input', { type: 'search', cls: 'filter', placeholder: 'Search  ( / )', 'aria-label': 'Search spans by name', autocomplete: 'off', spellcheck: 'false',
      oninput: () => this.find(this.search.value), onkeydown: (e) => { if (e.key === 'Enter') { e.preventDefault(); this.next(e.shiftKey ? -1 : 1); } } });
    this.found = h('span', { cls: 'muted', role: 'status' });
    this.measure = h('button', { type: 'button', 'aria-pressed': 'false', title: 'Drag measures instead of moving (also Shift and drag, or m twice)', onclick: () => this.setMeasure(this.measure.getAttribute('aria-pressed') !== 'true') }, 'Measure');
    this.over = h('canvas', { cls: 'spans-overview', role: 'img', 'aria-label': 'The whole recording: share of time by category', onpointerdown: (e) => this.overDown(e) });
    this.canvas = h('canvas', { cls: 'spans-canvas', tabindex: '0', role: 'application', 'aria-label': 'Timeline. Plus and minus zoom, a and d move, f shows all, arrows step through spans, brackets follow a launch, m measures.',
      onpointerdown: (e) => this.down(e), onpointermove: (e) => this.hover(e), onpointerleave: () => { this.tip.hidden = true; }, onkeydown: (e) => this.key(e), ondblclick: (e) => this.magnify(e) });
    this.canvas.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    this.spacer = h('div');
    this.box = h('div', { cls: 'spans-box', onscroll: () => this.draw() }, this.canvas, this.spacer);
    this.tip = h('div', { cls: 'tip', role: 'tooltip', hidden: true });
    this.details = h('section', { cls: 'card span-details', 'aria-live': 'polite', 'aria-label': 'selected span' });
    this.sumBox = h('section', { cls: 'card span-sums', 'aria-label': 'measured stretch', hidden: true });
    const weight = this.lanes.weight;
    const cats = [...weight.keys()].filter((c) => weight[c] > 0).sort((a, b) => weight[b] - weight[a]);
    this.data = new DataTable({ table: this.ctx.report.table('lanes'), columns: LANE_COLUMNS.filter((c) => !BINS.has(c.key) || this.ctx.report.table('lanes').num(c.key).some((v) => v > 0)), label: 'lanes', sort: { key: 'lane', dir: 1 } });
    append(panel, [
      h('div', { cls: 'toolbar' }, this.search, button('‹', 'Previous match', () => this.next(-1)), button('›', 'Next match', () => this.next(1)), this.found, h('span', { cls: 'spring' }),
        this.lanes.hasPath && (this.pathButton = h('button', { type: 'button', 'aria-pressed': 'false', title: 'Only what lies on the critical path is bright', onclick: () => this.setPath(!this.pathOn) }, 'Critical path')),
        this.measure, button('−', 'Zoom out', () => this.zoom(2)), button('+', 'Zoom in', () => this.zoom(0.5)), button('All', 'Show the whole recording (f)', () => this.fit())),
      this.over, this.box, this.tip,
      h('ul', { cls: 'legend span-legend' }, cats.slice(0, 14).map((c) => h('li', null, h('span', { cls: 'swatch', 'aria-hidden': 'true', style: { background: this.lanes.colors[c] } }), nameEl(this.lanes.cats[c] || 'no category'))),
        cats.length > 14 && h('li', { cls: 'muted' }, `and ${cats.length - 14} more`)),
      this.madeLegend('idle', 'Nothing ran because of'), this.madeLegend('path', 'On the critical path'),
      h('p', { cls: 'muted span-note' }, binnedWords(this.lanes.byId)),
      this.details, this.sumBox, h('h2', { cls: 'section' }, 'Lanes'), this.data.el,
    ]);
    showDetails(this);
  }

  // The colours of gaps or of the critical path, with their words.
  madeLegend(kind, words) {
    const seen = [...new Set(this.lanes.lanes.filter((l) => l.kind === kind).flatMap((l) => [...new Set(l.rows[0].cat)]))];
    return seen.length ? h('ul', { cls: 'legend span-legend' }, h('li', { cls: 'muted' }, words), seen.map((c) => h('li', null, h('span', { cls: 'swatch', 'aria-hidden': 'true', style: { background: this.lanes.colors[c] } }), this.lanes.cats[c].replace(/^\w+: /, '')))) : null;
  }

  // ---- places ----

  layout() {
    const rows = [];
    const names = [];
    let y = AXIS + 4;
    for (const l of this.lanes.lanes) {
      if (!l.rows.length) continue;
      const shown = l.folded ? l.rows.slice(0, 1) : l.rows;
      const mark = l.rows.length > 1 ? (l.folded ? '▸ ' : '▾ ') : '';
      names.push({ lane: l, y, h: ROW, text: mark + visible(l.name) });
      for (const row of shown) {
        rows.push({ row, y });
        y += ROW;
      }
      y += GAP;
    }
    for (const c of this.counters) {
      c.y = y;
      names.push({ y, h: ROW, text: c.text }, { y: y + ROW, h: ROW, text: `to ${fmt.quantity(c.max, c.s.unit).replace(/\u00a0/g, ' ')}` });
      y += COUNTER + GAP;
    }
    this.rows = rows;
    this.rowNames = names;
    this.total = y + 4;
    this.resize();
  }

  resize() {
    const width = this.box.clientWidth;
    if (!width) return;
    this.width = width;
    this.left = width < 600 ? 84 : 190;
    this.height = Math.max(120, Math.min(this.total, Math.round(window.innerHeight * 0.56)));
    this.box.style.height = `${this.height + 2}px`;
    this.spacer.style.height = `${Math.max(0, this.total - this.height)}px`;
    this.g = this.fitCanvas(this.canvas, width, this.height);
    this.og = this.fitCanvas(this.over, width, OVERVIEW);
    this.draw();
  }

  fitCanvas(canvas, w, ht) {
    const dpr = window.devicePixelRatio || 1;
    canvas.width = Math.round(w * dpr);
    canvas.height = Math.round(ht * dpr);
    canvas.style.width = `${w}px`;
    canvas.style.height = `${ht}px`;
    const g = canvas.getContext('2d');
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    return g;
  }

  theme() {
    const css = getComputedStyle(document.documentElement);
    this.css = Object.fromEntries(['card', 'text', 'muted', 'line', 'accent', 'bar'].map((k) => [k, css.getPropertyValue(`--${k}`).trim()]));
    this.draw();
  }

  toT(clientX) {
    return this.t0 + ((clientX - this.canvas.getBoundingClientRect().left - this.left) / (this.width - this.left)) * (this.t1 - this.t0);
  }

  rowAt(clientY) {
    const y = clientY - this.canvas.getBoundingClientRect().top + this.box.scrollTop;
    return this.rows.find((r) => y >= r.y && y < r.y + ROW) || null;
  }

  // ---- drawing: at most once a frame ----

  draw() {
    if (this.asked || !this.g) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.paint();
    });
  }

  paint() {
    if (!this.width || !this.css) return;
    const view = {
      t0: this.t0, t1: this.t1, left: this.left, width: this.width, height: this.height, top: this.box.scrollTop, rows: this.rows, names: this.rowNames,
      match: this.match, path: this.pathOn, css: this.css, counters: this.counters, marks: this.marksAt,
    };
    this.painter.paint(this.g, view);
    this.paintOver(this.g, view);
    this.paintOverview();
  }

  // The window, the selected span and its launch, above everything else.
  paintOver(g, view) {
    const w = this.drag && this.drag.window ? this.drag.window : this.ctx.window();
    g.save();
    g.beginPath();
    g.rect(this.left, 0, this.width - this.left, this.height);
    g.clip();
    if (w) {
      const [a, b] = w.map((t) => this.painter.x(view, t));
      g.fillStyle = this.css.accent;
      g.globalAlpha = 0.16;
      g.fillRect(a, 0, Math.max(1, b - a), this.height);
      g.globalAlpha = 1;
      g.fillRect(a, 0, 1, this.height);
      g.fillRect(b, 0, 1, this.height);
      g.fillText(fmt.time(w[1] - w[0]).replace(/\u00a0/g, ' '), Math.max(this.left, a) + 4, AXIS + 8);
    }
    if (this.mark !== undefined) {
      g.fillStyle = this.css.accent;
      g.fillRect(this.painter.x(view, this.mark), 0, 2, this.height);
    }
    const s = this.selected;
    if (s) {
      const y = this.yOf(s.row) - view.top;
      const [a, b] = this.edges(s).map((t) => this.painter.x(view, t));
      g.strokeStyle = this.css.text;
      g.lineWidth = 2;
      g.strokeRect(a - 1, y - 1, Math.max(3, b - a + 1), ROW + 1);
      const launch = this.launchOf(s);
      const from = launch && launch.row && this.yOf(launch.row);
      if (from) {
        g.setLineDash([4, 3]);
        g.beginPath();
        g.moveTo(this.painter.x(view, launch.at), from - view.top + ROW / 2);
        g.lineTo(a, y + ROW / 2);
        g.stroke();
        g.setLineDash([]);
      }
    }
    g.restore();
  }

  paintOverview() {
    const g = this.og;
    const w = this.width;
    if (!this.bars || this.bars.of !== w) this.bars = { of: w, image: overviewBars(this.lanes, w, OVERVIEW, OVERVIEW - 6) };
    const [e0, e1] = this.lanes.extent;
    g.clearRect(0, 0, w, OVERVIEW);
    g.drawImage(this.bars.image, 0, 0, w, OVERVIEW);
    g.fillStyle = this.css.text;
    for (const t of this.marksAt) g.fillRect(((t - e0) / (e1 - e0)) * w, 0, 1, 4);
    const [a, b] = [this.t0, this.t1].map((t) => ((t - e0) / (e1 - e0)) * w);
    g.globalAlpha = 0.62;
    g.fillStyle = this.css.card;
    g.fillRect(0, 0, a, OVERVIEW);
    g.fillRect(b, 0, w - b, OVERVIEW);
    g.globalAlpha = 1;
    g.strokeStyle = this.css.accent;
    g.lineWidth = 2;
    g.strokeRect(a + 1, 1, Math.max(3, b - a - 2), OVERVIEW - 2);
  }

  yOf(row) {
    const at = this.rows.find((r) => r.row === row);
    return at ? at.y : 0;
  }

  edges({ row, i, bin }) {
    return bin === undefined ? [row.start[i], row.end[i]] : [row.binStart[bin], row.binStart[bin] + row.lane.bin];
  }

  // ---- moving ----

  show(t0, t1, quiet) {
    const [e0, e1] = this.lanes.extent;
    const length = Math.min(e1 - e0, Math.max(LEAST_NS, t1 - t0));
    const from = Math.max(e0, Math.min(e1 - length, t0));
    this.t0 = from;
    this.t1 = from + length;
    this.tip.hidden = true;
    this.draw();
    if (!quiet) this.keep();
  }

  // The address follows when the hand rests.
  keep() {
    clearTimeout(this.later);
    this.later = setTimeout(() => this.store(), 300);
  }

  store() {
    const whole = this.t0 === this.lanes.extent[0] && this.t1 === this.lanes.extent[1];
    this.ctx.store(id, { '': whole ? '' : `${Math.floor(this.t0)}:${Math.ceil(this.t1)}`, q: this.search.value }, false);
  }

  fit() {
    this.show(...this.lanes.extent);
  }

  zoom(factor, around = this.middle()) {
    this.show(around - (around - this.t0) * factor, around + (this.t1 - around) * factor);
  }

  middle() {
    if (this.selected) {
      const [a, b] = this.edges(this.selected);
      const m = (a + b) / 2;
      if (m > this.t0 && m < this.t1) return m;
    }
    return (this.t0 + this.t1) / 2;
  }

  pan(share) {
    const d = (this.t1 - this.t0) * share;
    this.show(this.t0 + d, this.t1 + d);
  }

  // Brings a stretch of time to the middle, magnified only when it would be too short to see.
  reveal(a, b, row) {
    const length = this.t1 - this.t0;
    const [e0, e1] = this.lanes.extent;
    const wide = b - a > length * 0.9 ? (b - a) * 1.5 : b - a < length / 400 ? Math.max(LEAST_NS, (b - a) * 40) : length;
    const span = Math.min(e1 - e0, wide);
    if (wide !== length || a < this.t0 || b > this.t1) this.show((a + b - span) / 2, (a + b + span) / 2);
    const y = row && this.yOf(row);
    if (y && (y < this.box.scrollTop + AXIS || y > this.box.scrollTop + this.height - ROW)) this.box.scrollTop = y - this.height / 2;
  }

  // ---- pointer ----

  down(e) {
    if (e.button !== 0) return;
    const x = e.clientX - this.canvas.getBoundingClientRect().left;
    if (x < this.left) {
      this.fold(e);
      return;
    }
    const measuring = e.shiftKey || this.measure.getAttribute('aria-pressed') === 'true';
    this.drag = { x: e.clientX, t0: this.t0, t1: this.t1, from: this.toT(e.clientX), moved: false, measuring };
    this.canvas.setPointerCapture(e.pointerId);
    const move = (ev) => this.dragged(ev);
    const end = (ev) => {
      for (const k of ['pointermove', 'pointerup', 'pointercancel']) this.canvas.removeEventListener(k, k === 'pointermove' ? move : end);
      this.dropped(ev);
    };
    this.canvas.addEventListener('pointermove', move);
    this.canvas.addEventListener('pointerup', end);
    this.canvas.addEventListener('pointercancel', end);
  }

  dragged(e) {
    const d = this.drag;
    if (!d || (!d.moved && Math.abs(e.clientX - d.x) < 4)) return;
    d.moved = true;
    if (d.measuring) {
      const t = this.toT(e.clientX);
      d.window = [Math.min(d.from, t), Math.max(d.from, t)];
      this.draw();
      return;
    }
    const by = ((d.x - e.clientX) / (this.width - this.left)) * (d.t1 - d.t0);
    this.show(d.t0 + by, d.t1 + by);
  }

  dropped(e) {
    const d = this.drag;
    this.drag = null;
    if (e.type === 'pointercancel') this.draw();
    else if (d.moved && d.window) this.setWindow(...d.window);
    else if (!d.moved) {
      const at = this.rowAt(e.clientY);
      const t = this.toT(e.clientX);
      this.select(at ? this.lanes.hit(at.row, t, (this.t1 - this.t0) / (this.width - this.left)) : null);
    }
  }

  setWindow(a, b) {
    const [e0, e1] = this.lanes.extent;
    const w = [Math.round(Math.max(e0, Math.min(a, b))), Math.round(Math.min(e1, Math.max(a, b)))];
    this.ctx.setWindow(w[1] > w[0] ? w : null);
  }

  hover(e) {
    if (this.drag) return;
    const at = e.clientX - this.canvas.getBoundingClientRect().left >= this.left && this.rowAt(e.clientY);
    const hit = at && this.lanes.hit(at.row, this.toT(e.clientX), (this.t1 - this.t0) / (this.width - this.left));
    this.tip.hidden = !hit;
    if (!hit) return;
    clear(this.tip, this.words(hit));
    placeTip(this.tip, e.clientX, e.clientY);
  }

  words(s) {
    if (s.bin !== undefined) {
      return [h('div', { cls: 'tip-name' }, `${fmt.plural(s.row.binCount[s.bin], 'short span')}`), h('div', null, `begin in these ${fmt.time(s.row.lane.bin)}, busy ${fmt.percent(s.row.binBusy[s.bin] / s.row.lane.bin)}; longest: `, nameEl(this.lanes.names[s.row.binName[s.bin]]))];
    }
    return [h('div', { cls: 'tip-name' }, nameEl(this.lanes.short(this.lanes.names[s.row.name[s.i]]))), h('div', null, `${fmt.time(s.row.end[s.i] - s.row.start[s.i])} at ${fmt.time(s.row.start[s.i])}`)];
  }

  // A plain wheel scrolls, sideways it moves through time, with Ctrl or Shift it zooms.
  wheel(e) {
    if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return;
    e.preventDefault();
    const by = e.deltaY || e.deltaX;
    if (e.ctrlKey || e.shiftKey) this.zoom(by > 0 ? 1.25 : 0.8, this.toT(e.clientX));
    else this.pan((e.deltaX / (this.width - this.left)) * 1);
  }

  magnify(e) {
    const at = this.rowAt(e.clientY);
    const hit = at && this.lanes.hit(at.row, this.toT(e.clientX), (this.t1 - this.t0) / (this.width - this.left));
    if (!hit) return;
    const [a, b] = this.edges(hit);
    const pad = Math.max(LEAST_NS, (b - a) * 0.1);
    this.show(a - pad, b + pad);
  }

  fold(e) {
    const y = e.clientY - this.canvas.getBoundingClientRect().top + this.box.scrollTop;
    const hit = this.rowNames.find((n) => n.lane && y >= n.y && y < n.y + n.h);
    if (!hit || hit.lane.rows.length < 2) return;
    hit.lane.folded = !hit.lane.folded;
    this.layout();
  }

  overDown(e) {
    const [e0, e1] = this.lanes.extent;
    const at = (x) => e0 + ((x - this.over.getBoundingClientRect().left) / this.width) * (e1 - e0);
    const from = at(e.clientX);
    const x = e.clientX;
    const length = this.t1 - this.t0;
    const inside = from > this.t0 && from < this.t1 && length < 0.98 * (e1 - e0);
    const measuring = e.shiftKey || this.measure.getAttribute('aria-pressed') === 'true';
    let stretch = null;
    const start = this.t0;
    this.over.setPointerCapture(e.pointerId);
    const move = (ev) => {
      if (Math.abs(ev.clientX - x) < 4) return;
      const to = at(ev.clientX);
      if (measuring) stretch = [from, to];
      else if (inside) this.show(start + to - from, start + to - from + length);
      else this.show(Math.min(from, to), Math.max(from, to));
    };
    const end = (ev) => {
      this.over.removeEventListener('pointermove', move);
      this.over.removeEventListener('pointerup', end);
      this.over.removeEventListener('pointercancel', end);
      if (stretch) this.setWindow(...stretch);
      else if (Math.abs(ev.clientX - x) < 4 && !inside) this.show(from - length / 2, from + length / 2);
    };
    this.over.addEventListener('pointermove', move);
    this.over.addEventListener('pointerup', end);
    this.over.addEventListener('pointercancel', end);
  }

  setMeasure(on) {
    this.measure.setAttribute('aria-pressed', String(on));
    this.canvas.classList.toggle('measuring', on);
  }

  setPath(on) {
    this.pathOn = on;
    this.pathButton.setAttribute('aria-pressed', String(on));
    this.draw();
  }

  // ---- keys ----

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = {
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), ArrowDown: () => this.stepRow(1), ArrowUp: () => this.stepRow(-1),
      '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), w: () => this.zoom(0.5), '-': () => this.zoom(2), s: () => this.zoom(2),
      a: () => this.pan(-0.25), d: () => this.pan(0.25), f: () => this.fit(), Home: () => this.fit(), m: () => this.setMark(),
      '[': () => this.followLaunch(), ']': () => this.followWork(), n: () => this.next(1), N: () => this.next(-1),
    }[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }

  setMark() {
    const t = this.selected ? this.edges(this.selected)[this.mark === undefined ? 0 : 1] : (this.t0 + this.t1) / 2;
    if (this.mark === undefined) {
      this.mark = t;
      announce(`mark at ${fmt.time(t)}; m again measures from there`);
    } else {
      const from = this.mark;
      this.mark = undefined;
      this.setWindow(from, t);
    }
    this.draw();
  }

  step(by) {
    const s = this.selected;
    if (!s) {
      const at = this.rows.find(({ row }) => row.start.length && !row.lane.list);
      if (at) this.select({ row: at.row, i: Math.min(at.row.start.length - 1, at.row.firstAfter(this.t0)) }, true);
      return;
    }
    const n = s.bin === undefined ? s.row.start.length : s.row.binStart.length;
    const k = (s.bin === undefined ? s.i : s.bin) + by;
    if (k >= 0 && k < n) this.select(s.bin === undefined ? { row: s.row, i: k } : { row: s.row, bin: k }, true);
  }

  stepRow(by) {
    if (!this.selected) {
      this.step(1);
      return;
    }
    const [a, b] = this.edges(this.selected);
    for (let k = this.rows.findIndex((r) => r.row === this.selected.row) + by; this.rows[k]; k += by) {
      const hit = this.lanes.hit(this.rows[k].row, (a + b) / 2, (b - a) / 2);
      if (hit) {
        this.select(hit, true);
        return;
      }
    }
  }

  // ---- selection ----

  select(s, reveal) {
    this.selected = s;
    showDetails(this);
    if (s && reveal) this.reveal(...this.edges(s), s.row);
    this.draw();
  }

  // { name, at, lane, row } of the call that launched a span of a queue.
  launchOf(s) {
    const l = this.lanes.launch;
    if (!l || s.bin !== undefined || s.row.lane.list) return null;
    const k = s.row.at[s.i];
    if (!l.name[k] || !Number.isFinite(l.at[k])) return null;
    const lane = this.lanes.byId[l.lane[k]];
    const path = lane ? this.lanes.pathAt(lane, l.at[k]) : [];
    return { name: l.name[k], at: l.at[k], lane, path, row: path.length ? path[path.length - 1].row : lane && lane.rows[0] };
  }

  followLaunch() {
    const l = this.selected && this.launchOf(this.selected);
    if (l && l.path.length) this.select(l.path[l.path.length - 1], true);
  }

  // The first work on a device that the selected call launched.
  followWork() {
    const s = this.selected;
    const l = this.lanes.launch;
    if (!s || !l || s.row.lane.kind === 'queue') return;
    const [a, b] = this.edges(s);
    let best = null;
    for (const lane of this.lanes.lanes) {
      if (lane.kind !== 'queue') continue;
      const row = lane.rows[0];
      for (let i = 0; row && i < row.start.length; i++) {
        const k = row.at[i];
        if (l.lane[k] === s.row.lane.id && l.at[k] >= a && l.at[k] <= b && (!best || row.start[i] < best.row.start[best.i])) best = { row, i };
      }
    }
    if (best) this.select(best, true);
  }

  // ---- search ----

  find(text) {
    this.match = this.lanes.search(text);
    this.hits = this.match ? this.lanes.matches(this.match) : null;
    this.hit = -1;
    const ns = this.hits ? this.hits.spans.reduce((t, { row, i }) => t + row.end[i] - row.start[i], 0) : 0;
    clear(this.found, this.hits ? `${fmt.plural(this.hits.spans.length, 'span')}, ${fmt.time(ns)}${this.hits.bins ? `; and longest in ${fmt.plural(this.hits.bins, 'bin')}` : ''}` : '');
    this.draw();
    this.keep();
  }

  next(by) {
    if (!this.hits || !this.hits.spans.length) return;
    const n = this.hits.spans.length;
    this.hit = this.hit < 0 ? (by > 0 ? 0 : n - 1) : (this.hit + by + n) % n;
    this.select(this.hits.spans[this.hit], true);
  }

  // ---- what the page asks for ----

  setParams(p) {
    const r = /^(-?\d+):(-?\d+)$/.exec(p.get('') || '');
    if (r && Number(r[2]) > Number(r[1])) this.show(Number(r[1]), Number(r[2]), true);
    const q = p.get('q') || '';
    if (q !== this.search.value) {
      this.search.value = q;
      this.find(q);
    }
  }

  escape() {
    if (this.mark !== undefined) this.mark = undefined;
    else if (this.selected) this.select(null);
    else if (this.search.value) {
      this.search.value = '';
      this.find('');
    } else return false;
    this.draw();
    return true;
  }

  focusFilter() {
    this.search.focus();
    this.search.select();
  }
}

export function render(panel, ctx) {
  return new Timeline(panel, ctx);
}
