// Tables of lib perf with known answers, and the pages that lib compare makes of them: ROOT/compare/<name>.html.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ROOT } from './pages.mjs';

const PROFRIG = resolve(process.env.B || 'build', 'profrig');
const DIR = `${ROOT}/compare`;

// What --json has of each page.
export const results = {};

const COLUMNS = ['library', 'config', 'backend', 'device', 'calls', 'repeats', 'mean_us', 'median_us', 'stddev_us', 'min_us', 'gflops', 'gbps', 'energy_j', 'status', 'reason', 'key', 'version', 'path',
  'threads', 'cache', 'init', 'timer', 'ci_low_us', 'ci_high_us', 'clock_mhz', 'temperature_c', 'peak_share', 'processes', 'measured_ms', 'others', 'process_us'];

const quoted = (v) => (/[",\r\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));

// Half of an interval is 1 % of the mean unless `half` says otherwise.
function line(r) {
  const half = r.half === undefined ? 0.01 * r.mean : r.half;
  const times = r.mean ? { mean_us: r.mean, median_us: r.mean, stddev_us: half, min_us: r.mean, ci_low_us: r.mean - half, ci_high_us: r.mean + half } : {};
  const all = { library: 'blas', config: 'as logged', device: 'a processor', calls: 100, repeats: 99, status: 'ok', version: 'v1', path: '/lib.so', threads: 1, cache: 'warm', init: 'uniform', timer: 'host', processes: 6, others: 0, ...times, ...r };
  return COLUMNS.map((c) => quoted(all[c] === undefined ? '' : all[c])).join(',');
}

const csv = (rows) => `${COLUMNS.join(',')}\n${rows.map(line).join('\n')}\n`;

// Status 7: the two are not comparable.
function page(name, tables, ...options) {
  const files = tables.map((rows, i) => `${name}-${i}.csv`);
  tables.forEach((rows, i) => writeFileSync(`${DIR}/${files[i]}`, csv(rows)));
  const r = spawnSync(PROFRIG, ['lib', 'compare', ...files, '--html', `${name}.html`, '--json', ...options], { cwd: DIR, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (r.status !== 0 && r.status !== 7) throw new Error(`${name}: status ${r.status}: ${r.stderr}`);
  results[name] = JSON.parse(r.stdout);
}

// ---- the machine: 100 GFLOP/s in f32, 50 in f64, 10 GB/s ----

export const PEAK = { f32: 100, f64: 50 };
export const BANDWIDTH = 10;

export const key = (m, type = 'f32') => `gemm ta=N tb=N m=${m} n=${m} k=${m} a=${type} b=${type} c=${type} d=${type} compute=${type} lda=${m} ldb=${m} ldc=${m} ldd=${m} alpha=1 beta=0`;

// A call of this intensity that has this share of what the machine allows.
function work(intensity, share, type = 'f32') {
  const gflops = share * Math.min(PEAK[type], intensity * BANDWIDTH);
  return { gflops: Number(gflops.toPrecision(8)), gbps: Number((gflops / intensity).toPrecision(8)), peak_share: share };
}

// ---- three back ends ----

// [key, calls, intensity, type, mean with A, B, C]; lengths in µs
export const CALLS = [
  { key: key(512), calls: 1000, intensity: 85, type: 'f32', means: [3000, 1500, 3010] }, // faster with B: -1.5 s
  { key: key(64), calls: 20000, intensity: 10.5, type: 'f32', means: [10, 60, 10.02] }, // slower with B: +1 s
  { key: key(100, 'f64'), calls: 500, intensity: 8.3, type: 'f64', means: [80, 200, 79] }, // slower: +60 ms
  { key: 'gemv trans=N m=2000 n=2000 type=f32 lda=2000 incx=1 incy=1 alpha=1 beta=0', calls: 3000, intensity: 0.5, type: 'f32', means: [1600, 1601, 1599] }, // the same: +3 ms
  { key: 'dot n=100000 type=f32 incx=1 incy=1', calls: 40, intensity: 0.25, type: 'f32', means: [80, 96, 80], half: 30 }, // unclear: +0.64 ms
  { key: 'axpy n=1000 type=f64 incx=1 incy=1 alpha=2', calls: 7, intensity: 0.08, type: 'f64', means: [1, 0.7, 1] }, // faster: -2.1 µs
];
const SHARES = [0.3, 0.5, 0.4];
export const BACK_ENDS = ['one', 'two', 'three'];

const threeRows = () => BACK_ENDS.flatMap((backend, side) => CALLS.map((c) => ({
  key: c.key, calls: c.calls, backend, mean: c.means[side], half: c.half, measured_ms: side + 1, ...work(c.intensity, SHARES[side], c.type),
})));

const gone = (k, backend, status, reason) => ({ key: k, backend, status, reason, calls: 3 });

function three() {
  return [[...threeRows(),
    { key: 'ger m=9 n=9 type=f32', backend: 'one', mean: 5, calls: 3 },
    gone('ger m=9 n=9 type=f32', 'two', 'crashed', 'signal 11'),
    { key: 'syrk uplo=L n=9 k=9 type=f32', backend: 'two', mean: 5, calls: 3 },
    gone('syrk uplo=L n=9 k=9 type=f32', 'one', 'wrong', 'entry 3 is off by 0.5'),
    { key: 'trsm only=one', backend: 'one', mean: 5, calls: 3 },
    { key: 'trsm only=two', backend: 'two', mean: 5, calls: 3 }]];
}

// ---- others ----

export const HOSTILE = ['<script>document.title="owned"</script>', '"><img src=x onerror=alert(1)>', "' onload='alert(2)' x='", '</style><b>bold</b>', `W${'W'.repeat(3000)}`, 'שלום עולם ‮gemm', '行列'.repeat(300), '&amp;&#60;', '=HYPERLINK("x")', '%s%n%d'];

function hostile() {
  const rows = (backend, f) => HOSTILE.map((k, i) => ({ key: k, config: k, backend, device: HOSTILE[i % 2], version: HOSTILE[4], mean: (i + 1) * 10 * f, calls: 5, gflops: i + 1, gbps: i + 2 }));
  return [rows(`<i>${'long'.repeat(80)}</i>`, 1), rows('</title><s>two</s>', 2)];
}

// Extremes: 40 decades, the largest count, an interval from here to the moon.
function extreme() {
  const rows = (backend, f) => [1e-9, 1e-3, 1, 1e9, 1e24, 1e30].map((mean, i) => ({ key: `dot n=${i}`, backend, mean: mean * f, half: 0.9 * mean * f, calls: i === 3 ? 1e18 : 1, gflops: mean, gbps: 1 / mean, peak_share: 0.5 }));
  return [rows('one', 1), rows('two', 3)];
}

function many() {
  const rows = (backend, f) => Array.from({ length: 2000 }, (_, i) => ({ key: key(i + 1), backend, calls: 1 + (i % 50), mean: (10 + i * i / 10) * (backend === 'one' ? 1 : f(i)), ...work(0.05 + i / 40, 0.2 + (i % 7) / 10) }));
  return [[...rows('one'), ...rows('two', (i) => 0.4 + (i * 37 % 200) / 100)]];
}

const refused = () => [[{ key: key(8), backend: 'one', mean: 10, clock_mhz: 2000 }, { key: key(9), backend: 'one', mean: 10 }], [{ key: key(8), backend: 'one', mean: 12, clock_mhz: 3000 }, { key: key(9), backend: 'one', mean: 12 }]];
const apart = () => [[{ key: key(8), backend: 'one', mean: 10 }], [{ key: key(9), backend: 'two', mean: 10 }]];
const lonely = () => [[{ key: key(8), backend: 'one', mean: 100, calls: 0, ...work(2.7, 0.5) }], [{ key: key(8), backend: 'two', mean: 150, calls: 0, ...work(2.7, 0.3) }]];
// Peaks that were not measured, several devices, more sides than are drawn.
const sides = () => Array.from({ length: 12 }, (_, i) => [{ key: key(8), backend: `end${i}`, device: `machine ${i % 2}`, mean: 10 + i, gflops: 5 - i / 10, gbps: 2 }, { key: key(9), backend: `end${i}`, device: `machine ${i % 2}`, mean: 20, gflops: 3, gbps: 4 + i / 10 }]);

mkdirSync(DIR, { recursive: true });
page('three', three());
page('bycalls', three(), '--by', 'calls', '--threshold', '25%');
page('hostile', hostile());
page('extreme', extreme());
page('many', many());
page('refused', refused());
page('apart', apart());
page('lonely', lonely());
page('sides', sides());
export const PAGES = ['three', 'bycalls', 'hostile', 'extreme', 'many', 'refused', 'apart', 'lonely', 'sides'];
