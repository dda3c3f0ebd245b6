// The lanes of the timeline as typed arrays, and what is asked of them: what is visible, what lies under the pointer, what a
// stretch of time holds. Times are ns since the origin. No element is made here.

import { Categories } from './colors.js';
import { CAUSE_COLORS, causeWords } from './overlap.js';

const pathWords = (c) => String(c).replace(/_/g, ' ');
const OWN = { 'path: compute': '#56b4e9', 'path: communication': '#e69f00', 'path: copy': '#1fae85', 'path: kernel gap': '#d3d8de', 'path: launch': '#9ed9c5', 'path: host': '#d68fb5', 'path: sync return': '#f0e442', 'path: untraced': '#b8bec7', 'path: unknown': '#e8793a', ...Object.fromEntries(Object.entries(CAUSE_COLORS).map(([c, color]) => [`idle: ${causeWords(c)}`, color])) };

const lower = (v, x) => { // first index whose value is above x; v ascends
  let lo = 0;
  let hi = v.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (v[mid] > x) hi = mid;
    else lo = mid + 1;
  }
  return lo;
};

// What one row holds: whole spans, and bins of shorter ones.
class Row {
  constructor(lane, depth) {
    Object.assign(this, { lane, depth, at: [], binAt: [] });
  }

  // Ends need not ascend where work overlaps; their running maximum does.
  fix(t, b) {
    const take = (list, col, Kind) => Kind.from(list, (i) => col[i]);
    this.start = take(this.at, t.start, Float64Array);
    this.end = Float64Array.from(this.at, (i) => t.start[i] + t.dur[i]);
    this.name = take(this.at, t.name, Int32Array);
    this.cat = take(this.at, t.cat, Uint16Array);
    this.last = this.end.slice();
    for (let i = 1; i < this.last.length; i++) if (this.last[i] < this.last[i - 1]) this.last[i] = this.last[i - 1];
    this.binStart = take(this.binAt, b.start, Float64Array);
    this.binCount = take(this.binAt, b.count, Float64Array);
    this.binBusy = take(this.binAt, b.busy, Float64Array);
    this.binName = take(this.binAt, b.name, Int32Array);
    this.binCat = take(this.binAt, b.cat, Uint16Array);
    this.at = Int32Array.from(this.at);
    this.binAt = null;
  }

  // The first span that may end after t; those that begin before u are those below firstFrom(u).
  firstAfter(t) {
    return lower(this.last, t);
  }

  firstFrom(t) {
    return lower(this.start, t);
  }

  firstBin(t) {
    return lower(this.binStart, t - this.lane.bin);
  }
}

export class Lanes {
  constructor(report) {
    this.short = (n) => report.shortName(n);
    this.names = [];
    this.known = new Map();
    this.cats = [];
    this.knownCats = new Map();
    const spans = report.table('lane_spans');
    const bins = report.table('lane_bins');
    this.launch = spans ? { name: spans.col('launch'), lane: spans.num('launch_lane'), at: spans.num('launch_ns') } : null;
    this.lanes = report.table('lanes').objects().map((l) => ({
      id: Number(l.lane), kind: String(l.kind), device: String(l.device ?? ''), name: String(l.name ?? ''), rank: l.rank ?? null, process: l.process ?? null, spans: Number(l.spans), exact: Number(l.exact), binned: Number(l.binned),
      leftOut: Number(l.left_out), shortest: Number(l.longest_binned_ns), bin: Number(l.bin_ns), folded: false, rows: [],
    }));
    for (const l of this.lanes) l.rows = Array.from({ length: Number(report.table('lanes').num('depth')[l.id]) || 0 }, (_, d) => new Row(l, d));
    const t = this.read(spans, 'dur_ns');
    const b = this.read(bins, 'busy_ns');
    for (let i = 0; i < t.lane.length; i++) this.rowOf(t, i)?.at.push(i);
    for (let i = 0; i < b.lane.length; i++) this.rowOf(b, i)?.binAt.push(i);
    for (const l of this.lanes) for (const r of l.rows) r.fix({ ...t, dur: t.value }, { ...b, busy: b.value });
    this.byId = [...this.lanes];
    this.addIdle(report.table('lane_idle'));
    this.addPath(report.table('critical_parts'));
    this.extent = this.findExtent();
    this.colors = this.chooseColors();
  }

  // A lane that a table of its own tells of: { start, dur, name, cat } in order of time.
  made(kind, device, name, list) {
    const lane = { id: -1, kind, device, name, spans: 0, exact: 0, binned: 0, leftOut: 0, shortest: 0, bin: 0, folded: false, rows: [] };
    const row = new Row(lane, 0);
    row.at = list.map((_, i) => i);
    row.fix({ start: list.map((x) => x.start), dur: list.map((x) => x.dur), name: list.map((x) => this.number(this.known, this.names, x.name)), cat: list.map((x) => this.number(this.knownCats, this.cats, x.cat)) }, { start: [], count: [], busy: [], name: [], cat: [] });
    lane.rows = [row];
    lane.list = list;
    return lane;
  }

  // Beneath the queues of a device its gaps, each by its largest cause.
  addIdle(t) {
    if (!t) return;
    const [device, start, dur, binned, cause, ns] = [t.col('device'), t.num('start_ns'), t.num('dur_ns'), t.num('binned'), t.col('cause'), t.num('total_ns')];
    const gaps = new Map();
    for (let i = 0; i < start.length; i++) {
      if (binned[i]) continue;
      if (!gaps.has(device[i])) gaps.set(device[i], []);
      const list = gaps.get(device[i]);
      const last = list[list.length - 1];
      if (last && last.start === start[i]) last.causes.push([cause[i], ns[i]]);
      else list.push({ start: start[i], dur: dur[i], causes: [[cause[i], ns[i]]] });
    }
    for (const [d, list] of gaps) {
      for (const g of list) {
        g.causes.sort((x, y) => y[1] - x[1]);
        g.name = `idle: ${causeWords(g.causes[0][0])}`;
        g.cat = `idle: ${causeWords(g.causes[0][0])}`;
      }
      const at = this.lanes.map((l) => l.kind === 'queue' && l.device === String(d ?? '')).lastIndexOf(true);
      if (at >= 0) this.lanes.splice(at + 1, 0, this.made('idle', String(d ?? ''), `${d} idle`, list));
    }
  }

  // The critical path on top, and which spans of the lanes lie on it.
  addPath(t) {
    this.hasPath = Boolean(t);
    if (!t) return;
    const rows = t.objects();
    const ranks = [...new Set(rows.map((r) => r.rank))];
    const byName = new Map(this.byId.map((l) => [l.name, l]));
    this.lanes.unshift(...ranks.map((rank) => this.made('path', '', ranks.length > 1 && rank !== null ? `critical path, rank ${rank}` : 'critical path', rows.filter((r) => r.rank === rank).sort((x, y) => x.start_ns - y.start_ns)
      .map((r) => ({ start: Number(r.start_ns), dur: Number(r.dur_ns), name: r.name || pathWords(r.class), cat: `path: ${pathWords(r.class)}` })))));
    for (const r of rows) {
      const lane = byName.get(r.track);
      if (!lane || /gap|launch/.test(r.class)) continue;
      for (const row of lane.rows) this.lies(row, Number(r.start_ns), Number(r.start_ns) + Number(r.dur_ns), r.name);
    }
  }

  lies(row, a, b, name) {
    if (!row.onPath) row.onPath = new Uint8Array(row.start.length);
    const to = row.firstFrom((a + b) / 2);
    for (let i = row.firstAfter((a + b) / 2 - 1); i < to; i++) if (row.end[i] >= b && this.names[row.name[i]] === name) row.onPath[i] = 1;
  }

  rowOf(t, i) {
    const lane = this.lanes[t.lane[i]];
    return lane && lane.rows[t.depth[i]];
  }

  read(table, value) {
    if (!table) return { lane: [], depth: [], start: [], name: [], cat: [], value: [], count: [] };
    return {
      lane: table.num('lane'), depth: table.num('depth'), start: table.num('start_ns'), value: table.num(value), count: table.num('count'),
      name: table.col('name').map((n) => this.number(this.known, this.names, n)), cat: table.col('category').map((c) => this.number(this.knownCats, this.cats, c)),
    };
  }

  number(map, list, word) {
    const key = String(word ?? '');
    let n = map.get(key);
    if (n === undefined) {
      n = list.length;
      list.push(key);
      map.set(key, n);
    }
    return n;
  }

  findExtent() {
    let lo = Infinity;
    let hi = 0;
    for (const l of this.lanes) {
      for (const r of l.rows) {
        if (r.start.length) lo = Math.min(lo, r.start[0]);
        if (r.last.length) hi = Math.max(hi, r.last[r.last.length - 1]);
        if (r.binStart.length) {
          lo = Math.min(lo, r.binStart[0]);
          hi = Math.max(hi, r.binStart[r.binStart.length - 1] + l.bin);
        }
      }
    }
    return hi > lo ? [lo, hi] : [0, Math.max(hi, 1)];
  }

  // By category, heaviest first, so that unknown ones get what colours are left.
  chooseColors() {
    const weight = new Float64Array(this.cats.length);
    for (const l of this.lanes) {
      for (const r of l.rows) {
        if (l.list) continue;
        for (let i = 0; i < r.start.length; i++) weight[r.cat[i]] += r.end[i] - r.start[i];
        for (let i = 0; i < r.binBusy.length; i++) weight[r.binCat[i]] += r.binBusy[i];
      }
    }
    this.weight = weight;
    const order = [...weight.keys()].sort((a, b) => weight[b] - weight[a]);
    const c = new Categories(order.map((i) => this.cats[i]));
    return this.cats.map((n) => OWN[n] || c.color(n));
  }

  // → { row, i } a span, { row, bin } a bin, or null. slack: ns on both sides for what is narrower than a pixel.
  hit(row, t, slack) {
    let best = -1;
    const to = row.firstFrom(t + slack);
    for (let i = row.firstAfter(t - slack - 0.5); i < to; i++) {
      if (row.end[i] < t - slack) continue;
      const inside = row.start[i] <= t && row.end[i] >= t;
      const was = best >= 0 && row.start[best] <= t && row.end[best] >= t;
      if (best < 0 || (inside && !was) || (inside === was && row.end[i] - row.start[i] <= row.end[best] - row.start[best])) best = i;
    }
    if (best >= 0) return { row, i: best };
    const k = lower(row.binStart, t) - 1;
    return k >= 0 && row.binStart[k] + row.lane.bin >= t ? { row, bin: k } : null;
  }

  // The whole spans of a lane that hold t, outermost first.
  pathAt(lane, t) {
    const out = [];
    for (const r of lane.rows) {
      const h = this.hit(r, t, 0);
      if (h && h.i !== undefined) out.push(h);
    }
    return out;
  }

  // What of a lane lies in [a, b]: whole spans cut at the edges, bins by their share. exact: no bin was cut.
  sums(lane, a, b) {
    const out = { count: 0, ns: 0, cats: new Map(), exact: true };
    const add = (cat, ns, n) => {
      out.count += n;
      out.ns += ns;
      out.cats.set(cat, (out.cats.get(cat) || 0) + ns);
    };
    for (const r of lane.kind === 'queue' ? lane.rows : lane.rows.slice(0, 1)) {
      const to = r.firstFrom(b);
      for (let i = r.firstAfter(a); i < to; i++) {
        const ns = Math.min(b, r.end[i]) - Math.max(a, r.start[i]);
        if (ns > 0 || (r.start[i] >= a && r.end[i] <= b)) add(r.cat[i], Math.max(0, ns), 1);
      }
      for (let k = r.firstBin(a); k < r.binStart.length && r.binStart[k] < b; k++) {
        const part = (Math.min(b, r.binStart[k] + lane.bin) - Math.max(a, r.binStart[k])) / lane.bin;
        if (part < 1) out.exact = false;
        add(r.binCat[k], r.binBusy[k] * part, r.binCount[k] * part);
      }
    }
    return out;
  }

  // Names that hold the words, as a set of numbers; null without words.
  search(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return null;
    const out = new Set();
    this.names.forEach((n, i) => { if (words.every((w) => n.toLowerCase().includes(w))) out.add(i); });
    return out;
  }

  // All whole spans of these names by start; bins whose longest span is of them are only counted.
  matches(set) {
    const spans = [];
    let bins = 0;
    for (const l of this.byId) {
      for (const row of l.rows) {
        for (let i = 0; i < row.name.length; i++) if (set.has(row.name[i])) spans.push({ row, i });
        for (let k = 0; k < row.binName.length; k++) if (set.has(row.binName[k])) bins++;
      }
    }
    spans.sort((x, y) => x.row.start[x.i] - y.row.start[y.i]);
    return { spans, bins };
  }

  // Share of time by category in n equal parts, over all queues (without any: outermost calls of threads).
  overview(n) {
    const [t0, t1] = this.extent;
    const w = (t1 - t0) / n;
    const lanes = this.lanes.filter((l) => l.kind === 'queue' && l.rows.length);
    const of = lanes.length ? lanes : this.lanes.filter((l) => l.rows.length && !l.list);
    const sums = this.cats.map(() => null);
    const put = (cat, a, b, busy) => {
      const dense = b > a ? busy / (b - a) : 0;
      if (!sums[cat]) sums[cat] = new Float64Array(n);
      for (let x = Math.max(0, Math.floor((a - t0) / w)); x < n && t0 + x * w < b; x++) {
        sums[cat][x] += (dense * Math.max(0, Math.min(b, t0 + (x + 1) * w) - Math.max(a, t0 + x * w))) / w / of.length;
      }
    };
    for (const l of of) {
      const r = l.rows[0];
      for (let i = 0; i < r.start.length; i++) put(r.cat[i], r.start[i], r.end[i], r.end[i] - r.start[i]);
      for (let k = 0; k < r.binStart.length; k++) put(r.binCat[k], r.binStart[k], r.binStart[k] + l.bin, r.binBusy[k]);
    }
    return sums;
  }
}
