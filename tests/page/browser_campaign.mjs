// The page of a campaign: its dots stand where their values put them, its matrix says what the JSON says, each state is readable in any width and theme, and no name is markup.

import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { SHOTS, withPage } from './pages.mjs';
import { contrasts, plain, texts } from './look.mjs';
import { HOSTILE, reports } from './campaign_dirs.mjs';

const campaign = (name, fn, opts = {}) => withPage('campaign', { file: `${name}.html`, ...opts }, fn);

// Strips in the order of the page: labels of the axis with their places, dots, bands.
const strips = (page) => page.evaluate(() => [...document.querySelectorAll('.strips li')].map((li) => ({
  name: li.querySelector('.name').textContent,
  word: li.querySelector('.strip-head span').textContent,
  foot: li.querySelector('.strip-foot').textContent,
  axis: [...li.querySelectorAll('svg text')].map((t) => ({ text: t.textContent, y: Number(t.getAttribute('y')) })),
  dots: [...li.querySelectorAll('circle')].map((c) => ({ x: Number(c.getAttribute('cx')), y: Number(c.getAttribute('cy')), far: c.classList.contains('far'), title: c.querySelector('title').textContent, href: c.closest('a')?.getAttribute('href') })),
  band: !!li.querySelector('.band'),
  own: ['y', 'height'].map((a) => Number(li.querySelector('.own')?.getAttribute(a))),
})));

test('each run is a dot at its value, in the order of the runs, and leads to its folder', () => campaign('matrix', async (page) => {
  const figure = reports.matrix.figures[0];
  const all = await strips(page);
  equal(all.length, figure.cells.length);
  all.forEach((s, i) => {
    const cell = figure.cells[i];
    equal(s.name, reports.matrix.cells[i].label);
    equal(s.word, cell.word);
    deepEqual(s.dots.map((d) => Number(d.title.split(' ')[0])), cell.values.map((v) => Number(v.value.toPrecision(9))), s.name);
    deepEqual(s.dots.map((d) => d.href), cell.values.map((v) => `matrix/runs/${v.attempt}/`), s.name);
    deepEqual(s.dots.map((d) => d.far), cell.values.map((v) => v.outlier), s.name);
    ok(s.dots.every((d, k) => !k || d.x > s.dots[k - 1].x), 'from left to right');
    // a straight line through the ends of the axis (4 significant digits): the frame is from 8 to 88
    const [high, low] = s.axis.map((a) => Number(a.text));
    s.dots.forEach((d, k) => ok(Math.abs(d.y - (88 - 80 * (cell.values[k].value - low) / (high - low))) < 1.2, `${s.name}, run ${k + 1}`));
    ok(Math.abs(s.own[0] - (88 - 80 * (cell.mean_high - low) / (high - low))) < 1.2, 'upper end of the interval');
    equal(s.band, !!cell.against, 'the band of the baseline');
    ok(s.foot.includes(`n ${cell.n}`), s.foot);
  });
}));

test('a cell of the matrix says what the JSON says, at its place', () => campaign('matrix', async (page) => {
  const report = reports.matrix;
  const heads = (await page.evaluate(() => [...document.querySelectorAll('.heatmap tr')[1].children].map((t) => t.textContent)));
  deepEqual(heads, ['env.BATCH', 'env.KERNEL', '1', '2', '4']);
  const rows = await page.evaluate(() => [...document.querySelectorAll('.heatmap tr')].slice(2).map((tr) => [...tr.children].map((c) => c.innerText.replace(/\s+/g, ' ').trim())));
  equal(rows.length, 4);
  for (const row of rows) {
    heads.slice(2).forEach((threads, i) => {
      const at = report.cells.findIndex((c) => c.axes['env.BATCH'] === row[0] && c.axes['env.KERNEL'] === row[1] && c.axes['env.THREADS'] === threads);
      const cell = report.figures[0].cells[at];
      const text = row[2 + i];
      near(Number(text.split(' ')[0]), cell.mean, 5e-4, text);
      ok(text.includes(cell.word), `${text}: ${cell.word}`);
      ok(text.includes(cell.n === 10 ? '10 runs' : `${cell.n} of 10 runs`), text);
      if (cell.against) near(Number(/ ([+-][\d.]+) %/.exec(text)[1]), (cell.against.ratio - 1) * 100, 0.06 / Math.abs((cell.against.ratio - 1) * 100), text);
    });
  }
  const words = report.figures[0].cells.map((c) => c.word);
  for (const w of ['slower', 'same', 'faster', 'unclear', 'baseline']) ok(words.includes(w), `${w} in ${words}`);
  const verdicts = await page.evaluate(() => [...document.querySelectorAll('[aria-label=Verdicts] tr td:first-child')].map((t) => t.textContent));
  deepEqual(verdicts, ['slower', 'slower', 'unclear', 'same', 'faster', 'faster']);
  const body = plain(await page.locator('main').innerText()).replace(/\s+/g, ' ');
  ok(body.includes('The gate fails: 2 of 6 cells are slower than their baseline (2 faster, 1 same, 1 unclear)'), body.slice(0, 300));
  ok(/BATCH=8 THREADS=1 KERNEL=old: \+[\d.]+ % from its first to its last run/.test(body), 'the one that drifts');
  ok(body.includes('1 cell has lost 2 runs for good'), 'and the one that loses runs');
  ok(body.includes('Runs had 2 environments, which differ in 1 fact. Each cell has one environment'), 'environments');
}));

test('links of the matrix lead to their strips, and everything can be reached by keyboard', () => campaign('matrix', async (page) => {
  await page.click('.heatmap a >> nth=3');
  equal(await page.evaluate(() => document.querySelector('.strips li:target .name').textContent), reports.matrix.cells.find((c) => c.axes['env.KERNEL'] === 'new' && c.axes['env.THREADS'] === '1').label);
  equal(await page.evaluate(() => [...document.querySelectorAll('.scroll, .dot')].filter((e) => e.classList.contains('dot') ? !e.closest('a[href]') : e.tabIndex !== 0).length), 0);
}));

const says = (...words) => async (page) => {
  const body = plain(await page.locator('main').innerText()).replace(/\s+/g, ' ');
  for (const w of words) ok(body.includes(w), `${w} in ${body.slice(0, 400)}`);
};
const CHECKS = {
  matrix: says('How it was measured', 'Power: gate on performance'),
  many: async (page) => {
    await says('112 more comparisons')(page);
    equal(await page.evaluate(() => document.querySelectorAll('.heatmap tr').length), 122);
    equal(await page.evaluate(() => document.querySelectorAll('.dot').length), 1200);
  },
  part: says('So far', 'The campaign is not complete', 'unclear'),
  none: says('No run has ended yet. 0 of 120 runs done', 'No attempt has failed.', 'No run has told its environment.'),
  failed: says('No run has ended well: 120 of 120 failed for good', 'workload'),
  alone: says('Nothing is compared: the campaign\'s file names no baseline.', 'not compared'),
  hostile: async (page) => {
    equal(await page.title(), 'hostile – campaign – profrig');
    equal(await page.evaluate(() => document.querySelectorAll('script, img, iframe, link, object, form, main b:not(.word b):not(td b)').length), 0);
    equal(await page.evaluate(() => [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on|^src/.test(a.name) || (a.name === 'href' && !/^#f|^hostile\/(runs|logs)\//.test(a.value)))).length), 0);
    const shown = await page.evaluate(() => [...document.querySelectorAll('.strips .name')].map((n) => n.textContent));
    for (const n of HOSTILE.filter((k) => k.length < 100 && !k.includes('\u202e'))) ok(shown.includes(n), `${n} in ${shown.join(' | ')}`);
    ok(shown.some((n) => /^W+…$/.test(n)), 'long names are cut');
    ok((await texts(page, '.heatmap th')).some((t) => t.includes(HOSTILE[0])), 'names of axes, too');
  },
};

for (const name of Object.keys(CHECKS)) {
  test(`the page of ${name}: what it says; readable at 1280 and 390 px, in light and dark`, () => campaign(name, async (page) => {
    await CHECKS[name](page);
    for (const [width, height] of [[1280, 800], [390, 844]]) {
      await page.setViewportSize({ width, height });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      ok(wide <= width, `${wide} px at ${width}`);
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        if (name !== 'many') deepEqual(await contrasts(page), [], `${colorScheme} at ${width}`);
        if (['matrix', 'hostile'].includes(name)) await page.screenshot({ path: `${SHOTS}/campaign-${name}-${width}-${colorScheme}.png` });
      }
    }
  }));
}
