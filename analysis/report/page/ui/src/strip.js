// The strip of the whole recording above every tab that can answer for a part of it: share of device time by category. A drag
// selects the window of the page; by keyboard arrows move it, with Shift they change its length, Esc clears.

import { h } from './dom.js';
import * as fmt from './format.js';
import { overviewBars } from './spanpaint.js';

const HEIGHT = 32;
const STEP = 0.02;

export class Strip {
  constructor(ctx) {
    this.ctx = ctx;
    this.canvas = h('canvas', { cls: 'strip-canvas', tabindex: '0', role: 'slider', 'aria-label': 'Selected window of the recording. Drag selects; arrows move it, with Shift they change its end, Esc clears.', 'aria-valuemin': '0', 'aria-valuemax': '100',
      onpointerdown: (e) => this.down(e), onkeydown: (e) => this.key(e) });
    this.words = h('span', { cls: 'muted strip-words' });
    this.el = h('div', { cls: 'strip', hidden: true }, this.canvas, this.words);
    ctx.on('window', () => this.draw());
    ctx.on('theme', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.el);
  }

  // Shown on a tab or not; the lanes are read when it is seen first.
  show(on) {
    this.el.hidden = !on || !this.ctx.lanes();
    if (!this.el.hidden) this.draw();
  }

  draw() {
    if (this.el.hidden || this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.paint();
    });
  }

  paint() {
    const width = this.canvas.clientWidth;
    if (!width || this.el.hidden) return;
    const dpr = window.devicePixelRatio || 1;
    const [w, ht] = [Math.round(width * dpr), Math.round(HEIGHT * dpr)];
    if (!this.bars || this.bars.width !== w) this.bars = overviewBars(this.ctx.lanes(), width, HEIGHT, HEIGHT - 2); // no window changes them
    if (this.canvas.width !== w) Object.assign(this.canvas, { width: w, height: ht });
    const g = this.canvas.getContext('2d');
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, w, ht);
    g.drawImage(this.bars, 0, 0);
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    this.paintWindow(g, width, this.ctx.lanes().extent);
  }

  paintWindow(g, width, [e0, e1]) {
    const w = this.drag || this.ctx.window();
    const css = getComputedStyle(document.documentElement);
    this.canvas.setAttribute('aria-valuenow', String(w ? Math.round((100 * (w[0] - e0)) / (e1 - e0)) : 0));
    this.canvas.setAttribute('aria-valuetext', w ? `${fmt.time(w[0])} to ${fmt.time(w[1])}` : 'whole recording');
    this.words.textContent = w ? `${fmt.time(w[1] - w[0])} of ${fmt.time(e1 - e0)}` : `${fmt.time(e1 - e0)}; drag to select a window`;
    if (!w) return;
    const [a, b] = w.map((t) => ((t - e0) / (e1 - e0)) * width);
    g.globalAlpha = 0.66;
    g.fillStyle = css.getPropertyValue('--card').trim();
    g.fillRect(0, 0, a, HEIGHT);
    g.fillRect(b, 0, width - b, HEIGHT);
    g.globalAlpha = 1;
    g.strokeStyle = css.getPropertyValue('--accent').trim();
    g.lineWidth = 2;
    g.strokeRect(a + 1, 1, Math.max(2, b - a - 2), HEIGHT - 2);
  }

  at(clientX) {
    const box = this.canvas.getBoundingClientRect();
    const [e0, e1] = this.ctx.lanes().extent;
    return Math.max(e0, Math.min(e1, e0 + ((clientX - box.left) / box.width) * (e1 - e0)));
  }

  down(e) {
    if (e.button !== 0) return;
    const from = this.at(e.clientX);
    const x = e.clientX;
    this.canvas.setPointerCapture(e.pointerId);
    const move = (ev) => {
      if (Math.abs(ev.clientX - x) < 4) return;
      const to = this.at(ev.clientX);
      this.drag = [Math.min(from, to), Math.max(from, to)];
      this.draw();
    };
    const end = () => {
      this.canvas.removeEventListener('pointermove', move);
      this.canvas.removeEventListener('pointerup', end);
      this.canvas.removeEventListener('pointercancel', end);
      const w = this.drag;
      this.drag = null;
      if (w) this.set(w);
    };
    this.canvas.addEventListener('pointermove', move);
    this.canvas.addEventListener('pointerup', end);
    this.canvas.addEventListener('pointercancel', end);
  }

  set([a, b]) {
    const [e0, e1] = this.ctx.lanes().extent;
    const w = [Math.round(Math.max(e0, a)), Math.round(Math.min(e1, b))];
    if (w[1] > w[0]) this.ctx.setWindow(w);
  }

  key(e) {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[e.key];
    if (!by || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const [e0, e1] = this.ctx.lanes().extent;
    const step = by * STEP * (e1 - e0);
    const w = this.ctx.window();
    if (!w) this.set([e0, e0 + (e1 - e0) / 10]);
    else if (e.shiftKey) this.set([w[0], Math.max(w[0] + 1, w[1] + step)]);
    else if (w[0] + step >= e0 && w[1] + step <= e1) this.set([w[0] + step, w[1] + step]);
  }
}
