// Samples: one chart per quantity over the same time axis, with the run's phases. A cursor moves on all charts together;
// dragging selects a window that the rest of the page answers for where the embedded data can.

import { append, clear, h, name as nameEl } from './dom.js';
import { DataTable } from './datatable.js';
import { lineStyle } from './colors.js';
import * as fmt from './format.js';
import { marks, phases, recordedWindows } from './facts.js';
import { binAt, chartsOf, extent, seriesOf, windowStats } from './series.js';
import { axes, clipOf, initChart, LEFT, palette, RIGHT } from './timechart.js';

const HEIGHT = 168;
const COUNTER_COLUMNS = [
  { key: 'series', label: 'Series', kind: 'name' },
  { key: 'device', label: 'Device', kind: 'text' },
  { key: 'kind', label: 'Kind', kind: 'text' },
  { key: 'unit', label: 'Unit', kind: 'text' },
  { key: 'samples', label: 'Samples', kind: 'count' },
  { key: 'min', label: 'Min', kind: 'number', unitOf: column('unit') },
  { key: 'mean', label: 'Mean', kind: 'number', about: 'weighted by time; for cumulative counters the rate per second', unitOf: meanUnit },
  { key: 'max', label: 'Max', kind: 'number', unitOf: column('unit') },
  { key: 'total', label: 'Total', kind: 'number', unitOf: column('total_unit') },
  { key: 'median_period_ns', label: 'Period', kind: 'time', about: 'median time between samples' },
  { key: 'max_gap_ns', label: 'Largest gap', kind: 'time' },
  { key: 'flags', label: 'Notes', kind: 'flags' },
];

function column(name) {
  return (t, row) => t.col(name)[row] || '';
}

// The mean of what only grows is its rate, in another unit than its values.
function meanUnit(t, row) {
  const unit = t.col('unit')[row] || '';
  return t.col('kind')[row] !== 'cumulative' ? unit : unit === 'J' ? 'W' : `${unit}/s`;
}

export const id = 'samples';
export const label = 'Samples';
export const about = 'needs sampled counters (a sampler such as cpu_power, or metrics inside the trace)';
export const available = (r) => Boolean(r.table('timeline') || r.table('counters'));

class SamplesView {
  constructor(panel, ctx) {
    this.ctx = ctx;
    this.report = ctx.report;
    this.list = seriesOf(ctx.report);
    this.phases = phases(ctx.report);
    this.marks = marks(ctx.report);
    this.windows = recordedWindows(ctx.report);
    this.full = extent(this.list);
    this.range = this.full && [...this.full];
    this.charts = [];
    if (this.full) this.buildCharts(panel);
    else append(panel, [h('p', { cls: 'muted' }, 'The samples hold no time series to draw.')]);
    this.buildTable(panel);
    ctx.on('window', () => this.drawWindow());
    ctx.on('theme', () => this.drawAll());
    const size = new ResizeObserver(() => this.resize());
    size.observe(panel);
  }

  // ---- building ----

  buildCharts(panel) {
    const num = (what) => h('input', { type: 'number', step: 'any', cls: 'seconds', 'aria-label': `window ${what}, seconds`, onchange: () => this.typed() });
    this.from = num('from');
    this.to = num('to');
    this.zoomButton = h('button', { type: 'button', cls: 'quiet', onclick: () => this.zoomTo(this.ctx.window() || this.full) }, 'Zoom to window');
    this.unzoom = h('button', { type: 'button', cls: 'quiet', onclick: () => this.zoomTo(this.full) }, 'Whole run');
    this.dropWindow = h('button', { type: 'button', cls: 'quiet', onclick: () => this.ctx.setWindow(null) }, 'Clear window');
    this.strip = h('div', { cls: 'phase-strip', role: 'group', 'aria-label': 'phases of the run; press one to select its time' });
    this.chartBox = h('div', {
      cls: 'charts', tabindex: '0', role: 'group', 'aria-label': 'charts of sampled counters; arrow keys move the cursor, plus and minus zoom',
      onkeydown: (e) => this.key(e),
    });
    append(panel, [
      h('div', { cls: 'toolbar' }, h('span', { cls: 'field' }, h('span', null, 'Window'), this.from, '–', this.to, ' s'), this.zoomButton, this.unzoom, this.dropWindow,
        h('span', { cls: 'spring' }), h('span', { cls: 'muted hint' }, 'Drag on a chart to select time')),
      this.strip, this.chartBox,
    ]);
    this.charts = chartsOf(this.list).map((c) => this.buildChart(c));
    this.lazy = new IntersectionObserver((entries) => entries.forEach((e) => {
      const c = this.charts.find((x) => x.plot === e.target);
      if (e.isIntersecting && c && !c.ec) this.start(c);
    }), { rootMargin: '400px' });
    for (const c of this.charts) this.lazy.observe(c.plot);
    this.drawStrip();
    this.drawWindow();
  }

  buildChart(c) {
    c.canvas = h('div', { cls: 'chart-canvas', style: { height: `${HEIGHT}px` } });
    c.line = h('div', { cls: 'cursor-line', hidden: true });
    c.selection = h('div', { cls: 'window-box', hidden: true });
    c.plot = h('div', {
      cls: 'chart-plot', role: 'img', 'aria-label': `${c.title} over time, ${fmt.plural(c.series.length, 'series', 'series')}`,
      onpointerdown: (e) => this.down(c, e), onpointermove: (e) => this.moved(c, e), onpointerleave: () => this.drag || this.cursor(null),
      onwheel: (e) => this.wheel(c, e), ondblclick: () => this.zoomTo(this.full),
    }, c.canvas, c.selection, c.line);
    c.head = h('div', { cls: 'chart-head' });
    c.legend = h('tbody');
    c.cols = [];
    const unit = c.unit === 'bytes' ? '' : c.unit;
    append(this.chartBox, [h('section', { cls: 'chart card', 'aria-label': c.title },
      h('h3', null, h('bdi', null, c.title), ' ', unit && h('span', { cls: 'unit' }, unit)),
      c.plot,
      h('div', { cls: 'chart-legend' }, h('table', { cls: 'mini' }, h('caption', { cls: 'visually-hidden' }, `${c.title}: values`),
        h('thead', null, h('tr', null, ['Series', 'At cursor', 'Mean', 'Min', 'Max'].map((t, i) => h('th', { scope: 'col', cls: i ? 'num' : '' }, t)))), c.legend)))]);
    this.drawLegend(c);
    return c;
  }

  buildTable(panel) {
    const t = this.report.table('counters');
    if (!t) return;
    this.data = new DataTable({ table: t, columns: COUNTER_COLUMNS, label: 'counters', sort: { key: 'series', dir: 1 } });
    append(panel, [h('h2', { cls: 'section' }, 'Counters'), this.ctx.windowNote('The table of counters'), this.data.el]);
  }

  // ---- ECharts ----

  start(c) {
    c.ec = initChart(c.canvas);
    this.draw(c);
  }

  draw(c) {
    if (!c.ec) return;
    const p = palette(this.ctx.dark());
    c.ec.setOption({
      ...axes(this.range, c.unit, p),
      series: c.series.flatMap((s, i) => this.options(c, s, i, p)),
    }, { notMerge: true, lazyUpdate: false });
  }

  options(c, s, i, p) {
    const style = lineStyle(i, p.dark);
    const base = { silent: true, animation: false, clip: true };
    const line = {
      ...base, type: 'line', name: `${s.series}`, showSymbol: s.t.length < 2, symbolSize: 5, data: points(s), connectNulls: false, sampling: 'minmax',
      lineStyle: { color: style.color, width: 1.6, type: style.dash }, itemStyle: { color: style.color }, z: 3,
    };
    if (i === 0 && this.phases.length) {
      line.markArea = {
        silent: true, animation: false, itemStyle: { color: p.phase },
        data: this.phases.filter((_, k) => k % 2 === 0).map((ph) => [{ xAxis: ph.start / 1e9 }, { xAxis: ph.end / 1e9 }]),
      };
    }
    if (i === 0 && this.marks.length) {
      const few = this.marks.length <= 12;
      line.markLine = {
        silent: true, animation: false, symbol: 'none', lineStyle: { color: p.text, width: 1, type: 'dotted' },
        label: { show: few, position: 'insideEndTop', color: p.text, fontSize: 10, formatter: (d) => d.name },
        data: this.marks.slice(0, 2000).map((m) => ({ xAxis: m.t / 1e9, name: m.name })),
      };
    }
    const spread = s.t.some((_, k) => s.max[k] > s.min[k]);
    return spread ? [{ ...base, type: 'custom', data: [[0, 0]], renderItem: (params, api) => band(s, params, api, style.color), z: 1 }, line] : [line];
  }

  drawAll() {
    for (const c of this.charts) {
      this.draw(c);
      this.drawLegend(c);
    }
    if (this.full) {
      this.drawStrip();
      this.drawWindow();
    }
  }

  resize() {
    for (const c of this.charts) if (c.ec) c.ec.resize();
    if (this.full) {
      this.drawStrip();
      this.drawWindow();
    }
  }

  // ---- legend, cursor ----

  drawLegend(c) {
    const [a, b] = this.ctx.window() || this.full;
    const p = { dark: this.ctx.dark() };
    c.cells = [];
    clear(c.legend, c.series.map((s, i) => {
      const w = windowStats(s, a, b);
      const style = lineStyle(i, p.dark);
      const at = h('td', { cls: 'num at' }, '');
      c.cells.push(at);
      const cell = (v) => h('td', { cls: 'num', title: fmt.exact(v, s.unit) }, fmt.quantity(v, s.unit));
      const dashed = Array.isArray(style.dash) ? style.dash : [1, 0];
      return h('tr', null, h('td', { cls: 'mini-name' }, swatchLine(style.color, dashed), nameEl(s.label, { title: s.series })),
        at, w ? [cell(w.mean), cell(w.min), cell(w.max)] : h('td', { cls: 'num muted', colspan: '3' }, 'no samples in the window'));
    }));
  }

  cursor(t) {
    this.at = t;
    const x = t === null ? null : this.toX(t);
    for (const c of this.charts) {
      c.line.hidden = x === null || t < this.range[0] || t > this.range[1];
      if (x !== null) c.line.style.left = `${x}px`;
      c.series.forEach((s, i) => {
        const k = t === null ? -1 : binAt(s, t);
        c.cells[i].textContent = k < 0 ? '' : fmt.quantity(s.mean[k], s.unit);
        c.cells[i].title = k < 0 ? '' : `${fmt.exact(s.mean[k], s.unit)} at ${fmt.time(s.t[k])}`;
      });
    }
    this.strip.dataset.cursor = t === null ? '' : fmt.time(t);
  }

  width() {
    return this.charts[0].plot.clientWidth - LEFT - RIGHT;
  }

  toX(t) {
    return LEFT + ((t - this.range[0]) / (this.range[1] - this.range[0])) * this.width();
  }

  toT(clientX, c) {
    const x = clientX - c.plot.getBoundingClientRect().left - LEFT;
    const share = Math.max(0, Math.min(1, x / this.width()));
    return this.range[0] + share * (this.range[1] - this.range[0]);
  }

  // ---- pointer and keys ----

  down(c, e) {
    if (e.button !== 0) return;
    this.drag = { t: this.toT(e.clientX, c), x: e.clientX };
    c.plot.setPointerCapture(e.pointerId);
    const end = (ev) => {
      c.plot.removeEventListener('pointerup', end);
      c.plot.removeEventListener('pointercancel', end);
      const d = this.drag;
      this.drag = null;
      if (ev.type === 'pointerup' && Math.abs(ev.clientX - d.x) > 3) this.select(d.t, this.toT(ev.clientX, c));
      else this.drawWindow();
    };
    c.plot.addEventListener('pointerup', end);
    c.plot.addEventListener('pointercancel', end);
  }

  moved(c, e) {
    const t = this.toT(e.clientX, c);
    this.cursor(t);
    if (this.drag && Math.abs(e.clientX - this.drag.x) > 3) this.drawBox([Math.min(this.drag.t, t), Math.max(this.drag.t, t)]);
  }

  wheel(c, e) {
    if (!e.ctrlKey && !e.shiftKey) return;	// a plain wheel scrolls the page
    e.preventDefault();
    this.scale(e.deltaY > 0 ? 1.25 : 0.8, this.toT(e.clientX, c));
  }

  key(e) {
    if (e.target !== this.chartBox || e.ctrlKey || e.metaKey || e.altKey) return;
    const span = this.range[1] - this.range[0];
    const move = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (move) {
      const t = this.at === null || this.at === undefined ? (this.range[0] + this.range[1]) / 2 : this.at + (move * span) / 100;
      this.cursor(Math.max(this.range[0], Math.min(this.range[1], t)));
    } else if (e.key === '+' || e.key === '=') this.scale(0.8, this.at ?? (this.range[0] + this.range[1]) / 2);
    else if (e.key === '-') this.scale(1.25, this.at ?? (this.range[0] + this.range[1]) / 2);
    else return;
    e.preventDefault();
  }

  scale(factor, around) {
    const [a, b] = this.range;
    const lo = Math.max(this.full[0], around - (around - a) * factor);
    const hi = Math.min(this.full[1], around + (b - around) * factor);
    if (hi - lo > 1000) this.zoomTo([lo, hi]);
  }

  zoomTo([a, b]) {
    this.range = [a, b];
    for (const c of this.charts) if (c.ec) c.ec.setOption({ xAxis: { min: a / 1e9, max: b / 1e9 } });
    this.drawStrip();
    this.drawWindow();
    this.cursor(null);
  }

  // ---- window ----

  select(a, b) {
    const lo = Math.max(this.full[0], Math.min(a, b));
    const hi = Math.min(this.full[1], Math.max(a, b));
    this.ctx.setWindow(hi > lo ? [Math.round(lo), Math.round(hi)] : null);
  }

  typed() {
    const a = Number(this.from.value) * 1e9;
    const b = Number(this.to.value) * 1e9;
    if (this.from.value !== '' && this.to.value !== '' && b > a) this.select(a, b);
  }

  drawBox(w) {
    for (const c of this.charts) {
      c.selection.hidden = !w;
      if (!w) continue;
      const x0 = Math.max(LEFT, this.toX(w[0]));
      const x1 = Math.min(LEFT + this.width(), this.toX(w[1]));
      c.selection.hidden = x1 <= x0;
      c.selection.style.left = `${x0}px`;
      c.selection.style.width = `${Math.max(1, x1 - x0)}px`;
    }
  }

  drawWindow() {
    if (!this.full) return;
    const w = this.ctx.window();
    const [a, b] = w || this.full;
    this.from.value = (a / 1e9).toFixed(3);
    this.to.value = (b / 1e9).toFixed(3);
    this.dropWindow.disabled = !w;
    this.zoomButton.disabled = !w;
    this.unzoom.disabled = this.range[0] === this.full[0] && this.range[1] === this.full[1];
    this.drawBox(w);
    for (const c of this.charts) this.drawLegend(c);
  }

  // Behind the phases: when tools recorded, and what was marked.
  stripExtras(w, span) {
    const x = (t) => LEFT + ((t - this.range[0]) / span) * w;
    const recorded = this.windows.filter((r) => r.end > this.range[0] && r.start < this.range[1]).map((r) => {
      const a = Math.max(r.start, this.range[0]);
      const b = Math.min(r.end, this.range[1]);
      const words = `recorded (${r.name}): ${fmt.time(r.end - r.start)}, from ${fmt.time(r.start)}`;
      return h('button', {
        type: 'button', cls: 'recorded', title: `${words}. Press to select this time.`, 'aria-label': words,
        style: { left: `${x(a)}px`, width: `${Math.max(3, x(b) - x(a))}px` }, onclick: () => this.select(r.start, r.end),
      });
    });
    const ticks = this.marks.filter((m) => m.t >= this.range[0] && m.t <= this.range[1]).slice(0, 500).map((m) => {
      const words = `${m.name}, marked at ${fmt.time(m.t)}`;
      return h('span', { cls: 'mark-tick', title: words, role: 'img', 'aria-label': words, style: { left: `${x(m.t)}px` } });
    });
    return [...recorded, ...ticks];
  }

  drawStrip() {
    this.strip.hidden = !this.phases.length && !this.marks.length && !this.windows.length;
    if (!this.charts.length) return;
    const w = this.width();
    const span = this.range[1] - this.range[0];
    clear(this.strip, [...this.stripExtras(w, span), ...this.phases.map((p, i) => {
      const a = Math.max(p.start, this.range[0]);
      const b = Math.min(p.end, this.range[1]);
      if (b < a) return null;
      const left = ((a - this.range[0]) / span) * w;
      const width = Math.max(3, ((b - a) / span) * w);
      const words = `${p.name}: ${fmt.time(p.end - p.start)}, from ${fmt.time(p.start)}`;
      return h('button', {
        type: 'button', cls: `phase phase-${i % 2}`, title: `${words}. Press to select this time.`, 'aria-label': words,
        style: { left: `${LEFT + left}px`, width: `${width}px` }, onclick: () => this.select(p.start, p.end),
      }, width > 48 ? p.name : '');
    })]);
  }

  escape() {
    return this.data ? this.data.escape() : false;
  }

  focusFilter() {
    if (this.data) this.data.focusFilter();
  }
}

// The line through the middle of the bins; a hole between bins is a hole in the line.
function points(s) {
  const out = [];
  for (let i = 0; i < s.t.length; i++) {
    if (i > 0 && s.t[i] - (s.t[i - 1] + s.dt[i - 1]) > 1.5 * Math.max(s.dt[i], s.dt[i - 1], 1)) out.push([s.t[i] / 1e9, null]);
    out.push([(s.t[i] + s.dt[i] / 2) / 1e9, Number.isFinite(s.mean[i]) ? s.mean[i] : null]);
  }
  return out;
}

// Lowest to highest value of each bin, behind the line.
function band(s, params, api, color) {
  const up = [];
  const down = [];
  for (let i = 0; i < s.t.length; i++) {
    if (!Number.isFinite(s.max[i]) || !Number.isFinite(s.min[i])) continue;
    const x = (s.t[i] + s.dt[i] / 2) / 1e9;
    up.push(api.coord([x, s.max[i]]));
    down.unshift(api.coord([x, s.min[i]]));
  }
  return {
    type: 'group', clipPath: clipOf(params.coordSys),
    children: [{ type: 'polygon', shape: { points: [...up, ...down] }, style: { fill: color, opacity: 0.16 }, silent: true }],
  };
}

function swatchLine(color, dash) {
  const [on, off] = dash;
  return h('span', {
    cls: 'line-swatch', 'aria-hidden': 'true',
    style: { background: off ? `repeating-linear-gradient(90deg, ${color} 0 ${on}px, transparent ${on}px ${on + off}px)` : color },
  });
}

export function render(panel, ctx) {
  return new SamplesView(panel, ctx);
}
