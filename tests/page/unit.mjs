// The parts of the page that make no element, under plain node.

import { whichOf } from '../../analysis/report/page/ui/src/run.js';
import { deepEqual, done, equal, near, ok, test } from './tap.mjs';
import * as fmt from '../../analysis/report/page/ui/src/format.js';
import { Categories, contrast, shade } from '../../analysis/report/page/ui/src/colors.js';
import { Report } from '../../analysis/report/page/ui/src/data.js';
import * as facts from '../../analysis/report/page/ui/src/facts.js';
import { buildTree, findPath, metrics, pathOf, sandwich, searchTree, topSelf } from '../../analysis/report/page/ui/src/flametree.js';
import { kernelColumns } from '../../analysis/report/page/ui/src/functions.js';
import { unitOfRow } from '../../analysis/report/page/ui/src/ensemble.js';
import { Lanes } from '../../analysis/report/page/ui/src/spanlanes.js';
import { ticks } from '../../analysis/report/page/ui/src/spanpaint.js';
import { runFacts } from '../../analysis/report/page/ui/src/summary.js';
import { baseName, binAt, chartsOf, powerLayers, seriesOf, windowEnergy, windowStats } from '../../analysis/report/page/ui/src/series.js';

const plain = (s) => s.replace(/[\u00a0\u202f]/g, ' ');
const table = (columns, rows) => ({ columns: columns.map((name) => ({ name })), data: columns.map((_, i) => rows.map((r) => r[i])) });
const report = (tables, more = {}) => new Report({ tables, ...more });

test('checks have their figures in units of people, their own words stay beside', () => {
  const said = (name, detail, good = true) => facts.checkWords({ name, detail, ok: good });
  equal(plain(said('autograd_time', '2974943641 ns of work by operator and kernel, 2974943641 ns in all').text), 'Work of operators adds up: 2.97 s by operator and kernel = 2.97 s in all');
  equal(plain(said('iteration_overlap: the parts of each iteration add up to its window', '0 of 81 differ').text), 'The parts of all 81 iterations add up to their times on the device');
  equal(plain(said('energy of classes A2rocm_smi:::energy_count:device=0 gpu0', 'classes 756.042756 J, other devices 0 J, idle 512.97208 J, dead intervals 0 J, total 1269.01484 J').text), 'Energy of gpu0 by class adds up: 1.27 kJ = 756 J in classes of kernels + 513 J idle');
  const bad = said('some_rule', 'a 7412470165 ns, b 12.5 J, c 12 ns', false);
  equal(plain(bad.text), 'some rule: a 7.41 s, b 12.5 J, c 12 ns');
  equal(bad.own, 'some rule: a 7412470165 ns, b 12.5 J, c 12 ns');
});

test('a rate by the second has its prefix before the stroke', () => {
  deepEqual([fmt.si(875000, '1/s'), fmt.si(5, '1/s'), fmt.si(2e6, 'B/s')].map(plain), ['875 k/s', '5.00 1/s', '2.00 MB/s']);
});

test('ranges of lengths have their units', () => {
  deepEqual(['<10us', '10-20us', '100us-1ms', '1ms-10ms', '>=1s', 'other'].map(fmt.lengths).map(plain), ['< 10 µs', '10 to 20 µs', '100 µs to 1 ms', '1 ms to 10 ms', '>= 1 s', 'other']);
});

test('long columns come as words, or as steps, of which unknown ones are none', () => {
  const t = new Report({ tables: { x: { columns: [{ name: 'a' }, { name: 'b' }, { name: 'c' }], data: [{ words: ['p', 'q'], at: [1, 0, 1, 1] }, { steps: [null, 100, -3, null] }, [1, 2, 3, 4]] } } }).table('x');
  deepEqual([t.rows, t.col('a'), t.col('b'), t.col('c')], [4, ['q', 'p', 'q', 'q'], [null, 100, 97, null], [1, 2, 3, 4]]);
});

test('the flag of independent attribution is said in words', () => {
  deepEqual(facts.flagWords('estimated|double_counting'), ['estimated by a model, not measured by a sensor', 'counted once per sharer: rows must not be added']);
});

test('what profiling cost stands with the facts of a run that has a baseline', () => {
  const facts = (metrics) => Object.fromEntries(runFacts(report({}, { run: { metrics } })));
  equal(plain(facts([{ name: 'overhead', value: 2.1, unit: '%', source: 'x' }])['Tool overhead']), '2.10 %');
  equal(facts([{ name: 'wall', value: 3, unit: 's', source: 'workload' }])['Tool overhead'], undefined);
});

test('a result says which of several values it is; a foreign document may hold anything', () => {
  equal(whichOf({ detail: { pick: 'last', matches: 12, file: 'steps/02-workload.out', line: 40 } }), 'last of 12, steps/02-workload.out, line 40');
  equal(whichOf({ detail: { file: 'r.csv', line: 3 } }), 'r.csv, line 3');
  for (const odd of [undefined, null, 7, 'x', [], { pick: {} }]) equal(whichOf({ detail: odd }), '');
});

test('the result of a run is a fact of it, from its output or its file', () => {
  const facts = (metrics) => Object.fromEntries(runFacts(report({}, { run: { metrics } })));
  equal(plain(facts([{ name: 'm_a', value: 2.5, unit: 'x/s', source: 'results.csv' }]).M_a), '2.50 x/s');
});

test('overhead of several pairs has its interval', () => {
  const said = (metrics) => plain(Object.fromEntries(runFacts(report({}, { run: { metrics } })))['Tool overhead'] || '');
  const m = (name, value) => ({ name, value, unit: '%', source: 'baseline.json' });
  equal(said([m('overhead', 4), m('overhead_mean', 3.1), m('overhead_low', -1), m('overhead_high', 7.25)]), '+3.10 % (95 %: -1.00 % to +7.25 %)');
  equal(facts.overheadWords(null, 1, 2, (v) => `${v}`), '');
  equal(facts.overheadWords(-2, null, null, (v) => `${v}`), '-2');
});

test('what part of the time the tables are of is said', () => {
  const of = (window) => Object.fromEntries(runFacts(report({}, { analysis: { window } })))['Tables are of'];
  equal(plain(of({ start_ns: 1e9, end_ns: 2e9, of: 'windows of the run', parts: [{}, {}] })), '2 recording windows, 1.00 s to 2.00 s');
  equal(plain(of({ start_ns: 0, end_ns: 2e9, of: 'a:b', parts: [{}] })), 'the window a:b, 0 s to 2.00 s');
  equal(of({ start_ns: 0, end_ns: 2e9, of: 'all' }), undefined);
  equal(of({ start_ns: 0, end_ns: 2e9 }), undefined);
});

test('layers of power: by energy, then [other], then [unattributed], in the bins that have rows', () => {
  const rows = [['small', 10, 1], ['[unattributed]', 10, 9], ['large', 0, 5], ['[other]', 30, 7], ['[unattributed]', 0, 9], ['small', 0, 2], ['large', 30, null]]
    .map(([name, t, w]) => ['c', 'gpu0', 'host', name, t, 10, w]);
  const groups = powerLayers(report({ power_timeline: table(['counter', 'device', 'view', 'name', 't_ns', 'dt_ns', 'modelled_w'], rows) }));
  deepEqual([...groups.keys()], ['c\ngpu0\nhost']);
  deepEqual(groups.get('c\ngpu0\nhost').map((l) => [l.name, l.t, l.mean, l.ran.map(Number)]), [
    ['large', [0, 10, 30], [5, 0, 0], [1, 0, 0]], ['small', [0, 10, 30], [2, 1, 0], [1, 1, 0]], ['[other]', [0, 10, 30], [0, 0, 7], [0, 0, 1]], ['[unattributed]', [0, 10, 30], [9, 9, 0], [1, 1, 0]],
  ]);
  equal(powerLayers(report({})).size, 0);
});

test('marks and recording windows come from their tables', () => {
  const r = report({ marks: table(['name', 't_ns', 'by'], [['warm', 5, 'x'], ['odd', 'y', 'x']]), windows: table(['name', 'start_ns', 'end_ns'], [['1', 3, 9], ['2', 9, 9]]) });
  deepEqual(facts.marks(r).map((m) => [m.name, m.t]), [['warm', 5]]);
  deepEqual(facts.recordedWindows(r).map((w) => [w.name, w.start, w.end]), [['1', 3, 9]]);
  deepEqual(facts.marks(report({})), []);
});

test('a number of an ensemble has the unit of its column, or of its metric', () => {
  const t = report({ ensemble: table(['table', 'key', 'column'], [['metrics', 'wall|s|workload', 'value'], ['functions', 'host|f|', 'inclusive_ns'],
    ['energy', 'e|gpu0|host|t|f', 'exclusive_j'], ['functions', 'host|f|', 'calls'], ['metrics', 'x||', 'value']]) }).table('ensemble');
  deepEqual([0, 1, 2, 3, 4].map((i) => unitOfRow(t, i)), ['s', 'ns', 'J', '', '']);
});

test('numbers have three significant digits, a prefix and a unit', () => {
  const cases = [[0, '0 J'], [1, '1.00 J'], [1840, '1.84 kJ'], [999.4, '999 J'], [999.6, '1.00 kJ'], [0.00123, '1.23 mJ'], [-5400, '-5.40 kJ'],
    [1e-14, '0.0100 pJ'], [1.5e22, '15 000 EJ'], [null, '–'], [NaN, '–'], ['', '–'], ['18446744073709551615', '18.4 EJ']];
  for (const [v, want] of cases) equal(plain(fmt.si(v, 'J')), want, String(v));
});

test('durations are in ns to s, then minutes, hours, days', () => {
  const cases = [[0, '0 s'], [1, '1.00 ns'], [999, '999 ns'], [999.7, '1.00 µs'], [1.24e6, '1.24 ms'], [12.4e9, '12.4 s'], [599e9, '599 s'],
    [725e9, '12 min 5 s'], [3.75e12, '1 h 2 min'], [200 * 3600e9, '8 d 8 h'], [-5e8, '-500 ms'], [undefined, '–']];
  for (const [v, want] of cases) equal(plain(fmt.time(v)), want, String(v));
});

test('bytes that are few are counted', () => {
  for (const [v, want] of [[0, '0 B'], [13, '13 B'], [999, '999 B'], [1000, '1.00 kB'], [149.5, '150 B'], [null, '–']]) equal(plain(fmt.bytes(v)), want, String(v));
});

test('shares never round up to all or down to nothing', () => {
  for (const [v, want] of [[0, '0 %'], [1, '100 %'], [0.99997, '99.9 %'], [0.773, '77.3 %'], [0.00001, '< 0.01 %'], [0.000846, '0.0846 %'], [null, '–']]) {
    equal(plain(fmt.percent(v)), want, String(v));
  }
});

test('a column has one unit, the one that shows half of its cells in full', () => {
  deepEqual(fmt.columnScale('time', [6.4e9, 1.7e6, 3e5, 4e5, 1.3e6]), { div: 1e6, unit: 'ms' });
  deepEqual(fmt.columnScale('time', [NaN, 0]), { div: 1e9, unit: 's' });
  deepEqual(fmt.columnScale('energy', [2014, 403, 94]), { div: 1, unit: 'J' });
  // a middle value of ns must not make the largest one ten digits long
  deepEqual(fmt.columnScale('time', [5, 5, 5, 9e15]), { div: 1e9, unit: 's' });
});

test('cells align at the point and tiny ones say so', () => {
  const cases = [[0, ['0', '.000']], [0.0004, ['<0.001', '']], [0.0005, ['0.001', '']], [1.7249, ['1.72', '0']], [12.34, ['12.3', '00']], [99.96, ['100', '.000']], [6385.2, ['6\u202f385', '.000']], [null, ['–', '']]];
  for (const [v, want] of cases) deepEqual(fmt.cell(v, 1), want, String(v));
});

test('integers beyond 2^53 keep their digits', () => {
  equal(plain(fmt.exact('18446744073709551615')), '18 446 744 073 709 551 615');
  equal(plain(fmt.exact(1234567, 'ns')), '1 234 567 ns');
  equal(fmt.exact(null), 'unknown');
});

test('CSV fields are quoted as RFC 4180 says', () => {
  equal(fmt.csvField('a,"b"\n'), '"a,""b""\n"');
  equal(fmt.csvField(null), '');
  equal(fmt.csvField('plain'), 'plain');
});

test('category colours carry black text at 4.5 to 1 and are distinct', () => {
  const names = ['host', 'gemm', 'conv', 'attention', 'norm', 'elementwise', 'reduce', 'copy', 'fill', 'collective', 'roctx', 'x', 'y', 'z', 'unheard of', 'COMPILER'];
  const c = new Categories(names);
  for (const n of names) for (const f of ['a', 'b', 'main', 'sgemm_']) ok(contrast(shade(c.color(n), f), '#0d1013') >= 4.5, `${n} ${shade(c.color(n), f)}`);
  const known = names.slice(0, 11).map((n) => c.color(n));
  equal(new Set(known).size, known.length);
  ok(c.color('COMPILER') !== c.color('collective'), 'a compiler is no MPI');
});

const stacks = [
  { path: 'main', value: 10, calls: 1 }, { path: 'main;f', value: 20, calls: 2 }, { path: 'main;f;g', value: 30, calls: 3 },
  { path: 'main;g', value: 5, calls: 1 }, { path: 'main;f;f', value: 7, calls: 1 }, { path: '[unattributed]', value: 100, calls: 0 },
];

test('a tree adds up, whatever ancestors are missing', () => {
  const t = buildTree(stacks, 'all');
  equal(t.total, 172);
  equal(findPath(t, ['main']).total, 72);
  equal(findPath(t, ['main', 'f']).total, 57);
  deepEqual(t.children.map((c) => c.name), ['main', '[unattributed]'], 'the unattributed stands last');
  const holes = buildTree([{ path: 'a;b;c;d', value: 3, calls: 1 }], 'all');
  deepEqual(pathOf(findPath(holes, ['a', 'b', 'c', 'd'])), ['a', 'b', 'c', 'd']);
  equal(holes.total, 3);
});

test('unknown, zero and negative values draw nothing', () => {
  const t = buildTree([{ path: 'a', value: NaN, calls: 1 }, { path: 'b', value: -4, calls: 1 }, { path: 'c', value: 0, calls: 9 }, { path: 'd', value: 1, calls: 1 }], 'all');
  equal(t.total, 1);
  deepEqual(t.children.map((c) => c.name), ['d']);
});

test('a stack of 100000 frames is drawn to 400 and loses no value', () => {
  const deep = Array.from({ length: 100000 }, (_, i) => `f${i % 10}`).join(';');
  const t = buildTree([{ path: deep, value: 8, calls: 1 }], 'all');
  equal(t.total, 8);
  equal(t.clipped, 1);
  let depth = 0;
  for (let n = t; n.children.length; n = n.children[0]) depth++;
  equal(depth, 400);
});

test('callers and callees count recursion once', () => {
  const s = sandwich(buildTree(stacks, 'all'), 'f');
  equal(s.total, 57);
  equal(s.self, 27);
  equal(s.frames, 2);
  deepEqual(s.callers.map((c) => [c.name, c.value]), [['main', 57]]);
  deepEqual(s.callees.map((c) => [c.name, c.value]), [['g', 30], ['f', 7]]);
  deepEqual(sandwich(buildTree(stacks, 'all'), 'main').callers.map((c) => c.name), [null]);
});

test('search counts nested matches once', () => {
  const t = buildTree(stacks, 'all');
  deepEqual(searchTree(t, 'F'), { frames: 2, value: 57 });
  deepEqual(searchTree(t, '(['), { frames: 0, value: 0 });
});

test('the largest frames are by own value over all stacks', () => {
  deepEqual(topSelf(buildTree(stacks, 'all')).slice(0, 3).map((e) => [e.name, e.value]), [['[unattributed]', 100], ['g', 35], ['f', 27]]);
});

const energyTables = {
  energy_callpaths: table(['counter', 'device', 'view', 'track', 'path', 'calls', 'exclusive_j'], [
    ['power.gpu0', 'gpu0', 'host', 't', 'main', 1, 95], ['energy.gpu0', 'gpu0', 'device', 'q', 'k', 1, 60], ['energy.gpu0', 'gpu0', 'host', 't', 'main', 1, 100]]),
};

test('the short name of an energy flame graph means the best counter in the host view', () => {
  const counters = [['power.gpu0', 'gpu0', 2], ['energy.gpu0', 'gpu0', 0]].map(([counter, device, rank]) => ({ counter, device, rank }));
  deepEqual(metrics(report(energyTables, { headline: { energy: { counters } } })).map((m) => [m.id, m.counter, m.view]), [
    ['energy:gpu0', 'energy.gpu0', 'host'], ['energy:gpu0:device', 'energy.gpu0', 'device'], ['energy:gpu0:host', 'power.gpu0', 'host']]);
});

test('an energy flame graph has the joules of the better estimate, and those by time of older files', () => {
  const t = table(['counter', 'device', 'view', 'track', 'path', 'calls', 'exclusive_j', 'best_j', 'estimate'], [
    ['e', 'gpu0', 'host', 't', 'main', 1, 95, 80, 'power'], ['e', 'gpu0', 'device', 'q', 'k', 1, 60, 60, 'time']]);
  deepEqual(metrics(report({ energy_callpaths: t })).map((m) => [m.label, m.estimate, m.rows(null)[0].value]), [
    ['Energy of gpu0, host view, by power', 'power', 80], ['Energy of gpu0, device view, by time', 'time', 60]]);
  const [old] = metrics(report(energyTables)).filter((m) => m.view === 'device');
  deepEqual([old.label, old.estimate, old.rows(null)[0].value], ['Energy of gpu0, device view (energy.gpu0)', '', 60]);
});

test('shares of kernels add up to 100 % for one device and for all', () => {
  const r = report({ kernels: table(['device', 'name', 'total_ns', 'share'], [['gpu0', 'a', 30, 0.75], ['gpu0', 'b', 10, 0.25], ['gpu1', 'a', 60, 1]]) });
  const share = (device) => kernelColumns(r, device).find((c) => c.key === 'share');
  deepEqual([0, 1, 2].map((i) => share('').text(i)), [0.3, 0.1, 0.6]);
  equal(share('gpu0').text, undefined);
});

test('checks of one kind share a line only when they hold', () => {
  const c = (name, good) => ({ name, ok: good, detail: 'd' });
  deepEqual(facts.checkLines([c('energy conservation a', true), c('energy conservation b', true), c('energy conservation c', true), c('energy conservation x', false), c('nesting', true)]).map(({ ok: good, text }) => ({ ok: good, text })), [
    { ok: false, text: 'energy conservation x: d' }, { ok: true, text: 'Energy adds up for all 3 counters and views' }, { ok: true, text: 'nesting: d' }]);
});

test('checks are said in a user\'s words, with what they say themselves beside them', () => {
  const words = (name, detail, good = true) => plain(facts.checkWords({ name, detail, ok: good }).text);
  equal(words('device_time', 'attributed 29743938 ns + unattributed 13318864 ns, device work 43062802 ns'), 'Device time adds up: 43.1 ms = 29.7 ms launched by calls + 13.3 ms with no known launch');
  equal(words('energy conservation energy.gpu0 gpu0 host', 'error_rel 1e-17, by power 0: total 88.1 J, attributed 87.8 J, unattributed 0.3 J'), 'Energy of gpu0, host view adds up: 88.1 J measured = 87.8 J in calls + 300 mJ outside');
  equal(words('overlap: compute + exposed comm + exposed copy + idle = wall', '0 of 1 devices differ'), 'Compute, exposed communication, exposed copies and idle time add up to the time of the device');
  equal(words('overlap: a = b', '1 of 2 devices differ', false), 'overlap: a = b: 1 of 2 devices differ');
  equal(words('exclusive_time', 'other words'), 'exclusive time: other words');
});

test('the output of a step reads as a terminal would have left it', () => {
  equal(facts.plainLog('a\x1b[31mred\x1b[0m\n10%\r55%\r100%\r\nbell\x07\x1b]0;title\x07 end\n\n'), 'ared\n100%\nbell\u2407 end');
});

test('warnings of run and analysis are merged, worst first', () => {
  const w = facts.warnings(new Report({ analysis: { warnings: [{ code: 'A', severity: 'note', text: 'n' }, { code: 'B', severity: 'odd', text: 'o' }] }, run: { warnings: [{ code: 'A', severity: 'note', text: 'n' }, { code: 'C', severity: 'error', text: 'e' }, 'words'] } }));
  deepEqual(w.map((x) => [x.code, x.severity]), [['C', 'error'], ['B', 'warning'], ['', 'warning'], ['A', 'note']]);
});

const timeline = (rows) => report({ timeline: table(['series', 'device', 'unit', 'kind', 't_ns', 'dt_ns', 'mean', 'min', 'max'], rows) });

test('series are grouped into charts by what they measure', () => {
  equal(baseName('power.gpu0', 'gpu0'), 'power');
  equal(baseName('power.gpu10', 'gpu1'), 'power.gpu10');
  equal(baseName('rocm_smi:::power_average:device=3', 'gpu3'), 'rocm_smi:::power_average');
  equal(baseName('coretemp:::hwmon2:power1_input', 'hwmon2'), 'coretemp:::power1_input');
  const r = timeline([['rss.proc', '', 'bytes', 'gauge', 0, 1, 1, 1, 1], ['energy.gpu0', 'gpu0', 'W', 'cumulative', 0, 1, 1, 1, 1], ['energy.gpu1', 'gpu1', 'W', 'cumulative', 0, 1, 1, 1, 1]]);
  deepEqual(chartsOf(seriesOf(r)).map((c) => [c.title, c.series.map((s) => s.label)]), [['Power from the energy counter', ['gpu0', 'gpu1']], ['Resident memory', ['proc']]]);
});

test('a window weighs bins by what of them lies inside', () => {
  const [s] = seriesOf(timeline([['p', 'gpu0', 'W', 'gauge', 0, 10, 100, 90, 110], ['p', 'gpu0', 'W', 'gauge', 10, 10, 200, 150, 260], ['p', 'gpu0', 'W', 'gauge', 20, 10, null, null, null]]));
  deepEqual(windowStats(s, 5, 15), { mean: 150, min: 90, max: 260, covered_ns: 10 });
  equal(windowStats(s, 21, 29), null);
  equal(binAt(s, 10), 1);
  equal(binAt(s, 31), -1);
  equal(binAt(s, -1), -1);
});

test('energy in a window prefers the energy counter of a device', () => {
  const r = timeline([['power.gpu0', 'gpu0', 'W', 'gauge', 0, 2e9, 90, 90, 90], ['energy.gpu0', 'gpu0', 'W', 'cumulative', 0, 2e9, 100, 100, 100]]);
  const [e, ...rest] = windowEnergy(r, [0, 1e9]);
  equal(rest.length, 0);
  near(e.j, 100, 1e-12);
  near(e.w, 100, 1e-12);
});

test('damaged payloads make an empty report', () => {
  for (const p of [null, 3, 'x', [], {}, { tables: {} }, { tables: { functions: {} } }]) {
    const r = new Report(p);
    equal(r.table('functions'), null);
    equal(facts.status(r), null);
    equal(facts.timeSplit(r), null);
    equal(facts.energyFigure(r), null);
    equal(facts.timeFigure(r).ns, null);
    deepEqual(facts.largestCosts(r).rows, []);
  }
  for (const odd of [null, -1, 'x', true, {}, [null], [null, 7, 'x', []]]) {
    const r = new Report({ analysis: { inputs: odd, warnings: odd, checks: odd, devices: odd, origin_ns: 0 }, run: { status: 'failed', steps: odd, artifacts: odd, warnings: odd, metrics: odd } });
    facts.warnings(r);
    facts.missing(r);
    facts.failingSteps(r);
    facts.phases(r);
    facts.checkLines(r.analysis.checks);
    equal(facts.busyFigure(r), null);
  }
});

// ---- the timeline ----

test('a long column of texts comes as words', () => {
  const r = new Report({ tables: { t: { columns: [{ name: 'a' }], data: [{ words: ['', 'x', '<b>'], at: [2, 1, 1, 0] }] } } });
  deepEqual(r.table('t').col('a'), ['<b>', 'x', 'x', '']);
});

// Spans at random moments, some beside each other, and bins of 100 ns with what is too short.
function lanesAtRandom(seed) {
  let x = seed;
  const roll = (n) => { x = (Math.imul(x, 1664525) + 1013904223) >>> 0; return Math.floor((x / 2 ** 32) * n); };
  const spans = Array.from({ length: 60 }, () => [0, 0, roll(1000), 1 + roll(80), `k${roll(5)}`, `c${roll(3)}`, '', null, null]).sort((a, b) => a[2] - b[2] || b[3] - a[3]);
  const bins = Array.from({ length: 10 }, (_, i) => i).filter(() => roll(3)).map((i) => [0, 0, i * 100, 1 + roll(9), 1 + roll(100), `k${roll(5)}`, `c${roll(3)}`]);
  return { spans, bins, lanes: new Lanes(report({
    lanes: table(['lane', 'kind', 'device', 'name', 'depth', 'spans', 'exact', 'binned', 'left_out', 'longest_binned_ns', 'bin_ns'], [[0, 'queue', 'gpu0', 'q', 1, 99, 60, 39, 0, 1, 100]]),
    lane_spans: table(['lane', 'depth', 'start_ns', 'dur_ns', 'name', 'category', 'launch', 'launch_lane', 'launch_ns'], spans),
    lane_bins: table(['lane', 'depth', 'start_ns', 'count', 'busy_ns', 'name', 'category'], bins),
  })) };
}

test('sums of a stretch are those of its spans and of its part of the bins', () => {
  for (let seed = 1; seed < 40; seed++) {
    const { spans, bins, lanes } = lanesAtRandom(seed);
    const [a, b] = [seed * 7, 300 + seed * 13];
    const cut = (s, d) => Math.max(0, Math.min(b, s + d) - Math.max(a, s));
    const want = spans.reduce((t, s) => t + cut(s[2], s[3]), 0) + bins.reduce((t, r) => t + (r[4] * cut(r[2], 100)) / 100, 0);
    const got = lanes.sums(lanes.lanes[0], a, b);
    near(got.ns, want, 1e-9, `seed ${seed}`);
    near([...got.cats.values()].reduce((x, y) => x + y, 0), want, 1e-9, 'categories');
    const all = lanes.sums(lanes.lanes[0], ...lanes.extent);
    ok(all.exact, 'no bin is cut');
    equal(all.count, spans.length + bins.reduce((t, r) => t + r[3], 0));
  }
});

test('what lies under a moment is found among spans that overlap', () => {
  for (let seed = 1; seed < 40; seed++) {
    const { spans, bins, lanes } = lanesAtRandom(seed);
    const row = lanes.lanes[0].rows[0];
    for (let t = 0; t < 1100; t += 7) {
      const inside = spans.filter((s) => s[2] <= t && s[2] + s[3] >= t);
      const hit = lanes.hit(row, t, 0);
      if (inside.length) equal(row.end[hit.i] - row.start[hit.i], Math.min(...inside.map((s) => s[3])), `the shortest at ${t}`);
      else if (bins.some((r) => r[2] <= t && r[2] + 100 >= t)) ok(hit && hit.bin !== undefined, `a bin at ${t}`);
      else equal(hit, null, `nothing at ${t}`);
    }
  }
});

test('the overview holds all the time of the lanes', () => {
  const { spans, bins, lanes } = lanesAtRandom(3);
  const [a, b] = lanes.extent;
  const n = 37;
  const got = lanes.overview(n).filter(Boolean).reduce((t, v) => t + v.reduce((x, y) => x + y, 0), 0) * ((b - a) / n);
  near(got, spans.reduce((t, s) => t + s[3], 0) + bins.reduce((t, r) => t + r[4], 0), 1e-9);
});

test('ticks are round and far enough apart', () => {
  for (const [a, b] of [[0, 1e9], [12345, 12399], [5e8, 5e8 + 37], [0, 3.6e12]]) {
    const t = ticks(a, b, 1000);
    ok(t.length >= 1 && t.length <= 10, `${t.length} between ${a} and ${b}`);
    ok(t.every((x) => x >= a && x <= b));
  }
});

process.exitCode = (await done('page parts')) ? 1 : 0;
