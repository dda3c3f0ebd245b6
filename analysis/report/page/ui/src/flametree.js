// From rows of call paths to the tree that a flame graph draws, and the callers and callees of one function in it.
// No element is made here.

import { UNATTRIBUTED, counterRanks } from './facts.js';

const MAX_DEPTH = 400;	// deeper frames count as their ancestor at this depth; the view says so

// The first MAX_DEPTH frames of a path.
function clip(path) {
  if (path.length < 2 * MAX_DEPTH) return path;
  let at = -1;
  for (let i = 0; i < MAX_DEPTH; i++) {
    at = path.indexOf(';', at + 1);
    if (at < 0) return path;
  }
  return path.slice(0, at);
}

// rows: [{path, value, calls}], value = exclusive. → { name, self, total, calls, children, parent, depth }; ancestors that
// have no row of their own are made.
export function buildTree(rows, rootName) {
  const root = { name: rootName, self: 0, total: 0, waits: 0, idle: false, calls: 0, children: [], parent: null, depth: 0 };
  const nodes = new Map();
  const nodeOf = (path) => {
    const seen = nodes.get(path);
    if (seen) return seen;
    const cut = path.lastIndexOf(';');
    const parent = cut < 0 ? root : nodeOf(path.slice(0, cut));
    const node = { name: path.slice(cut + 1), self: 0, total: 0, waits: 0, idle: false, calls: 0, children: [], parent, depth: parent.depth + 1 };
    parent.children.push(node);
    nodes.set(path, node);
    return node;
  };
  root.clipped = 0;
  for (const { path, value, calls } of rows) {
    const shown = clip(path);
    if (shown !== path) root.clipped++;
    const node = nodeOf(shown);
    if (value > 0) node.self += value;
    if (calls > 0) node.calls += Number(calls);
  }
  finish(root);
  return root;
}

// Calls that wait for something to happen: idle threads spend their lives in them.
const WAITS = /(^|[.:_ \/])(wait|sleep|nanosleep|usleep|select|poll|ppoll|pselect|epoll_p?wait2?|kevent|futex|accept4?|recv(from|msg)?|pause|sigwait(info)?|sem_(timed)?wait|pthread_cond_(timed)?wait|pthread_join|__?lll_lock_wait|acquire|queue\.get|idle)(@|\(|$)/i;
export const isWait = (name) => WAITS.test(name);

// Totals from the leaves up, heaviest first; what only waits behind what works, the unattributed last.
function finish(root) {
  const order = [root];
  for (let i = 0; i < order.length; i++) for (const c of order[i].children) order.push(c);
  for (let i = order.length - 1; i >= 0; i--) {
    const n = order[i];
    n.total += n.self;
    if (isWait(n.name)) n.waits = n.total;
    n.idle = n.total > 0 && n.waits >= 0.9 * n.total;
    n.children = n.children.filter((c) => c.total > 0);
    n.children.sort((a, b) => (a.name === UNATTRIBUTED) - (b.name === UNATTRIBUTED) || a.idle - b.idle || b.total - a.total || (a.name < b.name ? -1 : 1));
    if (!n.parent) continue;
    n.parent.total += n.total;
    n.parent.waits += n.waits;
  }
}

export function descendants(node) {
  const out = [node];
  for (let i = 0; i < out.length; i++) for (const c of out[i].children) out.push(c);
  return out;
}

export function pathOf(node) {
  const names = [];
  for (let n = node; n && n.parent; n = n.parent) names.unshift(n.name);
  return names;
}

export function findPath(root, names) {
  let n = root;
  for (const name of names) {
    const next = n.children.find((c) => c.name === name);
    if (!next) return null;
    n = next;
  }
  return n;
}

// One function over all its frames. Under recursion only the outermost frame counts for the inclusive value.
export function sandwich(root, name) {
  const callers = new Map();
  const callees = new Map();
  const r = { name, frames: 0, self: 0, total: 0, calls: 0 };
  const add = (map, key, value, node) => {
    const e = map.get(key) || { name: key, value: 0, node, best: -1 };
    e.value += value;
    if (node.total > e.best) {
      e.best = node.total;
      e.node = node;
    }
    map.set(key, e);
  };
  const stack = [[root, false]];
  while (stack.length) {
    const [n, inside] = stack.pop();
    const own = n.name === name && n.parent !== null;
    if (own) {
      r.frames++;
      r.self += n.self;
      r.calls += n.calls;
      if (!inside) {
        r.total += n.total;
        if (n.parent.parent) add(callers, n.parent.name, n.total, n.parent);
        else add(callers, null, n.total, n.parent);	// the top of the stack
      }
      for (const c of n.children) add(callees, c.name, c.total, c);
    }
    for (const c of n.children) stack.push([c, inside || own]);
  }
  const sorted = (map) => [...map.values()].sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
  return { ...r, callers: sorted(callers), callees: sorted(callees) };
}

// Functions by own value, for the side panel when nothing is selected.
export function topSelf(root) {
  const sums = new Map();
  for (const d of descendants(root)) {
    if (!d.parent || !(d.self > 0)) continue;
    const e = sums.get(d.name) || { name: d.name, value: 0, node: d, idle: isWait(d.name) };
    e.value += d.self;
    if (d.total > e.node.total) e.node = d;
    sums.set(d.name, e);
  }
  return [...sums.values()].sort((a, b) => a.idle - b.idle || b.value - a.value || (a.name < b.name ? -1 : 1));
}

// Frames whose name holds the text, and the value they stand for without counting nested matches twice.
export function searchTree(root, text) {
  const term = text.toLowerCase();
  let frames = 0;
  let value = 0;
  const stack = [[root, false]];
  while (stack.length) {
    const [n, inside] = stack.pop();
    const hit = n.parent !== null && n.name.toLowerCase().includes(term);
    if (hit) {
      frames++;
      if (!inside) value += n.total;
    }
    for (const c of n.children) stack.push([c, inside || hit]);
  }
  return { frames, value };
}

// The measures a flame graph can be drawn by: [{ id, label, unit, source, rows(track) }]. Energy ids are as short as they
// can be and still be unique: energy:gpu0, energy:gpu0:device, energy:gpu0:host:<counter>.
export function metrics(report) {
  const out = [];
  const paths = report.table('callpaths');
  if (paths) {
    out.push({ id: 'time', label: 'Host time', unit: 'ns', view: 'host', table: paths, rows: rowsOf(paths, 'exclusive_ns', null) });
    if (paths.num('device_exclusive_ns').some((v) => v > 0)) {
      out.push({ id: 'device', label: 'Device time', unit: 'ns', view: 'host', table: paths, rows: rowsOf(paths, 'device_exclusive_ns', null) });
    }
  }
  const kernels = report.table('kernel_paths');
  if (kernels) out.push({ id: 'kernels', label: 'Device time, down to kernels', unit: 'ns', view: 'both', table: kernels, rows: kernelRows(kernels) });
  out.push(...energyMetrics(report.table('energy_callpaths'), counterRanks(report)));
  return out;
}

// What divided the joules, in words.
export const by = (estimate, before = '') => (estimate ? `${before}by ${estimate}` : '');

// Of a table once: it has many rows.
const energyOf = new WeakMap();
function energyMetrics(t, rank) {
  if (!t) return [];
  if (!energyOf.has(t)) energyOf.set(t, makeEnergyMetrics(t, rank));
  return energyOf.get(t);
}

function makeEnergyMetrics(t, rank) {
  const [counter, device, view] = ['counter', 'device', 'view'].map((c) => t.col(c));
  const groups = new Map();
  for (let i = 0; i < t.rows; i++) {
    const key = JSON.stringify([counter[i], device[i], view[i]]);
    if (!groups.has(key)) groups.set(key, { counter: counter[i], device: device[i], view: view[i], index: [] });
    groups.get(key).index.push(i);
  }
  // The best counter of a device comes first and gets the short name; the host view before the device view.
  const order = [...new Set(device)];
  const all = [...groups.values()].sort((a, b) => rank(a.counter, a.device) - rank(b.counter, b.device) ||
    order.indexOf(a.device) - order.indexOf(b.device) || (a.view === 'host' ? 0 : 1) - (b.view === 'host' ? 0 : 1));
  const taken = new Set();
  // All paths of a counter and view are of one estimate, so that they add up; of an analysis of before there is none.
  const joules = t.has('best_j') ? 'best_j' : 'exclusive_j';
  const estimate = t.col('estimate');
  return all.map((g) => {
    const countersOfDevice = new Set(all.filter((x) => x.device === g.device).map((x) => x.counter));
    const short = `energy:${g.device || g.counter}`;
    let id = short;
    if (g.view !== 'host' || taken.has(id)) id = `${short}:${g.view}`;
    if (taken.has(id)) id = `${short}:${g.view}:${g.counter}`;
    taken.add(id);
    return {
      id, unit: 'J', view: g.view, table: t, counter: g.counter, device: g.device, estimate: estimate[g.index[0]] || '',
      label: `Energy of ${g.device || g.counter}, ${g.view} view${countersOfDevice.size > 1 ? ` (${g.counter})` : ''}${by(estimate[g.index[0]], ', ')}`,
      rows: rowsOf(t, joules, g.index),
    };
  });
}

// The kernel is the last frame of the path that launched it.
function kernelRows(t) {
  const [path, name, value, calls, track] = [t.col('path'), t.col('name'), t.num('total_ns'), t.num('calls'), t.col('track')];
  return (of) => {
    const rows = [];
    for (let i = 0; i < path.length; i++) if (of === null || track[i] === of) rows.push({ path: `${path[i]};${String(name[i]).replace(/;/g, ':')}`, value: value[i], calls: calls[i], track: track[i] });
    return rows;
  };
}

function rowsOf(t, valueCol, index) {
  return (track) => {
    const path = t.col('path');
    const value = t.num(valueCol);
    const calls = t.num('calls');
    const tracks = t.col('track');
    const rows = [];
    const take = (i) => {
      if (track === null || tracks[i] === track) rows.push({ path: path[i], value: value[i], calls: calls[i], track: tracks[i] });
    };
    if (index) index.forEach(take);
    else for (let i = 0; i < path.length; i++) take(i);
    return rows;
  };
}

export function tracksOf(metric) {
  const seen = new Set();
  for (const r of metric.rows(null)) if (r.track !== null && r.track !== '' && r.value > 0) seen.add(r.track);
  return [...seen];
}
