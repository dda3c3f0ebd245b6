// Who drew the power, over time: the fitted powers of the names of one counter and view, stacked.

import { announce, clear, h, name as nameEl, placeTip } from './dom.js';
import { GREY, layerStyle, REST } from './colors.js';
import * as fmt from './format.js';
import { UNATTRIBUTED } from './facts.js';
import { binAt, extent, OTHER, powerLayers, windowStats } from './series.js';
import { axes, clipOf, initChart, LEFT, palette, RIGHT } from './timechart.js';

const HEIGHT = 280;
const HATCH = { angle: '135deg', on: 2, pitch: 6, color: 'rgba(0, 0, 0, .34)' };
const styleOf = (name, i) => (name === UNATTRIBUTED ? { color: GREY } : name === OTHER ? { color: REST } : layerStyle(i));
const sumAt = (layers, k) => layers.reduce((a, l) => a + l.mean[k], 0);

export class PowerChart {
  constructor(ctx) {
    this.ctx = ctx;
    this.groups = powerLayers(ctx.report);
    this.layers = [];
    this.title = h('bdi');
    this.about = h('span', { cls: 'muted' });
    this.canvas = h('div', { cls: 'chart-canvas', style: { height: `${HEIGHT}px` } });
    this.line = h('div', { cls: 'cursor-line', hidden: true });
    this.selection = h('div', { cls: 'window-box', hidden: true });
    this.plot = h('div', {
      cls: 'chart-plot', role: 'img', onpointerdown: (e) => this.down(e), onpointermove: (e) => this.moved(e), onpointerleave: () => this.drag || this.cursor(-1),
    }, this.canvas, this.selection, this.line);
    this.legend = h('tbody');
    this.caption = h('caption', { cls: 'visually-hidden' });
    this.tip = h('div', { cls: 'tip power-tip', role: 'tooltip', hidden: true });
    this.el = h('div', {
      cls: 'charts power-chart', tabindex: '0', role: 'group', hidden: true, 'aria-label': 'chart of modelled power; arrow keys move the cursor',
      onkeydown: (e) => this.key(e), onblur: () => this.cursor(-1),
    }, h('section', { cls: 'chart card' },
      h('h3', null, this.title, ' ', h('span', { cls: 'unit' }, 'W'), ' ', this.about), this.plot,
      h('div', { cls: 'chart-legend' }, h('table', { cls: 'mini' }, this.caption,
        h('thead', null, h('tr', null, ['Name', 'Mean', 'Max'].map((t, i) => h('th', { scope: 'col', cls: i ? 'num' : '' }, t)))), this.legend))), this.tip);
    if (!this.groups.size) return;
    ctx.on('window', () => this.drawWindow());
    ctx.on('theme', () => this.draw());
    new ResizeObserver(() => this.fit()).observe(this.plot);
  }

  show({ counter, device, view }) {
    this.layers = this.groups.get(`${counter}\n${device}\n${view}`) || [];
    this.range = extent(this.layers);
    this.el.hidden = !this.range;
    if (!this.range) return;
    const title = `Modelled power by ${view === 'device' ? 'device work' : 'function'}`;
    clear(this.title, title);
    clear(this.about, `${UNATTRIBUTED} is ${view === 'device' ? 'the static power' : 'idle time'}; a gap has no samples`);
    clear(this.caption, `${title}: values`);
    this.plot.setAttribute('aria-label', `${title} over time, stacked, ${fmt.plural(this.layers.length, 'name')}`);
    this.fit();
  }

  // ---- ECharts ----

  fit() {
    if (!this.range || !this.plot.clientWidth) return;
    if (this.ec) this.ec.resize();
    else this.ec = initChart(this.canvas);
    this.draw();
  }

  draw() {
    if (!this.ec || !this.range) return;
    const p = palette(this.ctx.dark());
    const top = Math.max(...this.layers[0].t.map((_, k) => sumAt(this.layers, k)));
    this.ec.setOption({
      ...axes(this.range, 'W', p),
      series: [{ type: 'custom', silent: true, animation: false, clip: true, data: [[this.range[0] / 1e9, top]], renderItem: (params, api) => stack(this.layers, params, api, p) }],
    }, { notMerge: true });
    this.drawWindow();
    this.cursor(-1);
  }

  drawWindow() {
    if (!this.range) return;
    const [a, b] = this.ctx.window() || this.range;
    this.drawBox(this.ctx.window());
    const cell = (w) => h('td', { cls: 'num', title: w === null ? '' : fmt.exact(w, 'W') }, w === null ? fmt.UNKNOWN : fmt.power(w));
    const { t, dt } = this.layers[0];
    const sums = t.map((_, k) => sumAt(this.layers, k));
    const row = (label, s) => {
      const w = windowStats(s, a, b);
      return h('tr', null, h('td', { cls: 'mini-name' }, label), cell(w && w.mean), cell(w && w.max));
    };
    clear(this.legend, this.layers.map((l, i) => row([swatch(l, i), nameEl(l.name)], l)), row('Sum', { t, dt, mean: sums, min: sums, max: sums }));
  }

  drawBox(w) {
    const [x0, x1] = w ? [this.toX(Math.max(w[0], this.range[0])), this.toX(Math.min(w[1], this.range[1]))] : [0, 0];
    this.selection.hidden = x1 <= x0;
    this.selection.style.left = `${x0}px`;
    this.selection.style.width = `${Math.max(1, x1 - x0)}px`;
  }

  // ---- cursor, window, keys ----

  toX(t) {
    return LEFT + ((t - this.range[0]) / (this.range[1] - this.range[0])) * (this.plot.clientWidth - LEFT - RIGHT);
  }

  toT(clientX) {
    const share = (clientX - this.plot.getBoundingClientRect().left - LEFT) / (this.plot.clientWidth - LEFT - RIGHT);
    return this.range[0] + Math.max(0, Math.min(1, share)) * (this.range[1] - this.range[0]);
  }

  // The words for bin k, beside the point; watts: the height of the pointer, which lies on one of the layers.
  cursor(k, x, y, watts) {
    this.at = k;
    this.line.hidden = this.tip.hidden = k < 0;
    if (k < 0) return;
    const { t, dt } = this.layers[0];
    const sum = sumAt(this.layers, k);
    this.line.style.left = `${this.toX(t[k] + dt[k] / 2)}px`;
    let above = sum;
    const row = (label, w, here) => h('tr', { cls: here ? 'here' : '' }, h('td', { cls: 'mini-name' }, label), h('td', { cls: 'num', title: fmt.exact(w, 'W') }, fmt.power(w)));
    clear(this.tip, h('table', { cls: 'mini' }, h('caption', null, `${fmt.time(t[k])} to ${fmt.time(t[k] + dt[k])}`),
      h('tbody', null, this.layers.map((l, i) => {
        const under = watts <= above && watts > above - l.mean[k];
        above -= l.mean[k];
        return l.ran[k] && row([swatch(l, i), nameEl(l.name)], l.mean[k], under);
      }), row('Sum', sum))));
    // On a narrow screen it would hide the chart: there it lies under it.
    const box = this.plot.getBoundingClientRect();
    placeTip(this.tip, x, box.width < 500 ? box.bottom - 18 : y);
  }

  moved(e) {
    const t = this.toT(e.clientX);
    const box = this.plot.getBoundingClientRect();
    this.cursor(binAt(this.layers[0], t), e.clientX, e.clientY, this.ec && this.ec.convertFromPixel({ gridIndex: 0 }, [e.clientX - box.left, e.clientY - box.top])[1]);
    if (this.drag && Math.abs(e.clientX - this.drag.x) > 3) this.drawBox([Math.min(this.drag.t, t), Math.max(this.drag.t, t)]);
  }

  down(e) {
    if (e.button !== 0) return;
    this.drag = { t: this.toT(e.clientX), x: e.clientX };
    this.plot.setPointerCapture(e.pointerId);
    const end = (ev) => {
      this.plot.removeEventListener('pointerup', end);
      this.plot.removeEventListener('pointercancel', end);
      const d = this.drag;
      this.drag = null;
      const w = [d.t, this.toT(ev.clientX)].sort((a, b) => a - b).map(Math.round);
      if (ev.type === 'pointerup' && Math.abs(ev.clientX - d.x) > 3 && w[1] > w[0]) this.ctx.setWindow(w);
      else this.drawWindow();
    };
    this.plot.addEventListener('pointerup', end);
    this.plot.addEventListener('pointercancel', end);
  }

  key(e) {
    if (e.target !== this.el || e.ctrlKey || e.metaKey || e.altKey) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (step) {
      const { t, dt } = this.layers[0];
      const k = this.at < 0 ? t.length >> 1 : Math.max(0, Math.min(t.length - 1, this.at + step));
      const box = this.plot.getBoundingClientRect();
      this.cursor(k, box.left + this.toX(t[k] + dt[k] / 2), box.top + HEIGHT / 3);
      announce([...this.tip.querySelectorAll('caption, tr')].map((r) => [...(r.cells || [r])].map((c) => c.textContent).join(' ')).join(', '));
    } else if (e.key === 'Escape' && this.at >= 0) this.cursor(-1);
    else return;
    e.preventDefault();
  }
}

// Steps of all layers on each other, from the lowest up, and the line of their sum; nothing where bins are missing.
function stack(layers, params, api, p) {
  const { t, dt } = layers[0];
  const children = [];
  const at = (ns, w) => api.coord([ns / 1e9, w]);
  for (let from = 0, to; from < t.length; from = to) {
    for (to = from + 1; to < t.length && t[to] - (t[to - 1] + dt[to - 1]) < dt[to] / 2; to++);
    const bins = t.slice(from, to).map((_, i) => from + i);
    const steps = (w) => bins.flatMap((k, i) => [at(t[k], w[i]), at(t[k] + dt[k], w[i])]);
    let below = bins.map(() => 0);
    for (let l = layers.length - 1; l >= 0; l--) {
      const above = bins.map((k, i) => below[i] + Math.max(0, layers[l].mean[k]));
      children.push({ type: 'polygon', silent: true, shape: { points: [...steps(above), ...steps(below).reverse()] }, style: { fill: fill(styleOf(layers[l].name, l)), stroke: p.card, lineWidth: 0.5 } });
      below = above;
    }
    children.push({ type: 'polyline', silent: true, shape: { points: steps(below) }, style: { stroke: p.line, lineWidth: 1, fill: null } });
  }
  return { type: 'group', clipPath: clipOf(params.coordSys), children };
}

// ---- fills ----

function fill({ color, hatched }) {
  if (!hatched) return color;
  const size = 8;
  const image = document.createElement('canvas');
  image.width = image.height = size;
  const g = image.getContext('2d');
  g.fillStyle = color;
  g.fillRect(0, 0, size, size);
  g.strokeStyle = HATCH.color;
  g.lineWidth = HATCH.on;
  for (const x of [-size, 0, size]) {
    g.beginPath();
    g.moveTo(x - 1, size + 1);
    g.lineTo(x + size + 1, -1);
    g.stroke();
  }
  return { image, repeat: 'repeat' };
}

function swatch(l, i) {
  const { color, hatched } = styleOf(l.name, i);
  const { angle, on, pitch } = HATCH;
  return h('span', { cls: 'swatch', 'aria-hidden': 'true', style: { background: hatched ? `repeating-linear-gradient(${angle}, ${HATCH.color} 0 ${on}px, transparent ${on}px ${pitch}px), ${color}` : color } });
}
