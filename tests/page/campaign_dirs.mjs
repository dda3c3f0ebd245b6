// Campaigns as their process leaves them, made by hand, and the pages of them: ROOT/campaign/NAME.html.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { ROOT } from './pages.mjs';

const DIR = `${ROOT}/campaign`;
const B = process.env.B || 'build';

const TABLE = Array.from({ length: 256 }, (_, n) => { let c = n; for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1; return c >>> 0; });
const crc32 = (text) => (~Buffer.from(text).reduce((c, b) => TABLE[(c ^ b) & 255] ^ (c >>> 8), ~0) >>> 0).toString(16).padStart(8, '0');
const sha = (text) => createHash('sha256').update(text).digest('hex');

// cells: [{ label, model, axes, baseline (place), values: [per repeat; null: failed, undefined: not yet], env, reason }]
function campaign(name, repeat, cells, gate = []) {
  const at = `${DIR}/${name}`;
  const ids = cells.map((_, i) => sha(`${name}${i}`).slice(0, 12));
  const plan = JSON.stringify({ schema: 'profrig.campaign/1', name, repeat, order: 'interleaved', seed: 3, gate, metrics: ['performance'],
    cells: cells.map((c, i) => ({ id: ids[i], label: c.label, model: c.model || 'm', axes: c.axes, is_baseline: c.baseline === undefined, baseline: c.baseline === undefined ? null : ids[c.baseline], config: {} })) });
  for (const d of ['plans', 'results', 'runs', 'logs']) mkdirSync(`${at}/${d}`, { recursive: true });
  writeFileSync(`${at}/plans/${sha(plan).slice(0, 12)}.json`, plan);
  writeFileSync(`${at}/plan.json`, plan);
  const lines = [];
  const time = (s) => new Date(Date.UTC(2026, 2, 4, 5, 6, 0) + s * 1000).toISOString();
  const event = (ev, fields) => {
    const line = JSON.stringify({ seq: lines.length + 1, t: time(lines.length).replace('Z', '000000Z'), boot_id: 'b', ev, ...fields }).slice(0, -1);
    lines.push(`${line},"crc":"${crc32(line)}"}`);
  };
  event('open', { version: '0.1.0', file: 'x.yaml', dir: '.', name });
  event('plan', { plan: `plans/${sha(plan).slice(0, 12)}.json` });
  for (let k = 0; k < repeat; k++) {
    cells.forEach((c, i) => {
      const run = `${ids[i]}-${k + 1}`;
      const value = c.values[k];
      if (value === undefined) return;
      event('intend', { run, attempt: 1, cell: ids[i], repeat: k + 1, block: k + 1, pos: i + 1 });
      mkdirSync(`${at}/runs/${run}.1`);
      writeFileSync(`${at}/logs/${run}.1.log`, 'x\n');
      if (value === null) {
        event('ended', { run, attempt: 1, state: 'failed', class: 'workload', reason: c.reason || 'exit 3', exit: 3 });
        event('failed', { run, class: 'workload', attempts: 1 });
        return;
      }
      writeFileSync(`${at}/runs/${run}.1/run.json`, JSON.stringify({ schema: 'profrig.run/1', id: `${run}.1`, status: 'success', labels: { campaign: name, cell: ids[i], repeat: `${k + 1}`, block: `${k + 1}` },
        started_utc: time(lines.length), ended_utc: time(lines.length + 1), durations_s: { workload: 1 }, host: { hostname: 'n', kernel: c.env || '6.1' }, devices: [], tools: [], metrics: [{ name: 'performance', value, unit: c.unit || 'samples/s' }] }));
      event('ended', { run, attempt: 1, state: 'success', class: 'ok', reason: null, exit: 0 });
      writeFileSync(`${at}/results/${run}`, `${run}.1\n`);
      event('committed', { run, attempt: 1 });
    });
  }
  writeFileSync(`${at}/journal.ndjson`, `${lines.join('\n')}\n`);
  execFileSync(`${B}/profrig`, ['-q', 'campaign', 'report', at, '-o', `${DIR}/${name}.html`], { stdio: ['ignore', 'ignore', 'inherit'] });
  return JSON.parse(execFileSync(`${B}/profrig`, ['-q', 'campaign', 'report', at, '--json'], { maxBuffer: 1 << 28 }));
}

// Noise that is the same every time: a share of up to `by` above and below.
let seed = 7;
const noise = (by) => { seed = (seed * 1103515245 + 12345) % 2147483648; return 1 + by * (2 * seed / 2147483648 - 1); };
const around = (mean, by, n = 10) => Array.from({ length: n }, () => mean * noise(by));

// Threads × kernel × batch: slower, same, faster, unclear; one that drifts, one with a value far off, one that loses runs.
function matrix() {
  const cells = [];
  for (const batch of ['8', '16']) {
    for (const threads of ['1', '2', '4']) {
      const mean = 1000 * Number(threads) ** 0.9 * (batch === '8' ? 1 : 1.1);
      const factor = { 1: 0.85, 2: 1, 4: 1.2 }[threads];
      const by = threads === '2' && batch === '16' ? 0.3 : 0.015;
      const base = around(mean, by);
      const fresh = around(mean * factor, by);
      if (threads === '1' && batch === '8') base.forEach((_, i) => { base[i] *= 1 + i / 100; });
      if (threads === '4' && batch === '8') fresh[4] *= 0.8;
      if (threads === '4' && batch === '16') { fresh[2] = null; fresh[7] = null; }
      const axes = (kernel) => ({ 'env.BATCH': batch, 'env.THREADS': threads, 'env.KERNEL': kernel });
      const at = cells.length;
      cells.push({ label: `BATCH=${batch} THREADS=${threads} KERNEL=old`, axes: axes('old'), values: base });
      cells.push({ label: `BATCH=${batch} THREADS=${threads} KERNEL=new`, axes: axes('new'), values: fresh, baseline: at, env: batch === '8' ? '6.1' : '6.2' });
    }
  }
  return cells;
}

export const HOSTILE = ['<script>document.title="owned"</script>', '"><img src=x onerror=alert(1)>', "' onload='alert(2)' x='", '</style></svg></title><b>bold</b>', `W${'W'.repeat(900)}`, 'שלום עולם ‮gemm', '&amp;&#60;', '%s%n%d'];
const hostile = () => HOSTILE.map((label, i) => ({ label, model: HOSTILE[(i + 1) % 2], axes: { [HOSTILE[0]]: label, [`${HOSTILE[1]}2`]: [label, i % 3] }, baseline: i ? 0 : undefined, unit: HOSTILE[3], reason: label, env: label, values: [1 + i, null, 1.1 + i, 1.2 + i] }));

const many = () => Array.from({ length: 240 }, (_, i) => ({ label: `A=${i >> 1} K=${i & 1}`, axes: { A: `${i >> 1}`, K: `${i & 1}` }, baseline: i & 1 ? i - 1 : undefined, values: around(100 * (i % 8 === 1 ? 1.1 : 1), 0.01, 5) }));
const part = () => matrix().map((c, i) => ({ ...c, values: c.values.slice(0, i < 4 ? 2 : 1) }));
const none = () => matrix().map((c) => ({ ...c, values: [] }));
const failed = () => matrix().map((c) => ({ ...c, values: c.values.map(() => null) }));
const alone = () => matrix().map((c) => ({ ...c, baseline: undefined }));

mkdirSync(DIR, { recursive: true });
const GATE = [{ metric: 'performance', threshold: 0.05 }];
export const reports = {
  matrix: campaign('matrix', 10, matrix(), GATE),
  hostile: campaign('hostile', 4, hostile()),
  many: campaign('many', 5, many(), GATE),
  part: campaign('part', 10, part(), GATE),
  none: campaign('none', 10, none(), GATE),
  failed: campaign('failed', 10, failed(), GATE),
  alone: campaign('alone', 10, alone()),
};
