// Communication: collectives, how fast they were for their size, and which rank the others waited for.

import { choice, h } from './dom.js';
import { lineStyle } from './colors.js';
import * as fmt from './format.js';
import { HeatGrid, clipOf, scale } from './heat.js';
import { first, shareOf, tabOf } from './sections.js';
import { legend, logChart, stackedBars } from './svgchart.js';

const gbps = (key, label) => ({ key, label, kind: 'number', unit: 'GB/s' });

// Instances by size; complete ones as points, others as crosses.
function bandwidth(ctx, table) {
  const all = table ? table.objects().filter((i) => Number(i.bytes) > 0 && Number(i.busbw_gbps) > 0) : [];
  if (!all.length) return null;
  const names = [...new Set(all.map((i) => i.name))];
  const color = (n) => lineStyle(names.indexOf(n), ctx.dark()).color;
  const shown = all.slice(0, 3000);
  return h('div', { cls: 'drawing card' }, logChart({
    label: `bus bandwidth over size of ${fmt.plural(all.length, 'collective')}`,
    points: shown.map((i) => ({ x: Number(i.bytes), y: Number(i.busbw_gbps), color: color(i.name), cross: i.complete !== 'yes', title: `${i.name} #${i.seq}: ${fmt.bytes(i.bytes)}, ${fmt.sig3(Number(i.busbw_gbps))} GB/s, ${fmt.time(i.transfer_ns)}` })),
    xText: (v) => fmt.bytes(v), yText: (v) => (v >= 1 ? fmt.group(Math.round(v)) : String(Number(v.toPrecision(3)))), xName: 'bytes', yName: 'bus bandwidth, GB/s',
  }), legend(names.map((n) => [n, color(n)])), all.length > shown.length && h('p', { cls: 'muted' }, `The first ${fmt.group(shown.length)} of ${fmt.group(all.length)}.`));
}

// Who waited, and for whom.
function waits(ctx, table) {
  const rows = table ? table.objects().filter((r) => fmt.known(r.wait_ns) && fmt.known(r.caused_wait_ns)) : [];
  if (!rows.length) return null;
  const [wait, cause] = ['#5f9fd0', '#e8793a'];
  return h('div', { cls: 'drawing' }, stackedBars('waits of each rank', rows.slice(0, 64).map((r) => ({ label: `rank ${r.rank}`, parts: [{ name: 'waited', value: Number(r.wait_ns), color: wait }, { name: 'others waited for it', value: Number(r.caused_wait_ns), color: cause, hatched: true }] })), { format: fmt.time }),
    legend([['waited for others', wait], ['others waited for it', cause, true]]));
}

const HEATS = [['wait_ns', 'waited'], ['caused_wait_ns', 'others waited for it']];
const RANKS = 128;

// The grid of ranks and complete collectives, by start: { columns: [{ first, instances, start }], rows: [{ rank, wait_ns, caused_wait_ns, longest_ns }] };
// values are NaN where a rank took no part.
export function waitGrid(t) {
  const [first, instances, start] = ['first', 'instances', 'start_ns'].map((c) => t.num(c));
  const at = new Map();
  const columns = [];
  for (let i = 0; i < t.rows; i++) {
    if (at.has(first[i])) continue;
    at.set(first[i], columns.length);
    columns.push({ first: first[i], instances: instances[i], start: start[i] });
  }
  const rows = new Map();
  const rank = t.col('rank');
  const values = ['wait_ns', 'caused_wait_ns', 'longest_ns'].map((c) => [c, t.num(c)]);
  for (let i = 0; i < t.rows; i++) {
    if (!rows.has(rank[i])) rows.set(rank[i], { rank: rank[i], ...Object.fromEntries(values.map(([c]) => [c, new Float64Array(columns.length).fill(NaN)])) });
    for (const [c, v] of values) rows.get(rank[i])[c][at.get(first[i])] = v[i];
  }
  return { columns, rows: [...rows.values()].sort((a, b) => Number(a.rank) - Number(b.rank) || 0) };
}

// Names of the complete collectives by their place among these.
function instanceNames(ctx) {
  const t = ctx.report.table('collective_instances');
  if (!t || t.cut) return () => '';
  const [name, seq, bytes] = ['name', 'seq', 'bytes'].map((c) => t.col(c));
  const complete = t.col('complete').map((c, i) => (c === 'yes' ? i : -1)).filter((i) => i >= 0);
  return (k) => (complete[k] === undefined ? '' : `${name[complete[k]]} #${seq[complete[k]]}${fmt.known(bytes[complete[k]]) ? `, ${fmt.bytes(bytes[complete[k]])}` : ''}`);
}

function waitColumns(t, ctx) {
  const nameOf = instanceNames(ctx);
  const [at, nr] = [t.num('first'), t.num('instances')];
  const several = nr.some((n) => n > 1);
  return [first('rank', 'Rank'), { key: 'collective', label: 'Collective', kind: 'text', text: (row) => (nr[row] > 1 ? `${nr[row]} from ${at[row]} on` : nameOf(at[row])) }, 'first:Number:which of the complete ones by their start, from 0',
    'start_ns:Start', 'wait_ns:Waited', several && 'longest_ns:Longest', 'caused_wait_ns:Others waited'].filter(Boolean);
}

const sumOf = (v, a = 0, b = v.length) => v.subarray(a, b).reduce((s, x) => s + (x || 0), 0);

// Rows are ranks, columns collectives: who waited in which, and who was waited for.
function waitHeat(ctx, table) {
  if (!table) return null;
  const all = waitGrid(table);
  if (all.rows.length < 2) return null;
  const nameOf = instanceNames(ctx);
  let value = 'wait_ns';
  let shown = [];
  const what = (a, b) => {
    const n = all.columns[b - 1].first + all.columns[b - 1].instances - all.columns[a].first;
    if (n > 1) return `${fmt.group(n)} collectives from ${fmt.time(all.columns[a].start)} on`;
    return `${nameOf(all.columns[a].first) || 'collective'} at ${fmt.time(all.columns[a].start)}`;
  };
  const grid = new HeatGrid({
    label: 'waits of ranks in each collective',
    words: (r, a, b) => {
      const row = shown[r];
      if (row[value].subarray(a, b).every(Number.isNaN)) return `rank ${row.rank} took no part in ${what(a, b)}`;
      const longest = Math.max(...Array.from(row.longest_ns.subarray(a, b), (v) => v || 0));
      return `rank ${row.rank}, ${what(a, b)}: waited ${fmt.time(sumOf(row.wait_ns, a, b))}${b - a > 1 || all.columns[a].instances > 1 ? `, at most ${fmt.time(longest)} in one` : ''}; others waited ${fmt.time(sumOf(row.caused_wait_ns, a, b))} for it`;
    },
    onpress: (r, a, b) => {
      const from = all.columns[a].start;
      const next = all.columns[b] ? all.columns[b].start : from + Math.max(1e5, sumOf(shown[r].wait_ns, a, b) * 4);
      if (ctx.has('timeline')) ctx.go('timeline', { '': `${Math.max(0, Math.floor(from - (next - from) * 0.1))}:${Math.ceil(next)}` });
    },
  });
  const end = h('span', { cls: 'heat-end' });
  const draw = () => {
    shown = [...all.rows].slice(0, RANKS);
    const clip = clipOf(shown.map((r) => ({ values: r[value] })));
    grid.show(shown.map((r) => ({ label: `rank ${r.rank}`, side: fmt.time(sumOf(r[value])), values: r[value].map((v) => v / clip) })), all.columns.length);
    end.textContent = `${fmt.time(clip)} or more`;
  };
  draw();
  const several = Math.max(...all.columns.map((c) => c.instances));
  return h('div', { cls: 'drawing card' }, h('div', { cls: 'toolbar' }, choice('Value', HEATS, value, (v) => { value = v; draw(); }, { id: 'wait-heat-value' })), grid.el,
    scale('0', end, 'Collectives by their start; a press, or Enter, shows one in the timeline.'),
    h('p', { cls: 'muted' }, several > 1 ? `A column is ${several} neighbouring collectives, of which the waits are summed. ` : '', all.columns.length > 200 && 'Where there are more columns than pixels, one shows the largest of several.'),
    all.rows.length > RANKS && h('p', { cls: 'muted' }, `The first ${RANKS} of ${fmt.group(all.rows.length)} ranks; the table has all.`));
}

export const communication = tabOf({
  id: 'communication',
  label: 'Communication',
  about: 'needs collectives among the device work',
  reasons: ['collectives', 'alignment'],
  needs: ['collectives', 'collective_ranks', 'collective_instances'],
  parts: [
    { table: 'collectives', title: 'Collectives', sort: { key: 'bytes', dir: -1 }, columns: () => [first('collective', 'Collective'), 'dtype:Type', 'bytes:Size', 'ranks:Ranks', 'instances:Calls', 'complete:Complete', 'dur_mean_ns:Mean', 'transfer_mean_ns:Transfer', 'skew_mean_ns:Skew', 'wait_ns:Waits', gbps('busbw_gbps', 'Bus'), gbps('busbw_median_gbps', 'Median'), 'slowest_rank:Slowest'] },
    { table: 'collective_ranks', title: 'Ranks', drawing: waits, sort: { key: 'caused_wait_ns', dir: -1 }, columns: (t) => [first('rank', 'Rank'), 'count:Collectives', 'dur_ns:In them', 'exposed_ns:Exposed', 'wait_ns:Waited', 'last_count:Came last', 'caused_wait_ns:Others waited', shareOf(t, 'caused_wait_ns', 'Share', 'of all waits that a rank caused'), 'wait_joules:Energy of waits'] },
    { table: 'collective_waits', title: 'Waits in each collective', about: 'of those that all their ranks took part in', drawing: waitHeat, sort: { key: 'wait_ns', dir: -1 }, columns: waitColumns },
    { table: 'collective_instances', title: 'Bandwidth over size', drawing: bandwidth, sort: { key: 'start_ns', dir: 1 }, columns: () => [first('name', 'Collective'), 'seq:Number', 'bytes:Size', 'ranks:Ranks', 'complete:Complete', 'start_ns:Start', 'transfer_ns:Transfer', 'skew_ns:Skew', 'wait_ns:Waits', gbps('busbw_gbps', 'Bus'), 'last_rank:Came last', 'why:Why not'] },
    { table: 'message_collectives', title: 'Collectives made of messages', about: 'what ranks sent each other for one collective, as a whole', sort: { key: 'start_ns', dir: 1 }, columns: () => [first('group', 'Group'), 'seq:Number', 'collective:Collective', 'algorithm:Algorithm', 'ranks:Ranks', 'messages:Messages', 'bytes:Each', 'moved_bytes:Moved', 'start_ns:Start', 'elapsed_ns:Time', 'moved_gbps:Rate'] },
    { table: 'alignment', title: 'Clocks of the ranks', about: 'brought together by collectives that end on all of them at once, else by messages that none receives before they are sent', sort: { key: 'group', dir: 1 }, columns: () => [first('track', 'Clock'), 'group:Group', 'offset_ns:Offset', { key: 'drift_ppm', label: 'Drift', kind: 'number', unit: 'ppm' }, 'residual_std_ns:Left over', 'residual_max_ns:At most', 'events:Events', 'used:Used', 'why:Why', 'by:By', 'bound_ns:Bounds ±', 'reversed:Received too early', 'reversed_left:Still'] },
  ],
});
