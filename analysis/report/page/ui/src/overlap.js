// Where the time of each device went, and why nothing ran in the rest of it.

import { h, name } from './dom.js';
import * as fmt from './format.js';

const PARTS = [
  ['compute', 'compute_ns', 'compute'], ['comm', 'exposed_comm_ns', 'exposed communication'],
  ['copy', 'exposed_copy_ns', 'exposed copy'], ['idle', 'idle_ns', 'idle'],
];
export const KIND_COLORS = { compute: '#56b4e9', comm: '#e69f00', copy: '#1fae85', idle: '#b8bec7' };
const DEVICES = 4;
const CAUSES = 4;

export const CAUSE_WORDS = {
  data_loading: 'data loader', sync: 'host waited for a device', alloc: 'allocation', module_load: 'loading of code', api: 'other calls of the runtime',
  host_busy: 'busy host', host_untraced: 'host without calls', graph_launch: 'launch of a graph', launch_latency: 'launch on its way',
  queued_short: 'hand-over below 10 µs', queued_long: 'wait in the queue', no_launch: 'launch not known',
};
// One colour for each, wherever it is drawn.
export const CAUSE_COLORS = {
  data_loading: '#c3b1e1', sync: '#f0e442', alloc: '#f2b8b5', module_load: '#d9c9a3', api: '#d68fb5', host_busy: '#56b4e9', host_untraced: '#b8bec7', graph_launch: '#8fc7f0',
  launch_latency: '#e69f00', queued_short: '#9ed9c5', queued_long: '#1fae85', no_launch: '#e8793a',
};
export const causeColor = (c) => CAUSE_COLORS[c] || '#b8bec7';
export const causeWords = (c) => CAUSE_WORDS[c] || String(c).replace(/_/g, ' ');

// The rows of `overlap`, or of a table like it: [{ device, wall, parts: [{ kind, name, ns, share }] }], the parts adding up to wall.
export function devicesOf(report, table = 'overlap') {
  const t = report.table(table);
  return t ? t.objects().map((d) => ({
    row: d, device: String(d.device ?? ''), wall: Number(d.wall_ns),
    parts: PARTS.map(([kind, col, word]) => ({ kind, name: word, ns: Number(d[col]), share: d.wall_ns > 0 ? d[col] / d.wall_ns : 0 })),
  })) : [];
}

// Idle time of all devices by cause, largest first, with its share of the idle time.
export function causesOf(report) {
  const t = report.table('idle_causes');
  const sums = new Map();
  let all = 0;
  for (const c of t ? t.objects() : []) {
    sums.set(c.cause, (sums.get(c.cause) || 0) + Number(c.total_ns));
    all += Number(c.total_ns);
  }
  return [...sums].map(([cause, ns]) => ({ cause, ns, share: all > 0 ? ns / all : 0 })).sort((a, b) => b.ns - a.ns);
}

// One bar; parts without any time are not drawn.
export function bar(parts) {
  return h('div', { cls: 'device-bar', role: 'img', 'aria-label': parts.filter((p) => p.ns > 0).map((p) => `${p.name} ${fmt.percent(p.share)}`).join(', ') },
    parts.filter((p) => p.ns > 0).map((p) => h('div', { cls: `seg seg-${p.kind}`, style: { 'flex-grow': String(Math.max(p.share, 0.002)) }, title: `${p.name}: ${fmt.exact(p.ns, 'ns')} (${fmt.percent(p.share)})` })));
}

// The devices below the bar of all: each its own, of many those that idle most.
export function deviceBars(report) {
  const all = devicesOf(report);
  if (all.length < 2) return null;
  const idle = (d) => d.parts[3].share;
  const shown = all.length <= DEVICES ? all : [...all].sort((a, b) => idle(b) - idle(a)).slice(0, DEVICES);
  return h('div', { cls: 'device-bars' }, shown.map((d) => [name(d.device), bar(d.parts), h('span', { cls: 'muted' }, `idle ${fmt.percent(idle(d))}`)]),
    all.length > shown.length && h('p', { cls: 'muted all' }, `The ${shown.length} of ${all.length} devices that idle most.`));
}

export function causesLine(ctx) {
  const rows = causesOf(ctx.shown());
  if (!rows.length) return null;
  const tab = ctx.tabOf('idle_causes');
  const rest = rows.slice(CAUSES);
  const ns = rest.reduce((a, c) => a + c.ns, 0);
  const shown = rest.length > 1 ? [...rows.slice(0, CAUSES).map((c) => ({ ...c, word: causeWords(c.cause) })), { word: `${rest.length} other causes`, ns, share: rest.reduce((a, c) => a + c.share, 0) }]
    : rows.map((c) => ({ ...c, word: causeWords(c.cause) }));
  return h('p', { cls: 'causes' }, h('strong', null, 'Idle because of'), ' ', shown.map((c, i) => [i ? ', ' : '', c.word, ' ', h('span', { cls: 'cause-ns', title: fmt.exact(c.ns, 'ns') }, fmt.time(c.ns)), h('span', { cls: 'muted' }, ` (${fmt.percent(c.share)})`)]),
    tab && [' ', h('button', { type: 'button', cls: 'link', onclick: () => ctx.go(tab.id, {}) }, `${tab.label}\u00a0›`)]);
}
