// Memory: what the allocator of a framework held, and what lived at the peak.

import { h } from './dom.js';
import { lineStyle, shade } from './colors.js';
import * as fmt from './format.js';
import { first, shareOf, tabOf } from './sections.js';
import { legend, stackedBars, stepChart } from './svgchart.js';

const SHOWN = 12;
const DEVICES = 4;

// The peak of each device by the operators that allocated it.
function peaks(ctx, table) {
  if (!table) return null;
  const rows = table.objects();
  return h('div', { cls: 'drawing' }, [...new Set([...rows].sort((a, b) => b.bytes - a.bytes).map((r) => r.device))].slice(0, 8).map((d) => {
    const own = rows.filter((r) => r.device === d).sort((a, b) => b.bytes - a.bytes);
    const all = own.reduce((a, r) => a + Number(r.bytes), 0);
    const more = own.slice(SHOWN).reduce((a, r) => a + Number(r.bytes), 0);
    const bars = own.slice(0, SHOWN).map((r) => ({ label: r.op, value: `${fmt.bytes(r.bytes)}, ${fmt.percent(r.bytes / all)}`, parts: [{ name: fmt.plural(r.blocks, 'block'), value: Number(r.bytes), color: shade('#56b4e9', String(r.op)) }] }));
    if (more > 0) bars.push({ label: `${own.length - SHOWN} others`, value: `${fmt.bytes(more)}, ${fmt.percent(more / all)}`, parts: [{ name: 'others', value: more, color: '#b8bec7' }] });
    return [h('h3', null, h('bdi', null, String(d)), ' ', h('span', { cls: 'muted' }, `${fmt.bytes(all)} at the peak`)), stackedBars(`memory at the peak of ${d}`, bars, { format: fmt.bytes })];
  }));
}

// What was allocated and reserved over time, of the devices with the largest peaks.
function curves(ctx, table) {
  if (!table) return null;
  const rows = table.objects();
  const devices = [...new Set(rows.map((r) => r.device))].map((d) => ({ d, rows: rows.filter((r) => r.device === d) })).map((x) => ({ ...x, peak: Math.max(...x.rows.map((r) => Number(r.allocated_max))) })).sort((a, b) => b.peak - a.peak).filter((x, i, v) => x.peak >= v[0].peak / 1000);
  const all = ctx.report.table('memory')?.objects();
  const dark = ctx.dark();
  const [used, held] = [lineStyle(0, dark).color, lineStyle(1, dark).color];
  return h('div', { cls: 'drawing' }, devices.slice(0, DEVICES).map(({ d, rows: own, peak }) => {
    const at = own.find((r) => Number(r.allocated_max) === peak);
    // The row is a bin; the table has the moment in it, counted from the first event.
    const exact = all && all.find((m) => m.device === d);
    const t = exact && fmt.known(exact.first_ns) ? Number(exact.first_ns) + Number(exact.peak_t) : null;
    const when = t !== null && t >= Number(at.t_ns) && t <= Number(at.t_ns) + Number(at.dt_ns) ? t : Number(at.t_ns);
    const steps = (key) => own.filter((r) => fmt.known(r[key])).map((r) => [Number(r.t_ns), Number(r.t_ns) + Number(r.dt_ns), Number(r[key])]);
    return [h('h3', null, h('bdi', null, String(d)), ' ', h('span', { cls: 'muted' }, `peak ${fmt.bytes(peak)} at ${fmt.time(when)}`)),
      stepChart({ label: `memory of ${d} over time: at most ${fmt.bytes(peak)} allocated at ${fmt.time(when)}`, lines: [{ steps: steps('reserved'), color: held, dash: '6 3', name: 'reserved' }, { steps: steps('allocated_max'), color: used, fill: true, name: 'allocated' }],
        mark: { t: when, v: peak, words: fmt.bytes(peak) }, window: ctx.window(), yText: (v) => fmt.bytes(Math.round(v)) })];
  }), legend([['allocated', used], ['reserved by the allocator', held]]), devices.length > DEVICES && h('p', { cls: 'muted' }, `The ${DEVICES} of ${devices.length} devices with the largest peaks.`));
}

const byte = (key, label) => ({ key, label, kind: 'bytes' });

export const memory = tabOf({
  id: 'memory',
  label: 'Memory',
  about: 'needs events of an allocator (PyTorch’s profile_memory=True records them)',
  reasons: ['memory'],
  parts: [
    { table: 'memory_timeline', title: 'Over time', about: 'what the allocator held', drawing: curves },
    { table: 'memory', title: 'Memory', sort: { key: 'peak', dir: -1 }, columns: (t) => [first('device', 'Device'), byte('peak', 'Peak'), byte('reserved', 'Reserved then'), 'fragmentation:Unused of it', byte('max_reserved', 'Reserved at most'), { ...byte('base', 'At the start'), mayBeZero: true }, { key: 'peak_t', label: 'Peak at', kind: 'time', about: 'since the begin of the recording', text: (row) => (fmt.known(t.col('peak_t')[row]) ? Number(t.col('first_ns')[row] || 0) + Number(t.col('peak_t')[row]) : null) }, 'allocs:Allocations', 'frees:Frees', { key: 'unknown_frees', label: 'Frees of unknown', kind: 'count', mayBeZero: true }] },
    { table: 'memory_peak', title: 'At the peak', about: 'by the operator that allocated it', drawing: peaks, sort: { key: 'bytes', dir: -1 }, columns: (t) => [first('op', 'Operator'), 'device:Device', 'blocks:Blocks', 'bytes:Size', shareOf(t, 'bytes', 'Share', 'of what lived at the peaks')] },
  ],
});
