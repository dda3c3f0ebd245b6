// Idle: why devices did nothing, the longest gaps, and how launches reach the device.

import { h } from './dom.js';
import * as fmt from './format.js';
import { KIND_COLORS, causeColor, causeWords, devicesOf } from './overlap.js';
import { first, shareOf, tabOf } from './sections.js';
import { legend, stackedBars } from './svgchart.js';

function causes(ctx, table) {
  if (!table) return null;
  const rows = table.objects();
  const weight = new Map();
  for (const r of rows) weight.set(r.cause, (weight.get(r.cause) || 0) + Number(r.total_ns));
  const order = [...weight].sort((a, b) => b[1] - a[1]).map(([c]) => c);
  const bars = [...new Set(rows.map((r) => r.device))].map((d) => ({ label: d, parts: order.map((c) => ({ name: causeWords(c), color: causeColor(c), value: rows.filter((r) => r.device === d && r.cause === c).reduce((a, r) => a + Number(r.total_ns), 0) })) }));
  return h('div', { cls: 'drawing' }, stackedBars('idle time of each device by cause', bars, { format: fmt.time }), legend(order.map((c) => [causeWords(c), causeColor(c)])));
}

// The bars of the first screen, with all devices.
function devices(ctx) {
  const all = devicesOf(ctx.shown());
  if (!all.length) return null;
  return h('div', { cls: 'drawing' }, stackedBars('where the time of each device went', all.slice(0, 64).map((d) => ({ label: d.device, value: `idle ${fmt.percent(d.parts[3].share)}`, parts: d.parts.map((p) => ({ name: p.name, value: p.ns, color: KIND_COLORS[p.kind], hatched: p.kind === 'idle' })) })), { format: fmt.time }),
    legend(all[0].parts.map((p) => [p.name, KIND_COLORS[p.kind], p.kind === 'idle'])));
}

// A gap leads to its moment in the timeline.
function gap(ctx, t) {
  if (!ctx.has('timeline')) return null;
  return (row) => ({ label: 'Show in the timeline', run: () => {
    const a = Number(t.col('start_ns')[row]);
    const d = Number(t.col('dur_ns')[row]);
    ctx.go('timeline', { '': `${Math.max(0, Math.floor(a - d / 2))}:${Math.ceil(a + 1.5 * d)}` });
  } });
}

const work = (ctx, key, label) => ({ key, label, kind: 'text', short: (n) => fmt.middle(ctx.report.shortName(n), 25) });
const cause = (t, key, label) => ({ key, label, kind: 'text', text: (row) => causeWords(t.col(key)[row]) });

const hz = (t, key, row) => (t.col(key)[row] === null || t.col(key)[row] === '' ? null : Number(t.col(key)[row]));
const mhz = (t, cols) => cols.map(([key, label]) => ({ key, label, kind: 'number', unit: 'MHz', text: (row) => (hz(t, key, row) === null ? null : hz(t, key, row) / 1e6) }))
  .filter((c) => t.col(c.key).some((v, row) => hz(t, c.key, row) !== null));

const megahertz = (key, label, about, more) => ({ key, label, kind: 'number', unit: 'MHz', about, ...more });
const clocks = () => [first('device', 'Device'), 'rank:Rank', 'events:Events', megahertz('mhz', 'Clock', 'cycles by the time of the host'), megahertz('stated_mhz', 'Stated', 'the clock of --freq'), { key: 'stated_error_ns', label: 'Wrong by', kind: 'time', about: 'the time of the last event by the stated clock' },
  { key: 'residual_ns', label: 'Residual', kind: 'time', about: 'mean distance of an event from the clock' }, { key: 'drift_ppm', label: 'Drift', kind: 'number', unit: 'ppm', about: 'by how much the later half is faster than the earlier' },
  { key: 'epochs', label: 'Turns', kind: 'count', mayBeZero: true, about: 'of the counter, from the first event to the last' }, { key: 'zero_gaps', label: 'Out of order', kind: 'count', mayBeZero: true, about: 'executions that the file has behind one that began no earlier' }, { key: 'backwards', label: 'Backwards', kind: 'count', mayBeZero: true, about: 'events at which the counter goes back' }, { key: 'flags', label: 'Notes', kind: 'flags' },
  ...[['duration', 'Of an execution', 'cycles of an execution by its duration on the host'], ['interval', 'Between', 'cycles between the starts of two executions, by the time of the host']].flatMap(([key, label, about]) => [['mean', 'mean'], ['min', 'min'], ['max', 'max']].map(([k, word]) => megahertz(`${key}_${k}_mhz`, `${label}, ${word}`, about, { extra: true })))];

export const idle = tabOf({
  id: 'idle',
  label: 'Idle',
  about: 'needs gaps between the work of a device',
  reasons: ['idle', 'launch_latency', 'queue', 'graphs', 'device_clocks'],
  needs: ['overlap', 'idle_causes', 'idle', 'idle_gaps', 'launch_latency', 'queue', 'graph_captures', 'device_clocks'],
  parts: [
    { table: 'idle_causes', title: 'Causes', drawing: causes, sort: { key: 'total_ns', dir: -1 }, columns: (t) => [{ ...cause(t, 'cause', 'Cause'), kind: 'name' }, 'device:Device', 'parts:Stretches', shareOf(t, 'total_ns', 'Share', 'of the idle time of all devices'), 'total_ns:Time'] },
    { table: 'overlap', title: 'Devices', about: 'where their time went', drawing: devices, sort: { key: 'idle_ns', dir: -1 }, columns: () => [first('device', 'Device'), 'wall_ns:First to last', 'compute_ns:Compute', 'comm_ns:Communication', 'exposed_comm_ns:Exposed', 'hidden_comm_ns:Hidden', 'copy_ns:Copies', 'exposed_copy_ns:Exposed', 'idle_ns:Idle'] },
    { table: 'idle', title: 'Lengths of gaps', sort: { key: 'total_ns', dir: -1 }, columns: (t) => [first('gap_ns_bucket', 'Length', { short: fmt.lengths }), 'device:Device', 'count:Gaps', shareOf(t, 'total_ns', 'Share', 'of the idle time of all devices'), 'total_ns:Time', cause(t, 'host_cause', 'Mostly')] },
    { table: 'idle_gaps', title: 'Longest gaps', sort: { key: 'dur_ns', dir: -1 }, columns: (t, ctx) => [{ ...cause(t, 'cause', 'Cause'), kind: 'name', link: gap(ctx, t) || undefined }, 'device:Device', 'start_ns:Start', 'dur_ns:Length', work(ctx, 'before', 'Before it'), work(ctx, 'after', 'After it'), 'api:Launched by'] },
    { table: 'launch_latency', title: 'From launch to start', sort: { key: 'device', dir: 1 }, columns: () => [first('device', 'Device'), 'linked:Linked', 'unlinked:Not linked', 'min_ns:Min', 'median_ns:Median', 'p95_ns:95 %', 'max_ns:Max', 'early:Too early:started before their launch, by the clocks of the trace', 'before_return:Before it returned'] },
    { table: 'queue', title: 'Waiting work', about: 'launched and not started', sort: { key: 'device', dir: 1 }, columns: () => [first('device', 'Device'), 'max:Most', 'mean:Mean', 'area_ns:Latencies summed', 'full_ns:Time with 1000 or more'] },
    { table: 'frequency', title: 'Clocks', about: 'while kernels ran', sort: { key: 'device', dir: 1 }, columns: (t) => [first('series', 'Clock'), 'device:Device', ...mhz(t, [['mean_hz', 'Mean'], ['busy_hz', 'Busy'], ['usual_hz', 'Usual'], ['idle_hz', 'Idle'], ['top_hz', 'Top']]), 'busy_ns:Busy time', 'low_ns:Far below', 'lost_ns:Lost'] },
    { table: 'device_clocks', title: 'Clocks of cycle counters', about: 'measured against the time of the host', sort: { key: 'device', dir: 1 }, columns: clocks },
    { table: 'graph_launches', title: 'Launches of graphs', sort: { key: 'start_ns', dir: 1 }, columns: () => [first('name', 'Call'), 'device:Device', 'graph:Graph', 'start_ns:Start', 'dur_ns:Call took', 'works:Works', 'union_ns:Busy', 'span_ns:From first to last', 'latency_ns:Latency'] },
    { table: 'graph_captures', title: 'Captures of graphs', about: 'what is launched in them runs when the graph does', sort: { key: 'start_ns', dir: 1 }, columns: () => [first('thread', 'Thread'), 'start_ns:Start', 'dur_ns:Lasted', { key: 'nodes', label: 'Nodes', kind: 'count', about: 'kernels, copies and fills that were captured' }, 'graph:Graph', { key: 'exec', label: 'Executable', kind: 'text', about: 'the first executable graph that was made of it' }, { key: 'launches', label: 'Launches', kind: 'count', about: 'of what was made of it' }] },
  ],
});
