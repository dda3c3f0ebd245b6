// What the tables would be of a stretch of time alone, from the spans that the timeline draws: `profrig analyze --window` of the same
// stretch has the same figures. Spans are cut at its edges. Spans in bins have no name of their own: those of a category are one row,
// [short …], with the bins' share of calls and time; the page says so (`exact` is false then).
//
//	const w = new Windows(report, lanes);
//	w.table('functions', [a, b])	a Table, or null where the stretch tells nothing of that table
//	w.exact				no span is in a bin or left out
//
// No element is made here. One stretch is remembered.

import { Calls } from './calls.js';
import { Table } from './data.js';
import { UNATTRIBUTED } from './facts.js';
import { energyGroups, energyPathRows, energyRows } from './windowenergy.js';

export const SHORT = '[short]';

// Statistics as the tables have them: type 7.
function quantile(v, p) {
  const at = (v.length - 1) * p;
  const i = Math.floor(at);
  return i + 1 < v.length ? v[i] + (v[i + 1] - v[i]) * (at - i) : v[i];
}

function stats(list) {
  const v = Float64Array.from(list).sort();
  const sum = v.reduce((a, x) => a + x, 0);
  const mean = sum / v.length;
  const sq = v.reduce((a, x) => a + (x - mean) ** 2, 0);
  return { min_ns: v[0], mean_ns: mean, median_ns: quantile(v, 0.5), p95_ns: quantile(v, 0.95), max_ns: v[v.length - 1], stddev_ns: v.length > 1 ? Math.sqrt(sq / (v.length - 1)) : 0 };
}

// Rows of objects as a table with the columns of the whole recording's; what is not known is null.
function tableLike(whole, rows) {
  const t = new Table(whole.name, { about: whole.about, columns: whole.columns, data: whole.columns.map((c) => rows.map((r) => r[c.name] ?? null)) });
  t.windowed = true;
  return t;
}

// Stretches in which one of the works that `takes` lets through runs, in whole ns, as [start, end, start, end …]; the list is by start.
function union(list, takes) {
  const out = [];
  let at = -1;
  for (const k of list) {
    if (!takes(k)) continue;
    const from = Math.round(k.start);
    const to = Math.round(k.end);
    if (at >= 0 && from <= out[at]) {
      if (to > out[at]) out[at] = to;
    } else if (to > from) at = out.push(from, to) - 1;
  }
  return out;
}

function length(v) {
  let s = 0;
  for (let i = 0; i < v.length; i += 2) s += v[i + 1] - v[i];
  return s;
}

function common(x, y) {
  let s = 0;
  for (let i = 0, k = 0; i < x.length && k < y.length;) {
    s += Math.max(0, Math.min(x[i + 1], y[k + 1]) - Math.max(x[i], y[k]));
    if (x[i + 1] < y[k + 1]) i += 2;
    else k += 2;
  }
  return s;
}

const every = () => true;

export class Windows {
  constructor(report, lanes) {
    Object.assign(this, { report, lanes, key: '', made: new Map() });
    this.exact = lanes.byId.every((l) => l.binned === 0 && l.leftOut === 0 && l.rows.length > 0);
    this.short = lanes.byId.reduce((a, l) => a + l.binned, 0);
    this.bin = Math.max(0, ...lanes.byId.map((l) => l.bin));
    this.gaps = report.table('lane_idle');
  }

  // Names of the tables that a stretch of time has answers for.
  has(name) {
    if (name === 'energy' || name === 'energy_callpaths') return this.exact && Boolean(this.report.table(name) && this.report.table('energy') && this.report.table('timeline')) && this.report.table('lanes').has('process');
    return ['functions', 'kernels', 'kernel_classes', 'callpaths', 'kernel_paths', 'overlap', 'busy', 'idle_causes'].includes(name) && Boolean(this.report.table(name)) && (name !== 'idle_causes' || Boolean(this.gaps));
  }

  table(name, w) {
    if (!this.has(name)) return null;
    return this.once(name, w, () => tableLike(this.report.table(name), this[name](w)));
  }

  // What all stretches share.
  warm() {
    this.launches();
    if (this.has('energy')) this.counters();
  }

  // Of one stretch everything is made once.
  once(what, w, make) {
    const key = w.join(':');
    if (key !== this.key) {
      this.key = key;
      this.made = new Map();
    }
    if (!this.made.has(what)) this.made.set(what, make());
    return this.made.get(what);
  }

  // ---- what lies in [a, b] ----

  calls() {
    if (!this.calls_) this.calls_ = new Calls(this.lanes);
    return this.calls_;
  }

  // Of each lane of a queue: spans { start, end, name, cat, at } cut to the stretch, then what bins tell of it. What lies wholly in it is the
  // same object for all stretches; none is changed.
  works(w) {
    return this.once('works', w, () => {
      const [a, b] = w;
      const out = [];
      for (const l of this.lanes.byId) {
        if (l.kind !== 'queue' || !l.rows.length) continue;
        const r = l.rows[0];
        const whole = this.wholeWorks(r);
        const to = r.firstFrom(b);
        for (let i = r.firstAfter(a - 1); i < to; i++) {
          const s = Math.max(a, r.start[i]);
          const e = Math.min(b, r.end[i]);
          if (e <= s && (e < s || r.start[i] !== r.end[i])) continue;
          out.push(s === whole[i].start && e === whole[i].end ? whole[i] : { ...whole[i], start: s, end: e, ns: e - s });
        }
        for (const p of this.binned(r, a, b)) out.push(p);
      }
      return out;
    });
  }

  wholeWorks(r) {
    if (!r.works) r.works = Array.from(r.at, (at, i) => this.classed({ device: r.lane.device, track: r.lane.name, start: r.start[i], end: r.end[i], name: r.name[i], cat: r.cat[i], at, longest: -1, count: 1, ns: r.end[i] - r.start[i], kind: '' }));
    return r.works;
  }

  classed(k) {
    k.kind = this.classOf(k);
    return k;
  }

  binned(r, a, b) {
    const out = [];
    const { bin } = r.lane;
    if (!r.bins) r.bins = [];
    for (let k = r.firstBin(a); k < r.binStart.length && r.binStart[k] < b; k++) {
      const s = Math.max(a, r.binStart[k]);
      const part = (Math.min(b, r.binStart[k] + bin) - s) / bin;
      if (!(part > 0)) continue;
      if (!r.bins[k]) r.bins[k] = this.classed({ device: r.lane.device, track: r.lane.name, start: r.binStart[k], end: r.binStart[k] + Math.min(r.binBusy[k], bin), name: -1, cat: r.binCat[k], at: -1, longest: r.binName[k], count: r.binCount[k], ns: r.binBusy[k], kind: '', bin, depth: r.depth, around: null });
      out.push(part === 1 ? r.bins[k] : { ...r.bins[k], start: s, end: s + Math.min(r.binBusy[k], bin) * part, count: r.binCount[k] * part, ns: r.binBusy[k] * part, bin: bin * part });
    }
    return out;
  }

  // A kernel may be of the class copy, and still computes: only what is no kernel copies.
  kinds() {
    if (!this.kinds_) {
      const t = this.report.table('kernels');
      this.kinds_ = new Map(t && t.has('kind') ? t.col('name').map((n, i) => [n, t.col('kind')[i]]) : []);
    }
    return this.kinds_;
  }

  classOf(w) {
    const category = this.lanes.cats[w.cat];
    const kind = this.kinds().get(this.lanes.names[w.name < 0 ? w.longest : w.name]);
    return category === 'collective' ? 'comm' : (category === 'copy' || category === 'fill') && kind !== 'kernel' ? 'copy' : 'compute';
  }

  // The class as tables have it: fills are copies there.
  workClass(w) {
    const c = this.lanes.cats[w.cat];
    return c === 'fill' ? 'copy' : c;
  }

  name(w) {
    return w.name < 0 ? `${SHORT} ${this.lanes.cats[w.cat] || 'other'}` : this.lanes.names[w.name];
  }

  // The parts of calls that lie in the stretch: how long, without what lies below them; -1: not in it.
  hosts(w) {
    const [a, b] = w;
    return this.once('hosts', w, () => this.calls().list.map((c) => {
      const own = new Float64Array(c.nr);
      const dur = new Float64Array(c.nr).fill(-1);
      for (let k = 0; k < c.nr; k++) {
        const s = Math.max(a, c.start[k]);
        const e = Math.min(b, c.end[k]);
        if (e < s || (e === s && Math.max(c.call[k], c.end[k]) > c.start[k])) continue;
        dur[k] = e - s;
        own[k] += e - s;
        const p = c.parent[k];
        if (p >= 0 && dur[p] >= 0) own[p] -= e - s;
        if (c.under[k] >= 0) this.cover(c, c.parent[c.under[k]], p, own, s, e);
      }
      return { c, own, dur, bins: this.shortCalls(c, own, dur, a, b) };
    }));
  }

  // A second part is the innermost call wherever the calls around its first part are still open.
  cover(c, from, parent, own, s, e) {
    for (let q = from, t = s; q >= 0 && q !== parent && t < e; q = c.parent[q]) {
      const end = Math.min(e, c.end[q]);
      if (end > t) own[q] -= end - t;
      t = Math.max(t, end);
    }
  }

  // Bins of a thread: their time is taken from the call around them.
  shortCalls(c, own, dur, a, b) {
    const out = [];
    for (const r of c.lane.rows) {
      for (const p of this.binned(r, a, b)) {
        out.push(p);
        if (r.depth === 0) continue;
        const k = p.around ?? this.around(c, r, p);
        if (k >= 0 && dur[k] >= 0) own[k] = Math.max(0, own[k] - p.ns);
      }
    }
    return out;
  }

  // The part of a call in whose middle a bin lies, -1 for none.
  around(c, r, p) {
    const hit = this.lanes.hit(c.lane.rows[r.depth - 1], (p.start + p.end) / 2, 0);
    p.around = hit && hit.i !== undefined ? this.partOf(c, hit.row.start[hit.i], r.depth - 1) : -1;
    return p.around;
  }

  // The first part of the call that begins then at this depth.
  partOf(c, t, depth) {
    let lo = 0;
    let hi = c.nr;
    this.calls().at(c.lane.id, t, -1);
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (c.start[c.byStart[mid]] < t) lo = mid + 1;
      else hi = mid;
    }
    for (; lo < c.nr && c.start[c.byStart[lo]] === t; lo++) if (c.depth[c.byStart[lo]] === depth) return c.byStart[lo];
    return -1;
  }

  // ---- tables ----

  // Groups of values: add(key, value, fields); → rows with calls, sums and statistics.
  group() {
    const map = new Map();
    return {
      map,
      add(key, count, ns, first) {
        let g = map.get(key);
        if (!g) {
          g = { ...first, calls: 0, sum: 0, own: 0, all: 0, list: [], whole: true };
          map.set(key, g);
        }
        g.calls += count;
        g.sum += ns;
        if (count === 1 && !first.short) g.list.push(ns);
        else g.whole = false;
        return g;
      },
    };
  }

  functions(w) {
    return [...this.deviceFunctions(w), ...this.hostFunctions(w)];
  }

  // Durations by function: where those of each lie in one long array.
  hostLists(w, n) {
    const at = new Int32Array(n + 1);
    for (const { c } of this.hosts(w)) for (let k = 0; k < c.nr; k++) if (this.lies(c, k, w)) at[c.fn[k] + 1]++;
    for (let f = 0; f < n; f++) at[f + 1] += at[f];
    return { at, fill: at.slice(), v: new Float64Array(at[n]) };
  }

  // A whole call, of either part, has time in the stretch, or is a moment in it.
  lies(c, k, [a, b]) {
    const e = Math.min(b, c.call[k]) - Math.max(a, c.start[k]);
    return c.call[k] >= 0 && (e > 0 || (e === 0 && c.call[k] === c.start[k]));
  }

  // A call's own duration is that of both its parts. Calls in the bins of a category are one row.
  hostFunctions([a, b]) {
    const { fns } = this.calls();
    const [own, all] = [new Float64Array(fns.length), new Float64Array(fns.length)];
    const list = this.hostLists([a, b], fns.length);
    const short = new Map();
    for (const { c, own: mine, dur, bins } of this.hosts([a, b])) {
      for (let k = 0; k < c.nr; k++) {
        if (dur[k] >= 0) own[c.fn[k]] += mine[k];
        if (!this.lies(c, k, [a, b])) continue;
        const whole = Math.min(b, c.call[k]) - Math.max(a, c.start[k]);
        list.v[list.fill[c.fn[k]]++] = whole;
        if (!c.again[k]) all[c.fn[k]] += whole;
      }
      for (const p of bins) {
        const g = short.get(p.cat) || { calls: 0, ns: 0 };
        short.set(p.cat, { calls: g.calls + p.count, ns: g.ns + p.ns });
      }
    }
    const cat = (i) => this.lanes.cats[i];
    const rows = fns.map((f, i) => ({ f, v: list.v.subarray(list.at[i], list.fill[i]), own: own[i], all: all[i] })).filter((g) => g.v.length || g.own > 0)
      .map(({ f, v, own: ns, all: inclusive }) => ({ scope: 'host', name: this.lanes.names[f.name], category: cat(f.cat), calls: v.length, inclusive_ns: inclusive, exclusive_ns: Math.round(ns), ...(v.length ? stats(v) : {}), variants: 1 }));
    for (const [c, g] of short) rows.push({ scope: 'host', name: `${SHORT} ${cat(c) || 'calls'}`, category: cat(c), calls: Math.round(g.calls), exclusive_ns: Math.round(g.ns), variants: 1 });
    const sum = rows.reduce((t, r) => t + r.exclusive_ns, 0);
    for (const r of rows) r.share = sum > 0 ? r.exclusive_ns / sum : 0;
    return rows;
  }

  // The trace's own category of a name, which lanes do not have of device work.
  categories() {
    if (!this.categories_) {
      const t = this.report.table('functions');
      const out = new Map();
      for (let i = 0; t && i < t.rows; i++) if (t.col('scope')[i] === 'device' && !out.has(t.col('name')[i])) out.set(t.col('name')[i], t.col('category')[i]);
      this.categories_ = out;
    }
    return this.categories_;
  }

  deviceFunctions(w) {
    const dev = this.group();
    for (const k of this.works(w)) dev.add(this.name(k), k.count, k.ns, { name: this.name(k), category: k.name < 0 ? this.lanes.cats[k.cat] : '', short: k.name < 0 });
    const sum = [...dev.map.values()].reduce((s, g) => s + g.sum, 0);
    return [...dev.map.values()].map((g) => ({ scope: 'device', name: g.name, category: g.category || (this.categories().get(g.name) ?? ''), calls: Math.round(g.calls), inclusive_ns: Math.round(g.sum), exclusive_ns: Math.round(g.sum), ...(g.whole ? stats(g.list) : {}), share: sum > 0 ? g.sum / sum : 0, variants: 1 }));
  }

  kernels(w) {
    const all = this.group();
    const sums = new Map();
    for (const k of this.works(w)) {
      all.add(`${k.device}\n${k.cat}\n${this.name(k)}`, k.count, k.ns, { device: k.device, name: this.name(k), class: this.workClass(k), short: k.name < 0 });
      sums.set(k.device, (sums.get(k.device) || 0) + k.ns);
    }
    const whole = this.report.table('kernels');
    const at = new Map(whole.col('name').map((n, i) => [n, i]));
    return [...all.map.values()].sort((x, y) => (x.device < y.device ? -1 : x.device > y.device ? 1 : y.sum - x.sum)).map((g) => ({
      device: g.device, name: g.name, class: g.class, calls: Math.round(g.calls), total_ns: Math.round(g.sum), ...(g.whole ? stats(g.list) : {}), share: sums.get(g.device) > 0 ? g.sum / sums.get(g.device) : 0,
      short_name: at.has(g.name) ? whole.col('short_name')[at.get(g.name)] : g.name, kind: at.has(g.name) ? whole.col('kind')[at.get(g.name)] : null,
    }));
  }

  kernel_classes(w) {
    const map = new Map();
    for (const k of this.works(w)) {
      const key = `${k.device}\n${this.workClass(k)}`;
      if (!map.has(key)) map.set(key, { device: k.device, class: this.workClass(k), calls: 0, total_ns: 0, list: [] });
      const g = map.get(key);
      g.calls += k.count;
      g.total_ns += k.ns;
      g.list.push(k);
    }
    return [...map.values()].map((g) => ({ ...g, calls: Math.round(g.calls), total_ns: Math.round(g.total_ns), union_ns: length(union(g.list.sort((x, y) => x.start - y.start), every)) }));
  }

  // By device: its works, and the stretch from the first to the end of the last.
  devices(w) {
    return this.once('devices', w, () => {
      const map = new Map();
      for (const k of this.works(w)) {
        if (!map.has(k.device)) map.set(k.device, { device: k.device, list: [], from: Infinity, to: -Infinity });
        const d = map.get(k.device);
        d.list.push(k);
        d.from = Math.min(d.from, k.start);
        d.to = Math.max(d.to, k.end);
      }
      for (const d of map.values()) d.list.sort((x, y) => x.start - y.start);
      return [...map.values()];
    });
  }

  // Whole ns, so that the parts add up to the wall time whatever bins make of them.
  overlap(w) {
    return this.devices(w).map((d) => {
      const of = (takes) => union(d.list, takes);
      const [compute, comm, copy, work, all] = [of((k) => k.kind === 'compute'), of((k) => k.kind === 'comm'), of((k) => k.kind === 'copy'), of((k) => k.kind !== 'copy'), of(every)];
      const hidden = common(comm, compute);
      const wall = Math.round(d.to) - Math.round(d.from);
      return { device: d.device, wall_ns: wall, compute_ns: length(compute), comm_ns: length(comm), copy_ns: length(copy), exposed_comm_ns: length(comm) - hidden, hidden_comm_ns: hidden, exposed_copy_ns: length(copy) - common(copy, work), idle_ns: wall - length(all) };
    });
  }

  busy(w) {
    return this.devices(w).map((d) => {
      const all = length(union(d.list, every));
      const wall = Math.round(d.to) - Math.round(d.from);
      return { device: d.device, spans: Math.round(d.list.reduce((s, k) => s + k.count, 0)), sum_ns: Math.round(d.list.reduce((s, k) => s + k.ns, 0)), union_ns: all, wall_ns: wall, busy: wall > 0 ? all / wall : 0, idle_ns: wall - all };
    });
  }

  // Gaps between works that both lie in the stretch; of bins the part that does.
  idle_causes(w) {
    this.gapColumns ||= ['device', 'start_ns', 'dur_ns', 'binned', 'cause', 'total_ns', 'parts'].map((k) => (k === 'device' || k === 'cause' ? this.gaps.col(k) : Float64Array.from(this.gaps.num(k))));
    const [device, start, dur, binned, cause, total, parts] = this.gapColumns;
    const ends = new Map(this.devices(w).map((d) => [d.device, d]));
    const map = new Map();
    for (let i = 0; i < start.length; i++) {
      const d = ends.get(device[i]);
      if (!d || start[i] + dur[i] <= d.from || start[i] >= d.to) continue;
      const part = binned[i] ? (Math.min(d.to, start[i] + dur[i]) - Math.max(d.from, start[i])) / dur[i] : start[i] >= d.from && start[i] + dur[i] <= d.to ? 1 : 0;
      if (!(part > 0)) continue;
      const key = `${device[i]}\n${cause[i]}`;
      if (!map.has(key)) map.set(key, { device: device[i], cause: cause[i], parts: 0, total_ns: 0 });
      map.get(key).parts += parts[i] * part;
      map.get(key).total_ns += total[i] * part;
    }
    const sums = new Map();
    for (const g of map.values()) sums.set(g.device, (sums.get(g.device) || 0) + g.total_ns);
    return [...map.values()].sort((x, y) => (x.device < y.device ? -1 : x.device > y.device ? 1 : y.total_ns - x.total_ns)).map((g) => ({ ...g, parts: Math.round(g.parts), total_ns: Math.round(g.total_ns), share: g.total_ns / sums.get(g.device) }));
  }

  energy(w) {
    return energyRows(this, this.counters(), w);
  }

  energy_callpaths(w) {
    return energyPathRows(this, this.counters(), w);
  }

  counters() {
    if (!this.energy_) this.energy_ = energyGroups(this.report);
    return this.energy_;
  }

  // ---- paths ----

  pathOf(node) {
    if (!this.paths_) this.paths_ = [];
    if (this.paths_[node] === undefined) {
      const n = this.calls().nodes[node];
      const own = this.lanes.names[n.name].replace(/;/g, ':');
      this.paths_[node] = n.parent < 0 ? own : `${this.pathOf(n.parent)};${own}`;
    }
    return this.paths_[node];
  }

  // By row of lane_spans: the node that launched it, -1 not known.
  launches() {
    if (!this.launches_) {
      const l = this.lanes.launch;
      this.launches_ = new Map();
      for (const lane of this.lanes.byId) {
        if (lane.kind !== 'queue' || !lane.rows.length) continue;
        for (const at of lane.rows[0].at) this.launches_.set(at, l && l.name[at] && Number.isFinite(l.at[at]) ? this.calls().at(l.lane[at], l.at[at], this.lanes.known.get(l.name[at]) ?? -1) : -1);
      }
    }
    return this.launches_;
  }

  callpaths(w) {
    const map = new Map();
    const of = (node) => {
      if (!map.has(node)) {
        const n = this.calls().nodes[node];
        map.set(node, { track: n.lane.name, path: this.pathOf(node), depth: 0, calls: 0, exclusive_ns: 0, device_exclusive_ns: 0 });
      }
      return map.get(node);
    };
    const lost = new Map();
    for (const { c, own, dur } of this.hosts(w)) {
      for (let k = 0; k < c.nr; k++) {
        if (dur[k] < 0) continue;
        const g = of(c.node[k]);
        g.calls += c.call[k] >= 0;
        g.exclusive_ns += own[k];
      }
    }
    this.shortPaths(w, map);
    for (const k of this.works(w)) {
      const node = k.at < 0 ? -1 : this.launches().get(k.at);
      if (node >= 0) of(node).device_exclusive_ns += k.ns;
      else lost.set(k.device, (lost.get(k.device) || 0) + k.ns);
    }
    return [...map.values(), ...[...lost].map(([device, ns]) => ({ track: device, path: UNATTRIBUTED, depth: 0, calls: 0, exclusive_ns: 0, device_exclusive_ns: ns }))];
  }

  shortPaths(w, map) {
    for (const { c, bins } of this.hosts(w)) {
      for (const p of bins) {
        const path = `${SHORT} ${this.lanes.cats[p.cat] || 'calls'}`;
        const key = `${c.lane.id} ${path}`;
        if (!map.has(key)) map.set(key, { track: c.lane.name, path, depth: 0, calls: 0, exclusive_ns: 0, device_exclusive_ns: 0 });
        map.get(key).calls += Math.round(p.count);
        map.get(key).exclusive_ns += p.ns;
      }
    }
  }

  kernel_paths(w) {
    const map = new Map();
    for (const k of this.works(w)) {
      const node = k.at < 0 ? -1 : this.launches().get(k.at);
      const name = this.name(k);
      const key = node < 0 ? `${k.device}\n${name}` : `${node} ${name}`;
      if (!map.has(key)) map.set(key, { track: node < 0 ? k.device : this.calls().nodes[node].lane.name, path: node < 0 ? UNATTRIBUTED : this.pathOf(node), name, class: this.workClass(k), calls: 0, total_ns: 0 });
      map.get(key).calls += k.count;
      map.get(key).total_ns += k.ns;
    }
    return [...map.values()].map((g) => ({ ...g, calls: Math.round(g.calls) }));
  }
}
