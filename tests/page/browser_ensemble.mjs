// Runs side by side: the tab of an ensemble, with a dot for each run, against the CSV files.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { table } from './csv.mjs';
import { ROOT, withPage } from './pages.mjs';
import { contrasts, exact, plain, text, texts } from './look.mjs';
import { HOSTILE } from './workload.mjs';

const dir = `${ROOT}/ensemble`;
const US = { a: 1000, b: 1010, c: 990, d: 1005, e: 996, slow: 4000 };

let made = false;
function ensemble() {
  if (made) return;
  made = true;
  const runs = Object.entries(US).map(([id, us], i) => {
    const at = `${dir}-runs/${id}`;
    mkdirSync(`${at}/artifacts/t`, { recursive: true });
    writeFileSync(`${at}/artifacts/t/t.json`, JSON.stringify([{ ph: 'X', name: 'f', pid: 4000 + i, tid: 4000 + i, ts: 0, dur: us }, { ph: 'X', name: `g ${HOSTILE}`, pid: 4000 + i, tid: 4000 + i, ts: us + 10, dur: 20 + i }]));
    writeFileSync(`${at}/run.json`, JSON.stringify({ schema: 'profrig.run/1', id, model: 'm', status: 'success', tools: [{ name: 't' }], steps: [{ name: 'workload', kind: 'workload', argv: ['./x'] }],
      metrics: [{ name: 'speed', value: 1e9 / us, unit: '1/s', source: 'workload' }], artifacts: [{ tool: 't', path: 'artifacts/t/t.json', reader: 'tef', verdict: 'valid' }] }));
    return at;
  });
  execFileSync(`${process.env.B || 'build'}/profrig`, ['-q', 'analyze', ...runs, '-o', dir], { stdio: 'pipe' });
}

const cells = (page, selector) => page.evaluate((s) => [...document.querySelectorAll(`${s} tbody tr`)].map((tr) => [...tr.children].map((td) => ({ text: td.innerText, title: (td.title || td.querySelector('[title]')?.title || '').replace(/[\u00a0\u202f]/g, '') }))), selector);

test('an ensemble has a dot for each run, and the runs of a number in a table', async () => {
  ensemble();
  await withPage('ensemble', { hash: 'ensemble=functions' }, async (page) => {
    const want = table(dir, 'ensemble_runs').filter((r) => r.table === 'functions' && r.key === 'host|f|' && r.column === 'inclusive_ns');
    equal(want.length, Object.keys(US).length);
    const rows = page.locator('#panel-ensemble .table-box >> nth=0 >> tbody tr');
    equal(await rows.count(), table(dir, 'ensemble').filter((r) => r.table === 'functions').length);
    await page.focus('#panel-ensemble .table-box >> nth=0 >> input');
    await page.keyboard.type('host|f| inclusive');
    equal(await rows.count(), 1);
    equal(await rows.locator('.dot').count(), 5, 'dots');
    equal(await rows.locator('.dot-out').count(), 1, 'the one that stands out is a diamond');
    deepEqual((await rows.locator('svg.dots').getAttribute('aria-label')).split(', ').map(plain), want.map((r) => `${r.run}: ${r.value / 1e6 >= 1 ? `${(r.value / 1e6).toFixed(2)} ms` : `${Math.round(r.value / 1e3)} µs`}`));
    // By keyboard: from the filter to the row, Enter, and the focus is on its runs.
    await page.locator('#panel-ensemble tbody tr button >> nth=0').focus();
    await page.keyboard.press('Enter');
    equal(await page.evaluate(() => document.activeElement.className), 'card ensemble-runs');
    const shown = await cells(page, '.ensemble-runs');
    deepEqual(shown.map((r) => [r[0].text, exact(r[1].title)]), [...want].sort((x, y) => y.value - x.value).map((r) => [r.run, r.value]));
    equal(shown[0][3].text, 'yes', 'slow stands out');
    near(exact(shown[0][2].title), 100 * (4000 / 1002.5 - 1), 1e-9, 'difference from the median');
    // The dots stand where the numbers put them.
    const at = await page.evaluate(() => [...document.querySelectorAll('.ensemble-runs .dots .dot, .ensemble-runs .dots .dot-out')].map((d) => d.getBoundingClientRect()).map((b) => b.left + b.width / 2));
    equal(at.length, want.length);
    const share = (v) => (v - 990000) / (4000000 - 990000);
    want.forEach((r, i) => near(at[i] - Math.min(...at) + 1, share(r.value) * (Math.max(...at) - Math.min(...at)) + 1, 0.02, r.run));
    deepEqual(await contrasts(page), []);
  });
});

test('an ensemble says what sets a run apart, and names are text', async () => {
  ensemble();
  await withPage('ensemble', { hash: 'ensemble=functions' }, async (page) => {
    const runs = await cells(page, '#part-ensemble-runs');
    deepEqual(runs.map((r) => r[0].text).sort(), Object.keys(US).sort());
    equal(runs[0][0].text, 'slow');
    const out = await cells(page, '#part-ensemble-ensemble_outliers');
    equal(out.length, table(dir, 'ensemble_outliers').length);
    ok((await texts(page, '#panel-ensemble bdi')).some((t) => t.includes(HOSTILE)), 'as it is');
    equal(await page.evaluate(() => document.querySelectorAll('#app img, #app script').length), 0);
    ok((await text(page, '.ensemble-runs h2')).includes('6 runs'), await text(page, '.ensemble-runs h2'));
  });
  await withPage('ensemble', { hash: 'ensemble', viewport: { width: 390, height: 844 } }, async (page) => {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    ok(wide <= 390, `${wide} px`);
  });
});
