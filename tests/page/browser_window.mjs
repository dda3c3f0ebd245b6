// One window for the whole page: what tabs say of it against `profrig analyze --window`, how it is selected and cleared; and what came
// with it: gaps and the critical path in the timeline, memory over time, ranks.

import { execFileSync } from 'node:child_process';
import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { sum, table } from './csv.mjs';
import { ROOT, SHOTS, withPage } from './pages.mjs';
import { activeTab, contrasts, exact, heads, open, plain, rows, settle, stopwatch, text, texts } from './look.mjs';

const work = `${ROOT}/work`;
const W = [6000000, 21000000];
const window = W.join(':');
const hash = (page) => page.evaluate(() => location.hash);
const BUDGET_S = 0.05;

let made = false;
const part = (name) => {
  if (!made) execFileSync(`${process.env.B || 'build'}/profrig`, ['analyze', `${work}-input`, '-o', `${ROOT}/work-part`, '--window', window], { stdio: 'pipe' });
  made = true;
  return table(`${ROOT}/work-part`, name);
};

// The exact numbers of a column by name.
async function column(page, panel, label) {
  const at = (await heads(page, panel)).indexOf(label);
  return (await rows(page, panel)).map((r) => exact(r.title[at])).sort((a, b) => a - b);
}
const numbers = (list, col) => list.map((r) => r[col]).sort((a, b) => a - b);

// Of a section of a tab.
const cells = (page, tab, name) => page.evaluate(([t, n]) => [...document.querySelectorAll(`#part-${t}-${n} tbody tr`)].map((tr) => [...tr.children].map((td) => ({ text: td.innerText, title: (td.title || td.querySelector('[title]')?.title || '').replace(/[\u00a0\u202f]/g, '') }))), [tab, name]);

test('functions and kernels answer for the selected window', () => withPage('work', { hash: `functions=device&window=${window}` }, async (page) => {
  const want = part('functions').filter((f) => f.scope === 'device');
  deepEqual(await column(page, 'functions', 'Own'), numbers(want, 'exclusive_ns'));
  deepEqual(await column(page, 'functions', 'Calls'), numbers(want, 'calls'));
  ok((await text(page, '#panel-functions .window-note')).includes('exactly, as analyze --window has it'), await text(page, '#panel-functions .window-note'));
  await page.click('#panel-functions [role=radio] >> nth=1');
  deepEqual(await column(page, 'functions', 'Own'), numbers(part('functions').filter((f) => f.scope === 'host'), 'exclusive_ns'));
  await open(page, 'kernels');
  ok((await hash(page)).includes(`window=${window}`), 'the window goes along');
  deepEqual(await column(page, 'kernels', 'Total'), numbers(part('kernels'), 'total_ns'));
  const classes = await cells(page, 'kernels', 'kernel_classes');
  equal(classes.reduce((a, r) => a + exact(r[4].title), 0), sum(part('kernel_classes'), 'total_ns'));
  await page.keyboard.press('Escape');
  ok(!(await hash(page)).includes('window='), await hash(page));
  deepEqual(await column(page, 'kernels', 'Total'), numbers(table(work, 'kernels'), 'total_ns'), 'the whole recording again');
  await open(page, 'functions');
  deepEqual(await column(page, 'functions', 'Own'), numbers(table(work, 'functions').filter((f) => f.scope === 'host'), 'exclusive_ns'), 'a tab that was hidden meanwhile, too');
}));

test('a selected window leaves the title and the buttons on a narrow screen', () => withPage('work', { hash: `kernels&window=${window}`, viewport: { width: 390, height: 844 } }, async (page) => {
  const at = (selector) => page.locator(selector).boundingBox();
  for (const selector of ['.top-line h1', '.top-line .chip', '[aria-label="Show the keys"]', '[aria-label="Switch between light and dark"]']) {
    const b = await at(selector);
    ok(b.x >= 0 && b.x + b.width <= 390 && b.width >= 24, `${selector}: ${JSON.stringify(b)}`);
  }
  ok((await at('.top-line h1')).width > 100, 'the title is read');
}));

test('the first screen and the idle tab answer for the selected window', () => withPage('work', { hash: `summary&window=${window}` }, async (page) => {
  const parts = await page.evaluate(() => [...document.querySelectorAll('.split .legend strong')].map((e) => e.title.replace(/[\u00a0\u202f]/g, '')));
  const want = ['compute_ns', 'exposed_comm_ns', 'exposed_copy_ns', 'idle_ns'].map((c) => sum(part('overlap'), c)).filter((v) => v > 0);
  deepEqual(parts.map(exact), want);
  await open(page, 'idle');
  equal((await cells(page, 'idle', 'overlap')).reduce((a, r) => a + exact(r[r.length - 1].title), 0), sum(part('overlap'), 'idle_ns'));
  equal((await cells(page, 'idle', 'idle_causes')).reduce((a, r) => a + exact(r[r.length - 1].title), 0), sum(part('idle_causes'), 'total_ns'));
  deepEqual(await page.evaluate(() => [...document.querySelectorAll('#panel-idle .part')].filter((p) => p.querySelector('h2 .tag:not([hidden])')).map((p) => p.id.replace('part-idle-', ''))), ['idle', 'idle_gaps', 'launch_latency', 'queue'], 'what knows no window says so');
}));

test('the flame graph answers for the selected window, down to kernels', () => withPage('work', { hash: `flame=kernels&window=${window}` }, async (page) => {
  const all = await text(page, '#panel-flame .flame-note');
  const device = sum(part('busy'), 'sum_ns');
  ok(all.startsWith(`${(device / 1e6).toFixed(1)} ms in all`), `${all} of ${device}`);
  await page.keyboard.press('/');
  await page.keyboard.type('sgemm');
  const found = await text(page, '#panel-flame .table-info');
  ok(/^\d+ frames?, /.test(found), found);
  await page.locator('.flame-box').focus();
  for (let i = 0; i < 12; i++) await page.keyboard.press('ArrowDown');
  ok((await texts(page, '.flame-side h3')).includes('Callers'), 'callers of the kernel stand beside it');
  await page.screenshot({ path: `${SHOTS}/work-flame_kernels-1280-light.png` });
}));

test('the strip selects by keyboard and by a drag, within 50 ms of work', () => withPage('work', { hash: 'functions=host', own: true }, async (page) => {
  await settle(page);
  const strip = page.locator('.strip-canvas');
  equal(await strip.getAttribute('aria-valuetext'), 'whole recording');
  await strip.focus();
  await page.keyboard.press('ArrowRight');
  const [, a0, b0] = /window=(\d+):(\d+)/.exec(await hash(page)).map(Number);
  await page.keyboard.press('ArrowRight');
  const [, a1, b1] = /window=(\d+):(\d+)/.exec(await hash(page)).map(Number);
  ok(a1 > a0, 'it moves');
  near(b1 - a1, b0 - a0, 1e-6, 'and keeps its length');
  await page.keyboard.press('Shift+ArrowRight');
  const [, a2, b2] = /window=(\d+):(\d+)/.exec(await hash(page)).map(Number);
  equal(a2, a1);
  ok(b2 > b1, 'and grows');
  const worked = await stopwatch(page);
  await page.keyboard.press('ArrowRight');
  await settle(page);
  const s = await worked();
  console.log(`# another window takes ${(1000 * s).toFixed(1)} ms of work`);
  ok(s <= BUDGET_S, `${s} s`);
  await page.keyboard.press('Escape');
  const box = await strip.boundingBox();
  await page.mouse.move(box.x + 0.2 * box.width, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 12, { steps: 4 });
  await page.mouse.up();
  ok(/window=\d+:\d+/.test(await hash(page)), await hash(page));
  equal(await activeTab(page), 'functions');
}));

test('energy by function answers for the selected window', () => withPage('work', { hash: `energy&window=${window}` }, async (page) => {
  const device = await page.evaluate(() => document.querySelector('#panel-energy select')?.value || '');
  const want = part('energy').filter((e) => (!device || `${e.counter}\n${e.device}` === device) && e.view === 'host');
  ok(want.length > 1, 'there is energy in the window');
  const total = (await column(page, 'energy', 'Own')).reduce((a, v) => a + v, 0);
  near(total, sum(want, 'exclusive_j'), 0.05, 'joules');
}));

test('a gap says why nothing ran and what came then', async () => {
  const gap = table(work, 'idle_gaps').find((g) => g.device === 'gpu0');
  const pad = gap.dur_ns;
  const view = [Math.max(0, Math.floor(gap.start_ns - pad)), Math.ceil(gap.start_ns + 2 * pad)];
  await withPage('work', { hash: `timeline=${view.join(':')}` }, async (page) => {
    await settle(page);
    const b = await page.locator('.spans-canvas').boundingBox();
    await page.mouse.click(b.x + 190 + ((gap.start_ns + gap.dur_ns / 2 - view[0]) / (view[1] - view[0])) * (b.width - 190), b.y + 26 + 3 * 22 + 8);
    await settle(page);
    equal(await text(page, '.span-details h2'), 'Nothing ran on gpu0');
    const facts = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.span-details .facts > div')].map((d) => [d.children[0].textContent, d.children[1].querySelector('[title]')?.title.replace(/[\u00a0\u202f]/g, '')])));
    equal(exact(facts.Start), gap.start_ns);
    equal(exact(facts.Duration), gap.dur_ns);
    await page.click('.span-details button.link');
    equal(await page.evaluate(() => document.querySelector('.span-details h2 [title]').title), gap.after);
  });
});

test('the critical path has a lane of its own, and dims what is not on it', () => withPage('work', { hash: 'timeline' }, async (page) => {
  await settle(page);
  const bright = () => page.evaluate(() => {
    const c = document.querySelector('.spans-canvas');
    const copy = Object.assign(document.createElement('canvas'), { width: c.width, height: c.height }).getContext('2d', { willReadFrequently: true });
    copy.drawImage(c, 0, 0);
    const { data } = copy.getImageData(200, 30 + 2 * 22, c.width - 210, c.height - 120);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) n += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60;
    return n;
  });
  const before = await bright();
  await page.click('button[aria-pressed]:has-text("Critical path")');
  await settle(page);
  const after = await bright();
  ok(after < before && after > 0, `${after} of ${before} pixels are bright`);
  equal(await page.getAttribute('button:has-text("Critical path")', 'aria-pressed'), 'true');
  ok((await texts(page, '.span-legend')).some((t) => t.startsWith('On the critical path')), 'its classes have words');
}));

test('memory over time has its peak marked', () => withPage('work', { hash: 'memory' }, async (page) => {
  const memory = table(work, 'memory');
  const label = await page.getAttribute('.step-chart svg', 'aria-label');
  const most = memory.reduce((a, m) => (m.peak > a.peak ? m : a));
  ok(label.includes(`at most ${(most.peak / 1e6).toFixed(1)}`), `${label} of ${most.peak}`);
  equal(await page.locator('.step-mark').count(), memory.length);
}));

test('ranks: devices over time and kernels by device', () => withPage('work', { hash: 'ranks' }, async (page) => {
  const busy = table(work, 'busy');
  const shown = await texts(page, '.heat > span');
  const lanes = table(work, 'lane_spans');
  const [t0, t1] = [Math.min(...lanes.map((s) => s.start_ns)), Math.max(...lanes.map((s) => s.start_ns + s.dur_ns))];
  deepEqual(shown.map((s) => Math.round(parseFloat(s) * 10) / 10), busy.map((d) => Math.round((1000 * d.union_ns) / (t1 - t0)) / 10));
  const names = await page.locator('[aria-label="time of kernels by device"] tbody tr').count();
  equal(names, new Set(table(work, 'kernels').map((k) => k.name)).size);
  const [first] = table(work, 'kernels').filter((k) => k.device === 'gpu0').sort((a, b) => b.total_ns - a.total_ns);
  const cell = await page.evaluate((n) => [...document.querySelectorAll('.heat-table tbody tr')].find((tr) => tr.querySelector('[title]').title === n).children[1].innerText, first.name);
  equal(plain(cell), `${(first.total_ns / 1e6).toPrecision(3)} ms`);
  await page.selectOption('#heat-value', 'idle');
  deepEqual((await texts(page, '.heat > span')).map((s) => Math.round(parseFloat(s))), busy.map((d) => Math.round(100 - (100 * d.union_ns) / (t1 - t0))));
  deepEqual(await contrasts(page), []);
}));
