// Tabs, tables, keys, addresses.

import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { parseCsv, sum, table } from './csv.mjs';
import { ROOT, withPage } from './pages.mjs';
import { activeTab, exact, heads, open, plain, rows, text, texts } from './look.mjs';

const demo = `${ROOT}/demo`;
const TABS = ['summary', 'flame', 'functions', 'kernels', 'libraries', 'energy', 'samples', 'run'];
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));

test('the keyboard reaches every tab and each shows its panel', () => withPage('demo', {}, async (page) => {
  await page.focus('#tab-summary');
  for (const t of [...TABS.slice(1), 'summary']) {
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction((id) => !document.getElementById(`panel-${id}`).hidden, t);
    equal(await activeTab(page), t);
    equal(await page.evaluate(() => document.activeElement.id), `tab-${t}`, 'focus follows');
    deepEqual(await page.evaluate(() => [...document.querySelectorAll('[role=tabpanel]')].filter((p) => !p.hidden).map((p) => p.id)), [`panel-${t}`]);
    deepEqual(await page.evaluate(() => [...document.querySelectorAll('[role=tab]')].filter((b) => b.tabIndex === 0).map((b) => b.id)), [`tab-${t}`]);
    ok((await page.locator(`#panel-${t}`).innerText()).length > 100, `${t} shows something`);
  }
  await page.keyboard.press('End');
  await page.waitForSelector('#panel-run:not([hidden])');
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('#panel-samples:not([hidden])');
  await page.keyboard.press('Home');
  await page.waitForSelector('#panel-summary:not([hidden])');
}));

test('digits go to tabs, ? shows the keys, Esc closes them', () => withPage('demo', {}, async (page) => {
  await page.keyboard.press('3');
  await page.waitForSelector('#panel-functions:not([hidden])');
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  ok((await text(page, 'dialog')).includes('switch between light and dark'));
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('dialog').open);
  equal(await activeTab(page), 'functions');
}));

test('/ on the first screen leads to the filter of the functions', () => withPage('demo', {}, async (page) => {
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement.type === 'search');
  await page.keyboard.type('train');
  equal(await activeTab(page), 'functions');
  equal(await page.inputValue('#panel-functions input[type=search]'), 'train');
}));

test('tabs, panels and tables carry their roles and names', () => withPage('demo', {}, async (page) => {
  for (const t of TABS) await open(page, t);
  const bad = await page.evaluate(() => {
    const out = [];
    for (const b of document.querySelectorAll('[role=tab]')) {
      const p = document.getElementById(b.getAttribute('aria-controls'));
      if (!p || p.getAttribute('aria-labelledby') !== b.id) out.push(`tab ${b.id}`);
    }
    for (const t of document.querySelectorAll('table')) if (!t.querySelector('caption')?.textContent) out.push(`table without caption in ${t.closest('section').id}`);
    for (const th of document.querySelectorAll('table.data:not(.plain) th')) if (!th.getAttribute('aria-sort')) out.push(`no aria-sort: ${th.innerText}`);
    for (const e of document.querySelectorAll('button, input, select')) {
      const name = e.innerText || e.getAttribute('aria-label') || e.title || e.closest('label')?.innerText;
      if (!name && !e.hidden) out.push(`nameless ${e.outerHTML.slice(0, 120)}`);
    }
    const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
    if (new Set(ids).size !== ids.length) out.push('double id');
    return out;
  });
  deepEqual(bad, []);
}));

test('cells hold the values of functions.csv, exactly in their titles', () => withPage('demo', { hash: 'functions=host' }, async (page) => {
  const want = table(demo, 'functions').filter((f) => f.scope === 'host').sort((a, b) => b.exclusive_ns - a.exclusive_ns);
  const got = await rows(page, 'functions');
  const names = await heads(page, 'functions');
  equal(got.length, want.length);
  const cols = { Calls: 'calls', Own: 'exclusive_ns', Inclusive: 'inclusive_ns', Mean: 'mean_ns', '95 %': 'p95_ns', Max: 'max_ns', 'Std dev': 'stddev_ns' };
  got.forEach((r, i) => {
    equal(r.text[0], want[i].name);
    for (const [head, col] of Object.entries(cols)) equal(exact(r.title[names.indexOf(head)]), want[i][col], `${want[i].name} ${col}`);
    near(parseFloat(r.title[names.indexOf('Share')]), 100 * want[i].share, 1e-12);
  });
  // the visible text is that value in the column's unit, to three digits
  const unit = await page.evaluate(() => [...document.querySelectorAll('#panel-functions th')].find((th) => th.innerText.includes('Mean')).querySelector('.unit').textContent);
  equal(unit, 'ms');
  equal(got[0].text[names.indexOf('Mean')].split('\n')[0], (want[0].mean_ns / 1e6).toFixed(2) + '0'.slice(0, 0));
}));

for (const [head, col] of [['Calls', 'calls'], ['Inclusive', 'inclusive_ns'], ['Max', 'max_ns'], ['Function', 'name'], ['Category', 'category']]) {
  test(`a click on ${head} sorts, a second one the other way`, () => withPage('demo', { hash: 'functions=host' }, async (page) => {
    const data = table(demo, 'functions').filter((f) => f.scope === 'host');
    const th = page.locator('#panel-functions th', { hasText: head }).first();
    for (const dir of col === 'name' || col === 'category' ? [1, -1] : [-1, 1]) {
      await th.locator('button').click();
      equal(await th.getAttribute('aria-sort'), dir < 0 ? 'descending' : 'ascending');
      const order = data.map((f, i) => [f[col], i, f.name]).sort((a, b) => (a[0] < b[0] ? -dir : a[0] > b[0] ? dir : a[1] - b[1])).map((x) => x[2]);
      deepEqual((await rows(page, 'functions')).map((r) => r.text[0]), order);
      equal(await page.evaluate(() => document.activeElement.closest('th')?.innerText.includes('▼') || document.activeElement.closest('th')?.innerText.includes('▲')), true, 'focus stays on the header');
    }
    ok((await hash(page)).includes('sort='), await hash(page));
  }));
}

test('the filter narrows, counts, survives in the address, and Esc clears it', () => withPage('demo', { hash: 'functions=host' }, async (page) => {
  await page.keyboard.press('/');
  equal(await page.evaluate(() => document.activeElement.type), 'search');
  await page.keyboard.type('blas GEMV');
  deepEqual((await rows(page, 'functions')).map((r) => r.text[0]), ['sgemv_']);
  equal(await text(page, '#panel-functions .table-info'), '1 of 16 rows');
  equal(await hash(page), '#functions=host&filter=blas GEMV');
  await page.reload();
  await page.waitForSelector('#panel-functions tbody tr');
  equal((await rows(page, 'functions')).length, 1);
  await page.keyboard.press('/');
  await page.keyboard.type('nothing has this name');
  ok((await text(page, '#panel-functions tbody')).includes('No row matches'));
  await page.keyboard.press('Escape');
  equal((await rows(page, 'functions')).length, 16);
  equal(await hash(page), '#functions=host');
}));

test('copy as CSV gives the rows of the file, byte for byte', () => withPage('demo', { hash: 'functions=device&sort=name' }, async (page) => {
  await page.click('#panel-functions >> text=Copy as CSV');
  await page.waitForFunction(() => document.getElementById('live')?.textContent.includes('copied'));
  const [head, ...got] = parseCsv(await page.evaluate(() => navigator.clipboard.readText()));
  const { readFileSync } = await import('node:fs');
  const [wantHead, ...want] = parseCsv(readFileSync(`${demo}/tables/functions.csv`, 'utf8'));
  deepEqual(head, wantHead);
  // the writer's floats have up to 17 digits, the clipboard's are the shortest that mean the same
  const norm = (r) => r.map((v) => (v !== '' && Number.isFinite(Number(v)) ? String(Number(v)) : v));
  deepEqual(got.map(norm), want.filter((r) => r[0] === 'device').map(norm).sort((a, b) => (a[1] < b[1] ? -1 : 1)));
}));

test('200 rows first, 200 more on request, never a million', () => withPage('big', { hash: 'functions' }, async (page) => {
  equal((await rows(page, 'functions')).length, 200);
  equal(await text(page, '#panel-functions .table-info'), '12 345 rows');
  await page.click('text=Show 200 more');
  equal((await rows(page, 'functions')).length, 400);
  ok((await text(page, '#panel-functions .table-more')).includes('400 of 12 345 rows shown'));
  equal(await page.evaluate(() => document.activeElement.innerText), 'Show 200 more');
  const want = table(`${ROOT}/big`, 'functions');
  equal((await rows(page, 'functions'))[399].text[0], want.sort((a, b) => b.exclusive_ns - a.exclusive_ns)[399].name);
}));

test('integers that no double holds keep their digits', () => withPage('huge', { hash: 'functions' }, async (page) => {
  const r = (await rows(page, 'functions')).find((x) => x.text[0] === 'forever');
  ok(r.title.includes('18446744073709551615'), r.title.join(' '));
  ok(r.title.includes('9007199254740993ns'), r.title.join(' '));
}));

test('kernels are listed for all devices or one', () => withPage('demo', { hash: 'kernels' }, async (page) => {
  const all = table(demo, 'kernels');
  equal((await rows(page, 'kernels')).length, all.length);
  await page.click('[role=radio] >> text=gpu1');
  const got = await rows(page, 'kernels');
  ok(got.every((r) => r.text[0].length <= 42), 'long names are shown by both their ends');
  deepEqual(got.map((r) => r.title[0]), all.filter((k) => k.device === 'gpu1').sort((a, b) => b.total_ns - a.total_ns).map((k) => k.name));
  equal(await hash(page), '#kernels=gpu1');
}));

test('library calls are listed for all libraries or one, with what was handed on', () => withPage('demo', { hash: 'libraries' }, async (page) => {
  const want = table(demo, 'library_calls');
  const got = await rows(page, 'libraries');
  const names = await heads(page, 'libraries');
  deepEqual(got.map((r) => r.text[0]), want.map((k) => k.key));
  got.forEach((r, i) => {
    equal(Number(exact(r.title[names.indexOf('Calls')])), want[i].calls);
    near(exact(r.title[names.indexOf('Work')]), want[i].flops, 1e-15);
    near(exact(r.title[names.indexOf('Share')]) / 100, want[i].share, 1e-12);
    equal(r.text[names.indexOf('Kernel')], want[i].kernel);
    equal(r.text[names.indexOf('Called by')], want[i].called_by);
    equal(r.text[names.indexOf('Not found')], want[i].unmatched);
  });
  const traced = want.filter((k) => k.trace_ns > 0);
  deepEqual(traced.map((k) => k.kernel).sort(), ['Cijk_MT32', 'Cijk_MT64', 'Cijk_MT64']);
  near(want.reduce((a, k) => a + (k.trace_share || 0), 0), 1, 1e-12);
  near(want.reduce((a, k) => a + k.share, 0), 1, 1e-12);
  const handed = table(demo, 'library_layers').filter((l) => l.caller);
  equal(handed.length, 1);
  ok((await text(page, '#panel-libraries')).includes(`miopen → rocblas: ${handed[0].calls} calls`));
  await page.click('#panel-libraries [role=radio] >> text=miopen');
  equal((await rows(page, 'libraries')).length, want.filter((k) => k.library === 'miopen').length);
  equal(await hash(page), '#libraries=miopen');
}));

test('energy: totals, conservation and the rows of energy.csv', () => withPage('demo', { hash: 'energy' }, async (page) => {
  const totals = table(demo, 'energy_totals');
  const cards = await texts(page, '.energy-card');
  equal(cards.length, 3);
  const gpu0 = totals.find((e) => e.device === 'gpu0' && e.view === 'host');
  ok(cards[0].startsWith('gpu0 energy.gpu0'), cards[0]);
  ok(cards[0].includes(`${(gpu0.total_j / 1000).toPrecision(3)} kJ`), cards[0]);
  equal((cards[0].match(/adds up/g) || []).length, 2);
  ok(/cpu0.*estimated/s.test(cards[2]), cards[2]);
  const want = table(demo, 'energy').filter((e) => e.device === 'gpu0' && e.view === 'host').sort((a, b) => b.best_j - a.best_j);
  ok(!(await heads(page, 'energy')).includes('By time'), 'a table has the columns that fit');
  await page.click('#panel-energy .all-columns');
  const got = await rows(page, 'energy');
  const names = await heads(page, 'energy');
  equal(got.length, want.length);
  got.forEach((r, i) => {
    equal(r.text[0], want[i].name);
    near(exact(r.title[names.indexOf('Best')]), want[i].best_j, 1e-15);
    near(exact(r.title[names.indexOf('±')]), want[i].best_uncertainty_j, 1e-15);
    equal(r.text[names.indexOf('Best is')], want[i].estimate);
    near(exact(r.title[names.indexOf('By time')]), want[i].exclusive_j, 1e-15);
    near(exact(r.title[names.indexOf('± by time')]), want[i].uncertainty_j, 1e-15);
    near(parseFloat(r.title[names.indexOf('Share')]) / 100, want[i].best_j / gpu0.total_j, 1e-9);
  });
  near(got.reduce((a, r) => a + exact(r.title[names.indexOf('By time')]), 0), gpu0.total_j, 1e-9, 'rows by time add up to the total');
}));

test('energy: a counter that is not divided by power has its own energy first', () => withPage('demo', { hash: 'energy=gpu1' }, async (page) => {
  const want = table(demo, 'energy').filter((e) => e.device === 'gpu1' && e.view === 'host').sort((a, b) => b.exclusive_j - a.exclusive_j);
  const names = await heads(page, 'energy');
  ok(names.includes('Own') && !names.includes('Best') && !names.includes('By power'), names.join());
  deepEqual((await rows(page, 'energy')).map((r) => r.text[0]), want.map((e) => e.name));
  equal(await hash(page), '#energy=gpu1');
  await page.locator('#panel-energy select').selectOption({ label: 'gpu0 · energy.gpu0' });
  equal(await page.locator('#panel-energy th[aria-sort=descending]').first().innerText().then((t) => t.split(/\s/)[0]), 'Best');
  equal(await hash(page), '#energy=gpu0&view=host');
}));

test('energy that is not known is not called nothing', () => withPage('huge', { hash: 'energy' }, async (page) => {
  const [card] = await texts(page, '.energy-card');
  ok(/gpu0 energy\.gpu0\s+–/.test(card) && !/0 J|0 W|adds up/.test(card), card);
}));

test('energy: the view and the counter can be chosen, estimates are hatched', () => withPage('demo', { hash: 'energy' }, async (page) => {
  await page.click('[role=radio] >> text=Device: which work ran');
  const dev = table(demo, 'energy').filter((e) => e.device === 'gpu0' && e.view === 'device');
  deepEqual((await rows(page, 'energy')).map((r) => r.text[0]).sort(), dev.map((e) => e.name).sort());
  equal(await hash(page), '#energy=gpu0&view=device');
  equal(await page.locator('#panel-energy .table-box td .hatched').count(), 0);
  await page.locator('#panel-energy select').selectOption({ label: 'cpu0 · power.cpu0' });
  ok((await page.locator('#panel-energy .table-box td .hatched').count()) > 10, 'estimated rows are hatched');
  ok((await texts(page, '#panel-energy .flag')).includes('estimated'));
  await page.click('text=Show as flame graph');
  await page.waitForSelector('#panel-flame:not([hidden])');
  equal(await page.locator('#flame-metric').inputValue(), 'energy:cpu0');
}));

// How many colours the chart of power has in its columns at these shares of its time.
const painted = (page, shares) => page.evaluate((list) => {
  const c = document.querySelector('.power-chart canvas');
  const scale = c.width / c.clientWidth;
  const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
  return list.map((share) => {
    const x = Math.round((68 + share * (c.clientWidth - 68 - 14)) * scale);
    const colours = new Set();
    for (let y = Math.round(10 * scale); y < c.height - 26 * scale; y++) {
      const i = (y * c.width + x) * 4;
      if (data[i + 3] === 255) colours.add([data[i], data[i + 1], data[i + 2]].join());
    }
    return colours.size;
  });
}, shares);

const overChart = async (page, share, height) => {
  const b = await page.locator('.power-chart .chart-plot').boundingBox();
  await page.mouse.move(b.x + 68 + share * (b.width - 68 - 14), b.y + height * b.height);
};

test('modelled power over time: layers, the bin under the pointer, the gap', () => withPage('demo', { hash: 'energy=gpu0', viewport: { width: 1280, height: 1400 } }, async (page) => {
  const all = table(demo, 'power_timeline').filter((r) => r.counter === 'energy.gpu0');
  const of = (view) => all.filter((r) => r.view === view);
  await page.waitForSelector('.power-chart canvas');
  ok((await text(page, '.power-chart h3')).startsWith('Modelled power by function W'));
  const names = await page.evaluate(() => [...document.querySelectorAll('.chart-legend .mini-name')].map((n) => n.textContent));
  deepEqual([...names].sort(), [...new Set(of('host').map((r) => r.name)), 'Sum'].sort());
  deepEqual(names.slice(-3), ['[other]', '[unattributed]', 'Sum']);
  await overChart(page, 10.5 / 60, 0.8);
  const bin = of('host').filter((r) => r.t_ns <= 10.5 / 60 * 12.4e9 && r.t_ns + r.dt_ns > 10.5 / 60 * 12.4e9);
  const said = await page.evaluate(() => [...document.querySelectorAll('.power-tip tbody tr')].map((tr) => [tr.cells[0].textContent, tr.cells[1].title.replace(/[\u00a0\u202f]/g, '')]));
  deepEqual(said.map(([n]) => n), names.filter((n) => n === 'Sum' || bin.some((r) => r.name === n)), 'what runs in the bin');
  ok(bin.length < new Set(of('host').map((r) => r.name)).size, 'not everything runs there');
  for (const [n, w] of said.slice(0, -1)) near(exact(w), bin.find((r) => r.name === n).modelled_w, 1e-12, n);
  near(exact(said.at(-1)[1]), sum(bin, 'modelled_w'), 1e-12, 'the sum');
  equal(await text(page, '.power-tip caption'), '2.07 s to 2.27 s');
  equal(await page.locator('.power-tip .here').count(), 1, 'the layer under the pointer');
  await overChart(page, 25.5 / 60, 0.8);
  ok(await page.locator('.power-tip').isHidden(), 'no words for the gap');
  const [layers, gap] = await painted(page, [10.5 / 60, 25.5 / 60]);
  ok(layers > 4 && gap <= 2, `${layers} colours, and ${gap} in the gap: nothing but lines of the grid`);
  await page.click('[role=radio] >> text=Device: which work ran');
  ok((await text(page, '.power-chart h3')).startsWith('Modelled power by device work W'));
  equal(await page.locator('.power-chart .chart-legend tbody tr').count(), new Set(of('device').map((r) => r.name)).size + 1);
  await page.locator('#panel-energy select').selectOption({ label: 'cpu0 · power.cpu0' });
  ok(await page.locator('.power-chart').isHidden(), 'cpu0 is not divided by power');
  await page.locator('#panel-energy select').selectOption({ label: 'gpu0 · energy.gpu0' });
  ok(await page.locator('.power-chart').isVisible());
}));

test('single calls: the rows of the counter and view, in joules of the better estimate', () => withPage('demo', { hash: 'energy=gpu0', viewport: { width: 1280, height: 1400 } }, async (page) => {
  const of = (view) => table(demo, 'energy_calls').filter((r) => r.counter === 'energy.gpu0' && r.view === view);
  const cells = (n) => page.evaluate((at) => [...document.querySelectorAll('.long-calls tbody tr')].map((tr) => (tr.cells[at].title || tr.cells[at].textContent).replace(/[\u00a0\u202f]/g, '')), n);
  await page.waitForSelector('.long-calls table');
  const host = of('host').sort((a, b) => b.best_j - a.best_j);
  equal(await page.locator('.long-calls tbody tr').count(), host.length);
  ok(!(await text(page, '.long-calls thead')).includes('Track'), 'one track needs no column');
  (await cells(3)).forEach((said, i) => near(exact(said), host[i].best_j, 1e-9));
  (await cells(4)).forEach((said, i) => near(exact(said), host[i].best_uncertainty_j, 1e-9));
  deepEqual(await cells(5), host.map((r) => r.estimate));
  ok((await text(page, '.long-calls p')).includes('only a part was kept (at least 62'));
  await page.click('[role=radio] >> text=Device: which work ran');
  ok((await text(page, '.long-calls p')).startsWith('The longest pieces of device work'));
  equal(await text(page, '.long-calls tbody td'), of('device')[0].name);
  await page.locator('#panel-energy select').selectOption({ label: 'cpu0 · power.cpu0' });
  ok(await page.locator('.long-calls').isHidden(), 'cpu0 has none');
}));

test('modelled power by keyboard and in a window', () => withPage('demo', { hash: 'energy=gpu0', viewport: { width: 390, height: 844 } }, async (page) => {
  const rows = table(demo, 'power_timeline').filter((r) => r.view === 'host');
  const means = () => page.evaluate(() => [...document.querySelectorAll('.power-chart .chart-legend tbody tr')].map((tr) => tr.cells[1].title.replace(/[\u00a0\u202f]/g, '')));
  await page.waitForSelector('.power-chart canvas');
  await page.focus('.power-chart');
  await page.keyboard.press('ArrowRight');
  const first = await text(page, '.power-tip caption');
  await page.keyboard.press('ArrowRight');
  ok((await text(page, '.power-tip caption')) !== first, first);
  const live = plain(await page.locator('#live').innerText());
  ok(live.startsWith(await text(page, '.power-tip caption')) && /sgemm_ [\d.]+ W, .*Sum \d+ W$/.test(live), live);
  const tip = await page.locator('.power-tip').boundingBox();
  ok(tip.x >= 0 && tip.x + tip.width <= 390 && (await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, JSON.stringify(tip));
  await page.keyboard.press('Escape');
  ok(await page.locator('.power-tip').isHidden());
  const all = (await means()).map(exact);
  near(all.at(-1), sum(rows, 'modelled_w') / 57, 1e-9, 'mean over the sampled bins');
  near(all.slice(0, -1).reduce((a, b) => a + b, 0), all.at(-1), 1e-9);
  await overChart(page, 0.1, 0.5);
  await page.mouse.down();
  await overChart(page, 0.3, 0.5);
  await page.mouse.up();
  ok(/window=\d+:\d+/.test(await hash(page)), await hash(page));
  ok(await page.locator('.power-chart .window-box').isVisible());
  ok(exact((await means()).at(-1)) !== all.at(-1), 'the legend answers for the window');
}));

test('without the table of modelled power there is no chart of it', () => withPage('cpu', { hash: 'energy' }, async (page) => {
  ok(await page.locator('.power-chart').isHidden());
  equal(await page.locator('#panel-energy canvas').count(), 0);
}));

test('what cannot be shown is explained on the Run tab', () => withPage('cpu', { hash: 'run' }, async (page) => {
  const absent = await texts(page, '.absent li');
  deepEqual(absent.filter((l) => /^(Kernels|Libraries|Memory):/.test(l)), ['Kernels: needs device work: a trace of kernels, copies or fills.', 'Memory: needs events of an allocator (PyTorch’s profile_memory=True records them).', 'Libraries: needs a log of a library: a run with rocblas_trace, onednn_trace, nccl_trace or the like.']);
  const steps = await texts(page, '#panel-run .run-section:has(h2:text-is("Steps")) tbody tr');
  equal(steps.length, 3);
  ok(/workload\s+150 ms\s+11.6 s\s+22.7 s\s+261 MB\s+status 0\s+\.\/run.sh --epochs 3/.test(steps[1]), steps[1]);
}));

test('addresses lead to their view and back again', () => withPage('demo', { hash: 'energy=gpu1&view=device&sort=name' }, async (page) => {
  equal(await activeTab(page), 'energy');
  const names = (await rows(page, 'energy')).map((r) => r.text[0]);
  deepEqual(names, [...names].sort());
  equal(names.length, table(demo, 'energy').filter((e) => e.device === 'gpu1' && e.view === 'device').length);
  await open(page, 'run');
  await page.goBack();
  await page.waitForSelector('#panel-energy:not([hidden])');
  await page.evaluate(() => { location.hash = '#no-such-tab=%E0%A4%A&x'; });
  await page.waitForSelector('#panel-summary:not([hidden])');
}));

test('a cost on the first screen leads to its row', () => withPage('demo', {}, async (page) => {
  await page.click('.costs li:nth-child(2) button');
  await page.waitForSelector('#panel-functions:not([hidden])');
  deepEqual((await rows(page, 'functions')).map((r) => r.text[0]), ['CopyHostToDevice']);
}));

test('all counters of a busy machine fit one table', () => withPage('demo', { hash: 'samples' }, async (page) => {
  const got = await rows(page, 'samples');
  deepEqual(got.map((r) => r.text[0]), table(demo, 'counters').map((c) => c.series).sort());
  equal(plain(got.find((r) => r.text[0] === 'power.gpu1').text.at(-1)), 'gap');
  const names = await heads(page, 'samples');
  for (const c of table(demo, 'counters')) {
    const r = got.find((x) => x.text[0] === c.series);
    near(exact(r.title[names.indexOf('Mean')]), c.mean, 1e-12, c.series);
    // what only grows has its mean as a rate, in a unit of its own
    if (c.kind === 'cumulative') ok(r.text[names.indexOf('Mean')].endsWith(' W') && r.text[names.indexOf('Max')].endsWith('J'), r.text.join(' | '));
  }
  ok(sum(table(demo, 'counters'), 'samples') > 0);
}));
