// Communication: collectives, how fast they were for their size, and which rank the others waited for.

import { h } from './dom.js';
import { lineStyle } from './colors.js';
import * as fmt from './format.js';
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

export const communication = tabOf({
  id: 'communication',
  label: 'Communication',
  about: 'needs collectives among the device work',
  reasons: ['collectives', 'alignment'],
  needs: ['collectives', 'collective_ranks', 'collective_instances'],
  parts: [
    { table: 'collectives', title: 'Collectives', sort: { key: 'bytes', dir: -1 }, columns: () => [first('collective', 'Collective'), 'dtype:Type', 'bytes:Size', 'ranks:Ranks', 'instances:Calls', 'complete:Complete', 'dur_mean_ns:Mean', 'transfer_mean_ns:Transfer', 'skew_mean_ns:Skew', 'wait_ns:Waits', gbps('busbw_gbps', 'Bus'), gbps('busbw_median_gbps', 'Median'), 'slowest_rank:Slowest'] },
    { table: 'collective_ranks', title: 'Ranks', drawing: waits, sort: { key: 'caused_wait_ns', dir: -1 }, columns: (t) => [first('rank', 'Rank'), 'count:Collectives', 'dur_ns:In them', 'exposed_ns:Exposed', 'wait_ns:Waited', 'last_count:Came last', 'caused_wait_ns:Others waited', shareOf(t, 'caused_wait_ns', 'Share', 'of all waits that a rank caused'), 'wait_joules:Energy of waits'] },
    { table: 'collective_instances', title: 'Bandwidth over size', drawing: bandwidth, sort: { key: 'start_ns', dir: 1 }, columns: () => [first('name', 'Collective'), 'seq:Number', 'bytes:Size', 'ranks:Ranks', 'complete:Complete', 'start_ns:Start', 'transfer_ns:Transfer', 'skew_ns:Skew', 'wait_ns:Waits', gbps('busbw_gbps', 'Bus'), 'last_rank:Came last', 'why:Why not'] },
    { table: 'alignment', title: 'Clocks of the ranks', about: 'brought together by collectives that end on all of them at once', sort: { key: 'group', dir: 1 }, columns: () => [first('track', 'Clock'), 'group:Group', 'offset_ns:Offset', { key: 'drift_ppm', label: 'Drift', kind: 'number', unit: 'ppm' }, 'residual_std_ns:Left over', 'residual_max_ns:At most', 'events:Events', 'used:Used', 'why:Why'] },
  ],
});
