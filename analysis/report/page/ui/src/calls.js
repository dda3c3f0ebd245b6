// The calls of threads as windows of time need them: cut where they outlive the call around them, with the nodes of their paths.

// The calls of a thread in parts, by start: a call that outlives the one around it has a second part, which begins where that one ends
// and is an outermost call itself; what lies wholly inside it is cut at the same moment and hangs below. (As include/profrig/model/model.h
// has it.) Parts are parallel arrays; `parent` is a part, `call` is the end of the whole call, -1 of a
// second part, which has in `under` the part that its first one lay below.
class Parts {
  constructor(lane, n) { // of so many calls
    Object.assign(this, { lane, nr: 0, start: new Float64Array(2 * n), end: new Float64Array(2 * n), parent: new Int32Array(2 * n), node: new Int32Array(2 * n), fn: new Int32Array(2 * n), call: new Float64Array(2 * n), again: new Uint8Array(2 * n), depth: new Int16Array(2 * n), under: new Int32Array(2 * n) });
  }
}

// All threads, their parts, functions and the nodes of their paths, once for all stretches.
export class Calls {
  constructor(lanes) {
    Object.assign(this, { lanes, fns: [], knownFns: new Map(), nodes: [], below: [], roots: new Map(), byLane: new Map() });
    this.list = lanes.byId.filter((l) => l.kind !== 'queue' && l.rows.length).map((l) => this.lane(l));
    for (const c of this.list) this.byLane.set(c.lane.id, c);
  }

  fn(name, cat) {
    const key = name * 4096 + cat;
    let f = this.knownFns.get(key);
    if (f === undefined) {
      f = this.fns.push({ name, cat }) - 1;
      this.knownFns.set(key, f);
    }
    return f;
  }

  node(lane, parent, name) {
    const map = parent < 0 ? this.roots : (this.below[parent] ||= new Map());
    const key = parent < 0 ? lane.id * 16777216 + name : name;
    let n = map.get(key);
    if (n === undefined) {
      n = this.nodes.push({ lane, parent, name }) - 1;
      map.set(key, n);
    }
    return n;
  }

  lane(l) {
    const rows = l.rows;
    const total = rows.reduce((a, r) => a + r.start.length, 0);
    const c = new Parts(l, total);
    const next = new Int32Array(rows.length);
    const first = []; // of the open call at each depth: its parts
    const second = [];
    for (let left = total; left > 0; left--) {
      let d = -1;
      for (let k = 0; k < rows.length; k++) if (next[k] < rows[k].start.length && (d < 0 || rows[k].start[next[k]] < rows[d].start[next[d]])) d = k;
      const i = next[d]++;
      this.put(c, rows[d], i, d, first, second);
    }
    return c;
  }

  put(c, r, i, d, first, second) {
    const [s, e] = [r.start[i], r.end[i]];
    first.length = Math.min(first.length, d);
    second.length = first.length;
    let p = -1;
    for (let k = first.length - 1; k >= 0 && p < 0; k--) if (first[k] !== undefined && c.call[first[k]] >= s) p = k;
    const [p1, p2] = p < 0 ? [-1, -1] : [first[p], second[p] ?? -1];
    const below = p2 >= 0 && s >= c.start[p2] ? p2 : p1;
    const limit = below < 0 ? Infinity : c.end[below];
    const fn = this.fn(r.name[i], r.cat[i]);
    const one = c.nr++;
    c.start[one] = s;
    c.end[one] = Math.min(e, limit);
    c.parent[one] = below;
    c.node[one] = this.node(c.lane, below < 0 ? -1 : c.node[below], r.name[i]);
    c.fn[one] = fn;
    c.call[one] = e;
    c.depth[one] = d;
    c.under[one] = -1;
    for (let a = below; a >= 0 && !c.again[one]; a = c.parent[a]) if (c.fn[a] === fn) c.again[one] = 1;
    first[d] = one;
    second[d] = -1;
    if (e <= limit) return;
    const inside = below === p1 && p2 >= 0 && e <= c.call[p1] ? p2 : -1;
    const two = c.nr++;
    c.start[two] = limit;
    c.end[two] = e;
    c.parent[two] = inside;
    c.node[two] = this.node(c.lane, inside < 0 ? -1 : c.node[inside], r.name[i]);
    c.fn[two] = fn;
    c.call[two] = -1;
    c.again[two] = 1;
    c.depth[two] = d;
    c.under[two] = below;
    second[d] = two;
  }

  // The node of the call that begins there and has this name, else of the innermost one that is open; -1.
  at(laneId, t, name) {
    const c = this.byLane.get(laneId);
    if (!c) return -1;
    if (!c.byStart) c.byStart = Int32Array.from({ length: c.nr }, (_, k) => k).sort((x, y) => c.start[x] - c.start[y] || c.depth[x] - c.depth[y]);
    let lo = 0;
    let hi = c.nr;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (c.start[c.byStart[mid]] > t) hi = mid;
      else lo = mid + 1;
    }
    for (let k = lo - 1; k >= 0 && c.start[c.byStart[k]] === t; k--) if (c.call[c.byStart[k]] >= 0 && this.fns[c.fn[c.byStart[k]]].name === name) return c.node[c.byStart[k]];
    for (let k = lo - 1 >= 0 ? c.byStart[lo - 1] : -1; k >= 0; k = c.parent[k]) if (c.end[k] >= t) return c.node[k];
    return -1;
  }
}
