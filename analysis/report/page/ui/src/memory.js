// Memory: what the allocator of a framework held, and what lived at the peak.

import { h } from './dom.js';
import { shade } from './colors.js';
import * as fmt from './format.js';
import { first, shareOf, tabOf } from './sections.js';
import { stackedBars } from './svgchart.js';

const SHOWN = 12;

// The peak of each device by the operators that allocated it.
function peaks(ctx, table) {
  if (!table) return null;
  const rows = table.objects();
  return h('div', { cls: 'drawing' }, [...new Set(rows.map((r) => r.device))].slice(0, 8).map((d) => {
    const own = rows.filter((r) => r.device === d).sort((a, b) => b.bytes - a.bytes);
    const all = own.reduce((a, r) => a + Number(r.bytes), 0);
    const more = own.slice(SHOWN).reduce((a, r) => a + Number(r.bytes), 0);
    const bars = own.slice(0, SHOWN).map((r) => ({ label: r.op, value: `${fmt.bytes(r.bytes)}, ${fmt.percent(r.bytes / all)}`, parts: [{ name: fmt.plural(r.blocks, 'block'), value: Number(r.bytes), color: shade('#56b4e9', String(r.op)) }] }));
    if (more > 0) bars.push({ label: `${own.length - SHOWN} others`, value: `${fmt.bytes(more)}, ${fmt.percent(more / all)}`, parts: [{ name: 'others', value: more, color: '#b8bec7' }] });
    return [h('h3', null, h('bdi', null, String(d)), ' ', h('span', { cls: 'muted' }, `${fmt.bytes(all)} at the peak`)), stackedBars(`memory at the peak of ${d}`, bars, { format: fmt.bytes })];
  }));
}

const byte = (key, label) => ({ key, label, kind: 'bytes' });

export const memory = tabOf({
  id: 'memory',
  label: 'Memory',
  about: 'needs events of an allocator (PyTorch’s profile_memory=True records them)',
  reasons: ['memory'],
  parts: [
    { table: 'memory', title: 'Memory', sort: { key: 'peak', dir: -1 }, columns: () => [first('device', 'Device'), byte('peak', 'Peak'), byte('reserved', 'Reserved then'), 'fragmentation:Unused of it', byte('max_reserved', 'Reserved at most'), { ...byte('base', 'At the start'), mayBeZero: true }, { key: 'peak_t', label: 'Peak at', kind: 'time', about: 'since the first event' }, 'allocs:Allocations', 'frees:Frees', { key: 'unknown_frees', label: 'Frees of unknown', kind: 'count', mayBeZero: true }] },
    { table: 'memory_peak', title: 'At the peak', about: 'by the operator that allocated it', drawing: peaks, sort: { key: 'bytes', dir: -1 }, columns: (t) => [first('op', 'Operator'), 'device:Device', 'blocks:Blocks', 'bytes:Size', shareOf(t, 'bytes', 'Share', 'of what lived at the peaks')] },
  ],
});
