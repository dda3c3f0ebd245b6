// What stands out, and where the time of each device went, on the first screen.

import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { sum, table } from './csv.mjs';
import { ROOT, withPage } from './pages.mjs';
import { activeTab, exact, text, texts } from './look.mjs';

const work = `${ROOT}/work`;
const titles = (page, selector) => page.evaluate((s) => [...document.querySelectorAll(s)].map((e) => e.title.replace(/[\u00a0\u202f]/g, '')), selector);

test('findings come first, in words, worst first, with what they save at most', () => withPage('work', {}, async (page) => {
  const want = table(work, 'findings');
  ok(want.length > 5, `${want.length} findings`);
  equal(await page.locator('.finding').count(), want.length);
  deepEqual(await texts(page, '.finding:visible .verdict-text bdi'), want.slice(0, 5).map((f) => f.text));
  deepEqual(await texts(page, '.finding:visible .verdict-word'), want.slice(0, 5).map((f) => f.severity));
  const saves = (await titles(page, '.finding .bound span')).filter((t) => t.endsWith('ns')).map(exact);
  deepEqual(saves, want.filter((f) => f.saves_at_most_ns !== '').map((f) => f.saves_at_most_ns));
  const top = (s) => page.evaluate((q) => document.querySelector(q).getBoundingClientRect().top, s);
  ok(await top('.findings') < await top('.figures'), 'before the figures');
  await page.click('.findings > button');
  equal(await page.locator('.finding:visible').count(), want.length);
  equal(await page.getAttribute('.findings > button', 'aria-expanded'), 'true');
}));

test('a finding leads to the tab of its evidence', () => withPage('work', {}, async (page) => {
  const link = page.locator('.finding', { hasText: 'of the work of' }).first().locator('button');
  ok(/^Show the evidence on the tab Kernels: /.test(await link.getAttribute('aria-label')), await link.getAttribute('aria-label'));
  equal(await page.locator('.finding button.link').count(), table(work, 'findings').filter((f) => f.evidence !== '').length, 'every evidence has its tab');
  await link.focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('#panel-kernels:not([hidden])');
  equal(await activeTab(page), 'kernels');
}));

test('each device has a bar that adds up to its wall time', () => withPage('work', {}, async (page) => {
  const rows = table(work, 'overlap');
  const bars = await page.evaluate(() => [...document.querySelectorAll('.device-bar')].map((b) => [...b.children].map((d) => d.title.replace(/[\u00a0\u202f]/g, ''))));
  equal(bars.length, rows.length);
  rows.forEach((d, i) => {
    const ns = bars[i].map((t) => exact(t.split(':')[1].trim()));
    equal(ns.reduce((a, b) => a + b, 0), d.wall_ns, `${d.device}: ${bars[i].join(', ')}`);
    deepEqual(ns, [d.compute_ns, d.exposed_comm_ns, d.exposed_copy_ns, d.idle_ns].filter((v) => v > 0));
  });
  deepEqual(await texts(page, '.device-bars bdi'), rows.map((d) => d.device));
  const parts = (await titles(page, '.stack > div')).map((t) => exact(t.split(':')[1].trim()));
  deepEqual(parts, ['compute_ns', 'exposed_comm_ns', 'exposed_copy_ns', 'idle_ns'].map((c) => sum(rows, c)).filter((v) => v > 0));
}));

test('the causes of idle time add up to it', () => withPage('work', {}, async (page) => {
  const rows = table(work, 'idle_causes');
  const shown = (await titles(page, '.cause-ns')).map(exact);
  equal(shown.reduce((a, b) => a + b, 0), sum(table(work, 'overlap'), 'idle_ns'));
  const of = new Map();
  for (const r of rows) of.set(r.cause, (of.get(r.cause) || 0) + r.total_ns);
  equal(shown[0], Math.max(...of.values()));
  ok((await text(page, '.causes')).startsWith('Idle because of '), await text(page, '.causes'));
}));

test('busy is of the recording and of all devices', () => withPage('work', {}, async (page) => {
  const title = await page.evaluate(() => document.querySelector('.figure[aria-label="Device busy"] .figure-value').title.replace(/[\u00a0\u202f]/g, ''));
  const w = await page.evaluate(() => JSON.parse(document.getElementById('profrig-data').textContent).analysis.window);
  const busy = table(work, 'busy');
  near(exact(title), (100 * sum(busy, 'union_ns')) / (busy.length * (w.end_ns - w.start_ns)), 1e-9);
}));

test('with findings the first screen needs no scrolling at 1280×800', () => withPage('work', {}, async (page) => {
  const high = await page.evaluate(() => document.documentElement.scrollHeight);
  ok(high <= 800, `${high} px`);
}));
