// The flame graph.

import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { sum, table } from './csv.mjs';
import { ROOT, withPage } from './pages.mjs';
import { exact, plain, stopwatch, text, texts } from './look.mjs';

const demo = `${ROOT}/demo`;
const paths = () => table(demo, 'callpaths');
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));

// Frames as drawn: [{ name, x, width, depth, fade }]; width in shares of the graph's.
const frames = (page) => page.evaluate(() => {
  const svg = document.querySelector('.flame-box svg');
  return [...svg.querySelectorAll('g.frame')].map((g) => {
    const [, x, y] = /translate\(([^,]+),([^)]+)\)/.exec(g.getAttribute('transform'));
    return { name: g.getAttribute('name'), x: Number(x), depth: Math.round(Number(y) / 20), width: Number(g.getAttribute('width')) / Number(svg.getAttribute('width')), fade: g.classList.contains('fade'), match: g.classList.contains('match') };
  });
});

const titleOf = (page, what) => page.evaluate((w) => [...document.querySelectorAll('.side-facts > div')].find((d) => d.children[0].innerText === w)?.children[1].title.replace(/[\u00a0\u202f]/g, ''), what);

// A zoom has ended: the frame is as wide as the graph, and every rectangle as wide as its frame.
const zoomed = (page, name) => page.waitForFunction((n) => {
  const svg = document.querySelector('.flame-box svg');
  const width = (el) => Number(el.getAttribute('width'));
  const all = [...svg.querySelectorAll('g.frame')];
  return all.some((g) => g.getAttribute('name') === n && Math.abs(width(g) - width(svg)) < 1e-6) && all.every((g) => Math.abs(width(g) - width(g.querySelector('rect'))) < 1e-6);
}, name);

// One mini table of the side panel: [[name, exact value], …]
const mini = (page, caption) => page.evaluate((c) => [...document.querySelectorAll('.flame-side table')].filter((t) => t.caption.textContent === c)
  .flatMap((t) => [...t.tBodies[0].rows].map((r) => [r.cells[0].innerText, r.cells[1].title.replace(/[\u00a0\u202f]/g, '')])), caption);

test('frames are as wide as their share of callpaths.csv', () => withPage('demo', { hash: 'flame' }, async (page) => {
  const all = paths();
  const total = sum(all, 'exclusive_ns');
  const f = await frames(page);
  equal(f[0].name, 'all');
  near(f[0].width, 1, 1e-9);
  for (const p of ['main', 'main;train', 'main;load_data', 'main;train;epoch;step;backward', 'main;train;epoch;step;backward;sgemm_']) {
    const names = p.split(';');
    const want = sum(all.filter((r) => r.path === p || r.path.startsWith(`${p};`)), 'exclusive_ns') / total;
    const got = f.filter((x) => x.name === names.at(-1) && x.depth === names.length).sort((a, b) => Math.abs(a.width - want) - Math.abs(b.width - want))[0];
    near(got.width, want, 1e-6, p);
  }
  ok((await text(page, '.flame-note')).startsWith(`${(total / 1e9).toPrecision(3)} s in all`));
}));

test('the measure can be chosen and each total is its table’s', () => withPage('demo', { hash: 'flame' }, async (page) => {
  const options = await page.locator('#flame-metric option').evaluateAll((o) => o.map((x) => x.value));
  deepEqual(options, ['time', 'device', 'energy:gpu0', 'energy:gpu0:device', 'energy:gpu1', 'energy:gpu1:device', 'energy:cpu0']);
  const energy = table(demo, 'energy_callpaths');
  const totals = table(demo, 'energy_totals');
  for (const id of options) {
    await page.selectOption('#flame-metric', id);
    const [kind, device, view = 'host'] = id.split(':');
    const want = kind === 'time' ? sum(paths(), 'exclusive_ns') : kind === 'device' ? sum(paths(), 'device_exclusive_ns') : totals.find((t) => t.device === device && t.view === view).total_j;
    const top = await mini(page, 'largest frames');
    const sumOf = top.reduce((a, [, v]) => a + exact(v), 0);
    ok(sumOf <= want * (1 + 1e-9), `${id}: ${sumOf} of ${want}`);
    if (kind === 'energy') near(sum(energy.filter((e) => e.device === device && e.view === view), 'best_j'), want, 1e-9, id);
    const shown = plain(await text(page, '.flame-note')).split(' ').slice(0, 2).join(' ');
    const [v, unit] = kind === 'energy' ? (want >= 1000 ? [want / 1000, 'kJ'] : [want, 'J']) : [want / 1e9, 's'];
    equal(shown, `${v.toPrecision(3)} ${unit}`, id);
    equal(await hash(page), `#flame=${id}`);
    equal(await page.locator('#panel-flame .toolbar .tag').isVisible(), id === 'energy:cpu0', 'called estimated');
  }
}));

test('joules are those of the better estimate, which is named', () => withPage('demo', { hash: 'flame=energy:gpu0' }, async (page) => {
  for (const [device, estimate] of [['gpu0', 'power'], ['gpu1', 'time']]) {
    await page.selectOption('#flame-metric', `energy:${device}`);
    const all = table(demo, 'energy_callpaths').filter((r) => r.device === device && r.view === 'host');
    const column = estimate === 'power' ? 'modelled_j' : 'exclusive_j';
    const f = await frames(page);
    for (const [name, depth] of [['main', 1], ['train', 2], ['[unattributed]', 1]]) {
      const under = all.filter((r) => r.path.split(';')[depth - 1] === name);
      near(f.find((x) => x.name === name && x.depth === depth).width, sum(under, column) / sum(all, column), 1e-6, `${device} ${name}`);
    }
    ok((await page.locator('#flame-metric option:checked').textContent()).endsWith(`host view, by ${estimate}`));
    ok((await text(page, '.flame-note')).includes(`Joules by ${estimate}: `));
    equal(await text(page, '.flame-side h2'), `Largest by own energy, by ${estimate}`);
    await page.locator('g.frame[name="main"] rect').first().hover();
    ok((await text(page, '#panel-flame .tip')).includes(`joules by ${estimate}`));
  }
  await page.selectOption('#flame-metric', 'time');
  equal(await text(page, '.flame-side h2'), 'Largest by own time');
}));

test('a click zooms, the address remembers, Esc zooms out', () => withPage('demo', { hash: 'flame' }, async (page) => {
  await page.locator('g.frame[name="backward"] rect').first().click();
  await zoomed(page, 'backward');
  const f = await frames(page);
  near(f.find((x) => x.name === 'backward').width, 1, 1e-9);
  ok(f.find((x) => x.name === 'step').fade);
  ok(!f.some((x) => x.name === 'forward'), 'siblings are gone');
  equal(await hash(page), '#flame=time&focus=main;train;epoch;step;backward');
  await page.keyboard.press('Escape');
  await page.waitForSelector('g.frame[name="forward"]');
  equal(await hash(page), '#flame=time');
  ok(await page.locator('text=Reset zoom').isDisabled());
}));

test('a deep link opens measure, focus and search', () => withPage('demo', { hash: 'flame=energy:gpu0&focus=main;train;epoch;step&q=sgemm' }, async (page) => {
  equal(await page.locator('#flame-metric').inputValue(), 'energy:gpu0');
  const f = await frames(page);
  near(f.find((x) => x.name === 'step').width, 1, 1e-9);
  ok(f.filter((x) => x.match).every((x) => x.name === 'sgemm_') && f.some((x) => x.match));
  equal(await page.inputValue('#panel-flame input[type=search]'), 'sgemm');
}));

test('search counts frames and their value; Esc clears it', () => withPage('demo', { hash: 'flame' }, async (page) => {
  await page.keyboard.press('/');
  await page.keyboard.type('SGEMM');
  const all = paths();
  const hits = all.filter((r) => r.path.endsWith('sgemm_'));
  const merged = new Set(hits.map((r) => r.path)).size;
  const share = sum(hits, 'exclusive_ns') / sum(all, 'exclusive_ns');
  equal(await text(page, '#panel-flame .table-info'), `${merged} frames, ${(sum(hits, 'exclusive_ns') / 1e9).toPrecision(3)} s, ${(share * 100).toPrecision(3)} % of all`);
  await page.keyboard.press('Escape');
  equal(await text(page, '#panel-flame .table-info'), '');
  ok(!(await frames(page)).some((x) => x.match));
  await page.keyboard.press('/');
  await page.keyboard.type('(.*[');
  equal(await text(page, '#panel-flame .table-info'), 'no frame has this name');
}));

test('callers and callees of the selected function', () => withPage('demo', { hash: 'flame=time&focus=main;train;epoch;step;forward' }, async (page) => {
  const all = paths();
  const inclusive = (p) => sum(all.filter((r) => r.path === p || r.path.startsWith(`${p};`)), 'exclusive_ns');
  const step = inclusive('main;train;epoch;step;forward');
  const validate = inclusive('main;train;epoch;validate;forward');
  equal(exact(await titleOf(page, 'This frame')), step);
  equal(exact(await titleOf(page, 'All 2 frames')), step + validate);
  deepEqual((await mini(page, 'callers')).map(([n, v]) => [n, exact(v)]), [['step', step], ['validate', validate]]);
  const callees = ['sgemm_', 'relu', 'softmax'].map((n) => [n, sum(all.filter((r) => r.path.endsWith(`forward;${n}`)), 'exclusive_ns')]);
  deepEqual((await mini(page, 'callees')).map(([n, v]) => [n, exact(v)]), callees.sort((a, b) => b[1] - a[1]));
  await page.click('.flame-side >> text=relu');
  equal(await hash(page), '#flame=time&focus=main;train;epoch;step;forward;relu');
}));

test('the arrow keys walk the graph, Enter zooms, c copies the stack', () => withPage('demo', { hash: 'flame' }, async (page) => {
  await page.focus('.flame-box');
  for (const k of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowDown']) await page.keyboard.press(k);
  equal(await text(page, '.side-name'), 'read');
  ok((await page.evaluate(() => document.getElementById('live').textContent)).startsWith('read, '));
  equal(await page.evaluate(() => document.querySelector('g.frame.cursor').getAttribute('name')), 'read');
  await page.keyboard.press('c');
  await page.waitForFunction(() => document.getElementById('live').textContent.includes('copied'));
  equal(await page.evaluate(() => navigator.clipboard.readText()), 'main;load_data;read');
  await page.keyboard.press('Enter');
  await zoomed(page, 'read');
  near((await frames(page)).find((x) => x.name === 'read').width, 1, 1e-9);
}));

test('with motion a zoom ends where it does without', () => withPage('demo', { hash: 'flame', motion: 'no-preference' }, async (page) => {
  const rects = () => page.evaluate(() => [...document.querySelectorAll('g.frame')].map((g) => [g.getAttribute('name'), Math.round(Number(g.getAttribute('width'))), Math.round(Number(g.querySelector('rect').getAttribute('width'))), g.querySelector('div').textContent]));
  ok((await rects()).every(([n, w, r, label]) => w === r && n === label), 'the first drawing is there at once');
  await page.locator('g.frame[name="forward"] rect').first().click();
  await zoomed(page, 'forward');
  const full = await page.evaluate(() => Number(document.querySelector('.flame-box svg').getAttribute('width')));
  equal((await rects()).find(([n]) => n === 'forward')[2], full);
}));

test('one track or all of them', () => withPage('demo', { hash: 'flame' }, async (page) => {
  await page.selectOption('#flame-track', 'loader (4251)');
  const want = sum(paths().filter((r) => r.track === 'loader (4251)'), 'exclusive_ns');
  ok((await text(page, '.flame-note')).startsWith(`${(want / 1e9).toPrecision(3)} s in all`));
  equal(await hash(page), '#flame=time&track=loader (4251)');
}));

test('a hovered frame tells its numbers', () => withPage('demo', { hash: 'flame' }, async (page) => {
  await page.locator('g.frame[name="sgemm_"] rect').first().hover();
  const tip = await text(page, '.tip');
  const own = sum(paths().filter((r) => r.path === 'main;train;epoch;step;backward;sgemm_'), 'exclusive_ns');
  ok(/sgemm_\s+inclusive .* s, .* % of all .*\s+own .*\s+calls 3 600\s+category blas/s.test(tip), tip);
  ok(tip.includes(`(${own.toLocaleString('en').replace(/,/g, ' ')} ns)`), `${own} ns in ${tip}`);
  await page.mouse.move(5, 5);
  ok(await page.locator('.tip').isHidden());
}));

test('the graph follows the width of the window', () => withPage('demo', { hash: 'flame&focus=main;train' }, async (page) => {
  await page.setViewportSize({ width: 700, height: 800 });
  await page.waitForFunction(() => Math.abs(Number(document.querySelector('.flame-box svg').getAttribute('width')) - document.querySelector('.flame-box').clientWidth) <= 1);
  near((await frames(page)).find((x) => x.name === 'train').width, 1, 1e-9);
}));

test('200 000 call paths draw, zoom and say what was left out', () => withPage('big', { hash: 'flame' }, async (page) => {
  const note = await text(page, '.flame-note');
  const of = table(`${ROOT}/big`, 'callpaths').length;
  ok(new RegExp(`heaviest of ${of} rows \\(9\\d\\.\\d % of all own time\\); tables/callpaths\\.csv holds all of them`).test(note), note);
  ok((await frames(page)).length < 5000, 'frames too small to see are not drawn');
  const worked = await stopwatch(page);
  await page.locator('g.frame[name^="stage_"] rect').first().click();
  await page.waitForSelector('.flame-side h3');
  const s = await worked();
  ok(s > 0.001 && s < 2, `zooming took ${s} s of work`);
  ok((await texts(page, '.flame-side h3')).includes('Callees'));
}));
