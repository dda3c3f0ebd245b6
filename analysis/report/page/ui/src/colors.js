// Categories and their colours. The set is Okabe and Ito's; the two dark ones are lightened so that black text on any
// of them has a contrast of at least 4.5 : 1 in both themes. Colour never stands alone: every use has its word beside it.

const C = {
  sky: '#56b4e9', orange: '#e69f00', green: '#1fae85', yellow: '#f0e442', blue: '#5f9fd0', vermillion: '#e8793a',
  purple: '#d68fb5', grey: '#b8bec7', sand: '#d9c9a3', mint: '#9ed9c5', lilac: '#c3b1e1', rose: '#f2b8b5',
};
const KNOWN = [
  [/^(host|function|cpu|code|cpu_op|operator)$/i, C.sky],
  [/python/i, C.lilac],
  [/runtime|driver|launch/i, C.mint],
  [/gemm|blas|matmul/i, C.orange],
  [/conv/i, C.vermillion],
  [/attention|attn/i, C.purple],
  [/norm/i, C.lilac],
  [/elementwise|pointwise/i, C.yellow],
  [/reduce|reduction/i, C.rose],
  [/copy|memcpy|memory/i, C.green],
  [/fill|memset/i, C.mint],
  [/collective|comm\b|communication|nccl|rccl|\bmpi/i, C.blue],
  [/marker|range|annotation|roctx|nvtx|user/i, C.sand],
];
const SPARE = [C.lilac, C.rose, C.mint, C.yellow, C.sand, C.purple, C.vermillion, C.green];
export const GREY = C.grey;

export class Categories {
  // names: categories in order of weight, so that the heaviest unknown ones get the colours that are left
  constructor(names) {
    this.map = new Map();
    const used = new Set();
    const open = [];
    for (const n of names) {
      const hit = KNOWN.find(([re]) => re.test(n));
      if (hit) {
        this.map.set(n, hit[1]);
        used.add(hit[1]);
      } else open.push(n);
    }
    const spare = SPARE.filter((c) => !used.has(c));
    for (const n of open) this.map.set(n, spare.shift() || GREY);
  }

  color(category) {
    return this.map.get(category) || GREY;
  }
}

function rgb(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

export function mix(hex, other, share) {
  const a = rgb(hex);
  const b = rgb(other);
  return `#${a.map((v, i) => Math.round(v + (b[i] - v) * share).toString(16).padStart(2, '0')).join('')}`;
}

export function luminance(hex) {
  const [r, g, b] = rgb(hex).map((v) => {
    const x = v / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

// Neighbours of one category differ a little in lightness, always the same way for the same name.
export function shade(hex, name) {
  let hash = 7;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return mix(hex, '#ffffff', ((hash >>> 0) % 5) * 0.07);
}

// Lines on charts: darker on white, lighter on black; the dash pattern tells them apart without colour.
const LINES_LIGHT = ['#0072b2', '#d55e00', '#00795a', '#a8467f', '#8a5f00', '#2a7fae', '#5d4aa0', '#555b66'];
const LINES_DARK = ['#56b4e9', '#e69f00', '#2fc79b', '#e0a0c4', '#f0e442', '#8fc7f0', '#b9a6ee', '#b8bec7'];
const DASHES = ['solid', [6, 3], [2, 2], [9, 3, 2, 3]];

export function lineStyle(i, dark) {
  const colors = dark ? LINES_DARK : LINES_LIGHT;
  const dash = DASHES[Math.floor(i / colors.length + i) % DASHES.length];
  return { color: colors[i % colors.length], dash };
}

// Areas that lie on each other, heaviest first: six fills far from each other, then the same six hatched.
const LAYERS = [C.sky, C.orange, C.green, C.yellow, C.purple, C.vermillion];
export const REST = C.sand;

export function layerStyle(i) {
  return { color: LAYERS[i % LAYERS.length], hatched: i % (2 * LAYERS.length) >= LAYERS.length };
}
