// Hostile names, contrast, sizes, themes, paper, speed; and a picture of everything.

import { readFileSync, statSync } from 'node:fs';
import { deepEqual, equal, ok, test } from './tap.mjs';
import { ROOT, SCENARIOS, SHOTS, withPage } from './pages.mjs';
import { contrasts, open, plain, stopwatch, text } from './look.mjs';

const tabsOf = (page) => page.evaluate(() => [...document.querySelectorAll('[role=tab]')].map((b) => b.id.replace('tab-', '')));

test('no name is ever markup', () => withPage('hostile', {}, async (page) => {
  const before = await page.evaluate(() => document.querySelectorAll('script').length);
  equal(before, 2, 'the data and the program');
  for (const tab of await tabsOf(page)) {
    await open(page, tab);
    if (tab === 'flame') for (const m of await page.locator('#flame-metric option').evaluateAll((o) => o.map((x) => x.value))) await page.selectOption('#flame-metric', m);
    equal(await page.evaluate(() => document.querySelectorAll('#app img, #app script, #app b, #app i, #app u, #app s').length), 0, tab);
  }
  await open(page, 'flame');
  await page.selectOption('#flame-metric', 'time');
  await page.locator('g.frame >> nth=2').hover();
  equal(await page.evaluate(() => document.querySelectorAll('.tip img, .tip script').length), 0);
  ok(!(await page.title()).startsWith('owned'), await page.title());
  equal(await page.evaluate(() => document.querySelectorAll('script').length), 2);
}));

test('hostile names are shown as they are', () => withPage('hostile', { hash: 'functions' }, async (page) => {
  const names = await page.evaluate(() => [...document.querySelectorAll('#panel-functions tbody td:first-child')].map((td) => td.textContent));
  for (const n of ['<img src=x onerror="document.title=\'owned\'">', "</script><script>document.title='owned'</script>", '(empty name)', '__proto__', '<!--', 'שלום עולם (gemm)', 'train 🔥👩‍🔬']) ok(names.includes(n), `${n} in ${names.join(' | ')}`);
  ok(names.some((n) => n.startsWith('bad utf-8 \ufffd\ufffd')), 'invalid UTF-8');
  ok(names.some((n) => n.length === 1024), 'a name of 1024 characters');
  const wide = await page.evaluate(() => [...document.querySelectorAll('#panel-functions tbody td:first-child')].map((td) => td.getBoundingClientRect().width));
  ok(Math.max(...wide) < 500, `a long name is ${Math.max(...wide)} px wide`);
}));

for (const scheme of ['light', 'dark']) {
  test(`text has a contrast of 4.5 to 1 in ${scheme}`, async () => {
    for (const [scenario, hash] of [['demo', ''], ['work', ''], ['failed', ''], ['partial', ''], ['trace', '']]) {
      await withPage(scenario, { scheme, hash }, async (page) => {
        for (const tab of await tabsOf(page)) {
          await open(page, tab);
          deepEqual(await contrasts(page), [], `${scenario} ${tab}`);
        }
      });
    }
    await withPage('demo', { scheme, hash: 'flame=energy:gpu0&focus=main;train;epoch;step&q=sgemm' }, async (page) => deepEqual(await contrasts(page), [], 'zoomed and searched flame graph'));
    await withPage('demo', { scheme, hash: 'functions=host&window=1000000000:2000000000' }, async (page) => {
      deepEqual(await contrasts(page), [], 'with a window');
      await page.keyboard.press('?');
      deepEqual(await contrasts(page), [], 'with the keys');
    });
  });
}

test('the theme follows the system and the switch turns it round', () => withPage('demo', { scheme: 'dark' }, async (page) => {
  const bg = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await bg();
  await page.keyboard.press('t');
  const light = await bg();
  ok(dark !== light, dark);
  await page.click('[aria-label="Switch between light and dark"]');
  equal(await bg(), dark);
}));

test('an empty page is at most 900 kB and asks nothing of the network', () => {
  ok(statSync(`${ROOT}/empty/report.html`).size <= 900000, String(statSync(`${ROOT}/empty/report.html`).size));
  const html = readFileSync(`${ROOT}/empty/report.html`, 'utf8');
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)[1];
  ok(policy.includes("default-src 'none'") && /script-src 'sha256-[^']+'/.test(policy) && !policy.includes("script-src 'unsafe"), policy);
  ok(!/<(link|script|img|iframe)[^>]+(src|href)="(?!data:)/.test(html), 'an outside reference');
});

test('the first paint takes less than a second of work and nothing jumps', () => withPage('demo', { own: true }, async (page) => {
  const worked = await stopwatch(page);
  await page.reload();
  const shift = await page.evaluate(() => new Promise((done) => {
    let cls = 0;
    new PerformanceObserver((l) => { for (const e of l.getEntries()) cls += e.value; }).observe({ type: 'layout-shift', buffered: true });
    const painted = () => performance.getEntriesByName('first-contentful-paint').length;
    const wait = () => (painted() ? requestIdleCallback(() => setTimeout(() => done(cls), 300)) : requestAnimationFrame(wait));
    wait();
  }));
  const s = await worked();
  ok(s > 0.001 && s <= 1, `${s} s of work until it stands still`);
  ok(shift < 0.02, `layout shift ${shift}`);
}));

test('on paper all tabs of analyses are there', () => withPage('work', {}, async (page) => {
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  deepEqual(await page.evaluate(() => ['operators', 'communication', 'ranks', 'iterations', 'memory', 'idle'].filter((id) => !document.querySelector(`#panel-${id} .part`) || getComputedStyle(document.getElementById(`panel-${id}`)).display === 'none')), []);
  await page.screenshot({ path: `${SHOTS}/work-print.png`, fullPage: true });
}));

test('on paper everything follows on white, without buttons', () => withPage('demo', { scheme: 'dark' }, async (page) => {
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  deepEqual(await page.evaluate(() => ['summary', 'functions', 'kernels', 'energy', 'run'].filter((id) => getComputedStyle(document.getElementById(`panel-${id}`)).display === 'none')), []);
  equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
  equal(await page.evaluate(() => [...document.querySelectorAll('.tabs, .toolbar')].filter((e) => getComputedStyle(e).display !== 'none').length), 0);
  ok((await page.locator('#panel-functions').innerText()).includes('softmax_warp_forward'));
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  equal(await page.evaluate(() => document.documentElement.dataset.theme), undefined);
  const pdf = await page.pdf({ format: 'A4' });
  ok(pdf.length > 20000 && pdf.subarray(0, 5).toString() === '%PDF-', `${pdf.length} bytes of PDF`);
}));

test('the plain document has the same figures and no script', () => withPage('demo', { file: 'plain.html' }, async (page) => {
  equal(await page.evaluate(() => document.querySelectorAll('script').length), 0);
  const body = plain(await page.locator('body').innerText());
  for (const want of ['11.6 s', '7.01 kJ', 'beside it', '47.5 %', 'energy_conservation', 'W_COUNTER_STALE', 'Cijk_Ailk_Bljk_SB_MT128x64x16_SN_APM1_AF0EM1_AF1EM1_ASEM1_GRVW4']) ok(body.includes(want), want);
  ok(/J by (time|power|time and power)\b/.test(body), 'what divided the energy of costs');
  await page.screenshot({ path: `${SHOTS}/plain-1280-light.png` });
}));

test('the plain document shows a failure and hostile names as text', async () => {
  await withPage('failed', { file: 'plain.html' }, async (page) => {
    const body = await page.locator('body').innerText();
    ok(body.includes('RuntimeError') && body.includes('</script><b>bold</b>') && body.includes('step 2999 loss 0.0742'));
  });
  await withPage('hostile', { file: 'plain.html' }, async (page) => {
    equal(await page.evaluate(() => document.querySelectorAll('img, script, i, s').length), 0);
    ok((await text(page, 'h1')).startsWith('<img src=x'));
  });
});

for (const [w, h] of [[1280, 800], [390, 844]]) {
  for (const scheme of ['light', 'dark']) {
    test(`pictures at ${w}×${h} in ${scheme}, nothing wider than the screen`, async () => {
      for (const scenario of SCENARIOS.filter((s) => !['big', 'huge'].includes(s))) {
        await withPage(scenario, { scheme, viewport: { width: w, height: h } }, async (page) => {
          const all = ['demo', 'work'].includes(scenario) || (scenario === 'hostile' && scheme === 'light');
          for (const tab of all ? await tabsOf(page) : ['summary']) {
            await open(page, tab);
            if (tab === 'samples' || (tab === 'energy' && scenario === 'demo')) await page.waitForSelector(`#panel-${tab} .chart canvas`);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth);
            ok(wide <= w, `${scenario} ${tab}: ${wide} px at ${w}`);
            const png = await page.screenshot({ path: `${SHOTS}/${scenario}-${tab}-${w}-${scheme}.png` });
            ok(png.length > 5000, `${scenario} ${tab} is blank`);
          }
        });
      }
      await withPage('demo', { scheme, viewport: { width: w, height: h }, hash: 'flame=energy:gpu0' }, async (page) => {
        ok(await page.evaluate(() => document.documentElement.scrollWidth) <= w, 'flame graph of joules');
        await page.screenshot({ path: `${SHOTS}/demo-flame_energy-${w}-${scheme}.png` });
        await page.evaluate(() => { location.hash = 'energy=gpu0'; });
        await page.locator('#panel-energy .table-box').first().scrollIntoViewIfNeeded();
        await page.screenshot({ path: `${SHOTS}/demo-energy_table-${w}-${scheme}.png` });
        await page.locator('.long-calls .table-box').scrollIntoViewIfNeeded();
        await page.screenshot({ path: `${SHOTS}/demo-energy_calls-${w}-${scheme}.png` });
      });
    });
  }
}
