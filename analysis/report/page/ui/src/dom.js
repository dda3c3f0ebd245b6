// The only ways this page makes elements. Text always becomes a text node: names from traces are never parsed as HTML.

const SVG_NS = 'http://www.w3.org/2000/svg';

// Control characters, those that set the direction of text and those that show nothing: a name must neither hide nor reorder anything.
// eslint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const escaped = (c) => (c < '\u0100' ? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}` : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
export const visible = (text) => String(text).replace(HIDDEN, escaped);

function fill(el, props, children) {
  for (const [k, v] of Object.entries(props || {})) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith('on')) el.addEventListener(k.slice(2), v);
    else if (k === 'style') for (const [p, x] of Object.entries(v)) el.style.setProperty(p, x);
    else if (k === 'data') for (const [p, x] of Object.entries(v)) el.dataset[p] = x;
    else if (k === 'value') el.value = v;
    else if (k === 'title' || k === 'aria-label') el.setAttribute(k, visible(v));
    else el.setAttribute(k === 'cls' ? 'class' : k, v === true ? '' : v);
  }
  append(el, children);
  return el;
}

export function append(el, children) {
  for (const c of children.flat(Infinity)) {
    if (c === null || c === undefined || c === false) continue;
    el.appendChild(c instanceof Node ? c : document.createTextNode(visible(c)));
  }
  return el;
}

export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG_NS, tag), props, children);
}

export function clear(el, ...children) {
  el.replaceChildren();
  return append(el, children);
}

export const EMPTY_NAME = '(empty name)';

// A name from a trace: isolated, so that right-to-left text cannot reorder what stands around it.
export function name(text, props = {}) {
  const shown = text === '' ? EMPTY_NAME : text;
  return h('bdi', { cls: 'name', title: shown, ...props }, shown);
}

const ICONS = {
  ok: 'M3 8.5l3.2 3.2L13 4.8',
  bad: 'M4 4l8 8M12 4l-8 8',
  warn: 'M8 2.5L14.5 13.5H1.5zM8 6.5v3.4M8 11.7v.3',
  note: 'M8 7.2v4.3M8 4.6v.3M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8z',
  clock: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8zM8 4.5V8l2.4 1.6',
  theme: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8zM8 1.8a6.2 6.2 0 0 1 0 12.4z',
  close: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  arrow: 'M6 3.5L10.5 8 6 12.5',
};

export function icon(id) {
  return s('svg', { viewBox: '0 0 16 16', class: `icon icon-${id}`, 'aria-hidden': 'true', focusable: 'false' },
    s('path', { d: ICONS[id] }));
}

// Beside a point of the screen, where there is room.
export function placeTip(tip, x, y) {
  tip.hidden = false;
  const w = document.body.clientWidth; // without the place of the scroll bar
  const ht = window.innerHeight;
  const b = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 12, w - b.width - 8))}px`;
  tip.style.top = `${y + 18 + b.height > ht ? Math.max(4, y - b.height - 10) : y + 18}px`;
}

let live;
export function announce(text) {
  if (!live) {
    live = h('div', { id: 'live', cls: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
    document.body.appendChild(live);
  }
  live.textContent = text;
}

export async function copyText(text, what) {
  let ok = false;
  try {
    await navigator.clipboard.writeText(text);
    ok = true;
  } catch {
    // Some browsers give file:// pages no clipboard object: the old way needs a selection.
    const area = h('textarea', { cls: 'visually-hidden', 'aria-hidden': 'true', value: text });
    document.body.appendChild(area);
    const before = document.activeElement;
    area.select();
    ok = document.execCommand('copy');
    area.remove();
    if (before) before.focus();
  }
  announce(ok ? `${what} copied` : 'The browser did not allow copying');
  return ok;
}

// Labelled <select>; options: [[value, text], …]
export function choice(label, options, value, onchange, props = {}) {
  const sel = h('select', { ...props, onchange: () => onchange(sel.value) },
    options.map(([v, text]) => h('option', { value: v, selected: v === value }, text)));
  sel.value = value;
  return h('label', { cls: 'field' }, h('span', null, label), sel);
}

// A row of exclusive buttons, as radio buttons to the keyboard and to screen readers.
export function segmented(label, options, value, onchange) {
  const group = h('div', { cls: 'segmented', role: 'radiogroup', 'aria-label': label });
  const set = (v, focus) => {
    for (const b of group.children) {
      const on = b.dataset.value === v;
      b.setAttribute('aria-checked', String(on));
      b.tabIndex = on ? 0 : -1;
      if (on && focus) b.focus();
    }
  };
  for (const [v, text] of options) {
    group.appendChild(h('button', {
      type: 'button', role: 'radio', data: { value: v },
      onclick: () => { set(v); onchange(v); },
      onkeydown: (e) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        if (!step) return;
        e.preventDefault();
        const i = options.findIndex(([x]) => x === v);
        const next = options[(i + step + options.length) % options.length][0];
        set(next, true);
        onchange(next);
      },
    }, text));
  }
  set(value);
  group.set = set;
  return group;
}
