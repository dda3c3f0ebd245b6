// The first screen: what ran, three figures, where the time went, the largest costs, and every check and warning in words.

import { append, clear, h, icon, name } from './dom.js';
import * as fmt from './format.js';
import * as facts from './facts.js';
import { plainTable } from './datatable.js';
import { findingsCard } from './findings.js';
import { causesLine, deviceBars, devicesOf } from './overlap.js';

const list = (v) => (Array.isArray(v) ? v : []);
const text = (v) => (v === null || v === undefined || typeof v === 'object' ? '' : String(v));

function hostWords(run) {
  const host = run && run.host;
  if (!host) return '';
  if (typeof host === 'string') return host;
  return [text(host.name || host.hostname || host.nodename), text(host.cpu || host.cpu_model)].filter(Boolean).join(', ');
}

// Accelerators only: samplers also know processes and CPU packages as devices.
function deviceWords(r) {
  const seen = new Map();
  for (const d of list(r.run && r.run.devices)) {
    const id = typeof d === 'string' ? d : text(d && d.id);
    if (!facts.isAccelerator(id)) continue;
    const said = typeof d === 'string' ? '' : text(d.name) || text(d.facts).split(',')[0];
    if (!seen.get(id)) seen.set(id, said);
  }
  if (!seen.size) return list(r.analysis.devices).filter((d) => typeof d === 'string' && facts.isAccelerator(d)).join(', ');
  const models = new Map();
  for (const [id, m] of seen) models.set(m || id, (models.get(m || id) || 0) + 1);
  return [...models].map(([m, n]) => (n > 1 ? `${n} × ${m}` : m)).join(', ');
}

export function runFacts(r) {
  const run = r.run || {};
  const inputs = list(r.analysis.inputs);
  const formats = [...new Set(inputs.map((i) => text(i.format)).filter(Boolean))];
  const image = text(run.image);
  const tools = list(run.tools).map((t) => (typeof t === 'string' ? t : text(t && t.name))).filter(Boolean);
  return [
    ['Command', commandOf(run)],
    ['Image', image],
    ['Engine', text(run.engine)],
    ['Tools', tools.join(', ')],
    ['Host', hostWords(run)],
    ['Devices', deviceWords(r)],
    ['Started', fmt.date(run.started_utc)],
    ...spoken(run),
    ['Tool overhead', overhead(run)],
    ['Tables are of', windowWords(r.analysis.window)],
    ['Input', r.run ? '' : formats.join(', ')],
  ].filter(([, v]) => v);
}

// Nothing when they are of all that was recorded.
function windowWords(w) {
  if (!w || !w.of || w.of === 'all') return '';
  const parts = list(w.parts);
  const range = `${fmt.time(Number(w.start_ns))} to ${fmt.time(Number(w.end_ns))}`;
  return w.of === 'windows of the run' ? `${fmt.plural(parts.length, 'recording window')}, ${range}` : `the window ${w.of}, ${range}`;
}

// What the workload itself said of its speed ("performance: 1234 samples/s").
function spoken(run) {
  return list(run.metrics).filter((m) => m && (m.source === 'workload' || m.source === 'results.csv') && m.name !== 'wall' && fmt.known(m.value)).slice(0, 2)
    .map((m) => [capital(text(m.name)), `${fmt.sig3(Number(m.value))} ${text(m.unit)}`]);
}

// What profiling cost, when a run without tools went before (run --baseline).
function overhead(run) {
  const of = (key) => {
    const m = list(run.metrics).find((x) => x && x.name === key && fmt.known(x.value));
    return m ? Number(m.value) / 100 : null;
  };
  if (of('overhead_mean') !== null) return facts.overheadWords(of('overhead_mean'), of('overhead_low'), of('overhead_high'), fmt.percent);
  return of('overhead') === null ? '' : fmt.percent(of('overhead'));
}

const capital = (s) => s.charAt(0).toUpperCase() + s.slice(1);

// What the user typed; of runs of older versions what was started, with the tools in front.
function commandOf(run) {
  if (Array.isArray(run.command)) return run.command.join(' ');
  const step = list(run.steps).find((s) => s.kind === 'workload' || s.name === 'workload');
  return step && Array.isArray(step.argv) ? step.argv.join(' ') : '';
}

function factList(r) {
  const rows = runFacts(r);
  return rows.length ? h('dl', { cls: 'facts' }, rows.map(([k, v]) => h('div', null, h('dt', null, k), h('dd', null, name(v))))) : null;
}

function figure(label, value, exactText, sub, tags = []) {
  const [num, unit] = value.split('\u00a0').length === 2 ? value.split('\u00a0') : [value, ''];
  return h('div', { cls: 'figure', role: 'group', 'aria-label': label },
    h('div', { cls: 'figure-label' }, label, tags.map((t) => h('span', { cls: 'tag', title: t[1] }, t[0]))),
    h('div', { cls: 'figure-value', title: exactText }, num, unit && h('span', { cls: 'figure-unit' }, `\u00a0${unit}`)),
    h('div', { cls: 'figure-sub' }, sub));
}

function timeBox(r) {
  const t = facts.timeFigure(r);
  const words = { workload: 'of the workload', recorded: 'recorded, first to last event', none: 'no time was recorded' };
  const beside = t.beside.map((b) => `${b.name} ${fmt.time(b.ns)}`).join(', ');
  const around = t.around ? ` with ${t.around.tools.join(', ')} around it, whose events span ${fmt.time(t.around.ns)}` : '';
  return figure('Time', fmt.time(t.ns), fmt.exact(t.ns, 'ns'), [words[t.what] + around, beside && `; beside it ${beside}`]);
}

function energyBox(r) {
  const e = facts.energyFigure(r);
  if (!e) return figure('Energy', fmt.UNKNOWN, 'unknown', 'no energy or power counter was sampled');
  const each = e.devices.length <= 4 ? e.devices.map((d) => (e.devices.length > 1 ? `${d.device} ${fmt.energy(d.j)}` : d.device)).join(', ')
    : `${e.devices.length} devices, ${e.devices[0].device} to ${e.devices[e.devices.length - 1].device}`;
  const more = e.beside.length > 3 ? ` and ${e.beside.length - 3} more` : '';
  const beside = e.beside.slice(0, 3).map((d) => `${d.device} ${fmt.energy(d.j)}${d.estimated ? ' estimated' : ''}`).join(', ') + more;
  const tags = [];
  if (e.estimated) tags.push(['estimated', 'computed from a model of the device, not read from a sensor']);
  else if (e.integrated) tags.push(['integrated', 'the integral of power readings, not an energy counter']);
  return figure('Energy', fmt.energy(e.j), fmt.exact(e.j, 'J'), [each, beside && `; beside it ${beside}`], tags);
}

function busyBox(r) {
  const b = facts.busyFigure(r);
  if (!b || b.share === null) return figure('Device busy', 'none', 'no device work', 'no device work was recorded');
  const rows = b.devices.filter((d) => fmt.known(d.busy)).sort((x, y) => x.share - y.share);
  const sub = rows.length <= 1 ? (rows.length ? rows[0].device : '')
    : rows.length <= 4 ? b.devices.map((d) => `${d.device} ${fmt.percent(d.share)}`).join(', ')
      : `${rows.length} devices, ${rows[0].device} ${fmt.percent(rows[0].share)} the least, ${rows[rows.length - 1].device} ${fmt.percent(rows[rows.length - 1].share)} the most`;
  const idle = !b.without.length ? '' : b.without.length <= 4 ? `; no work on ${b.without.join(', ')}` : `; no work on ${fmt.plural(b.without.length, 'other device')}`;
  return figure('Device busy', fmt.percent(b.share), `${b.share * 100}\u00a0%`, `${b.recorded_ns > 0 ? 'of the recording' : 'from first to last kernel'}: ${sub}${idle}`);
}

// Of the selected window: the parts of `overlap`, summed over the devices.
function windowSplit(ctx) {
  const rows = devicesOf(ctx.shown());
  const sum = (k) => rows.reduce((a, d) => a + d.parts[k].ns, 0);
  return { of: 'device time from first to last kernel of the window', total: rows.reduce((a, d) => a + d.wall, 0), devices: rows.length, parts: rows.length ? rows[0].parts.map((p, k) => ({ ...p, ns: sum(k) })) : [] };
}

function splitBar(r, ctx) {
  const s = ctx.answers('overlap') ? windowSplit(ctx) : facts.timeSplit(r);
  if (!s) return null;
  const of = s.devices > 1 ? `${s.of}, summed over ${s.devices} devices` : s.within ? `${s.of}, ${s.mostly ? 'mostly ' : ''}inside ${s.within.split(';').join(' › ')}` : s.of;
  const parts = s.parts.filter((p) => p.ns > 0).map((p, i) => ({ ...p, share: p.ns / s.total, cls: `seg seg-${p.kind === 'host' ? `h${i % 5}` : p.kind}` }));
  return h('section', { cls: 'card split', 'aria-labelledby': 'split-title' },
    h('h2', { id: 'split-title' }, 'Where the time went ', h('span', { cls: 'muted' }, of)),
    h('div', { cls: 'stack', role: 'img', 'aria-label': parts.map((p) => `${p.name} ${fmt.percent(p.share)}`).join(', ') },
      parts.map((p) => h('div', { cls: p.cls, style: { 'flex-grow': String(Math.max(p.share, 0.002)) }, title: `${p.name}: ${fmt.exact(p.ns, 'ns')}` },
        h('span', null, fmt.percent(p.share))))),
    h('ul', { cls: 'legend' }, parts.map((p) => h('li', null, h('span', { cls: `swatch ${p.cls}`, 'aria-hidden': 'true' }),
      name(p.name), ' ', h('strong', { title: fmt.exact(p.ns, 'ns') }, fmt.time(p.ns)), ' ', h('span', { cls: 'muted' }, fmt.percent(p.share))))),
    !parts.length && h('p', { cls: 'muted' }, 'Nothing ran on a device in this window.'), deviceBars(ctx.shown()), causesLine(ctx));
}

// Of the selected window: the three largest of `functions`.
function windowCosts(ctx) {
  const t = ctx.shown().table('functions');
  const rows = t.objects().filter((f) => f.exclusive_ns > 0);
  const scope = rows.some((f) => f.scope === 'device') ? 'device' : 'host';
  return { scope, rows: rows.filter((f) => f.scope === scope).sort((a, b) => b.exclusive_ns - a.exclusive_ns).slice(0, 3) };
}

function costs(r, ctx) {
  const c = ctx.answers('functions') ? windowCosts(ctx) : facts.largestCosts(r);
  const fig = facts.energyFigure(r);
  const words = c.scope === 'device' ? 'device work, own time' : 'host functions, own time';
  const body = !c.rows.length ? h('p', { cls: 'muted' }, ctx.window() ? 'No call and no device work lies in this window.' : 'No call and no device work was recorded.')
    : h('ol', { cls: 'costs' }, c.rows.map((f) => h('li', null,
      h('div', { cls: 'cost-head' },
        h('button', { type: 'button', cls: 'link', 'aria-label': `Show ${f.name} among the functions`, onclick: () => ctx.go('functions', { '': f.scope, filter: f.name }) }, name(f.scope === 'device' ? r.shortName(f.name) : f.name, { title: f.name })),
        h('strong', { title: `${Number(f.share) * 100}\u00a0%` }, fmt.percent(f.share))),
      h('div', { cls: 'cost-bar', 'aria-hidden': 'true' }, h('span', { style: { width: `${Math.min(100, Number(f.share) * 100)}%` } })),
      h('div', { cls: 'muted' }, h('span', { title: fmt.exact(f.exclusive_ns, 'ns') }, fmt.time(f.exclusive_ns)), ` in ${fmt.plural(f.calls, 'call')}`,
        fmt.known(f.energy_j) && [', ', h('span', { title: fmt.exact(f.energy_j, 'J') }, fmt.energy(f.energy_j)), f.energy_estimate ? ` by ${f.energy_estimate}` : '', fig && fig.estimated ? ', estimated' : '']))));
  return h('section', { cls: 'card', 'aria-labelledby': 'costs-title' },
    h('h2', { id: 'costs-title' }, 'Largest costs ', c.rows.length ? h('span', { cls: 'muted' }, words) : null), body);
}

const SEVERITY_ICON = { error: 'bad', warning: 'warn', note: 'note' };
const MAX_VERDICTS = 200;

function verdicts(r) {
  const checks = list(r.analysis.checks);
  const warns = facts.warnings(r);
  const bad = checks.filter((c) => !c.ok).length;
  const missing = partialBanner(r) ? [] : facts.missing(r).filter((m) => !m.path || !warns.some((w) => text(w.text).includes(m.path)));
  const number = (k) => warns.filter((w) => w.severity === k).length + (k === 'error' ? r.problems.length : 0);
  const counts = [
    checks.length ? (bad ? `${bad} of ${fmt.plural(checks.length, 'check')} failed` : `${fmt.plural(checks.length, 'check')} ok`) : 'no checks ran',
    missing.length && `${fmt.plural(missing.length, 'input or output', 'inputs or outputs')} amiss`,
    ...['error', 'warning', 'note'].map((k) => [k, number(k)]).filter(([, n]) => n).map(([k, n]) => fmt.plural(n, k)),
    !warns.length && !r.problems.length && !missing.length && 'no warnings',
  ].filter(Boolean).join(', ');
  const rows = [
    ...r.problems.map((p) => verdict('bad', 'error', p, '')),
    ...missing.map((m) => verdict('bad', m.word, m.what, '')),
    ...facts.checkLines(checks).map((c) => verdict(c.ok ? 'ok' : 'bad', c.ok ? 'ok' : 'failed', c.text, '', 1, c.own)),
    ...warns.map((w) => verdict(SEVERITY_ICON[w.severity], w.severity, w.text || w.code, w.code, w.count)),
  ];
  return h('section', { cls: 'card', 'aria-labelledby': 'checks-title' },
    h('h2', { id: 'checks-title' }, 'Checks and warnings ', h('span', { cls: 'muted' }, counts)),
    rows.length ? h('ul', { cls: 'verdicts', tabindex: '0', 'aria-labelledby': 'checks-title' }, capped(rows)) : h('p', { cls: 'muted' }, 'Nothing to report.'));
}

// Every rank of a large job may have something to say.
function capped(rows) {
  return rows.length <= MAX_VERDICTS ? rows
    : [...rows.slice(0, MAX_VERDICTS), verdict('note', 'more', `${fmt.group(rows.length - MAX_VERDICTS)} more stand in run.json and analysis.json`, '')];
}

// A kernel's name may take half a screen: its middle is cut, and the tooltip has all of it.
const MAX_WORDS = 300;

function verdict(ic, word, said, code, n, title = null) {
  const what = fmt.middle(said, MAX_WORDS);
  return h('li', { cls: `verdict v-${ic}` }, icon(ic), h('span', { cls: 'verdict-word' }, word),
    h('span', { cls: 'verdict-text', title: title || (what === said ? null : said) }, h('bdi', null, what), Number(n) > 1 && h('span', { cls: 'muted' }, ` ×\u00a0${fmt.group(n)}`),
      code && h('code', { cls: 'code' }, code)));
}

// What a run that went wrong left behind, first of all: why, and the last words of the step that failed.
export function failure(r) {
  const st = facts.status(r);
  if (!st || st.id === 'success') return null;
  const box = h('section', { cls: `card failure ${st.bad ? 'bad' : 'part'}`, 'aria-labelledby': 'failure-title' },
    h('h2', { id: 'failure-title' }, icon(st.bad ? 'bad' : 'warn'), ` ${headline(r, st)}`),
    st.reason && h('p', { cls: 'reason' }, h('bdi', null, st.reason)));
  if (partialBanner(r)) append(box, [h('ul', { cls: 'verdicts' }, capped(facts.missing(r).map((m) => verdict('bad', m.word, m.what, ''))))]);
  if (st.bad) append(box, logs(r));
  return box;
}

function partialBanner(r) {
  const st = facts.status(r);
  return Boolean(st && st.id === 'partial');
}

function headline(r, st) {
  const steps = facts.failingSteps(r);
  const s = steps[0];
  const words = { failed: 'The run failed', timeout: 'The run timed out', interrupted: 'The run was interrupted', partial: 'The run is partial: something is missing', running: 'The run was never finished', planned: 'The run was never started' }[st.id] || `The run ended as ${st.word}`;
  if (!st.bad || !s) return words;
  const how = s.signal ? `, killed by ${s.signal}` : s.exit_code !== null && s.exit_code !== undefined && s.exit_code !== 0 ? `, exit status ${s.exit_code}` : '';
  return `${words} in step “${s.name}”${how}`;
}

export function logs(r) {
  const out = [];
  for (const [step, log] of Object.entries(r.logs)) {
    for (const stream of ['err', 'out']) {
      const t = facts.plainLog(log[stream]);
      if (!t) continue;
      out.push(h('div', { cls: 'log' },
        h('div', { cls: 'log-head' }, 'Last lines of ', h('code', null, log[`${stream}_file`] || `${step}.${stream}`),
          Number(log[`${stream}_bytes`]) > 0 && h('span', { cls: 'muted' }, ` ${fmt.bytes(log[`${stream}_bytes`])} in all`)),
        h('pre', { tabindex: '0', dir: 'ltr', 'aria-label': `last lines of ${step}.${stream}` }, t)));
    }
  }
  return out.length ? [h('div', { cls: 'logs' }, out)] : [h('p', { cls: 'muted' }, 'The step printed nothing.')];
}

// The pages of an ensemble's runs lie beside its own.
function runsCard(t) {
  const at = (col, i) => text(t.has(col) ? t.col(col)[i] : '');
  const link = (i) => (/^each\/[\w.-]+$/.test(at('analysis', i)) ? h('a', { cls: 'link', href: `${at('analysis', i)}/report.html` }, at('run', i)) : name(at('run', i)));
  const number = (col, i) => fmt.count(t.has(col) ? t.col(col)[i] : null);
  return h('section', { cls: 'card' }, h('h2', null, fmt.plural(t.rows, 'run')),
    plainTable('runs', ['Run', 'Model', 'Status', 'Numbers', 'Stands out in'], Array.from({ length: t.rows }, (_, i) => [
      link(i), name(at('model', i)), name(at('status', i)), number('rows', i), number('outlier_rows', i),
    ])));
}

function emptyCard(r) {
  if (r.table('runs')) return runsCard(r.table('runs'));
  if (['functions', 'callpaths', 'kernels', 'busy', 'counters', 'energy_totals', 'timeline'].some((t) => r.table(t))) return null;
  const inputs = list(r.analysis.inputs);
  const st = facts.status(r);
  if (st && st.bad && !r.problems.length && !inputs.length) return h('div');	// why is said above
  if (r.problems.length) {
    return h('section', { cls: 'card empty-card' }, h('h2', null, 'The data of this report is damaged'),
      h('p', null, 'What could be saved is shown below. ', h('code', null, 'profrig analyze'), ' on the run directory writes the report anew.'));
  }
  return h('section', { cls: 'card empty-card' },
    h('h2', null, 'There is nothing to show yet'),
    h('p', null, inputs.length ? `${fmt.plural(inputs.length, 'input')} ${inputs.length === 1 ? 'was' : 'were'} read, but no call, no device work and no sample was found in ${inputs.length === 1 ? 'it' : 'them'}.`
      : 'No trace and no sampling file was found.'),
    h('p', { cls: 'muted' }, 'Tools record what is to be looked at, as in ', h('code', null, 'profrig run --tools blas_trace,cpu_power -- ./program'),
      '. There are more: ', h('code', null, 'profrig list tools'), '.'));
}

export function render(panel, ctx) {
  const { report: r } = ctx;
  const empty = emptyCard(r);
  const figures = h('div', { cls: 'figures' }, timeBox(r), energyBox(r), busyBox(r));
  const found = empty ? null : findingsCard(ctx);
  // Where the time went and the largest costs are those of the selected window.
  const live = (make) => {
    const box = h('div', { cls: 'live' }, make());
    ctx.on('window', () => clear(box, make()));
    return box.childNodes.length ? box : null;
  };
  const split = empty ? null : live(() => splitBar(r, ctx));
  const largest = empty ? null : live(() => costs(r, ctx));
  append(panel, [ctx.windowNote(ctx.windows() && r.table('overlap') ? 'Where the time went, with the largest costs,' : 'The summary', () => (r.table('overlap') ? 'overlap' : null)),
    h('div', { cls: `summary${found ? ' with-findings' : ''}` }, factList(r), failure(r),
      found && h('div', { cls: 'two findings-first' }, found, largest),
      empty ? [r.run && facts.timeFigure(r).ns > 0 && figures, empty] : [figures, !found && split],
      found ? h('div', { cls: 'two findings-first' }, split, verdicts(r)) : h('div', { cls: 'two' }, largest, verdicts(r))),
  ]);
  for (const pre of panel.querySelectorAll('.log pre')) requestAnimationFrame(() => { pre.scrollTop = pre.scrollHeight; });
}
