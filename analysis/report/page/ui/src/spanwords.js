// What the timeline says in words: of the selected span, gap or part of the critical path, and of the measured stretch.

import { clear, h, name as nameEl } from './dom.js';
import * as fmt from './format.js';
import { causeWords } from './overlap.js';
import { workJoules } from './windowenergy.js';

const SUMMED = 12;

// A gap with its causes, what began late and where it was launched; or a part of the critical path.
function showMade(tl, s, fact, time) {
  const g = s.row.lane.list[s.row.at[s.i]];
  const [a, b] = tl.edges(s);
  const facts = [fact('Start', time(a)), fact('Duration', time(b - a)), fact('End', time(b))];
  if (s.row.lane.kind === 'path') {
    clear(tl.details, h('h2', null, nameEl(g.name)), h('dl', { cls: 'facts' }, fact('On the critical path', g.cat.replace('path: ', '')), facts));
    return;
  }
  const late = tl.lanes.byId.filter((l) => l.kind === 'queue' && l.device === s.row.lane.device).map((l) => ({ row: l.rows[0], i: l.rows[0] ? l.rows[0].firstFrom(b - 1) : 0 })).find(({ row, i }) => row && row.start[i] === b);
  const launch = late && tl.launchOf(late);
  clear(tl.details, h('h2', null, 'Nothing ran on ', nameEl(s.row.lane.device)),
    h('dl', { cls: 'facts' }, fact('Because of', g.causes.map(([c, ns], i) => [i ? ', ' : '', causeWords(c), ' ', time(ns)])), facts,
      late && fact('Then came', [nameEl(tl.lanes.short(tl.lanes.names[late.row.name[late.i]]), { title: tl.lanes.names[late.row.name[late.i]] }), ' ', h('button', { type: 'button', cls: 'link', onclick: () => tl.select(late, true) }, 'Go to it')]),
      launch && fact('Launched by', [nameEl(launch.name), ', ', time(b - launch.at), ' before']),
      launch && launch.path.length ? fact('Call path', launch.path.map((p, i) => [i ? ' › ' : '', nameEl(tl.lanes.names[p.row.name[p.i]])])) : null));
}

// tl: the timeline (spans.js).
export function showDetails(tl) {
  const s = tl.selected;
  if (!s) {
    clear(tl.details, h('p', { cls: 'muted' }, 'Press a span to see what it is. Drag moves, Ctrl or Shift and the wheel zoom, Shift and drag measures; with the focus on the timeline: w s zoom, a d move, f shows all, arrows step, [ ] follow a launch.'));
    return;
  }
  const [a, b] = tl.edges(s);
  const fact = (k, v) => h('div', null, h('dt', null, k), h('dd', null, v));
  const time = (t) => h('span', { title: fmt.exact(t, 'ns') }, fmt.time(t));
  const lane = fact('Lane', nameEl(s.row.lane.name));
  if (s.bin !== undefined) {
    clear(tl.details, h('h2', null, fmt.plural(s.row.binCount[s.bin], 'short span')), h('dl', { cls: 'facts' }, lane, fact('From', time(a)), fact('Bin', time(b - a)), fact('Busy', [time(s.row.binBusy[s.bin]), ` (${fmt.percent(s.row.binBusy[s.bin] / s.row.lane.bin)})`]),
      fact('Each at most', time(s.row.lane.shortest)), fact('Longest in it', nameEl(tl.lanes.names[s.row.binName[s.bin]]))));
    return;
  }
  if (s.row.lane.list) {
    showMade(tl, s, fact, time);
    return;
  }
  const launch = tl.launchOf(s);
  const joules = s.row.lane.kind === 'queue' && workJoules(tl.ctx.windows(), s.row, s.i);
  const path = launch ? launch.path : tl.lanes.pathAt(s.row.lane, a).filter((p) => p.row.depth < s.row.depth);
  clear(tl.details, h('h2', null, nameEl(tl.lanes.names[s.row.name[s.i]])),
    h('dl', { cls: 'facts' }, fact('Category', nameEl(tl.lanes.cats[s.row.cat[s.i]] || 'none')), fact('Start', time(a)), fact('Duration', time(b - a)), fact('End', time(b)), lane,
      joules && fact('Energy', [h('span', { title: fmt.exact(joules.j, 'J') }, fmt.energy(joules.j)), h('span', { cls: 'muted' }, ' by time, of ', nameEl(joules.counter))]),
      launch && fact('Launched by', [nameEl(launch.name), ', ', time(a - launch.at), ' before', launch.path.length ? [' ', h('button', { type: 'button', cls: 'link', onclick: () => tl.followLaunch() }, 'Go to it')] : '']),
      path.length ? fact('Call path', path.map((p, i) => [i ? ' › ' : '', nameEl(tl.lanes.names[p.row.name[p.i]])])) : null));
}

export function drawSums(tl) {
  const w = tl.ctx.window();
  tl.sumBox.hidden = !w;
  if (!w) return;
  const rows = tl.lanes.lanes.filter((l) => l.rows.length && l.kind !== 'path').map((l) => ({ l, s: tl.lanes.sums(l, ...w) })).filter(({ s }) => s.count > 0);
  const cats = (s) => [...s.cats].sort((x, y) => y[1] - x[1]).slice(0, 4).map(([c, ns]) => `${tl.lanes.cats[c] || 'no category'} ${fmt.time(ns)}`).join(', ');
  const about = (s) => (s.exact ? '' : '≈\u00a0');
  clear(tl.sumBox, h('h2', null, `${fmt.time(w[1] - w[0])} `, h('span', { cls: 'muted' }, `from ${fmt.time(w[0])} to ${fmt.time(w[1])}`)),
    rows.length ? h('div', { cls: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'sums of the stretch' }, h('table', { cls: 'data plain' }, h('caption', { cls: 'visually-hidden' }, 'sums of the stretch'),
      h('thead', null, h('tr', null, ['Lane', 'Spans', 'Time', 'Of the stretch', 'Most of it'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, rows.slice(0, SUMMED).map(({ l, s }) => h('tr', null, h('td', null, nameEl(l.name)), h('td', null, about(s), fmt.count(Math.round(s.count))), h('td', { title: fmt.exact(s.ns, 'ns') }, about(s), fmt.time(s.ns)),
        h('td', null, fmt.percent(s.ns / (w[1] - w[0]))), h('td', null, h('bdi', null, cats(s)))))))) : h('p', { cls: 'muted' }, 'Nothing ran in it.'),
    rows.length > SUMMED && h('p', { cls: 'muted' }, `and ${rows.length - SUMMED} more lanes`));
}
