// Energy: what each counter says in all, whether it was all accounted for, and which functions it was spent on.

import { append, choice, clear, h, icon, name, segmented } from './dom.js';
import { DataTable, plainTable } from './datatable.js';
import * as fmt from './format.js';
import { counterRanks, flagsOf, flagWords, isEstimated } from './facts.js';
import { parseSort, sortText } from './functions.js';
import { LongCalls } from './longcalls.js';
import { PowerChart } from './powerchart.js';
import { windowEnergy } from './series.js';

const LIMIT = 1e-9;
/* Columns that are only shown when something is known. */
const OPTIONAL = ['uncertainty_j', 'static_j', 'dynamic_j'];
/* Columns of counters whose energy is divided by power. */
const BY_POWER = ['best_j', 'best_uncertainty_j', 'estimate', 'modelled_j', 'modelled_uncertainty_j', 'modelled_w', 'separable'];
/* What some are called there. */
const LABELS_BY_POWER = { exclusive_j: 'By time', uncertainty_j: '± by time' };
const COLUMNS = [
  { key: 'name', label: 'Function', kind: 'name' },
  { key: 'track', label: 'Track', kind: 'text' },
  { key: 'calls', label: 'Calls', kind: 'count' },
  { key: 'share', label: 'Share', kind: 'share', about: 'own energy divided by the total of the counter' },
  { key: 'best_j', label: 'Best', kind: 'energy', like: 'exclusive_j', about: 'own energy by time or by power, the one of the narrower interval or that was asked for' },
  { key: 'best_uncertainty_j', label: '±', kind: 'energy', like: ['exclusive_j', 'best_j'], about: 'half-width of the 95 % interval of the best' },
  { key: 'estimate', label: 'Best is', kind: 'text', about: 'by time or by power' },
  { key: 'exclusive_j', label: 'Own', kind: 'energy', about: 'energy while the function itself was innermost (exclusive), each interval of the sensor divided by time' },
  { key: 'uncertainty_j', label: '±', kind: 'energy', like: 'exclusive_j', about: 'half-width of the 95 % interval of the energy by time' },
  { key: 'modelled_j', extra: true, label: 'By power', kind: 'energy', like: ['exclusive_j', 'best_j'], about: 'own energy when each interval of the sensor is divided by power instead of time' },
  { key: 'modelled_uncertainty_j', extra: true, label: '± by power', kind: 'energy', like: ['exclusive_j', 'best_j'], about: 'half-width of the 95 % interval of the energy by power' },
  { key: 'separable', extra: true, label: 'Told apart', kind: 'text', about: 'whether the data tell the power from that of what runs beside it' },
  { key: 'inclusive_j', label: 'Inclusive', kind: 'energy', like: ['exclusive_j', 'best_j'] },
  { key: 'static_j', extra: true, label: 'Idle', kind: 'energy', like: ['exclusive_j', 'best_j'], about: 'what the device would have drawn idle in this time' },
  { key: 'dynamic_j', label: 'Above idle', kind: 'energy', like: ['exclusive_j', 'best_j'], about: 'own energy by time less the idle part; negative where less than idle was drawn' },
  { key: 'exclusive_ns', extra: true, label: 'Own time', kind: 'time', about: 'the part of the own time that samples cover' },
  { key: 'mean_w', label: 'Mean power', kind: 'power', about: 'own energy by time divided by own time' },
  { key: 'modelled_w', extra: true, label: 'Power', kind: 'power', about: 'power of the function while it has the device; device view: over the static power' },
  { key: 'flags', label: 'Notes', kind: 'flags' },
];

export const id = 'energy';
export const label = 'Energy';
export const about = 'needs an energy or power counter sampled beside a trace (for example --tools gpu_power or cpu_power)';
export const available = (r) => Boolean(r.table('energy_totals') || r.table('energy'));

const key = (e) => `${e.counter}\n${e.device}\n${e.view}`;

function counterFacts(report) {
  const t = report.table('counters');
  return new Map(t ? t.objects().map((c) => [`${c.series}\n${c.device}`, c]) : []);
}

// What is odd about a counter, and that every sharer got all of it.
const notesOf = (row, c) => flagsOf(c.flags).concat(row.some((e) => flagsOf(e.flags).includes('double_counting')) ? 'double_counting' : []);

// Many counters: one line each instead of a card.
function totalsTable(cards, facts) {
  const share = (row, view) => {
    const e = row.find((x) => x.view === view);
    return e && Number(e.total_j) > 0 ? Number(e.attributed_j) / Number(e.total_j) : null;
  };
  const bar = (v, hatched) => (v === null ? '' : h('span', null, h('span', { cls: `bar${hatched ? ' hatched' : ''}`, 'aria-hidden': 'true' },
    h('span', { style: { width: `${Math.max(0, Math.min(1, v)) * 100}%` } })), fmt.percent(v)));
  return plainTable('totals of the counters', ['Device', 'Counter', 'Total', 'Mean power', 'Attributed, host view', 'Attributed, device view', 'Conservation', 'Notes'], cards.map((row) => {
    const c = facts.get(`${row[0].counter}\n${row[0].device}`) || {};
    const span = Number(c.last_ns) - Number(c.first_ns);
    const worst = Math.max(...row.map((e) => Number(e.error_rel) || 0));
    return [
      name(row[0].device || '–'), name(row[0].counter), h('strong', { title: fmt.exact(row[0].total_j, 'J') }, fmt.energy(row[0].total_j)),
      span > 0 && fmt.known(row[0].total_j) ? fmt.power(Number(row[0].total_j) / (span / 1e9)) : fmt.UNKNOWN, bar(share(row, 'host'), isEstimated(c.flags)), bar(share(row, 'device'), isEstimated(c.flags)),
      fmt.known(row[0].total_j) ? conservation(worst) : fmt.UNKNOWN, notesOf(row, c).map((f) => h('span', { cls: 'flag', title: flagWords(f).join('') }, f.replace(/_/g, ' '))),
    ];
  }), 'totals');
}

function conservation(error) {
  const good = error <= LIMIT;
  return h('span', { cls: `conserved ${good ? 'v-ok' : 'v-bad'}`, title: `relative error ${error}` }, icon(good ? 'ok' : 'bad'), good ? ' adds up' : ` off by ${error.toExponential(1)}`);
}

// One card per (counter, device): the total, what was attributed in each view, and the conservation check.
function totalsCard(report, row, facts) {
  const c = facts.get(`${row[0].counter}\n${row[0].device}`) || {};
  const known = fmt.known(row[0].total_j); // of a single reading it is not
  const total = known ? Number(row[0].total_j) : null;
  const span = Number(c.last_ns) - Number(c.first_ns);
  const notes = notesOf(row, c);
  return h('section', { cls: 'card energy-card', 'aria-label': `${row[0].device} ${row[0].counter}` },
    h('div', { cls: 'energy-head' },
      h('div', null, h('strong', null, h('bdi', null, row[0].device || 'no device')), ' ', h('span', { cls: 'muted' }, h('bdi', null, row[0].counter))),
      h('div', { cls: 'figure-value small', title: fmt.exact(row[0].total_j, 'J') }, fmt.energy(total), isEstimated(c.flags) && h('span', { cls: 'tag' }, 'estimated'))),
    h('div', { cls: 'muted' }, [
      c.kind === 'cumulative' ? 'energy counter' : c.kind === 'gauge' ? 'integrated power readings' : '',
      known && span > 0 ? `${fmt.power(total / (span / 1e9))} on average over ${fmt.time(span)}` : '',
      fmt.known(c.samples) ? fmt.plural(c.samples, 'sample') : '',
    ].filter(Boolean).join(' · ')),
    h('table', { cls: 'views' }, h('caption', { cls: 'visually-hidden' }, 'what was attributed'),
      h('thead', null, h('tr', null, ['View', '', 'Attributed', 'Unattributed', 'Check'].map((t, i) => h('th', { scope: 'col', cls: i === 2 || i === 3 ? 'num' : i === 1 ? 'view-bar' : '' }, t)))),
      h('tbody', null, row.map((e) => viewLine(e, total, isEstimated(c.flags))))),
    notes.length > 0 && h('ul', { cls: 'notes' }, flagWords(notes.join('|')).map((w) => h('li', null, icon('warn'), ' ', w))));
}

function viewLine(e, total, hatched) {
  const share = total === null ? null : total > 0 ? Number(e.attributed_j) / total : 0;
  return h('tr', null,
    h('td', null, e.view),
    h('td', { cls: 'view-bar' }, h('span', { cls: `bar${hatched ? ' hatched' : ''}`, 'aria-hidden': 'true' }, h('span', { style: { width: `${Math.max(0, Math.min(1, share)) * 100}%` } }))),
    h('td', { cls: 'num', title: fmt.exact(e.attributed_j, 'J') }, `${fmt.energy(e.attributed_j)} `, h('span', { cls: 'muted' }, fmt.percent(share))),
    h('td', { cls: 'num muted', title: fmt.exact(e.unattributed_j, 'J') }, fmt.energy(e.unattributed_j)),
    h('td', null, total === null ? fmt.UNKNOWN : conservation(Number(e.error_rel))));
}

class EnergyView {
  constructor(panel, ctx) {
    this.ctx = ctx;
    this.report = ctx.report;
    const totals = ctx.report.table('energy_totals');
    this.table = ctx.report.table('energy');
    this.facts = counterFacts(ctx.report);
    this.totals = totals ? totals.objects() : [];
    this.fits = ctx.report.table('energy_fit')?.objects() || [];
    this.groups = this.collect();
    const cards = new Map();
    for (const e of this.totals) {
      const k = `${e.counter}\n${e.device}`;
      cards.set(k, [...(cards.get(k) || []), e]);
    }
    this.inWindow = h('div');
    const rank = counterRanks(this.report);
    const rows = [...cards.values()].sort((a, b) => rank(a[0].counter, a[0].device) - rank(b[0].counter, b[0].device));
    for (const row of rows) row.sort((a, b) => (a.view < b.view ? 1 : -1));
    append(panel, [this.inWindow, rows.length > 4 ? totalsTable(rows, this.facts)
      : h('div', { cls: 'energy-cards' }, rows.map((row) => totalsCard(this.report, row, this.facts)))]);
    if (this.groups.length) this.buildTable(panel);
    this.drawWindow();
    ctx.on('window', () => this.drawWindow());
  }

  collect() {
    if (!this.table) return [];
    const [counter, device, view] = ['counter', 'device', 'view'].map((c) => this.table.col(c));
    const map = new Map();
    for (let i = 0; i < this.table.rows; i++) {
      const e = { counter: counter[i], device: device[i], view: view[i] };
      const k = key(e);
      if (!map.has(k)) map.set(k, { ...e, rows: [] });
      map.get(k).rows.push(i);
    }
    const rank = counterRanks(this.report);
    return [...map.values()].sort((a, b) => rank(a.counter, a.device) - rank(b.counter, b.device) || (a.view === 'host' ? 0 : 1) - (b.view === 'host' ? 0 : 1));
  }

  buildTable(panel) {
    const p = this.ctx.params(id);
    this.group = this.pick(p.get(''), p.get('view'), p.get('counter'));
    this.data = new DataTable({
      table: this.table, columns: this.columns(this.group), rows: this.group.rows, label: 'energy by function', filter: p.get('filter') || '',
      sort: parseSort(p.get('sort'), this.dearest(this.group)), onstate: () => this.store(false),
    });
    this.controls = h('div', { cls: 'toolbar' });
    this.fitNote = h('p', { cls: 'muted fit-note' });
    this.power = new PowerChart(this.ctx);
    this.calls = new LongCalls(this.ctx);
    this.drawControls();
    append(panel, [this.ctx.windowNote('The table of energy by function', 'energy'), this.controls, this.fitNote, this.power.el, this.data.el, this.calls.el]);
    if (this.ctx.window()) this.windowed();
    this.ctx.on('window', () => this.windowed());
  }

  // The same counter and view of the selected window.
  windowed() {
    const t = this.ctx.shown().table('energy');
    if (t === this.table) return;
    const was = this.group;
    this.table = t;
    this.groups = this.collect();
    this.group = this.groups.find((g) => key(g) === key(was)) || this.pick(was.device, was.view) || { ...was, rows: [] };
    const { sort } = this.data;
    if (t.windowed && sort.key === 'best_j') this.data.sort = { key: 'exclusive_j', dir: sort.dir };
    else if (!t.windowed && sort.key === 'exclusive_j') this.data.sort = { ...this.dearest(this.group), dir: sort.dir };
    this.data.setTable(t, this.group.rows, this.columns(this.group));
    if (key(this.group) !== key(was)) this.drawControls();
  }

  columns(group) {
    const track = this.table.col('track');
    const tracks = new Set(group.rows.map((i) => track[i]).filter(Boolean));
    const known = (name) => this.table.has(name) && this.table.col(name).some((v) => v !== null && v !== '');
    const power = !this.table.windowed && this.byPower(group);
    return COLUMNS.filter((c) => (c.key !== 'track' || tracks.size > 1) && (!OPTIONAL.includes(c.key) || known(c.key)) && (!BY_POWER.includes(c.key) || power))
      .map((c) => (!power ? c : c.key === 'share' ? this.shareOfBest(c, group) : { ...c, label: LABELS_BY_POWER[c.key] || c.label, extra: c.extra || c.key in LABELS_BY_POWER }));
  }

  byPower(group) {
    return this.fit(group)?.used === 'power' && this.table.has('best_j');
  }

  shareOfBest(column, group) {
    const best = this.table.col('best_j');
    const total = Number(this.totals.find((e) => key(e) === key(group))?.total_j);
    return { ...column, about: 'the best divided by the total of the counter; as rows choose by themselves, all may not be 100 %',
      text: (row) => (total > 0 && fmt.known(best[row]) ? Number(best[row]) / total : null) };
  }

  // The largest first, by what the group's table shows as its energy.
  dearest(group) {
    return { key: this.byPower(group) ? 'best_j' : 'exclusive_j', dir: -1 };
  }

  fit(group) {
    return this.fits.find((f) => f.counter === group.counter && f.device === group.device && f.view === group.view);
  }

  // How well powers explain the counter, in a sentence.
  drawFit() {
    const f = this.fit(this.group);
    const parts = f && Number(f.windows) > 1 ? `, in ${f.windows} parts of the recording` : '';
    clear(this.fitNote, !f ? '' : f.used === 'power'
      ? `By power: one power for each name explains ${fmt.percent(Math.max(0, Number(f.explained)))} of what varies between ${fmt.count(f.intervals)} intervals of the sensor${parts}.`
      : 'By time only: powers of the names explain no more than chance here.');
  }

  pick(device, view, counter) {
    return this.groups.find((g) => g.device === device && (!view || g.view === view) && (!counter || g.counter === counter)) ||
      this.groups.find((g) => g.device === device) || this.groups.find((g) => g.view === 'host') || this.groups[0];
  }

  drawControls() {
    this.drawFit();
    this.power.show(this.group);
    this.calls.show(this.group);
    const devices = [...new Map(this.groups.map((g) => [`${g.counter}\n${g.device}`, g])).values()];
    const views = this.groups.filter((g) => g.counter === this.group.counter && g.device === this.group.device).map((g) => g.view);
    clear(this.controls,
      devices.length > 1 && choice('Counter', devices.map((g) => [`${g.counter}\n${g.device}`, `${g.device} · ${g.counter}`]), `${this.group.counter}\n${this.group.device}`, (v) => {
        const same = this.groups.filter((g) => `${g.counter}\n${g.device}` === v);
        this.choose(same.find((g) => g.view === this.group.view) || same[0]);
      }),
      views.length > 1 && segmented('View', views.map((v) => [v, v === 'host' ? 'Host: which call was open' : 'Device: which work ran']), this.group.view, (v) =>
        this.choose(this.groups.find((g) => g.view === v && g.counter === this.group.counter && g.device === this.group.device))),
      h('span', { cls: 'spring' }),
      this.ctx.has('flame') && h('button', { type: 'button', cls: 'quiet', onclick: () => this.ctx.go('flame', { '': `energy:${this.group.device}:${this.group.view}:${this.group.counter}` }) }, 'Show as flame graph'));
  }

  choose(group) {
    if (this.isDearest()) this.data.sort = this.dearest(group);
    this.group = group;
    this.data.setRows(group.rows, this.columns(group));
    this.drawControls();
    this.store(true);
  }

  setParams(p) {
    if (!this.data) return;
    const g = this.pick(p.get(''), p.get('view'), p.get('counter'));
    if (g !== this.group) {
      this.group = g;
      this.data.setRows(g.rows, this.columns(g));
      this.drawControls();
    }
    this.data.sort = parseSort(p.get('sort'), this.dearest(g));
    this.data.setFilter(p.get('filter') || '');
  }

  isDearest() {
    return sortText(this.data.sort) === sortText(this.dearest(this.group));
  }

  store(push) {
    const g = this.group;
    const p = { '': g.device };
    if (this.groups.some((x) => x !== g && x.device === g.device)) {
      p.view = g.view;
      if (this.groups.some((x) => x.device === g.device && x.counter !== g.counter)) p.counter = g.counter;
    }
    if (this.data.filter) p.filter = this.data.filter;
    if (!this.isDearest()) p.sort = sortText(this.data.sort);
    this.ctx.store(id, p, push);
  }

  // What the embedded samples can say about a window: the energy of each device in it.
  drawWindow() {
    const w = this.ctx.window();
    const rows = w ? windowEnergy(this.report, w) : [];
    clear(this.inWindow, w && h('section', { cls: 'card window-card' },
      h('h2', null, 'In the selected window ', h('span', { cls: 'muted' }, this.ctx.windowText())),
      rows.length ? h('ul', { cls: 'legend' }, rows.map((e) => h('li', null, h('strong', null, h('bdi', null, e.label)), ' ',
        h('span', { title: fmt.exact(e.j, 'J') }, fmt.energy(e.j)), ' ', h('span', { cls: 'muted' }, `${fmt.power(e.w)} on average`))))
        : h('p', { cls: 'muted' }, 'No power or energy samples lie in it.'),
      h('p', { cls: 'muted' }, this.ctx.answers('energy') ? 'From the bins of the charts; the totals, the chart and the single calls below are about the whole recording.' : 'From the bins of the charts; the rest of this page is about the whole recording.')));
  }

  escape() {
    return this.data ? this.data.escape() : false;
  }

  focusFilter() {
    if (this.data) this.data.focusFilter();
  }
}

export function render(panel, ctx) {
  return new EnergyView(panel, ctx);
}
