// Charts, the shared cursor, the selected window.

import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { table } from './csv.mjs';
import { ROOT, withPage } from './pages.mjs';
import { exact, open, plain, text, texts } from './look.mjs';

const demo = `${ROOT}/demo`;
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));

// The chart's drawing area in page coordinates.
const area = (page, n = 0) => page.evaluate((i) => {
  const r = document.querySelectorAll('.chart-plot')[i].getBoundingClientRect();
  return { x: r.left + 68, width: r.width - 68 - 14, y: r.top + 60 };
}, n);

const windowOf = (page) => page.evaluate(() => (/window=(\d+):(\d+)/.exec(location.hash) || []).slice(1).map(Number));

const series = (name) => table(demo, 'timeline').filter((r) => r.series === name);

// Time-weighted mean over [a, b], straight from the file.
function meanOver(rows, a, b) {
  let w = 0;
  let s = 0;
  for (const r of rows) {
    const t = Math.min(b, r.t_ns + r.dt_ns) - Math.max(a, r.t_ns);
    if (t > 0) {
      w += t;
      s += t * r.mean;
    }
  }
  return s / w;
}

const legend = (page, chart, row) => page.evaluate(([c, r]) => [...document.querySelectorAll('.chart')[c].querySelectorAll('tbody tr')[r].cells].map((td) => td.title.replace(/[\u00a0\u202f]/g, '')), [chart, row]);

test('one chart per quantity, power first, drawn when seen', () => withPage('demo', { hash: 'samples' }, async (page) => {
  deepEqual((await texts(page, '.chart h3')).map((t) => t.split('\n')[0]), ['Power from the energy counter W', 'Power W', 'Utilisation %', 'Memory used']);
  await page.waitForFunction(() => document.querySelector('.chart canvas'));
  const inked = await page.evaluate(() => {
    const c = document.querySelector('.chart canvas');
    const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    let n = 0;
    for (let i = 3; i < d.length; i += 4) if (d[i]) n++;
    return n;
  });
  ok(inked > 2000, `${inked} pixels drawn`);
  const [, , mean, min, max] = await legend(page, 0, 0);
  const rows = series('energy.gpu0');
  near(exact(mean), meanOver(rows, 0, 12.4e9), 1e-9);
  near(exact(min), Math.min(...rows.map((r) => r.min)), 1e-12);
  near(exact(max), Math.max(...rows.map((r) => r.max)), 1e-12);
}));

test('the cursor moves on all charts together', () => withPage('demo', { hash: 'samples', viewport: { width: 1280, height: 1400 } }, async (page) => {
  const a = await area(page, 0);
  await page.mouse.move(a.x + a.width / 2, a.y);
  const lines = await page.evaluate(() => [...document.querySelectorAll('.cursor-line')].map((l) => [l.hidden, Math.round(parseFloat(l.style.left))]));
  equal(lines.length, 4);
  ok(lines.every(([hidden, x]) => !hidden && x === lines[0][1]), JSON.stringify(lines));
  const at = await page.evaluate(() => [...document.querySelectorAll('.chart td.at')].map((t) => t.innerText));
  ok(at.every((t) => t !== ''), at.join('|'));
  const shown = exact((await legend(page, 2, 0))[1]);
  const around = series('busy.gpu0').filter((r) => Math.abs(r.t_ns + r.dt_ns / 2 - 6.2e9) < 2 * r.dt_ns).map((r) => r.mean);
  ok(around.some((m) => Math.abs(m - shown) < 1e-9), `utilisation at the cursor: ${shown}, bins ${around}`);
  await page.mouse.move(a.x + a.width / 2, 20);
  ok(await page.evaluate(() => [...document.querySelectorAll('.cursor-line')].every((l) => l.hidden)));
  await page.focus('.charts');
  await page.keyboard.press('ArrowRight');
  ok(await page.evaluate(() => [...document.querySelectorAll('.cursor-line')].every((l) => !l.hidden)), 'by keyboard');
}));

test('dragging selects a window: figures for it where there are any, words where not', () => withPage('demo', { hash: 'samples' }, async (page) => {
  const a = await area(page, 0);
  await page.mouse.move(a.x + a.width * 0.25, a.y);
  await page.mouse.down();
  await page.mouse.move(a.x + a.width * 0.5, a.y, { steps: 4 });
  await page.mouse.up();
  const [from, to] = await windowOf(page);
  near(from, 0.25 * 12.4e9, 0.01);
  near(to, 0.5 * 12.4e9, 0.01);
  near(exact((await legend(page, 1, 1))[2]), meanOver(series('power.gpu1'), from, to), 1e-9, 'mean in the window');
  equal(await page.locator('.window-box:not([hidden])').count(), 4);
  ok((await text(page, '.chip')).includes('s to'));
  await open(page, 'energy');
  const want = (meanOver(series('energy.gpu0'), from, to) * (to - from)) / 1e9;
  const got = await page.evaluate(() => [...document.querySelectorAll('.window-card li')].map((li) => [li.querySelector('strong').innerText, li.querySelector('span[title]').title.replace(/[\u00a0\u202f]/g, '')]));
  deepEqual(got.map(([d]) => d), ['gpu0', 'gpu1', 'cpu0']);
  near(exact(got[0][1]), want, 1e-9, 'energy of gpu0 in the window');
  ok((await hash(page)).includes(`window=${from}:${to}`), 'the window goes along');
  for (const tab of ['summary', 'functions', 'flame', 'kernels', 'energy']) {
    await open(page, tab);
    ok(/about the whole recording, not only the selected .* s to .* s.*: Samples, Energy\.$/.test(await text(page, `#panel-${tab} .window-note`)), tab);
  }
  await page.keyboard.press('Escape');
  ok(await page.locator('.chip').isHidden());
  ok(await page.locator('#panel-energy .window-note').isHidden());
  ok(!(await hash(page)).includes('window='));
}));

test('a phase of the run is a window at the press of a button', () => withPage('demo', { hash: 'samples' }, async (page) => {
  deepEqual(await page.evaluate(() => [...document.querySelectorAll('.phase')].map((p) => p.getAttribute('aria-label').split(':')[0])), ['workload', 'post-collect']);
  await page.focus('.phase');
  await page.keyboard.press('Enter');
  deepEqual(await windowOf(page), [150000000, 11770000000]);
  equal(await page.inputValue('[aria-label="window from, seconds"]'), '0.150');
  await page.click('text=Zoom to window');
  const left = await page.evaluate(() => parseFloat(document.querySelector('.phase').style.left));
  near(left, 68, 0.01, 'the phase begins where the chart does');
  await page.click('text=Whole run');
  await page.click('text=Clear window');
  deepEqual(await windowOf(page), []);
}));

test('a window can be typed and linked to', () => withPage('demo', { hash: 'samples&window=2000000000:3000000000' }, async (page) => {
  equal(await page.inputValue('[aria-label="window from, seconds"]'), '2.000');
  await page.fill('[aria-label="window to, seconds"]', '2.5');
  await page.keyboard.press('Tab');
  deepEqual(await windowOf(page), [2000000000, 2500000000]);
  await page.fill('[aria-label="window to, seconds"]', '1');
  await page.keyboard.press('Tab');
  deepEqual(await windowOf(page), [2000000000, 2500000000], 'a backwards window is none');
}));

test('plus and minus zoom the charts around the cursor', () => withPage('demo', { hash: 'samples' }, async (page) => {
  await page.focus('.charts');
  const width = () => page.evaluate(() => parseFloat(document.querySelector('.phase').style.width));
  const before = await width();
  for (let i = 0; i < 3; i++) await page.keyboard.press('+');
  ok(await page.locator('text=Whole run').isEnabled());
  ok((await width()) > before, 'the workload grows');
  for (let i = 0; i < 6; i++) await page.keyboard.press('-');
  ok(await page.locator('text=Whole run').isDisabled());
}));

test('estimated and sparse counters are flagged where they are listed', () => withPage('cpu', { hash: 'samples' }, async (page) => {
  const flags = await page.evaluate(() => [...document.querySelectorAll('#panel-samples .table-box tbody tr')].map((tr) => [tr.cells[0].innerText, tr.querySelector('.flag')?.innerText || '']));
  deepEqual(flags, [['cpu.proc', ''], ['power.cpu0', 'estimated'], ['rss.proc', '']]);
  equal(plain((await texts(page, '.chart h3'))[0]), 'Power W');
}));
