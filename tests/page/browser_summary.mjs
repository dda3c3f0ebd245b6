// The first screen.

import { equal, near, ok, test, deepEqual } from './tap.mjs';
import { sum, table } from './csv.mjs';
import { ROOT, withPage } from './pages.mjs';
import { exact, plain, text, texts } from './look.mjs';

const demo = `${ROOT}/demo`;
const GPUS = ['gpu0', 'gpu1'];

const figures = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.figure')].map((f) => [f.getAttribute('aria-label'), {
  value: f.querySelector('.figure-value').innerText.replace(/\u00a0/g, ' '), title: f.querySelector('.figure-value').title.replace(/[\u00a0\u202f]/g, ''), all: f.innerText.replace(/\u00a0/g, ' '),
}])));

test('three big figures are what the tables and the run say', () => withPage('demo', {}, async (page) => {
  const f = await figures(page);
  equal(f.Time.value, '11.6 s');
  equal(exact(f.Time.title), 11.62e9);
  const totals = table(demo, 'energy_totals').filter((e) => e.view === 'host' && GPUS.includes(e.device));
  near(exact(f.Energy.title), sum(totals, 'total_j'), 1e-12, 'energy');
  equal(f.Energy.value, `${(sum(totals, 'total_j') / 1000).toPrecision(3)} kJ`);
  ok(/beside it cpu0 .* estimated/.test(f.Energy.all), f.Energy.all);
  const busy = table(demo, 'busy');
  const w = await page.evaluate(() => JSON.parse(document.getElementById('profrig-data').textContent).analysis.window);
  const recorded = (w.parts || [w]).reduce((a, p) => a + p.end_ns - p.start_ns, 0);
  near(exact(f['Device busy'].title), (100 * sum(busy, 'union_ns')) / (2 * recorded), 1e-12, 'busy');
  const each = busy.map((d) => `${d.device} ${((100 * Number(d.union_ns)) / recorded).toPrecision(3)} %`).join(', ');
  ok(f['Device busy'].all.includes(`of the recording: ${each}`), `${f['Device busy'].all} not ${each}`);
}));

test('an estimate is called one where it stands', () => withPage('cpu', {}, async (page) => {
  const f = await figures(page);
  ok(/Energy\s+estimated/.test(f.Energy.all), f.Energy.all);
  near(exact(f.Energy.title), table(`${ROOT}/cpu`, 'energy_totals')[0].total_j, 1e-12);
  equal(f['Device busy'].value, 'none');
  ok(f['Device busy'].all.includes('no device work was recorded'));
}));

test('the bar of where the time went adds up and matches busy', () => withPage('demo', {}, async (page) => {
  const parts = await page.evaluate(() => [...document.querySelectorAll('.stack > div')].map((d) => d.title.replace(/[\u00a0\u202f]/g, '')));
  const busy = table(demo, 'busy');
  deepEqual(parts, [`device busy: ${sum(busy, 'union_ns')}ns`, `device idle: ${sum(busy, 'idle_ns')}ns`]);
  const widths = await page.evaluate(() => [...document.querySelectorAll('.stack > div')].map((d) => d.getBoundingClientRect().width));
  near(widths[0] / (widths[0] + widths[1]), sum(busy, 'union_ns') / sum(busy, 'wall_ns'), 0.02, 'drawn share');
}));

test('a part of a thousandth is drawn as a line and not as a block', () => withPage('huge', {}, async (page) => {
  const [big, small] = await page.evaluate(() => [...document.querySelectorAll('.stack > div')].map((d) => d.getBoundingClientRect().width));
  ok(small <= 4 && small >= 1, `${small} px beside ${big} px`);
}));

test('of thousands of warnings the first 200 are listed and the rest counted', () => withPage('big', {}, async (page) => {
  const lines = await texts(page, '.verdicts .verdict-text');
  equal(lines.length, 201);
  equal(lines[200].replace(/\D/g, ''), `${2 + 5000 - 200}`); // two checks stand above them
}));

test('without devices the bar is of the outermost host calls', () => withPage('cpu', {}, async (page) => {
  const names = await texts(page, '.split .legend li bdi');
  deepEqual(names, ['train', 'load_data', 'save', 'inside main itself']);
  const paths = table(`${ROOT}/cpu`, 'callpaths');
  const shown = await page.evaluate(() => [...document.querySelectorAll('.split .legend strong')].map((s) => Number(s.title.replace(/\D/g, ''))));
  deepEqual(shown, [...['main;train', 'main;load_data', 'main;save'].map((p) => paths.find((r) => r.path === p).inclusive_ns), paths.find((r) => r.path === 'main').exclusive_ns]);
}));

test('the three largest costs have their names, shares and energy', () => withPage('demo', {}, async (page) => {
  const want = table(demo, 'functions').filter((f) => f.scope === 'device').sort((a, b) => b.exclusive_ns - a.exclusive_ns).slice(0, 3);
  deepEqual(await texts(page, '.costs li bdi'), want.map((f) => f.name));
  const shares = await page.evaluate(() => [...document.querySelectorAll('.costs strong')].map((s) => parseFloat(s.title)));
  want.forEach((f, i) => near(shares[i], 100 * f.share, 1e-12, f.name));
  const joules = table(demo, 'energy').filter((e) => e.view === 'device' && e.name === want[0].name && GPUS.includes(e.device));
  const title = await page.evaluate(() => document.querySelector('.costs li > .muted span:nth-of-type(2)').title.replace(/[\u00a0\u202f]/g, ''));
  near(exact(title), sum(joules, 'best_j'), 1e-12, 'energy of the largest');
  const used = [...new Set(joules.map((e) => e.estimate))].sort().join(' and ');
  ok((await texts(page, '.costs li > .muted'))[0].endsWith(`J by ${used}`), used);
}));

test('every check and every warning is there in words', () => withPage('demo', {}, async (page) => {
  const lines = await texts(page, '.verdicts li');
  equal(lines.length, 5);
  ok(lines[0].includes('ok') && lines[0].includes('energy conservation: 5 totals'), lines[0]);
  ok(lines.some((l) => /warning\s+12 samples stale on gpu1.*×.12.*W_COUNTER_STALE/s.test(l)), lines.join('|'));
  ok(lines.some((l) => /note\s+power.cpu0 is estimated/s.test(l)));
  equal(await text(page, '#checks-title .muted'), '2 checks ok, 2 warnings, 1 note');
}));

test('a check that does not hold says so first', () => withPage('trace', {}, async (page) => {
  ok(/^failed\s+energy conservation: gpu0: relative error 3.1e-4/.test((await texts(page, '.verdicts li'))[0]));
  equal(await page.locator('.pill').count(), 0, 'a bare trace has no run status');
  deepEqual(await texts(page, '.facts dt'), ['Input']);
}));

for (const scenario of ['demo', 'cpu', 'trace']) {
  test(`the first screen of ${scenario} needs no scrolling at 1280×800`, () => withPage(scenario, {}, async (page) => {
    ok(await page.evaluate(() => document.documentElement.scrollHeight <= 800), 'it scrolls');
    ok(await page.evaluate(() => { const v = document.querySelector('.verdicts'); return v.scrollHeight <= v.clientHeight; }), 'the checks scroll');
  }));
}

test('what ran is said in one line of facts', () => withPage('demo', {}, async (page) => {
  const facts = Object.fromEntries(await page.evaluate(() => [...document.querySelectorAll('#panel-summary .facts > div')].map((d) => [d.children[0].innerText, d.children[1].innerText])));
  equal(facts.Command, './run.sh --epochs 3');
  equal(facts.Image, 'mlp:demo');
  equal(facts.Host, 'node17, AMD EPYC 9654');
  equal(facts.Devices, '2 × AMD Instinct MI300X');
  equal(plain(facts.Started), '20 Nov 2026, 12:14 UTC');
  equal(await page.title(), 'mlp (success) – profrig');
}));

test('a failed run opens on the last lines of the step that failed', () => withPage('failed', {}, async (page) => {
  equal(await text(page, '#failure-title'), 'The run failed in step “workload”, killed by SIGABRT');
  ok((await text(page, '.reason')).includes('killed by SIGABRT after 11.6 s'));
  const [err, out] = await page.evaluate(() => [...document.querySelectorAll('.log pre')].map((p) => p.textContent));
  ok(err.startsWith('loading 100%\nRuntimeError: HIP out of memory </script><b>bold</b>\n'), err);
  ok(!err.includes('\u001b'), 'no escape sequences');
  ok(err.endsWith('at main.c:31'));
  const lines = out.split('\n');
  equal(lines.length, 40);
  equal(lines[39], 'step 2999 loss 0.0742');
  await page.waitForFunction(() => { const p = document.querySelectorAll('.log pre')[1]; return p.scrollTop + p.clientHeight >= p.scrollHeight - 1; });
  ok(await page.evaluate(() => document.querySelector('.log pre').getBoundingClientRect().bottom < 800), 'below the fold');
  ok(await page.evaluate(() => document.querySelector('.failure').compareDocumentPosition(document.querySelector('.figures')) & Node.DOCUMENT_POSITION_FOLLOWING), 'figures before the failure');
  deepEqual(await texts(page, '.verdict-word'), ['missing', 'error']);
}));

test('a partial run lists what is missing', () => withPage('partial', {}, async (page) => {
  equal(await text(page, '#failure-title'), 'The run is partial: something is missing');
  ok((await text(page, '.failure .verdicts')).includes('artifacts/blas_trace/4242.json'));
  equal(await page.locator('.log').count(), 0);
  equal(await page.locator('.figure').count(), 3);
}));

test('a run without tools still says how long it took and what it said', () => withPage('untraced', {}, async (page) => {
  const f = await figures(page);
  equal(f.Time.value, '11.6 s');
  ok((await text(page, '.empty-card')).includes('profrig list tools'));
  ok(/Performance\s+8 123 samples\/s/.test(await text(page, '#panel-summary .facts')));
}));

test('an empty analysis says what would fill it', () => withPage('empty', {}, async (page) => {
  ok((await text(page, '.empty-card')).includes('There is nothing to show yet'));
  ok((await text(page, '.empty-card')).includes('profrig list tools'));
  deepEqual(await texts(page, '[role=tab]'), ['Summary', 'Run']);
  equal(await page.locator('.figure').count(), 0);
}));

test('damaged JSON is said and breaks nothing', () => withPage('damaged', {}, async (page) => {
  deepEqual((await texts(page, '.verdict-text')).map((t) => t.split(' ')[0]), ['analysis.json', 'run.json']);
  equal(await text(page, '#checks-title .muted'), 'no checks ran, 2 errors');
  ok((await text(page, '.empty-card')).includes('damaged'));
}));
