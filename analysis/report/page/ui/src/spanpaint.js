// Draws lanes on a canvas. Nothing is kept per span: a frame collects rectangles by colour and fills them, what is narrower
// than a pixel once per pixel.

import { mix } from './colors.js';
import { visible } from './dom.js';
import * as fmt from './format.js';

export const AXIS = 22;
export const ROW = 17;
export const GAP = 5;
export const COUNTER = 40;
const LABEL_PX = 40;
const MAX_LABELS = 1200;
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif';

// Of a text what fits, with both its ends; what was asked before is remembered.
const fitted = new Map();
function fit(g, text, room) {
  const key = `${room} ${text}`;
  if (fitted.has(key)) return fitted.get(key);
  let shown = text;
  for (let n = text.length - 1; n > 3 && g.measureText(shown).width > room; n--) shown = fmt.middle(text, n, 0.5);
  if (fitted.size > 5000) fitted.clear();
  fitted.set(key, shown);
  return shown;
}

class Rects {
  constructor() {
    this.v = new Float32Array(1024);
    this.n = 0;
  }

  add(x, y, w, h) {
    if (this.n + 4 > this.v.length) {
      const v = new Float32Array(2 * this.v.length);
      v.set(this.v);
      this.v = v;
    }
    this.v[this.n] = x;
    this.v[this.n + 1] = y;
    this.v[this.n + 2] = w;
    this.v[this.n + 3] = h;
    this.n += 4;
  }
}

// Steps of 1, 2, 5 that leave about 110 px between ticks, less where there is little room.
export function ticks(t0, t1, width) {
  const least = ((t1 - t0) / Math.max(1, width)) * Math.min(110, Math.max(64, width / 4));
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= least) || 10 * power;
  const out = [];
  for (let t = Math.ceil(t0 / step) * step; t <= t1 && out.length < 100; t += step) out.push(t);
  return out;
}

// The share of time by category over the whole recording, as bars of at most `room` in a picture of its own.
export function overviewBars(lanes, width, height, room) {
  const dpr = window.devicePixelRatio || 1;
  const out = Object.assign(document.createElement('canvas'), { width: Math.round(width * dpr), height: Math.round(height * dpr) });
  const g = out.getContext('2d');
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  const n = Math.max(50, Math.min(1200, Math.floor(width)));
  const base = new Float32Array(n);
  lanes.overview(n).forEach((v, c) => {
    if (!v) return;
    g.fillStyle = lanes.colors[c];
    for (let x = 0; x < n; x++) {
      if (!(v[x] > 0)) continue;
      const ht = Math.max(0.5, Math.min(1, v[x]) * room);
      g.fillRect((x * width) / n, height - base[x] - ht, Math.max(1, width / n), ht);
      base[x] += ht;
    }
  });
  return out;
}

export class Painter {
  constructor(lanes) {
    this.lanes = lanes;
    this.shown = lanes.names.map((n) => visible(lanes.short(n)));
    this.bright = lanes.cats.map(() => new Rects());
    this.dim = lanes.cats.map(() => new Rects());
    this.labels = [];
  }

  // view: { t0, t1, left, width, height, top (scrolled away), rows: [{ row, y }], match, dark, css }
  paint(g, view) {
    const { css, left, width, height } = view;
    g.clearRect(0, 0, width, height);
    g.font = FONT;
    g.textBaseline = 'middle';
    for (const r of this.bright) r.n = 0;
    for (const r of this.dim) r.n = 0;
    this.labels.length = 0;
    g.save();
    g.beginPath();
    g.rect(left, 0, width - left, height);
    g.clip();
    this.grid(g, view);
    for (const { row, y } of view.rows) {
      const at = y - view.top;
      if (at + ROW < AXIS || at > height) continue;
      this.bins(row, at, view);
      this.spans(row, at, view);
    }
    this.fill(g, view);
    for (const c of view.counters) this.counter(g, c, view);
    g.restore();
    this.axis(g, view);
  }

  x(view, t) {
    return view.left + ((t - view.t0) / (view.t1 - view.t0)) * (view.width - view.left);
  }

  grid(g, view) {
    g.fillStyle = view.css.line;
    for (const t of ticks(view.t0, view.t1, view.width - view.left)) g.fillRect(Math.round(this.x(view, t)), AXIS, 1, view.height - AXIS);
    g.fillStyle = view.css.muted;
    g.globalAlpha = 0.45;
    for (const t of view.marks) if (t >= view.t0 && t <= view.t1) g.fillRect(Math.round(this.x(view, t)), AXIS, 1, view.height - AXIS);
    g.globalAlpha = 1;
  }

  bins(row, y, view) {
    const n = row.binStart.length;
    if (!n) return;
    const scale = (view.width - view.left) / (view.t1 - view.t0);
    const px = row.lane.bin * scale;
    const { match } = view;
    let column = -1;
    let busy = 0;
    let most = -1;
    let which = 0;
    let lit = false;
    const flush = () => {
      if (column < 0) return;
      const h = Math.max(2, Math.min(1, (busy * scale) / Math.max(1, Math.min(px, 1) ? 1 : px)) * (ROW - 1));
      (match && !lit ? this.dim : this.bright)[which].add(column, y + ROW - 1 - h, 1, h);
    };
    for (let k = row.firstBin(view.t0); k < n && row.binStart[k] < view.t1; k++) {
      const x = view.left + (row.binStart[k] - view.t0) * scale;
      const hit = !match || match.has(row.binName[k]);
      if (px >= 1) {
        const h = Math.max(2, Math.min(1, row.binBusy[k] / row.lane.bin) * (ROW - 1));
        (hit ? this.bright : this.dim)[row.binCat[k]].add(x, y + ROW - 1 - h, Math.max(1, px - (px > 6 ? 1 : 0)), h);
        if (px >= 3 * LABEL_PX) this.label(x, y, px, `${fmt.plural(Math.round(row.binCount[k]), 'short span')}, busy ${fmt.percent(row.binBusy[k] / row.lane.bin)}`, view);
        continue;
      }
      const c = Math.floor(x);
      if (c !== column) {
        flush();
        column = c;
        busy = 0;
        most = -1;
        lit = false;
      }
      busy += row.binBusy[k];
      lit = lit || hit;
      if (row.binBusy[k] > most) {
        most = row.binBusy[k];
        which = row.binCat[k];
      }
    }
    flush();
  }

  spans(row, y, view) {
    const scale = (view.width - view.left) / (view.t1 - view.t0);
    const { match } = view;
    const path = view.path && !row.lane.list;
    const to = row.firstFrom(view.t1);
    let column = -1;
    let longest = -1;
    let which = 0;
    let lit = false;
    const gaps = row.lane.kind === 'idle'; // a column is as high as it is idle
    let length = 0;
    const flush = () => {
      const tall = gaps ? Math.max(2, Math.min(1, length) * (ROW - 1)) : ROW - 1;
      if (column >= 0) ((match || path) && !lit ? this.dim : this.bright)[which].add(column, y + ROW - 1 - tall, 1, tall);
    };
    for (let i = row.firstAfter(view.t0); i < to; i++) {
      if (row.end[i] < view.t0) continue;
      const x0 = Math.max(view.left - 2, view.left + (row.start[i] - view.t0) * scale);
      const x1 = Math.min(view.width + 2, view.left + (row.end[i] - view.t0) * scale);
      const hit = (!match || match.has(row.name[i])) && (!path || Boolean(row.onPath && row.onPath[i]));
      if (x1 - x0 >= 1) {
        (hit ? this.bright : this.dim)[row.cat[i]].add(x0, y, Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 0.6 : 0)), ROW - 1);
        if (x1 - x0 >= LABEL_PX) this.label(x0, y, x1 - x0, this.shown[row.name[i]], view);
        continue;
      }
      const c = Math.floor(x0);
      if (c !== column) {
        flush();
        column = c;
        longest = -1;
        length = 0;
        lit = false;
      }
      lit = lit || hit;
      length += x1 - x0;
      if (x1 - x0 > longest) {
        longest = x1 - x0;
        which = row.cat[i];
      }
    }
    flush();
  }

  label(x, y, w, text, view) {
    if (this.labels.length < MAX_LABELS) {
      const from = Math.max(x, view.left);
      const room = Math.floor((x + w - from - 6) / 6.1);
      if (room >= 4) this.labels.push([from + 3, y + ROW / 2, text.length > room ? `${text.slice(0, room - 1)}…` : text]);
    }
  }

  fill(g, view) {
    const draw = (sets, color) => sets.forEach((r, c) => {
      if (!r.n) return;
      g.fillStyle = color(c);
      for (let i = 0; i < r.n; i += 4) g.fillRect(r.v[i], r.v[i + 1], r.v[i + 2], r.v[i + 3]);
    });
    draw(this.dim, (c) => mix(this.lanes.colors[c], view.css.card, 0.75));
    draw(this.bright, (c) => this.lanes.colors[c]);
    g.fillStyle = view.match ? view.css.text : '#0d1013';
    g.globalAlpha = view.match ? 0.8 : 1;
    for (const [x, y, text] of this.labels) g.fillText(text, x, y);
    g.globalAlpha = 1;
  }

  // Mean as a line over the band from min to max.
  counter(g, c, view) {
    const y = c.y - view.top;
    if (y + COUNTER < AXIS || y > view.height) return;
    const { s } = c;
    const high = c.max > 0 ? c.max : 1;
    const up = (v) => y + COUNTER - 2 - (Math.max(0, v) / high) * (COUNTER - 6);
    g.fillStyle = view.css.bar;
    g.beginPath();
    let pen = false;
    for (let i = c.firstAfter(view.t0); i < s.t.length && s.t[i] < view.t1; i++) {
      if (!Number.isFinite(s.mean[i])) continue;
      const x0 = this.x(view, s.t[i]);
      const x1 = this.x(view, s.t[i] + s.dt[i]);
      g.rect(x0, up(s.mean[i]), Math.max(1, x1 - x0 + 0.3), y + COUNTER - 2 - up(s.mean[i]));
      pen = true;
    }
    if (pen) g.fill();
  }

  axis(g, view) {
    const { css, left, width, height } = view;
    g.fillStyle = css.card;
    g.fillRect(0, 0, left, height);
    g.fillRect(0, 0, width, AXIS);
    g.fillStyle = css.line;
    g.fillRect(0, AXIS - 1, width, 1);
    g.fillRect(left - 1, 0, 1, height);
    g.fillStyle = css.muted;
    for (const t of ticks(view.t0, view.t1, width - left)) {
      const x = this.x(view, t);
      if (x < width - 60) g.fillText(fmt.time(t).replace(/\u00a0/g, ' '), x + 3, AXIS / 2);
    }
    g.fillStyle = css.text;
    g.save();
    g.beginPath();
    g.rect(0, AXIS, left - 4, height - AXIS);
    g.clip();
    for (const l of view.names) {
      const y = l.y - view.top + l.h / 2;
      if (y > AXIS - 10 && y < height + 10) g.fillText(fit(g, l.text, left - 14), 6, y);
    }
    g.restore();
  }
}
