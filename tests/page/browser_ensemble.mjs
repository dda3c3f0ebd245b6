// Runs side by side: the tab of an ensemble, with a dot for each run, against the CSV files; the flame graph of a difference.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { table } from './csv.mjs';
import { ROOT, SHOTS, withPage } from './pages.mjs';
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

test('the flame graph of a difference is as wide as B, A or the change, by keyboard', async () => {
  const at = `${ROOT}/diff`;
  mkdirSync(at, { recursive: true });
  writeFileSync(`${at}/a.folded`, `main;load 100000\nmain;solve;${HOSTILE} 900000\nmain;old 40000\n`);
  writeFileSync(`${at}/b.folded`, `main;load 120000\nmain;solve;${HOSTILE} 600000\nmain;fresh 30000\n`);
  execFileSync(`${process.env.B || 'build'}/profrig`, ['-q', 'compare', `${at}/a.folded`, `${at}/b.folded`, '-o', `${at}/page.html`], { stdio: 'pipe' });
  for (const scheme of ['light', 'dark']) {
    await withPage('diff', { file: 'page.html', scheme }, async (page) => {
      // Widths of what is seen, as shares of all.
      const seen = () => page.evaluate(() => {
        const svg = [...document.querySelectorAll('svg.flame')].filter((x) => x.checkVisibility());
        const all = Number(svg[0].querySelector('rect').getAttribute('width'));
        return { nr: svg.length, widths: Object.fromEntries([...svg[0].querySelectorAll('rect')].map((r) => [r.textContent.split(': ')[0], Number(r.getAttribute('width')) / all])) };
      });
      const expect = async (want, what) => {
        const got = await seen();
        equal(got.nr, 1, what);
        deepEqual(Object.keys(got.widths).sort(), Object.keys(want).sort(), what);
        for (const [k, v] of Object.entries(want)) near(got.widths[k], v, 1e-4, `${what}: ${k}`);
      };
      await expect({ all: 1, main: 1, load: 12 / 75, solve: 60 / 75, [HOSTILE]: 60 / 75, fresh: 3 / 75 }, 'B');
      await page.focus('.widths input:checked');
      await page.keyboard.press('ArrowDown');
      await expect({ all: 1, main: 1, load: 10 / 104, solve: 90 / 104, [HOSTILE]: 90 / 104, old: 4 / 104 }, 'A');
      await page.keyboard.press('ArrowDown');
      await expect({ all: 1, main: 1, load: 2 / 39, solve: 30 / 39, [HOSTILE]: 30 / 39, fresh: 3 / 39, old: 4 / 39 }, 'the change');
      const words = await page.evaluate(() => document.querySelectorAll('.of-change rect title')[1].textContent);
      ok(plain(words).endsWith('its own part as it was; changes with all above it: 390 µs'), words);
      equal(await page.evaluate(() => document.querySelectorAll('img, script').length), 0);
      deepEqual(await contrasts(page), [], scheme);
      await page.screenshot({ path: `${SHOTS}/diff-${scheme}.png` });
    });
  }
});
