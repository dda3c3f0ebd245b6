// Run: everything that is known about how these numbers came to be, and why a tab is not there.

import { append, h, icon, name } from './dom.js';
import { plainTable } from './datatable.js';
import { logs, runFacts } from './summary.js';
import * as fmt from './format.js';
import { figures, marks, overheadWords, recordedWindows } from './facts.js';

export const id = 'run';
export const label = 'Run';
export const about = '';
export const available = () => true;

const list = (v) => (Array.isArray(v) ? v : []);
const words = (v) => (v === null || v === undefined || v === '' ? fmt.UNKNOWN : typeof v === 'object' ? JSON.stringify(v) : String(v));

function section(title, ...children) {
  const body = children.flat(Infinity).filter(Boolean);
  return body.length ? h('section', { cls: 'card run-section' }, h('h2', null, title), body) : null;
}

function pairs(obj) {
  const rows = Object.entries(obj || {}).filter(([, v]) => v !== null && v !== undefined && v !== '');
  return rows.length ? h('dl', { cls: 'facts' }, rows.map(([k, v]) => h('div', null, h('dt', null, k.replace(/_/g, ' ')), h('dd', null, name(words(v)))))) : null;
}

// Devices have many facts in common: one row each, a column for every fact that any of them has.
function devicesOf(run) {
  const rows = list(run.devices).map((d) => (d && typeof d === 'object' ? d : { id: words(d) }));
  const keys = [...new Set(rows.flatMap((d) => Object.keys(d)))];
  return rows.length ? plainTable('devices', keys.map((k) => k.replace(/_/g, ' ')), rows.map((d) => keys.map((k) => name(words(d[k]))))) : null;
}

function overview(r) {
  const run = r.run || {};
  const rows = [
    ['Run', run.id], ['Model', run.model], ['Status', run.status], ['Reason', run.reason],
    ['Exit code', run.exit_code], ['Signal', run.signal], ...runFacts(r), ['Image digest', run.image_digest],
    ['Ended', fmt.date(run.ended_utc)],
  ].filter(([, v]) => v !== null && v !== undefined && v !== '');
  return section('What ran', rows.length ? h('dl', { cls: 'facts' }, rows.map(([k, v]) => h('div', null, h('dt', null, k), h('dd', null, name(words(v)))))) : null);
}

function steps(r) {
  const rows = list(r.run && r.run.steps);
  if (!rows.length) return null;
  const origin = r.originNs;
  const took = (s) => (Number(s.ended_ns) >= Number(s.started_ns) && Number(s.started_ns) > 0 ? s.ended_ns - s.started_ns : null);
  const cpu = (s) => (fmt.known(s.user_s) && fmt.known(s.sys_s) ? (Number(s.user_s) + Number(s.sys_s)) * 1e9 : null);
  return section('Steps', plainTable('steps of the run', ['Step', 'Started', 'Took', 'CPU time', 'Peak memory', 'Ended with', 'Command'], rows.map((s) => [
    name(words(s.name)),
    Number(s.started_ns) > 0 && origin !== null ? fmt.time(Number(s.started_ns) - origin) : fmt.UNKNOWN,
    h('span', { title: fmt.exact(took(s), 'ns') }, fmt.time(took(s))), fmt.time(cpu(s)), fmt.bytes(s.maxrss_bytes),
    ending(s), h('code', { cls: 'argv' }, h('bdi', null, list(s.argv).join(' '))),
  ])));
}

function samplers(r) {
  const rows = list(r.run && r.run.samplers);
  return rows.length ? section('Samplers', plainTable('samplers', ['Source', 'Tool', 'Rows', 'Period', 'Largest gap', 'Failed reads', 'CPU time', 'File'], rows.map((s) => [
    h('span', null, name(words(s.source)), s.estimated ? h('span', { cls: 'tag' }, 'estimated') : ''), name(words(s.tool)), fmt.count(s.rows), fmt.time(s.median_period_ns), fmt.time(s.max_gap_ns),
    h('span', { title: Object.entries(s.reasons || {}).map(([k, n]) => `${k}: ${n}`).join('; ') }, fmt.count(s.failed)), fmt.seconds(s.cpu_s),
    s.error ? h('span', { cls: 'v-bad' }, icon('bad'), ' ', name(words(s.error))) : name(words(s.path)),
  ]))) : null;
}

function checksOf(r) {
  const rows = list(r.analysis.checks);
  return rows.length ? section('Checks', plainTable('checks', ['Check', 'Result', 'Detail'], rows.map((c) => [
    name(words(c.name)), h('span', { cls: c.ok ? 'v-ok' : 'v-bad' }, icon(c.ok ? 'ok' : 'bad'), c.ok ? ' ok' : ' failed'), name(words(figures(c.detail)), { title: words(c.detail) }),
  ]))) : null;
}

function ending(s) {
  if (s.timed_out) return h('span', { cls: 'v-bad' }, icon('clock'), ' timed out');
  if (s.signal) return h('span', { cls: 'v-bad' }, icon('bad'), ` ${s.signal}`);
  if (s.exit_code === null || s.exit_code === undefined) return h('span', { cls: 'muted' }, 'not finished');
  return h('span', { cls: s.exit_code === 0 ? 'v-ok' : 'v-bad' }, icon(s.exit_code === 0 ? 'ok' : 'bad'), ` status ${s.exit_code}`);
}

function artifacts(r) {
  const rows = list(r.run && r.run.artifacts);
  if (!rows.length) return null;
  return section('Collected outputs', plainTable('collected outputs', ['Tool', 'File', 'Verdict', 'Size', 'Records', 'Reader'], rows.map((a) => [
    name(words(a.tool)), name(words(a.path)),
    h('span', { cls: a.verdict === 'valid' ? 'v-ok' : 'v-bad' }, icon(a.verdict === 'valid' ? 'ok' : 'bad'), ` ${words(a.verdict)}`, a.reason ? `: ${a.reason}` : ''),
    h('span', { title: fmt.exact(a.bytes, 'B') }, fmt.bytes(a.bytes)), fmt.count(a.records), words(a.reader),
  ])));
}

function inputs(r) {
  const rows = list(r.analysis.inputs);
  if (!rows.length) return null;
  return section('Inputs of the analysis', plainTable('inputs', ['File', 'Format', 'Spans', 'Samples', 'Links', 'Read'], rows.map((i) => [
    name(words(i.path)), words(i.format || i.reader), fmt.count(i.spans), fmt.count(i.samples), fmt.count(i.links),
    h('span', { cls: i.partial ? 'v-bad' : 'v-ok' }, icon(i.partial ? 'bad' : 'ok'), i.partial ? ' in part' : ' completely'),
  ])));
}

function tables(r) {
  const rows = [...r.tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (!rows.length) return null;
  return section('Tables', plainTable('tables', ['Table', 'Rows', 'In this page', 'What a row is'], rows.map((t) => [
    h('code', null, `tables/${t.name}.csv`), fmt.group(t.cut ? t.cut.of : t.rows), t.cut ? t.cut.text : 'all rows', t.about,
  ])));
}

// Tabs that are not there, each with its reason: what the analysis says it lacks, else what the tab needs. Then the other analyses, by reason.
function absent(ctx) {
  const skipped = list(ctx.report.analysis.skipped).filter((x) => x && typeof x === 'object');
  const used = new Set();
  const rows = ctx.absentTabs().map((t) => {
    const own = skipped.filter((x) => (t.reasons || [t.id]).includes(x.name));
    for (const x of own) used.add(x);
    return [t.label, own.length ? [...new Set(own.map((x) => words(x.reason)))].join('; ') : t.about];
  });
  const why = new Map();
  for (const x of skipped.filter((s) => !used.has(s))) why.set(words(x.reason), [...(why.get(words(x.reason)) || []), words(x.name)]);
  const others = [...why].map(([reason, names]) => [names.join(', '), reason]);
  return section('Not in this report', rows.length || others.length ? h('ul', { cls: 'absent' }, [...rows, ...others].map(([what, reason]) => h('li', null, h('strong', null, name(what)), ': ', name(reason, { title: null }), '.'))) : null);
}

function phasesTaken(r) {
  const d = Object.entries((r.run && r.run.durations_s) || {}).filter(([, v]) => fmt.known(v));
  const t = Object.entries(r.analysis.timings_s || {}).filter(([, v]) => fmt.known(v));
  const row = (pairsOf, what) => (pairsOf.length ? plainTable(what, pairsOf.map(([k]) => k), [pairsOf.map(([, v]) => h('span', { title: fmt.exact(v, 's') }, fmt.seconds(v)))]) : null);
  return section('Durations', row(d, 'durations of the run'), t.length ? h('h3', null, 'of the analysis') : null, row(t, 'durations of the analysis'));
}

// Which of several values it is, and where it stands: "last of 12, line 40".
export function whichOf(m) {
  const d = m.detail && typeof m.detail === 'object' ? m.detail : {};
  return [fmt.known(d.matches) ? `${words(d.pick)} of ${d.matches}` : '', typeof d.file === 'string' ? d.file : '', fmt.known(d.line) ? `line ${d.line}` : ''].filter(Boolean).join(', ');
}

function metricsOf(r) {
  const rows = list(r.run && r.run.metrics);
  return rows.length ? section('Metrics', plainTable('metrics', ['Name', 'Value', 'Unit', 'Source', 'Which'], rows.map((m) => [
    name(words(m.name)), h('span', { title: fmt.exact(m.value, m.unit || '') }, fmt.known(m.value) ? fmt.sig3(Number(m.value)) : words(m.value)), words(m.unit), words(m.source), whichOf(m),
  ]))) : null;
}

// The table of costs, each with its interval and what may be spent.
function costsOf(r) {
  const t = r.table('overhead');
  if (!t) return null;
  const share = (v) => (fmt.known(v) ? fmt.percent(Number(v)) : fmt.UNKNOWN);
  return section('What tools cost', plainTable('overhead of tools', ['Tools', 'Pairs of runs', 'Longer by', 'Without', 'With', 'Clean throughput', 'Throughput with', 'Budget'], t.objects().map((o) => [
    h('span', null, name(words(o.tools)), o.set === 'alone' ? h('span', { cls: 'tag' }, 'alone') : ''), fmt.count(o.pairs),
    overheadWords(o.overhead, o.ci_low, o.ci_high, fmt.percent) || fmt.UNKNOWN, fmt.seconds(o.baseline_s), fmt.seconds(o.tools_s),
    fmt.known(o.baseline_performance) ? `${fmt.sig3(Number(o.baseline_performance))} ${words(o.unit)}` : fmt.UNKNOWN,
    fmt.known(o.performance_ratio) ? overheadWords(o.performance_ratio - 1, fmt.known(o.performance_low) ? o.performance_low - 1 : null, fmt.known(o.performance_high) ? o.performance_high - 1 : null, fmt.percent) : fmt.UNKNOWN,
    o.verdict ? h('span', { cls: o.verdict === 'within' ? 'v-ok' : 'v-bad' }, icon(o.verdict === 'within' ? 'ok' : 'bad'), ` ${o.verdict}, ${share(o.budget)}`) : share(o.budget),
  ])));
}

function momentsOf(r) {
  const ms = marks(r);
  const ws = recordedWindows(r);
  const at = (t) => h('span', { title: fmt.exact(t, 'ns') }, fmt.time(t));
  return section('Marks and recording windows',
    ws.length ? plainTable('recording windows', ['Window', 'From', 'To', 'Length', 'By'], ws.map((w) => [name(words(w.name)), at(w.start), at(w.end), at(w.end - w.start), name(words(w.by))])) : null,
    ms.length ? plainTable('marks', ['Mark', 'At', 'Made at most before', 'By'], ms.slice(0, 500).map((m) => [name(words(m.name)), at(m.t), fmt.known(m.uncertainty_ns) ? fmt.time(Number(m.uncertainty_ns)) : fmt.UNKNOWN, name(words(m.by))])) : null,
    ms.length > 500 ? h('p', { cls: 'muted' }, `and ${fmt.group(ms.length - 500)} more in tables/marks.csv`) : null);
}

function toolsOf(r) {
  const rows = list(r.run && r.run.tools);
  return rows.length ? section('Tools', plainTable('tools', ['Tool', 'Version', 'Command'], rows.map((t) => (typeof t === 'string' ? [name(t), fmt.UNKNOWN, '']
    : [name(words(t.name)), words(t.version), h('code', { cls: 'argv' }, list(t.argv).join(' '))])))) : null;
}

export function render(panel, ctx) {
  const r = ctx.report;
  const run = r.run || {};
  append(panel, [
    overview(r), Object.keys(r.logs).length ? section('Output', logs(r)) : null, phasesTaken(r), steps(r), samplers(r), artifacts(r), toolsOf(r), costsOf(r), momentsOf(r), metricsOf(r), inputs(r), checksOf(r), tables(r), absent(ctx),
    section('Devices', devicesOf(run)),
    section('Host', typeof run.host === 'object' ? pairs(run.host) : null),
    section('Versions', pairs(run.versions)),
    section('Sources', pairs(run.git)),
    h('details', { cls: 'card' }, h('summary', null, 'analysis.json'), h('pre', { tabindex: '0' }, JSON.stringify(r.analysis, null, 2))),
    r.run && h('details', { cls: 'card' }, h('summary', null, 'run.json'), h('pre', { tabindex: '0' }, JSON.stringify(r.run, null, 2))),
  ]);
  return null;
}
