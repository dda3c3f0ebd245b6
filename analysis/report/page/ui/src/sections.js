// A tab of several tables below each other, each with its heading and, where it helps, a drawing above it.
//
//	sections(panel, ctx, 'idle', [{ table, title, about?, columns, sort, drawing?, when? }, …], note = true)
//
// Tables that the report lacks are left out, and those that `when(table)` says no to; `sort` may be a function of the table. The address names the one to begin with: #idle=idle_gaps.

import { append, clear, h } from './dom.js';
import { DataTable } from './datatable.js';

const KINDS = [[/_ns$/, 'time'], [/(^|_)bytes$/, 'bytes'], [/_j$|^joules$/, 'energy'], [/^share$|efficiency$|^fragmentation$|^mfu/, 'share']];

// 'total_ns:Total' → { key, label, kind }, the kind by the end of the name and the type of the column.
export function columns(table, list) {
  return list.map((c) => {
    if (typeof c !== 'string') return c;
    const [key, label, about] = c.split(':');
    const col = table.column(key);
    const named = KINDS.find(([re]) => re.test(key));
    const whole = col && table.num(key).every((v) => Number.isNaN(v) || Number.isInteger(v));
    const kind = !col || col.type === 'str' ? 'text' : named ? named[1] : col.type === 'f64' && !whole ? 'number' : 'count';
    return { key, label, kind, about };
  });
}

// The column that names a row: it stays in sight while a wide table moves.
export const first = (key, label, more = {}) => ({ key, label, kind: 'name', ...more });

// A share of the sum of a column, so that all rows add up to 100 %.
export function shareOf(table, key, label = 'Share', about = 'of all rows') {
  const v = table.num(key);
  const all = v.reduce((a, x) => a + (x || 0), 0);
  return { key: `share_of_${key}`, label, kind: 'share', about, text: (row) => (all > 0 ? v[row] / all : null), empty: !(all > 0) };
}

// Columns whose values are all unknown say nothing, nor do those that may be zero everywhere.
const told = (table, cols) => cols.filter((c) => (c.text && !c.empty) || c.kind === 'name' || table.col(c.key).some((v) => v !== null && v !== '' && (!c.mayBeZero || Number(v) !== 0)));

class Sections {
  constructor(panel, ctx, id, list, note) {
    Object.assign(this, { ctx, id, parts: [] });
    for (const o of list) {
      const found = o.table && ctx.report.table(o.table);
      const table = found && o.when && !o.when(found) ? null : found;
      const drawing = h('div', null, o.drawing ? o.drawing(ctx, table) : null);
      if (!table && !drawing.childNodes.length) continue;
      const whole = h('span', { cls: 'tag', hidden: true, title: 'a selected window does not change these figures' }, 'whole recording');
      const box = h('section', { cls: 'part', id: `part-${id}-${o.table || this.parts.length}`, tabindex: '-1', 'aria-label': o.title }, h('h2', { cls: 'section' }, o.title, ' ', o.about && h('span', { cls: 'muted' }, o.about), ' ', whole), drawing);
      const data = table && o.columns ? new DataTable({ table, columns: told(table, columns(table, o.columns(table, ctx))), label: o.title.toLowerCase(), sort: typeof o.sort === 'function' ? o.sort(table) : o.sort }) : null;
      if (data) append(box, [data.el]);
      this.parts.push({ ...o, box, data, drawn: drawing, whole });
    }
    append(panel, [note && ctx.windowNote('This tab', list.map((o) => o.table).find((t) => t && ctx.windows() && ctx.windows().has(t))), this.parts.map((p) => p.box)]);
    if (ctx.window()) this.windowed();
    ctx.on('window', () => this.windowed());
    this.setParams(ctx.params(id));
  }

  // What knows windows answers for the selected one; the rest says that it does not.
  windowed() {
    for (const p of this.parts) {
      const w = this.ctx.window();
      p.whole.hidden = !w || this.ctx.answers(p.table);
      if (!p.table || !this.ctx.windows() || !this.ctx.windows().has(p.table)) continue;
      const t = this.ctx.shown().table(p.table);
      if (p.drawing && p.sums !== false) clear(p.drawn, p.drawing(this.ctx, t));
      if (p.data) p.data.setTable(t, null, told(t, columns(t, typeof p.columns === 'function' ? p.columns(t, this.ctx) : p.columns)));
    }
  }

  setParams(p) {
    const want = p.get('') || '';
    const at = want && this.parts.find((x) => x.table === want);
    if (at) requestAnimationFrame(() => at.box.scrollIntoView({ block: 'start' }));
  }

  focusFilter() {
    const p = this.parts.find((x) => x.data);
    if (p) p.data.focusFilter();
  }

  escape() {
    return this.parts.some((p) => p.data && p.data.escape());
  }
}

export const sections = (panel, ctx, id, list, note = true) => new Sections(panel, ctx, id, list, note);

// A tab of sections; it is there when one of its tables is.
export const tabOf = (o) => ({
  ...o,
  tables: o.parts.map((p) => p.table).filter(Boolean),
  available: (r) => (o.needs || o.parts.map((p) => p.table)).some((t) => t && r.table(t)),
  render: (panel, ctx) => sections(panel, ctx, o.id, o.parts),
});
