// Joules of a stretch of time by function, from the bins of the power curves and the calls of the timeline: the rules of `energy`, by time.
// Host view: in each moment the processes with a call open share the power equally, and so do a process's threads with a call open; the
// innermost call gets it. Device view: each piece of running work has an equal share. No element is made here.

import { UNATTRIBUTED, counterRanks } from './facts.js';

// Where bins of each counter in watts lie in the table `timeline`: counter and device → rows.
function rowsOf(t) {
  const out = new Map();
  const [series, device, unit] = [t.col('series'), t.col('device'), t.col('unit')];
  for (let i = 0; i < t.rows; i++) {
    if (unit[i] !== 'W') continue;
    const key = `${series[i]}\n${device[i]}`;
    if (!out.has(key)) out.set(key, []);
    out.get(key).push(i);
  }
  return out;
}

// A curve from bins: at(t) is the energy in J up to t. Questions come in order of time.
export function curveOf(list) {
  const edge = [];
  const sum = [];
  let all = 0;
  for (const { t, dt, mean } of list) {
    if (edge[edge.length - 1] !== t) {
      edge.push(t);
      sum.push(all);
    }
    all += Number.isFinite(mean) ? (mean * dt) / 1e9 : 0;
    edge.push(t + dt);
    sum.push(all);
  }
  let near = 0;
  return {
    from: edge[0],
    to: edge[edge.length - 1],
    at(x) {
      if (x <= edge[0]) return 0;
      if (x >= edge[edge.length - 1]) return all;
      if (edge[near] > x) near = 0;
      while (edge[near + 1] <= x) near++;
      return sum[near] + ((sum[near + 1] - sum[near]) * (x - edge[near])) / (edge[near + 1] - edge[near]);
    },
  };
}

// The counters and views of `energy` that have bins in watts: [{ counter, device, view, curve }], once for a report.
export function energyGroups(report) {
  const t = report.table('energy');
  const bins = report.table('timeline');
  const rows = rowsOf(bins);
  const [start, dt, mean] = [bins.num('t_ns'), bins.num('dt_ns'), bins.num('mean')];
  const groups = new Map();
  const [counter, device, view] = [t.col('counter'), t.col('device'), t.col('view')];
  for (let i = 0; i < t.rows; i++) {
    const key = `${counter[i]}\n${device[i]}\n${view[i]}`;
    const at = rows.get(`${counter[i]}\n${device[i]}`);
    if (at && !groups.has(key)) groups.set(key, { counter: counter[i], device: device[i], view: view[i], curve: curveOf(at.map((k) => ({ t: start[k], dt: dt[k], mean: mean[k] }))) });
  }
  return [...groups.values()];
}

// When the innermost call of a thread changes within [a, b): [{ t, node }], node -1 for none.
export function changesOf(c, order, [a, b]) {
  const out = [];
  const open = [];
  const put = (t, node) => {
    if (t >= b) return;
    const at = Math.max(a, t);
    if (out.length && out[out.length - 1].t === at) out[out.length - 1].node = node;
    else out.push({ t: at, node });
  };
  const close = (t) => {
    while (open.length && c.end[open[open.length - 1]] <= t) {
      const end = c.end[open.pop()];
      while (open.length && c.end[open[open.length - 1]] <= end) open.pop();
      put(end, open.length ? c.node[open[open.length - 1]] : -1);
    }
  };
  for (const k of order) {
    if (c.start[k] >= b) break;
    if (c.end[k] <= c.start[k]) continue;
    close(c.start[k]);
    open.push(k);
    put(c.start[k], c.node[k]);
  }
  close(Infinity);
  return out;
}

// Walks over what is open in each moment. changes: [{ t, who, what }] in order of time, what undefined: nothing; each(from, to, open: Map who → what).
function sweep(changes, b, each) {
  const open = new Map();
  for (let i = 0; i < changes.length;) {
    const { t } = changes[i];
    for (; i < changes.length && changes[i].t === t; i++) {
      if (changes[i].what === undefined) open.delete(changes[i].who);
      else open.set(changes[i].who, changes[i].what);
    }
    const to = i < changes.length ? changes[i].t : b;
    if (to > t && open.size) each(t, to, open);
  }
}

// { j, ns } by node of the host's calls, for each of several curves: walked once.
export function hostShares(calls, processOf, w, curves) {
  const changes = [];
  for (const c of calls.list) {
    calls.at(c.lane.id, 0, -1);
    for (const { t, node } of changesOf(c, c.byStart, w)) changes.push({ t, who: c.lane, what: node < 0 ? undefined : node });
  }
  changes.sort((x, y) => x.t - y.t);
  const out = curves.map(() => ({ j: new Float64Array(calls.nodes.length), ns: new Float64Array(calls.nodes.length) }));
  sweep(changes, w[1], (from, to, open) => {
    const threads = new Map();
    for (const lane of open.keys()) threads.set(processOf(lane), (threads.get(processOf(lane)) || 0) + 1);
    curves.forEach((curve, k) => {
      const [x, y] = [Math.max(from, curve.from), Math.min(to, curve.to)];
      if (y <= x) return;
      const j = curve.at(y) - curve.at(x);
      for (const [lane, node] of open) {
        out[k].j[node] += j / threads.size / threads.get(processOf(lane));
        out[k].ns[node] += y - x;
      }
    });
  });
  return out;
}

// Rows by track and name from what nodes have.
function hostRows(calls, names, { j, ns }) {
  const total = j.slice();
  for (let n = j.length - 1; n >= 0; n--) if (calls.nodes[n].parent >= 0) total[calls.nodes[n].parent] += total[n];
  const map = new Map();
  calls.nodes.forEach((n, i) => {
    if (!(total[i] > 0)) return;
    const key = `${n.lane.id}\n${n.name}`;
    if (!map.has(key)) map.set(key, { track: n.lane.name, name: names[n.name], inclusive_j: 0, exclusive_j: 0, exclusive_ns: 0 });
    const g = map.get(key);
    g.exclusive_j += j[i];
    g.exclusive_ns += ns[i];
    let above = n.parent;
    while (above >= 0 && calls.nodes[above].name !== n.name) above = calls.nodes[above].parent;
    if (above < 0) g.inclusive_j += total[i];
  });
  return [...map.values()];
}

// Rows by name of the work of one device.
function deviceRows(works, nameOf, [, b], curve) {
  const changes = works.flatMap((k) => (k.end > k.start ? [{ t: k.start, who: k, what: k }, { t: k.end, who: k, what: undefined }] : [])).sort((x, y) => x.t - y.t || (x.what === undefined) - (y.what === undefined));
  const map = new Map();
  sweep(changes, b, (from, to, open) => {
    const [x, y] = [Math.max(from, curve.from), Math.min(to, curve.to)];
    if (y <= x) return;
    const j = (curve.at(y) - curve.at(x)) / open.size;
    for (const k of open.keys()) {
      const key = `${k.track}\n${nameOf(k)}`;
      if (!map.has(key)) map.set(key, { track: k.track, name: nameOf(k), inclusive_j: 0, exclusive_j: 0, exclusive_ns: 0 });
      const g = map.get(key);
      g.exclusive_j += j;
      g.inclusive_j += j;
      g.exclusive_ns += y - x;
    }
  });
  return [...map.values()];
}

// { j, ns } by node for each counter's host view; once for a stretch.
const sharesOf = (windows, all, w) => windows.once('energy shares', w, () => {
  const hosts = all.filter((g) => g.view === 'host');
  const shares = hosts.length ? hostShares(windows.calls(), (lane) => lane.process, w, hosts.map((g) => g.curve)) : [];
  return new Map(hosts.map((g, i) => [g, shares[i]]));
});

const deviceRowsOf = (windows, g, w) => deviceRows(windows.works(w).filter((k) => k.device === g.device), (k) => windows.name(k), w, g.curve);

const rest = (g, w, used) => Math.max(0, g.curve.at(w[1]) - g.curve.at(w[0]) - used);

// The rows of `energy_callpaths` for a stretch; frames of the device view are its work.
export function energyPathRows(windows, all, w) {
  return all.flatMap((g) => {
    const rows = [];
    if (g.view === 'host') {
      const { j, ns } = sharesOf(windows, all, w).get(g);
      for (let n = 0; n < j.length; n++) if (j[n] > 0) rows.push({ track: windows.calls().nodes[n].lane.name, path: windows.pathOf(n), exclusive_j: j[n], exclusive_ns: ns[n] });
    } else for (const r of deviceRowsOf(windows, g, w)) rows.push({ ...r, path: r.name.replace(/;/g, ':') });
    rows.push({ track: null, path: UNATTRIBUTED, exclusive_j: rest(g, w, rows.reduce((s, r) => s + r.exclusive_j, 0)), exclusive_ns: null });
    return rows.map((r) => ({ counter: g.counter, device: g.device, view: g.view, depth: 0, ...r, flags: '', best_j: r.exclusive_j, estimate: 'time' }));
  });
}

// Joules of one piece of work, of the best counter of its device; null without one. row and i as in spanlanes.js.
export function workJoules(windows, row, i) {
  const rank = counterRanks(windows.report);
  const g = windows.has('energy') && windows.counters().filter((c) => c.view === 'device' && c.device === row.lane.device).sort((x, y) => rank(x.counter, x.device) - rank(y.counter, y.device))[0];
  if (!g || !(row.end[i] > row.start[i])) return null;
  const w = [row.start[i], row.end[i]];
  const one = deviceRows(windows.works(w).filter((k) => k.device === g.device), (k) => (k.at === row.at[i] && k.track === row.lane.name ? 'it' : 'others'), w, g.curve).find((r) => r.name === 'it');
  return one ? { j: one.exclusive_j, counter: g.counter } : null;
}

// The rows of `energy` for a stretch.
export function energyRows(windows, all, w) {
  const calls = windows.calls();
  const counts = new Map();
  for (const { c } of windows.hosts(w)) for (let k = 0; k < c.nr; k++) if (windows.lies(c, k, w)) { const key = `${c.lane.name}\n${windows.lanes.names[calls.fns[c.fn[k]].name]}`; counts.set(key, (counts.get(key) || 0) + 1); }
  const works = windows.works(w);
  for (const k of works) counts.set(`${k.track}\n${windows.name(k)}`, (counts.get(`${k.track}\n${windows.name(k)}`) || 0) + 1);
  return all.flatMap((g) => {
    const rows = g.view === 'host' ? hostRows(calls, windows.lanes.names, sharesOf(windows, all, w).get(g)) : deviceRowsOf(windows, g, w);
    const total = g.curve.at(w[1]) - g.curve.at(w[0]);
    const left = rest(g, w, rows.reduce((s, r) => s + r.exclusive_j, 0));
    return [...rows, { track: null, name: UNATTRIBUTED, inclusive_j: left, exclusive_j: left, exclusive_ns: null }].map((r) => ({
      counter: g.counter, device: g.device, view: g.view, ...r, calls: counts.get(`${r.track}\n${r.name}`) || 0, mean_w: r.exclusive_ns > 0 ? r.exclusive_j / (r.exclusive_ns / 1e9) : null,
      share: total > 0 ? r.exclusive_j / total : null, flags: '', best_j: r.exclusive_j, estimate: 'time',
    }));
  });
}
