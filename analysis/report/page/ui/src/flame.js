// The flame graph tab: one profile by any measure. Root on top, heaviest first; d3-flame-graph draws, this file chooses the
// data, the colours and the words, moves the keyboard's cursor, and keeps the callers and callees beside it.

import flamegraph from 'd3-flame-graph';
import { select } from 'd3-selection';
import { EMPTY_NAME, announce, append, choice, clear, copyText, h, name as nameEl, placeTip, visible } from './dom.js';
import { Categories, GREY, mix, shade } from './colors.js';
import * as fmt from './format.js';
import { UNATTRIBUTED, isEstimated } from './facts.js';
import { buildTree, by, descendants, findPath, metrics, pathOf, sandwich, searchTree, topSelf, tracksOf } from './flametree.js';

const CELL = 20;
const MAX_TRACKS = 1000;
const DIVIDED = {
  power: 'Joules by power: each interval of the sensor is divided by power and time of what ran in it.',
  time: 'Joules by time: each interval of the sensor is divided by the time of what ran in it, whatever it drew.',
};

export const id = 'flame';
export const label = 'Flame graph';
export const about = 'needs call paths (callpaths or energy_callpaths)';
export const available = (r) => metrics(r).length > 0;

// name → category, and a colour for each category, per view: host calls and device work never share a picture.
function categoriesOf(report) {
  const views = { host: { byName: new Map(), weight: new Map() }, device: { byName: new Map(), weight: new Map() } };
  const add = (view, name, category, ns) => {
    view.byName.set(name, category);
    view.weight.set(category, (view.weight.get(category) || 0) + (ns || 0));
  };
  const t = report.table('functions');
  if (t) {
    const [scope, name, cat, excl] = [t.col('scope'), t.col('name'), t.col('category'), t.num('exclusive_ns')];
    for (let i = 0; i < name.length; i++) add(scope[i] === 'device' ? views.device : views.host, name[i], cat[i] || scope[i] || 'host', excl[i]);
  }
  const k = report.table('kernels');
  if (k) {
    views.device = { byName: new Map(), weight: new Map() };
    const [name, cls, total] = [k.col('name'), k.col('class'), k.num('total_ns')];
    for (let i = 0; i < name.length; i++) add(views.device, name[i], cls[i] || 'device', total[i]);
  }
  for (const v of Object.values(views)) v.colors = new Categories([...v.weight].sort((a, b) => b[1] - a[1]).map(([c]) => c));
  return views;
}

class FlameView {
  constructor(panel, ctx) {
    this.ctx = ctx;
    this.report = ctx.report;
    this.metrics = metrics(ctx.report);
    this.data = this.metrics;
    this.categories = categoriesOf(ctx.report);
    const counters = ctx.report.table('counters');
    this.estimated = new Set((counters ? counters.objects() : []).filter((c) => isEstimated(c.flags)).map((c) => `${c.series}\n${c.device}`));
    this.track = null;
    this.term = '';
    this.build(panel);
    this.setParams(ctx.params(id));
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
    ctx.on('theme', () => this.chart && this.chart.update());
    ctx.on('window', () => this.windowed());
  }

  build(panel) {
    this.select = choice('Width', this.metrics.map((m) => [m.id, m.label]), this.metrics[0].id, (v) => {
      this.setMetric(v);
      this.store(true);
    }, { id: 'flame-metric' });
    this.tag = h('span', { cls: 'tag', title: 'computed from a model of the device, not read from a sensor', hidden: true }, 'estimated');
    this.trackBox = h('span');
    this.search = h('input', {
      type: 'search', cls: 'filter', placeholder: 'Search frames  ( / )', 'aria-label': 'Search frames', autocomplete: 'off', spellcheck: 'false',
      oninput: () => this.find(this.search.value, true),
    });
    this.found = h('span', { cls: 'muted table-info', role: 'status' });
    this.reset = h('button', { type: 'button', cls: 'quiet', onclick: () => this.zoomOut() }, 'Reset zoom');
    this.box = h('div', {
      cls: 'flame-box', tabindex: '0', role: 'application', 'aria-roledescription': 'flame graph', 'aria-describedby': 'flame-help',
      onkeydown: (e) => this.key(e), onfocus: () => this.mark(), onmouseleave: () => this.hideTip(),
    });
    this.help = h('p', { id: 'flame-help', cls: 'muted flame-help' },
      'Click a frame to zoom into it. By keyboard: arrows move, Enter zooms, Esc zooms out, c copies the stack.');
    this.legend = h('ul', { cls: 'legend flame-legend', 'aria-label': 'colours' });
    this.note = h('p', { cls: 'muted flame-note' });
    this.side = h('aside', { cls: 'card flame-side', 'aria-label': 'selected frame' });
    this.tip = h('div', { cls: 'tip', role: 'tooltip', hidden: true });
    this.windowNote = this.ctx.windowNote('The flame graph', () => this.metric && this.metric.table.name);
    append(panel, [this.windowNote,
      h('div', { cls: 'toolbar' }, this.select, this.tag, this.trackBox, this.search, this.found, h('span', { cls: 'spring' }), this.reset),
      h('div', { cls: 'flame-grid' }, h('div', null, this.legend, this.box, this.note, this.help), this.side), this.tip]);
  }

  // ---- data ----

  setParams(p) {
    const want = this.metrics.find((m) => m.id === p.get('')) || this.aliased(p.get('')) || this.metrics[0];
    this.track = p.get('track') || null;
    this.data = metrics(this.ctx.shown());
    this.setMetric(want.id, p.get('focus') ? p.get('focus').split(';') : []);
    if (p.get('q')) {
      this.search.value = p.get('q');
      this.find(p.get('q'), false);
    }
  }

  // energy:gpu0:host and energy:gpu0:host:<counter> are also understood where the short form is enough.
  aliased(idText) {
    return this.metrics.find((m) => m.counter !== undefined && [`energy:${m.device}:${m.view}`, `energy:${m.device}:${m.view}:${m.counter}`].includes(idText));
  }

  // The frames of the selected window, of measures that know windows.
  windowed() {
    this.data = metrics(this.ctx.shown());
    this.setMetric(this.metric.id);
  }

  setMetric(metricId, focus) {
    const keep = focus || (this.selected ? pathOf(this.selected) : []);
    const whole = this.metrics.find((m) => m.id === metricId) || this.metrics[0];
    this.metric = this.data.find((m) => m.id === whole.id) || { ...whole, rows: () => [] };
    this.select.querySelector('select').value = this.metric.id;
    this.drawTracks();
    this.tree = buildTree(this.metric.rows(this.track), 'all');
    this.draw();
    this.drawLegend();
    this.drawNote();
    this.windowNote.draw();
    const target = findPath(this.tree, keep) || this.tree;
    this.choose(target, target !== this.tree, false);
    if (this.term) this.find(this.term, false);
  }

  drawTracks() {
    const tracks = tracksOf(this.metric);
    if (this.track !== null && !tracks.includes(this.track)) this.track = null;
    clear(this.trackBox);
    if (tracks.length < 2) return;
    append(this.trackBox, [choice('Track', [['', `all ${tracks.length} tracks`], ...tracks.slice(0, MAX_TRACKS).map((t) => [t, t])], this.track || '', (v) => {
      this.track = v || null;
      this.setMetric(this.metric.id);
      this.store(false);
    }, { id: 'flame-track' })]);
  }

  value(v) {
    return this.metric.unit === 'J' ? fmt.energy(v) : fmt.time(v);
  }

  share(v, of = this.tree.total) {
    return of > 0 ? fmt.percent(v / of) : fmt.UNKNOWN;
  }

  category(name) {
    if (name === UNATTRIBUTED) return 'unattributed';
    if (this.metric.view === 'both') return this.categories.device.byName.get(name) || this.categories.host.byName.get(name) || 'host';
    return this.view().byName.get(name) || (this.metric.view === 'device' ? 'device' : 'host');
  }

  view() {
    return this.categories[this.metric.view === 'device' || this.metric.view === 'both' ? 'device' : 'host'];
  }

  // Of both views in one picture the kernels have colours, and the calls around them are pale.
  isWork(node) {
    return !node.children.length && this.categories.device.byName.has(node.name);
  }

  color(node) {
    if (!node.parent || node.name === UNATTRIBUTED || node.idle) return GREY;
    if (this.metric.view === 'both' && !this.isWork(node)) return mix(GREY, '#ffffff', 0.45);
    return shade(this.view().colors.color(this.category(node.name)), node.name);
  }

  // ---- drawing ----

  draw() {
    if (this.chart) this.chart.destroy();
    clear(this.box);
    if (!(this.tree.total > 0)) {
      this.chart = null;
      append(this.box, [h('p', { cls: 'empty-line' }, `No ${this.metric.unit === 'J' ? 'energy' : 'time'} in this view.`)]);
      return;
    }
    this.calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const tip = () => {};
    tip.show = (event, d) => this.showTip(event, d.data);
    tip.hide = () => this.hideTip();
    tip.destroy = () => this.hideTip();
    this.chart = flamegraph().width(this.width()).cellHeight(CELL).inverted(true).selfValue(true).sort(false)
      .minFrameSize(1.2).transitionDuration(this.calm ? 0 : 220).resetHeightOnZoom(true).tooltip(tip)
      .getName((d) => this.report.shortName(d.data.name) || EMPTY_NAME).getValue((d) => d.self)
      .setColorMapper((d) => this.fill(d))
      .setSearchMatch((d, term) => d.data.parent !== null && d.data.name.toLowerCase().includes(term.toLowerCase()))
      .setSearchHandler(() => {})
      .onClick((d) => this.quiet || this.clicked(d.data));
    select(this.box).datum(this.tree).call(this.chart);
    this.hnodes = new Map();
    select(this.box).datum().each((d) => this.hnodes.set(d.data, d));
    this.svg().setAttribute('aria-hidden', 'true');
    this.still();
    this.mark();
  }

  // New frames grow to their width whatever the duration: a first drawing, and every one where motion is unwanted, is there at once.
  still() {
    const short = (n) => this.report.shortName(n);
    select(this.box).selectAll('g.frame').each(function settle(d) {
      const rect = this.querySelector('rect');
      select(rect).interrupt();
      rect.setAttribute('width', this.getAttribute('width'));
      const label = this.querySelector('div');
      select(label).interrupt();
      label.textContent = visible(short(d.data.name) || EMPTY_NAME);
    });
  }

  svg() {
    return this.box.querySelector('svg');
  }

  fill(d) {
    // Labels are black in both themes, so whatever steps back does it towards light tones.
    const c = d.data.fade ? mix(this.color(d.data), '#ffffff', 0.5) : this.color(d.data);
    if (!this.term || d.highlight) return c;
    return mix(c, this.ctx.dark() ? '#8d95a0' : '#e6e9ed', 0.85);
  }

  width() {
    return Math.max(240, Math.floor(this.box.clientWidth || 800));
  }

  resize() {
    if (!this.chart || this.chart.width() === this.width()) return;
    const hd = this.hnodes.get(this.zoomed || this.tree);
    this.chart.width(this.width());
    this.zoom(hd);
    this.mark();
  }

  // The library reports its own zooming as a click.
  zoom(hd) {
    this.quiet = true;
    this.chart.zoomTo(hd);
    this.quiet = false;
    if (this.calm) this.still();
  }

  drawLegend() {
    const sums = new Map();
    for (const n of descendants(this.tree)) {
      if (!n.parent || !(n.self > 0)) continue;
      const c = this.category(n.name);
      sums.set(c, (sums.get(c) || 0) + n.self);
    }
    const rows = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 10);
    clear(this.legend, rows.map(([c, v]) => h('li', null,
      h('span', { cls: 'swatch', style: { background: c === 'unattributed' ? GREY : this.view().colors.color(c) }, 'aria-hidden': 'true' }),
      nameEl(c), ' ', h('span', { cls: 'muted' }, this.share(v)))));
  }

  isEstimated() {
    return this.estimated.has(`${this.metric.counter}\n${this.metric.device}`);
  }

  drawNote() {
    const m = this.metric;
    this.tag.hidden = !this.isEstimated();
    const words = [`${this.value(this.tree.total)} in all.`];
    if (m.counter !== undefined) {
      words.push(`Counter ${m.counter}; ${m.view === 'host' ? 'which calls were open while it was spent' : 'which device work was running while it was spent'}.`);
      if (m.estimate) words.push(DIVIDED[m.estimate] || '');
      if (this.isEstimated()) words.push('Estimated by a model, not measured by a sensor.');
    }
    if (m.view === 'both') words.push('Kernels, copies and fills in the colours of their classes, below the calls that launched them.');
    if (this.tree.waits > 0.01 * this.tree.total) words.push('What only waits stands last, in grey.');
    if (m.table.cut) words.push(m.table.cut.text);
    if (tracksOf(m).length > MAX_TRACKS) words.push(`The list of tracks has the first ${MAX_TRACKS} of ${fmt.group(tracksOf(m).length)}.`);
    if (this.tree.clipped) words.push(`${fmt.plural(this.tree.clipped, 'path')} deeper than 400 frames count as their ancestor there.`);
    clear(this.note, words.join(' '));
  }

  // The library keeps two spare rows for a title above; there is none.
  fit() {
    let deepest = 0;
    select(this.box).selectAll('g.frame').each((d) => { deepest = Math.max(deepest, d.depth); });
    this.svg().setAttribute('height', (deepest + 1) * CELL);
  }

  // ---- selection, zoom, keyboard ----

  clicked(node) {
    if (this.calm) this.still();
    this.zoomed = node;
    this.select_(node, true);
  }

  choose(node, zoom, store) {
    if (this.chart && (zoom || this.zoomed)) this.zoom(this.hnodes.get(zoom ? node : this.tree));
    this.zoomed = zoom ? node : null;
    this.select_(node, store);
  }

  select_(node, store) {
    this.selected = node;
    this.cursor = node;
    this.mark();
    this.drawSide();
    this.reset.disabled = !this.zoomed || this.zoomed === this.tree;
    if (store) this.store(false);
  }

  zoomOut() {
    if (!this.zoomed || this.zoomed === this.tree) return false;
    this.choose(this.tree, false, true);
    announce('zoomed out');
    return true;
  }

  mark() {
    if (!this.chart) return;
    this.fit();
    const cur = this.cursor || this.tree;
    select(this.box).selectAll('g.frame').classed('cursor', (d) => d.data === cur).classed('match', (d) => Boolean(this.term && d.highlight));
  }

  key(e) {
    if (!this.chart || e.ctrlKey || e.metaKey || e.altKey) return;
    const cur = this.cursor || this.tree;
    const siblings = cur.parent ? cur.parent.children : [cur];
    const i = siblings.indexOf(cur);
    const to = {
      ArrowDown: () => cur.children[0], ArrowUp: () => cur.parent,
      ArrowRight: () => siblings[i + 1], ArrowLeft: () => siblings[i - 1], Home: () => this.zoomed || this.tree,
    }[e.key];
    if (to) {
      e.preventDefault();
      const next = to();
      if (next) this.moveTo(next);
      return;
    }
    if (e.key === 'Enter' || e.key === ' ') {
      e.preventDefault();
      this.choose(cur, cur !== this.tree, true);
      announce(`zoomed to ${cur.name}`);
    } else if (e.key === 'c') {
      e.preventDefault();
      copyText(pathOf(cur).join(';'), 'stack');
    }
  }

  moveTo(node) {
    this.cursor = node;
    this.mark();
    this.selected = node;
    this.drawSide();
    announce(`${node.name}, ${this.value(node.total)}, ${this.share(node.total)} of all, depth ${node.depth}`);
  }

  // ---- search ----

  find(text, store) {
    this.term = text.trim();
    if (!this.chart) return;
    if (this.term) this.chart.search(this.term);
    else this.chart.clear();
    this.mark();
    if (this.term) {
      const hit = searchTree(this.tree, this.term);
      clear(this.found, hit.frames ? `${fmt.plural(hit.frames, 'frame')}, ${this.value(hit.value)}, ${this.share(hit.value)} of all` : 'no frame has this name');
    } else clear(this.found);
    if (store) this.store(false);
  }

  focusFilter() {
    this.search.focus();
    this.search.select();
  }

  escape() {
    if (this.term) {
      this.search.value = '';
      this.find('', true);
      return true;
    }
    return this.zoomOut();
  }

  store(push) {
    const p = { '': this.metric.id };
    if (this.track) p.track = this.track;
    if (this.term) p.q = this.term;
    if (this.zoomed && this.zoomed !== this.tree) p.focus = pathOf(this.zoomed).join(';');
    this.ctx.store(id, p, push);
  }

  // ---- words beside it ----

  showTip(event, n) {
    clear(this.tip, h('div', { cls: 'tip-name' }, nameEl(n.name)), this.facts(n).map(([k, v, exactly]) => h('div', null, h('span', { cls: 'muted' }, `${k} `), v,
      exactly && h('span', { cls: 'muted' }, `  (${exactly})`))));
    placeTip(this.tip, event.clientX, event.clientY);
  }

  hideTip() {
    this.tip.hidden = true;
  }

  facts(n) {
    const out = [
      ['inclusive', `${this.value(n.total)}, ${this.share(n.total)} of all`, fmt.exact(n.total, this.metric.unit)],
      ['own', `${this.value(n.self)}, ${this.share(n.self)}`, fmt.exact(n.self, this.metric.unit)],
    ];
    if (this.metric.estimate) out.push(['joules', by(this.metric.estimate)]);
    if (n.calls) out.push(['calls', fmt.group(n.calls)]);
    if (n.parent) out.push(['category', this.category(n.name)]);
    return out;
  }

  drawSide() {
    const n = this.selected && this.selected.parent ? this.selected : null;
    if (!n) {
      clear(this.side, h('h2', null, 'Largest by own ', this.metric.unit === 'J' ? 'energy' : 'time', this.metric.estimate && h('span', { cls: 'muted' }, by(this.metric.estimate, ', '))),
        this.list('largest frames', topSelf(this.tree), this.tree.total, `No frame has ${this.metric.unit === 'J' ? 'energy' : 'time'} of its own.`));
      return;
    }
    const w = sandwich(this.tree, n.name);
    const unit = this.metric.unit;
    const fact = (k, v, raw) => h('div', null, h('dt', null, k), h('dd', { title: raw === undefined ? null : fmt.exact(raw, unit) }, v));
    clear(this.side, h('h2', { cls: 'side-name' }, nameEl(n.name)),
      h('dl', { cls: 'facts side-facts' },
        fact('This frame', `${this.value(n.total)}  ·  ${this.share(n.total)}`, n.total),
        fact('Own', `${this.value(n.self)}  ·  ${this.share(n.self)}`, n.self),
        w.frames > 1 && fact(`All ${fmt.group(w.frames)} frames`, `${this.value(w.total)}  ·  ${this.share(w.total)}`, w.total),
        n.calls > 0 && fact('Calls', fmt.count(n.calls)),
        fact('Category', this.category(n.name))),
      h('h3', null, 'Callers'), this.list('callers', w.callers, w.total, 'none'),
      h('h3', null, 'Callees'), this.list('callees', w.callees, w.total, 'none: all of it is its own'));
  }

  list(what, rows, of, none) {
    if (!rows.length) return h('p', { cls: 'muted' }, none);
    const shown = rows.slice(0, 12);
    return h('div', null, h('table', { cls: 'mini' }, h('caption', { cls: 'visually-hidden' }, what), h('tbody', null, shown.map((x) => h('tr', null,
      h('td', { cls: 'mini-name' }, x.name === null ? h('span', { cls: 'muted' }, '(top of the stack)')
        : h('button', { type: 'button', cls: 'link', onclick: () => { this.choose(x.node, x.node !== this.tree, true); } }, nameEl(this.report.shortName(x.name), { title: x.name }))),
      h('td', { cls: 'num', title: fmt.exact(x.value, this.metric.unit) }, this.value(x.value)),
      h('td', { cls: 'num muted' }, this.share(x.value, of)))))), rows.length > shown.length && h('p', { cls: 'muted' }, `and ${fmt.group(rows.length - shown.length)} more`));
  }
}

export function render(panel, ctx) {
  return new FlameView(panel, ctx);
}
