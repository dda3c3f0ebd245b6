// Small drawings as SVG: bars that stack, and points over two logarithmic axes. Texts are text nodes; what a mark says is in its title.

import { clear, h, name, s } from './dom.js';
import { ticks } from './spanpaint.js';
import * as fmt from './format.js';

const PAD = { left: 64, right: 34, top: 12, bottom: 40 };

// One row for each bar: [{ label, title?, parts: [{ value, color, name, hatched? }] }]; all to one scale unless each is a whole.
export function stackedBars(label, rows, { format, whole = false, onpress = null, max: given } = {}) {
  const sum = (r) => r.parts.reduce((a, p) => a + p.value, 0);
  const max = given || Math.max(...rows.map(sum), 0);
  return h('div', { cls: 'bars', role: 'group', 'aria-label': label }, rows.map((r) => {
    const all = sum(r);
    const head = name(r.label, { title: r.title || r.label });
    return [onpress ? h('button', { type: 'button', cls: 'link', onclick: () => onpress(r) }, head) : head,
      h('div', { cls: 'bars-track', role: 'img', 'aria-label': `${r.label}: ${r.parts.filter((p) => p.value > 0).map((p) => `${p.name} ${format(p.value)}`).join(', ')}` },
        h('div', { cls: 'bars-bar', style: { width: `${whole ? 100 : max > 0 ? (100 * all) / max : 0}%` } }, r.parts.filter((p) => p.value > 0).map((p) => h('span', {
          cls: p.hatched ? 'bars-hatched' : '', style: { 'flex-grow': String(p.value / all), background: p.color }, title: `${p.name}: ${format(p.value)} (${fmt.percent(p.value / all)})`,
        })))),
      h('span', { cls: 'bars-value' }, r.value || format(all))];
  }));
}

export function legend(items) {
  return h('ul', { cls: 'legend' }, items.map(([text, color, hatched]) => h('li', null, h('span', { cls: `swatch${hatched ? ' bars-hatched' : ''}`, 'aria-hidden': 'true', style: { background: color } }), name(text))));
}

const decades = (lo, hi) => Array.from({ length: Math.round(Math.log10(hi / lo)) + 1 }, (_, i) => lo * 10 ** i);
const floor10 = (v) => 10 ** Math.floor(Math.log10(v));
const ceil10 = (v) => 10 ** Math.ceil(Math.log10(v) + 1e-9);

// points: [{ x, y, r?, color, title, cross? }]; lines: [{ at: x → y, color, label, dash? }]; both axes logarithmic.
export function logChart({ label, points, lines = [], xText, yText, xName, yName, width = 760, height = 340 }) {
  const xs = points.map((p) => p.x);
  const ys = points.map((p) => p.y);
  const x0 = floor10(Math.min(...xs));
  const x1 = Math.max(ceil10(Math.max(...xs)), x0 * 10);
  const top = lines.flatMap((l) => [l.at(x1)]);
  const y0 = floor10(Math.min(...ys, ...lines.map((l) => l.at(x0))));
  const y1 = Math.max(ceil10(Math.max(...ys, ...top)), y0 * 10);
  const X = (v) => PAD.left + ((Math.log10(v) - Math.log10(x0)) / (Math.log10(x1) - Math.log10(x0))) * (width - PAD.left - PAD.right);
  const Y = (v) => height - PAD.bottom - ((Math.log10(v) - Math.log10(y0)) / (Math.log10(y1) - Math.log10(y0))) * (height - PAD.top - PAD.bottom);
  const curve = (l) => {
    const n = 160;
    const d = [];
    for (let i = 0; i <= n; i++) {
      const x = x0 * (x1 / x0) ** (i / n);
      const y = l.at(x);
      if (y >= y0) d.push(`${d.length ? 'L' : 'M'}${X(x).toFixed(1)} ${Y(Math.min(y, y1)).toFixed(1)}`);
    }
    return d.join('');
  };
  return h('div', { cls: 'log-chart' }, s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, preserveAspectRatio: 'xMinYMin meet' },
    decades(x0, x1).map((v, i, all) => [s('line', { class: 'grid', x1: X(v), x2: X(v), y1: PAD.top, y2: height - PAD.bottom }), s('text', { class: 'tick', x: X(v), y: height - PAD.bottom + 16, 'text-anchor': i === 0 ? 'start' : i === all.length - 1 ? 'end' : 'middle' }, xText(v))]),
    decades(y0, y1).map((v) => [s('line', { class: 'grid', x1: PAD.left, x2: width - PAD.right, y1: Y(v), y2: Y(v) }), s('text', { class: 'tick', x: PAD.left - 6, y: Y(v) + 4, 'text-anchor': 'end' }, yText(v))]),
    s('text', { class: 'tick', x: width - PAD.right, y: height - 6, 'text-anchor': 'end' }, xName), s('text', { class: 'tick', x: PAD.left + 4, y: PAD.top + 8 }, yName),
    lines.map((l) => [s('path', { class: 'roof', d: curve(l), 'stroke-dasharray': l.dash || 'none' }, s('title', null, l.label)), s('text', { class: 'tick roof-name', x: width - PAD.right - 4, y: Y(Math.min(l.at(x1), y1)) - 5, 'text-anchor': 'end' }, l.label)]),
    points.map((p) => (p.cross ? s('path', { class: 'point', d: `M${X(p.x) - 5} ${Y(p.y) - 5}l10 10m0 -10l-10 10`, stroke: p.color }, s('title', null, p.title))
      : s('circle', { class: 'point', cx: X(p.x), cy: Y(p.y), r: p.r || 5, fill: p.color }, s('title', null, p.title))))));
}

// Moments of an axis and their words; where words of a short stretch would be alike, its begin and times from there on.
function moments(t0, t1, width) {
  const at = ticks(t0, t1, width).map((t) => [t, fmt.time(t)]);
  if (new Set(at.map(([, words]) => words)).size === at.length) return at;
  return [[t0, fmt.time(t0)], ...ticks(0, t1 - t0, width).filter((t) => t > (t1 - t0) / 20).map((t) => [t0 + t, `+${fmt.time(t)}`])];
}

// Lines of steps over time, drawn as wide as there is room: lines: [{ steps: [[from, to, value]], color, dash?, fill?, gaps?, name }]; gaps: nothing is known
// between steps; mark: { t, v, words }; window: a stretch of time that is shaded, or null; least: what the axis reaches in any case.
export function stepChart({ label, lines, mark, window: w, yText, least = 1, height = 190 }) {
  const all = lines.flatMap((l) => l.steps);
  const t0 = Math.min(...all.map((x) => x[0]));
  const t1 = Math.max(...all.map((x) => x[1]), t0 + 1);
  const top = Math.max(...all.map((x) => x[2]), least) * 1.08;
  const box = h('div', { cls: 'step-chart' });
  const draw = () => {
    const width = Math.max(280, box.clientWidth || 900);
    const left = 70;
    const [bottom, up] = [height - 24, 10];
    const X = (t) => left + ((t - t0) / (t1 - t0)) * (width - left - 12);
    const Y = (v) => bottom - (v / top) * (bottom - up);
    const path = (l) => {
      let d = '';
      let end = null;
      for (const [a, b, v] of l.steps) {
        d += `${d && !(l.gaps && a > end) ? 'L' : 'M'}${X(a).toFixed(1)} ${Y(v).toFixed(1)}L${X(b).toFixed(1)} ${Y(v).toFixed(1)}`;
        end = b;
      }
      return d;
    };
    const under = (l) => (l.gaps ? l.steps.map(([a, b, v]) => `M${X(a).toFixed(1)} ${bottom}V${Y(v).toFixed(1)}H${X(b).toFixed(1)}V${bottom}Z`).join('')
      : `${path(l)}L${X(l.steps[l.steps.length - 1][1]).toFixed(1)} ${bottom}L${X(l.steps[0][0]).toFixed(1)} ${bottom}Z`);
    const steps = [0, 0.25, 0.5, 0.75].map((k) => (k * top) / 1.08 * (4 / 3));
    clear(box, s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label },
      w && s('rect', { class: 'step-window', x: X(Math.max(t0, w[0])), y: up, width: Math.max(1, X(Math.min(t1, w[1])) - X(Math.max(t0, w[0]))), height: bottom - up }),
      steps.filter((v) => v <= top).map((v) => [s('line', { class: 'grid', x1: left, x2: width - 12, y1: Y(v), y2: Y(v) }), s('text', { class: 'tick', x: left - 6, y: Y(v) + 4, 'text-anchor': 'end' }, yText(v))]),
      moments(t0, t1, width - left).map(([t, words]) => s('text', { class: 'tick', x: X(t), y: height - 6, 'text-anchor': X(t) > width - 34 || t === t0 ? 'end' : 'middle' }, words)),
      lines.map((l) => [l.fill && l.steps.length && s('path', { d: under(l), fill: l.color, 'fill-opacity': '0.18' }), s('path', { class: 'step-line', d: path(l), stroke: l.color, 'stroke-dasharray': l.dash || 'none' }, s('title', null, l.name))]),
      mark && [s('circle', { class: 'step-mark', cx: X(mark.t), cy: Y(mark.v), r: 4 }), s('text', { class: 'tick step-words', x: X(mark.t) + (X(mark.t) > width - 110 ? -8 : 8), y: Y(mark.v) + 4, 'text-anchor': X(mark.t) > width - 110 ? 'end' : 'start' }, mark.words)]));
  };
  draw();
  new ResizeObserver(draw).observe(box);
  return box;
}
