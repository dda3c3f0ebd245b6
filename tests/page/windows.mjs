// A window of the page against `profrig analyze --window` of the same window: random windows of a random trace, every table that the
// page recomputes. The parts of the page that make no element, under plain node.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Report } from '../../analysis/report/page/ui/src/data.js';
import { metrics } from '../../analysis/report/page/ui/src/flametree.js';
import { Lanes } from '../../analysis/report/page/ui/src/spanlanes.js';
import { Windows } from '../../analysis/report/page/ui/src/windowed.js';
import { table } from './csv.mjs';
import { done, equal, near, ok, test } from './tap.mjs';
import { dice, makeMany } from './workload.mjs';

const B = process.env.B || 'build';
const DIR = resolve(B, 'page-windows');
const SPAN = 2000000; // ns
const KERNELS = ['ampere_sgemm_128x64_tn', 'softmax_warp_forward', 'vectorized_elementwise_kernel', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'direct_copy_kernel'];

const analyze = (dir, ...more) => execFileSync(`${B}/profrig`, ['analyze', `${DIR}/trace.json`, '-o', dir, ...more], { stdio: 'pipe', env: { ...process.env, NO_COLOR: '1' } });

// Calls nest on three threads; each may launch work on one of four queues of two devices, which overlap each other.
function makeTrace(seed) {
  const roll = dice(seed);
  const events = [];
  const free = [0, 0, 0, 0];
  let id = 1;
  const put = (pid, tid, name, cat, a, b, args = {}) => events.push({ ph: 'X', pid, tid, name, cat, ts: a / 1000, dur: (b - a) / 1000, args });
  const launch = (tid, a, b) => {
    const q = roll(4);
    const [device, kind] = [q >> 1, roll(8)];
    const from = Math.max(free[q], b - roll(Math.max(1, b - a))) + (roll(3) ? roll(4000) : 0);
    const to = from + (roll(10) ? roll(20000) : 0);
    free[q] = to;
    const linked = roll(10) > 0;
    const correlation = id++;
    put(9, tid, 'cudaLaunchKernel', 'cuda_runtime', a, b, { correlation });
    const args = { device, stream: q, ...(linked ? { correlation } : {}) };
    if (kind === 0) put(device, q, 'Memcpy HtoD (Pageable -> Device)', 'gpu_memcpy', from, to, args);
    else if (kind === 1) put(device, q, 'Memset (Device)', 'gpu_memset', from, to, args);
    else put(device, q, KERNELS[roll(KERNELS.length)], 'kernel', from, to, args);
  };
  const calls = (tid, a, b, depth) => {
    for (let t = a + roll(500); t < b;) {
      const e = Math.min(b, t + (roll(12) ? roll((b - a) / 2 + 1) : 0));
      const inner = depth < 5 && e - t > 3000;
      if (!inner && e > t && roll(2)) launch(tid, t, e);
      else put(9, tid, `f${roll(9)}`, roll(2) ? 'cpu_op' : 'user_annotation', t, e);
      if (inner) calls(tid, t, e, depth + 1);
      t = e + 1 + roll(5000);
    }
  };
  for (const tid of [1, 2, 3]) calls(tid, 0, SPAN, 0);
  mkdirSync(DIR, { recursive: true });
  writeFileSync(`${DIR}/trace.json`, JSON.stringify({ traceEvents: events }));
}

function pageOf(dir) {
  const data = JSON.parse(/id="profrig-data">([\s\S]*?)<\/script>/.exec(readFileSync(`${dir}/report.html`, 'utf8'))[1]);
  return new Report(typeof data === 'string' ? JSON.parse(gunzipSync(Buffer.from(data.slice(5), 'base64'))) : data);
}

// table → the columns that name a row, those that must be equal
const TABLES = {
  functions: [['scope', 'name', 'category'], ['calls', 'inclusive_ns', 'exclusive_ns', 'min_ns', 'mean_ns', 'median_ns', 'p95_ns', 'max_ns', 'stddev_ns', 'share']],
  kernels: [['device', 'name', 'class'], ['calls', 'total_ns', 'min_ns', 'mean_ns', 'median_ns', 'max_ns', 'stddev_ns', 'share']],
  kernel_classes: [['device', 'class'], ['calls', 'total_ns', 'union_ns']],
  callpaths: [['track', 'path'], ['exclusive_ns', 'device_exclusive_ns']],
  kernel_paths: [['track', 'path', 'name'], ['calls', 'total_ns']],
  overlap: [['device'], ['wall_ns', 'compute_ns', 'comm_ns', 'copy_ns', 'exposed_comm_ns', 'hidden_comm_ns', 'exposed_copy_ns', 'idle_ns']],
  busy: [['device'], ['spans', 'sum_ns', 'union_ns', 'wall_ns', 'idle_ns']],
};

const keyed = (rows, keys) => new Map(rows.map((r) => [keys.map((k) => r[k]).join('\n'), r]));

function same(got, want, name) {
  const [keys, cols] = TABLES[name];
  const rows = keyed(got.objects(), keys);
  for (const w of want) {
    const key = keys.map((k) => w[k]).join('\n');
    const g = rows.get(key);
    rows.delete(key);
    if (!g && cols.every((c) => !Number(w[c]))) continue;
    ok(g, `${name} lacks ${key}`);
    for (const c of cols) near(Number(g[c]), Number(w[c]), 1e-9, `${name} ${c} of ${key}`);
  }
  for (const [key, g] of rows) ok(cols.every((c) => !Number(g[c])), `${name} has ${key}`);
}

const sumOf = (rows, by, col) => rows.reduce((m, r) => m.set(r[by], (m.get(r[by]) || 0) + Number(r[col])), new Map());

// Launches before the window are unknown to analyze --window, and known to the page: only no_launch may be more there.
function sameCauses(got, want) {
  const [g, w] = [got.objects(), want];
  for (const [device, ns] of sumOf(w, 'device', 'total_ns')) equal(sumOf(g, 'device', 'total_ns').get(device), ns, `idle of ${device}`);
  const known = keyed(g, ['device', 'cause']);
  for (const r of w) if (r.cause !== 'no_launch') ok(Number(known.get(`${r.device}\n${r.cause}`)?.total_ns) >= Number(r.total_ns), `${r.cause} of ${r.device}`);
}

for (const seed of [3, 14, 159]) {
  test(`random windows of a random trace are those of analyze --window, seed ${seed}`, () => {
    rmSync(DIR, { recursive: true, force: true });
    makeTrace(seed);
    analyze(`${DIR}/whole`);
    const report = pageOf(`${DIR}/whole`);
    const lanes = new Lanes(report);
    const windows = new Windows(report, lanes);
    ok(windows.exact, 'all spans are in the page');
    const roll = dice(seed + 1);
    for (let i = 0; i < 4; i++) {
      const from = roll(SPAN - 10);
      const w = [from, from + 1 + roll(i === 3 ? 3000 : SPAN - from)];
      analyze(`${DIR}/part`, '--window', w.join(':'));
      for (const name of Object.keys(TABLES)) {
        let want = [];
        try {
          want = table(`${DIR}/part`, name);
        } catch {
          // no row: the analysis has left the table out
        }
        same(windows.table(name, w), want, name);
      }
      try {
        sameCauses(windows.table('idle_causes', w), table(`${DIR}/part`, 'idle_causes'));
      } catch (e) {
        if (e.code !== 'ENOENT') throw e;
      }
    }
  });
}

test('the whole recording as a window has the tables of the whole recording', () => {
  const report = pageOf(`${DIR}/whole`);
  const lanes = new Lanes(report);
  const windows = new Windows(report, lanes);
  for (const name of Object.keys(TABLES)) same(windows.table(name, lanes.extent), table(`${DIR}/whole`, name), name);
  for (const c of table(`${DIR}/whole`, 'idle_causes')) equal(windows.table('idle_causes', lanes.extent).objects().find((x) => x.device === c.device && x.cause === c.cause).total_ns, c.total_ns, `${c.device} ${c.cause}`);
});

test('windows that share an edge add up', () => {
  const report = pageOf(`${DIR}/whole`);
  const lanes = new Lanes(report);
  const windows = new Windows(report, lanes);
  const [e0, e1] = lanes.extent;
  const middle = Math.round((e0 + e1) / 3);
  for (const [name, col] of [['functions', 'exclusive_ns'], ['kernels', 'total_ns'], ['callpaths', 'device_exclusive_ns'], ['kernel_paths', 'total_ns']]) {
    const sum = (w) => windows.table(name, w).num(col).reduce((a, v) => a + v, 0);
    equal(sum([e0, middle]) + sum([middle, e1]), sum([e0, e1]), name);
  }
});

test('frames down to kernels add up to the device time of their calls', () => {
  const report = pageOf(`${DIR}/whole`);
  const [device, kernels] = ['device', 'kernels'].map((id) => metrics(report).find((m) => m.id === id).rows(null));
  const sums = new Map();
  for (const r of kernels) {
    const path = r.path.slice(0, r.path.lastIndexOf(';'));
    sums.set(`${r.track}\n${path}`, (sums.get(`${r.track}\n${path}`) || 0) + r.value);
  }
  for (const r of device) if (r.value > 0) equal(sums.get(`${r.track}\n${r.path}`), r.value, r.path);
});

test('of a million spans a window comes from bins, says so, and loses no time', () => {
  makeMany(`${DIR}/many`, 300000);
  const report = pageOf(`${DIR}/many`);
  const lanes = new Lanes(report);
  const windows = new Windows(report, lanes);
  ok(!windows.exact && windows.short > 200000, `${windows.short} in bins`);
  const [busy] = table(`${DIR}/many`, 'busy');
  const sum = (name, col, w) => windows.table(name, w).num(col).reduce((a, v) => a + v, 0);
  near(sum('kernels', 'total_ns', lanes.extent), busy.sum_ns, 1e-9, 'the whole');
  near(sum('kernels', 'calls', lanes.extent), busy.spans, 1e-9, 'all calls');
  const [a, b] = [Math.round(lanes.extent[1] * 0.2), Math.round(lanes.extent[1] * 0.3)];
  execFileSync(`${B}/profrig`, ['analyze', `${DIR}/many-input.json`, '-o', `${DIR}/many-part`, '--window', `${a}:${b}`], { stdio: 'pipe' });
  near(sum('kernels', 'total_ns', [a, b]), table(`${DIR}/many-part`, 'busy')[0].sum_ns, 0.01, 'a tenth of it');
  const [o] = windows.table('overlap', [a, b]).objects();
  equal(o.compute_ns + o.exposed_comm_ns + o.exposed_copy_ns + o.idle_ns, o.wall_ns, 'the parts add up');
});

// Real recordings, where there are any.
function recording(name, fn) {
  const input = process.env.PROFRIG_TRACES && `${process.env.PROFRIG_TRACES}/${name}`;
  if (!input) {
    console.log(`# skipped ${name}: PROFRIG_TRACES is not set`);
    return;
  }
  test(`a window of ${name} is that of analyze --window`, () => {
    execFileSync(`${B}/profrig`, ['analyze', input, '-o', `${DIR}/real`], { stdio: 'pipe' });
    const report = pageOf(`${DIR}/real`);
    const lanes = new Lanes(report);
    const [e0, e1] = lanes.extent;
    for (const [from, to] of [[0.1, 0.6], [0.37, 0.41]]) {
      const w = [from, to].map((k) => Math.round(e0 + k * (e1 - e0)));
      execFileSync(`${B}/profrig`, ['analyze', input, '-o', `${DIR}/real-part`, '--window', w.join(':')], { stdio: 'pipe' });
      fn(new Windows(report, lanes), w, (t) => table(`${DIR}/real-part`, t));
    }
  });
}

const times = (windows, w, want) => { for (const t of ['functions', 'kernels', 'kernel_paths', 'overlap', 'busy']) same(windows.table(t, w), want(t), t); };
recording('nsys/h100-2gpu', times);
recording('tef/tracelens-mi300-qwen', times);
recording('tef/merged-nccl-4rank', times);
recording('otf2/mi300a-two-kernels', (windows, w, want) => {
  times(windows, w, want);
  // of call paths the page has the best estimate alone
  for (const [name, by, j] of [['energy', 'name', 'exclusive_j'], ['energy_callpaths', 'path', 'best_j']]) {
    const got = keyed(windows.table(name, w).objects().map((r) => ({ ...r, track: r.track ?? '' })), ['counter', 'device', 'view', 'track', by]);
    let seen = 0;
    for (const r of want(name)) {
      const g = got.get(['counter', 'device', 'view', 'track', by].map((k) => r[k]).join('\n'));
      ok(Math.abs((g ? g[j] : 0) - r[j]) <= 0.3 + 0.01 * r[j], `${name}: ${r[by]} of ${r.counter} ${r.view}: ${g && g[j]}, expected ${r[j]}`);
      seen++;
    }
    ok(seen > 10, `${seen} rows of ${name}`);
  }
});

process.exitCode = (await done('windows')) ? 1 : 0;
