// The page of lib compare: what is drawn stands where the numbers of the tables put it, is readable in any width and theme, and is never markup.

import { readFileSync } from 'node:fs';
import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { SHOTS, withPage } from './pages.mjs';
import { contrasts, plain, texts } from './look.mjs';
import { BACK_ENDS, BANDWIDTH, CALLS, HOSTILE, PAGES, PEAK, results } from './compare_tables.mjs';

const compare = (name, fn, opts = {}) => withPage('compare', { file: `${name}.html`, ...opts }, fn);

// "20 µs" → 20e-6, "100 G" → 1e11, "1e-15 s", "0.05"
function quantity(label) {
  const m = /^([+-]?[\d.]+(?:e[+-]?\d+)?)(?: ([nµmkMGT]?)(s|)|)$/.exec(label);
  ok(m, `a label that is no number: ${label}`);
  return Number(m[1]) * { n: 1e-9, 'µ': 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 }[m[2] || ''];
}

// What is seen of a drawing, in pixels of the page: labels of both axes, marks, lines as points along them.
const seen = (page, nth = 0) => page.evaluate((n) => {
  const svg = document.querySelectorAll('svg.plot')[n];
  const box = (e) => { const r = e.getBoundingClientRect(); return { x: r.left, y: r.top, w: r.width, h: r.height, cx: (r.left + r.right) / 2, cy: (r.top + r.bottom) / 2 }; };
  const along = (path) => {
    const to = path.getScreenCTM();
    const all = path.getTotalLength();
    return Array.from({ length: 101 }, (_, i) => { const p = path.getPointAtLength(all * i / 100).matrixTransform(to); return { x: p.x, y: p.y }; });
  };
  const labels = (c) => [...svg.querySelectorAll(c)].map((t) => ({ text: t.textContent, ...box(t) }));
  const lines = (c) => [...svg.querySelectorAll(c)].map((p) => ({ title: p.querySelector('title')?.textContent, dash: getComputedStyle(p).strokeDasharray, points: along(p) }));
  return {
    frame: box(svg.querySelector('.frame')), x: labels('.tick-x'), y: labels('.tick-y'), titles: labels('.title-x, .title-y').map((t) => t.text), roofs: lines('.roof'), equal: lines('.equal'),
    marks: [...svg.querySelectorAll('.mark')].map((m) => ({ kind: m.getAttribute('class').replace('mark ', ''), fill: getComputedStyle(m).fill, shape: m.getAttribute('d'), title: m.querySelector('title').textContent, ...box(m) })),
  };
}, nth);

// Pixels ↔ values, as a reader of the labels has them; the labels themselves must lie on a logarithmic axis that grows to the right, or upwards.
function scale(labels, along, sign) {
  const ticks = labels.map((l) => ({ v: Math.log10(quantity(l.text)), p: l[along] })).sort((a, b) => a.v - b.v);
  const [a, b] = [ticks[0], ticks.at(-1)];
  ok(ticks.length > 1 && sign * (b.p - a.p) > 100, `labels ${labels.map((l) => l.text)} from ${a.p} to ${b.p} px`);
  const at = (v) => a.p + (Math.log10(v) - a.v) / (b.v - a.v) * (b.p - a.p);
  for (const t of ticks) ok(Math.abs(at(10 ** t.v) - t.p) < 1.5, `the label of 10^${t.v} is ${t.p - at(10 ** t.v)} px off a logarithmic axis`);
  return { at, value: (p) => 10 ** (a.v + (p - a.p) / (b.p - a.p) * (b.v - a.v)) };
}

const scales = (plot) => [scale(plot.x, 'cx', 1), scale(plot.y, 'cy', -1)];

function inside(plot) {
  const f = plot.frame;
  const out = plot.marks.filter((m) => m.x < f.x || m.y < f.y || m.x + m.w > f.x + f.w || m.y + m.h > f.y + f.h);
  deepEqual(out.map((m) => m.title).slice(0, 3), [], 'marks out of the drawing');
}

function markAt(plot, [x, y], title, kind) {
  const m = plot.marks.filter((c) => c.title.includes(title) && (!kind || c.kind === kind));
  equal(m.length, 1, `marks of ${title}`);
  const [sx, sy] = scales(plot);
  // labels stand a little beside their lines in y
  ok(Math.abs(m[0].cx - sx.at(x)) < 1.5 && Math.abs(m[0].cy - sy.at(y)) < 2.5, `${title}: ${m[0].cx}, ${m[0].cy}, expected ${sx.at(x)}, ${sy.at(y)}`);
  return m[0];
}

// ---- roofline ----

test('roofline: each call stands at its FLOP per byte and FLOP per second, roofs turn where the peaks say', () => compare('three', async (page) => {
  const plot = await seen(page);
  const shares = [0.3, 0.5, 0.4];
  equal(plot.marks.length, CALLS.length * BACK_ENDS.length);
  deepEqual(plot.titles, ['FLOP per byte of memory', 'speed in FLOP/s']);
  for (const c of CALLS) {
    BACK_ENDS.forEach((_, side) => {
      const speed = shares[side] * Math.min(PEAK[c.type], c.intensity * BANDWIDTH) * 1e9;
      ok(markAt(plot, [c.intensity, speed], c.key, `s${side}`).title.startsWith(`${'ABC'[side]}: `));
    });
  }
  inside(plot);
  equal(new Set(plot.marks.map((m) => m.shape)).size, 3, 'a shape for each side');
  equal(new Set(plot.marks.map((m) => m.fill)).size, 3, 'a colour for each side');
  deepEqual(await texts(page, '.roofline .legend:not(.roofs) li'), ['A one', 'B two', 'C three']);
  // the slope, the level and the ridge between them
  const [sx, sy] = scales(plot);
  equal(plot.roofs.length, 2);
  for (const type of ['f32', 'f64']) {
    const roof = plot.roofs.find((r) => r.title.startsWith(`${type}, 1 thread: ${PEAK[type]}`));
    for (const p of roof.points) ok(Math.abs(p.y - sy.at(Math.min(PEAK[type], sx.value(p.x) * BANDWIDTH) * 1e9)) < 3, `${type} at ${sx.value(p.x)}: ${sy.value(p.y)}`);
    ok(Math.abs(roof.points[0].x - sx.at(0.01)) < 2 && Math.abs(roof.points.at(-1).x - sx.at(100)) < 2, 'from one end of the axis to the other');
    ok(roof.title.includes(`ridge at ${PEAK[type] / BANDWIDTH} FLOP/byte`), roof.title);
  }
  equal(new Set(plot.roofs.map((r) => r.dash)).size, 2, 'a pattern for each');
  deepEqual(await texts(page, '.roofs li'), ['f32, 1 thread: 100 GFLOP/s, 10.0 GB/s, ridge at 10 FLOP/byte', 'f64, 1 thread: 50.0 GFLOP/s, 10.0 GB/s, ridge at 5 FLOP/byte']);
}));

// ---- A against B ----

// Whether the band holds a call that takes `ratio` times as long with B, at several places.
const inBand = (page, points) => page.evaluate((all) => {
  const band = document.querySelectorAll('svg.plot')[1].querySelector('.band');
  const back = band.getScreenCTM().inverse();
  return all.map(([x, y]) => band.isPointInFill(new DOMPoint(x, y).matrixTransform(back)));
}, points);

// The diagonal is where both times are equal; the band around it is the threshold: these ratios lie inside, those outside.
async function diagonal(page, inner, outer) {
  const plot = await seen(page, 1);
  const frame = plot.frame;
  ok(await page.evaluate(() => document.querySelectorAll('svg.plot')[1].querySelector('.band')), 'there is a band');
  const box = await page.evaluate(() => { const r = document.querySelectorAll('svg.plot')[1].querySelector('.band').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; });
  const [sx, sy] = scales(plot);
  for (const p of plot.equal[0].points) ok(Math.abs(p.x - sx.at(sy.value(p.y))) < 2.5, `${sx.value(p.x)} against ${sy.value(p.y)}`);
  ok(plot.equal[0].points.at(-1).x - plot.equal[0].points[0].x > 0.9 * frame.w, 'from corner to corner');
  ok(box[0] >= frame.x && box[1] >= frame.y && box[2] <= frame.x + frame.w && box[3] <= frame.y + frame.h, 'the band lies inside');
  // from the diagonal itself, which labels are a little beside of
  const perDecade = sy.at(1e-6) - sy.at(1e-5);
  const at = (ratio) => [10, 50, 90].map((i) => { const p = plot.equal[0].points[i]; return [p.x, p.y - perDecade * Math.log10(ratio)]; });
  for (const r of inner) ok((await inBand(page, at(r))).every(Boolean), `${r} is inside`);
  for (const r of outer) ok(!(await inBand(page, at(r))).some(Boolean), `${r} is outside`);
}

test('A against B: each call stands at its two times, its verdict is its shape and colour; the band is the threshold', () => compare('three', async (page) => {
  const verdicts = ['faster', 'slower', 'slower', 'same', 'unclear', 'faster'];
  const names = await page.evaluate(() => Object.fromEntries(['good', 'bad', 'muted', 'warn'].map((n) => {
    const probe = document.body.appendChild(Object.assign(document.createElement('i'), { style: `color:var(--${n})` }));
    return [n, getComputedStyle(probe).color];
  })));
  const colours = { faster: names.good, slower: names.bad, same: names.muted, unclear: names.warn };
  for (const side of [1, 2]) {
    const plot = await seen(page, side);
    equal(plot.marks.length, CALLS.length);
    deepEqual(plot.titles, ['time of a call with A', `time of a call with ${'ABC'[side]}`]);
    for (const [i, c] of CALLS.entries()) {
      const m = markAt(plot, [c.means[0] * 1e-6, c.means[side] * 1e-6], c.key);
      if (side === 1) equal(m.kind, verdicts[i], c.key);
      equal(m.fill, colours[m.kind], m.kind);
    }
    inside(plot);
    const shapes = new Map(plot.marks.map((m) => [m.kind, m.shape]));
    equal(new Set(shapes.values()).size, shapes.size, 'a shape for each verdict');
    const legend = await page.evaluate((n) => [...document.querySelectorAll('svg.plot')[n].parentElement.querySelectorAll('.legend li')].map((li) => {
      const m = li.querySelector('.mark');
      return [li.innerText.trim(), getComputedStyle(m).fill, m.getAttribute('d')];
    }), side);
    equal(legend.length, shapes.size);
    for (const [text, fill, shape] of legend) {
      const [kind, count] = text.split(': ');
      equal(fill, colours[kind], kind);
      equal(shape, shapes.get(kind), kind);
      equal(Number(count), plot.marks.filter((m) => m.kind === kind).length, kind);
    }
  }
  await diagonal(page, [0.96, 0.99, 1.01, 1.04], [0.93, 1.07]);
}));

// ---- bars and tables ----

const bars = (page, nth) => page.evaluate((n) => [...document.querySelectorAll('.versus')[n].querySelectorAll('.bars li')].map((li) => {
  const box = (s) => { const r = li.querySelector(s).getBoundingClientRect(); return [r.left, r.right]; };
  const svg = li.querySelector('svg');
  return {
    rank: Number(li.querySelector('.rank').innerText), name: li.querySelector('.name').innerText, word: li.querySelector('.word').innerText, change: li.querySelector('.change').innerText,
    zero: box('.zero')[0] + (box('.zero')[1] - box('.zero')[0]) / 2, rect: box('rect'), error: li.querySelector('.error') && box('.error'), svg: [svg.getBoundingClientRect().left, svg.getBoundingClientRect().right], fill: getComputedStyle(li.querySelector('rect')).fill,
  };
}), nth);

const cells = (page, nth) => page.evaluate((n) => [...document.querySelectorAll('.versus')[n].querySelector('table').rows].slice(1).map((tr) => ({ text: [...tr.cells].map((td) => td.innerText.trim()), title: [...tr.cells].map((td) => td.title) })), nth);

// The table has the order of the bars, exact figures behind what it shows, and what has no time.
async function calls(page) {
  const table = await cells(page, 0);
  const shown = await bars(page, 0);
  deepEqual(table.map((r) => r.text[1]), shown.map((b) => b.name));
  deepEqual(table.map((r) => Number(r.text[0])), [1, 2, 3, 4, 5, 6]);
  for (const r of table) {
    const c = CALLS.find((x) => x.key === r.text[1]);
    near(parseFloat(r.title[7]), c.means[0], 1e-8);
    near(parseFloat(r.title[8]), c.means[1], 1e-8);
    near(parseFloat(r.title[4]), c.means[1] / c.means[0], 1e-8);
    near(parseFloat(r.title[3]), c.calls * (c.means[1] - c.means[0]) * 1e-6, 1e-6);
    near(quantity(r.text[7]), c.means[0] * 1e-6, 0.005);
    equal(Number(r.text[9]), c.calls);
  }
  deepEqual(await page.evaluate(() => [...document.querySelectorAll('.versus')[0].querySelectorAll('table')[1].rows].slice(1).map((tr) => [...tr.cells].map((td) => td.innerText.trim()))), [
    ['ger m=9 n=9 type=f32', 'A', 'crashed: signal 11'], ['syrk uplo=L n=9 k=9 type=f32', 'B', 'wrong: entry 3 is off by 0.5'], ['trsm only=one', 'A', 'missing'], ['trsm only=two', 'B', 'missing']]);
}

test('bars: the largest effect first, lengths and intervals in proportion, savings to the left', () => compare('three', async (page) => {
  for (const side of [1, 2]) {
    const got = await bars(page, side - 1);
    const rows = results.three.rows.filter((r) => r.side === 'ABC'[side]);
    const want = CALLS.map((c) => ({ key: c.key, effect: c.calls * (c.means[side] - c.means[0]) * 1e-6 })).sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
    deepEqual(got.map((b) => b.rank), [1, 2, 3, 4, 5, 6]);
    deepEqual(got.map((b) => b.name), want.map((w) => w.key));
    const shown = await page.evaluate((n) => document.querySelectorAll('.bar-axis')[n].innerText.split('\n').map((s) => s.trim()), side - 1);
    equal(shown[1], '0');
    ok(/^-.*: . saves$/.test(shown[0]) && /^. costs: \+/.test(shown[2]), shown.join('|'));
    // the ends of the axis, whose labels have three digits, are 1 unit of 102 inside of the drawing
    const end = quantity(shown[2].split('+')[1]);
    for (const [i, b] of got.entries()) {
      const px = (b.svg[1] - b.svg[0]) / 2 / 1.02 / end;
      const row = rows.find((r) => r.key === b.name);
      const [from, to] = want[i].effect < 0 ? [b.zero + want[i].effect * px, b.zero] : [b.zero, b.zero + want[i].effect * px];
      const most = 1.5 + 0.005 * Math.abs(want[i].effect) * px;
      ok(Math.abs(b.rect[0] - from) < most && Math.abs(b.rect[1] - to) < most, `${b.name}: ${b.rect} px, expected ${from} to ${to}`);
      near(row.effect_s, want[i].effect, 1e-6, 'as in the other outputs');
      const limits = [row.effect_s_low, row.effect_s_high].map((v) => b.zero + Math.max(-end, Math.min(end, v)) * px);
      ok(b.error, `${b.name}: no interval`);
      ok(Math.abs(b.error[0] - limits[0]) < 4 && Math.abs(b.error[1] - limits[1]) < 4, `${b.name}: interval ${b.error}, expected ${limits}`);
      ok(b.change.startsWith(want[i].effect < 0 ? '-' : '+') && Math.abs(quantity(b.change) - want[i].effect) <= 0.006 * Math.abs(want[i].effect), b.change);
      equal(b.word, row.verdict);
    }
  }
  await calls(page);
}));

test('the colours are those of the report page', () => {
  const ui = 'analysis/report/page/ui/src';
  const html = readFileSync('cli/lib/compare_html.c', 'utf8').replaceAll(/"\s*"/g, '');
  const css = readFileSync(`${ui}/style.css`, 'utf8');
  const lines = readFileSync(`${ui}/colors.js`, 'utf8');
  const of = (text) => Object.fromEntries([...text.matchAll(/--([a-z0-9-]+):\s*(#[0-9a-f]{6})/g)].map((m) => [m[1], m[2]]));
  const blocks = (text) => [...text.matchAll(/:root[^{]*\{([^}]*)\}/g)].map((m) => of(m[1]));
  const list = (name) => [...new RegExp(`${name} = \\[([^\\]]*)`).exec(lines)[1].matchAll(/#[0-9a-f]{6}/g)].map((m) => m[0]);
  const mine = blocks(html);
  equal(mine.length, 2);
  for (const [i, theirs] of blocks(css).slice(0, 2).entries()) {
    list(i ? 'LINES_DARK' : 'LINES_LIGHT').forEach((c, k) => { theirs[`s${k}`] = c; });
    ok(Object.keys(mine[i]).length > 15, 'colours');
    for (const [name, c] of Object.entries(mine[i])) equal(c, theirs[name], name);
  }
});

// Texts that lie on each other, leave their drawing, are too small, or are cut without a way to read them; marks that are hard to see.
const misfits = (page) => page.evaluate(() => {
  const out = [];
  const box = (e) => e.getBoundingClientRect();
  for (const svg of document.querySelectorAll('svg.plot')) {
    const all = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim());
    const r = box(svg);
    for (const [i, t] of all.entries()) {
      const a = box(t);
      const size = t.matches('.title-y') ? a.width : a.height;
      if (size < 9.5 || size > 20) out.push(`${t.textContent} is ${size} px high`);
      if (a.left < r.left || a.right > r.right || a.top < r.top || a.bottom > r.bottom) out.push(`${t.textContent} leaves the drawing`);
      for (const u of all.slice(i + 1)) {
        const b = box(u);
        if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom) out.push(`${t.textContent} lies on ${u.textContent}`);
      }
    }
  }
  for (const li of document.querySelectorAll('.bars li, .bar-axis')) {
    const parts = [...(li.querySelector('.bar-head') || li).children].map(box);
    if (parts.some((p, i) => i && p.left < parts[i - 1].right - 0.5)) out.push(`words of a bar lie on each other: ${li.innerText}`);
  }
  for (const e of document.querySelectorAll('td, th, p, li, h1, h2, h3, .name, .change, .word')) {
    if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth && getComputedStyle(e).display !== 'inline' && !(e.matches('.name') && e.title)) out.push(`cut: ${e.innerText.slice(0, 40)}`);
  }
  return [...new Set(out)].slice(0, 8);
});

const faint = (page) => page.evaluate(() => {
  const parse = (c) => /\(([^)]+)\)/.exec(c)[1].split(/[ ,/]+/).map(Number);
  const lum = (c) => { const [r, g, b] = c.map((v) => { const x = v / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const out = new Set();
  for (const e of document.querySelectorAll('.mark, .bar rect, .roof, .equal, .error, .zero')) {
    const style = getComputedStyle(e);
    const card = parse(getComputedStyle(e.closest('section')).backgroundColor);
    const [paint, a] = style.fill === 'none' ? [style.stroke, 1] : [style.fill, Number(style.fillOpacity)];
    const [x, y] = [lum(parse(paint).slice(0, 3).map((v, i) => v * a + card[i] * (1 - a))), lum(card)].sort((p, q) => q - p);
    if ((x + 0.05) / (y + 0.05) < 3) out.add(`${e.getAttribute('class')}: ${((x + 0.05) / (y + 0.05)).toFixed(2)}`);
  }
  return [...out];
});

// Words that stand on the page, and how many drawings; nothing is written as a number that is none.
const says = (words, plots) => async (page) => {
  const body = plain(await page.locator('main').innerText());
  for (const w of words) ok(body.includes(w), `“${w}” in ${body}`);
  ok(!/\b(nan|inf)\b/i.test(body), body);
  equal(await page.evaluate(() => document.querySelectorAll('svg.plot').length), plots, 'drawings');
};

const CHECKS = {
  // one title, headings in order, a policy that loads nothing
  three: async (page) => {
    const h = await page.evaluate(() => [...document.querySelectorAll('h1, h2, h3')].map((e) => [Number(e.tagName[1]), e.innerText]));
    deepEqual(h.slice(0, 6), [[1, 'Library calls compared'], [2, 'Roofline'], [2, 'B against A: faster'], [3, 'A against B'], [3, 'What B would change in the model'], [3, 'Calls']]);
    ok(h.slice(1).every(([level], i) => level > 1 && level - h[i][0] <= 1), 'no level is left out');
    equal(await page.evaluate(() => document.querySelector('meta[http-equiv]').content), "default-src 'none'; style-src 'unsafe-inline'");
    ok(await page.evaluate(() => [...document.querySelectorAll('svg[role=img]')].every((s) => s.firstElementChild.tagName === 'title' && s.firstElementChild.textContent)), 'each drawing has a title');
  },
  // bars and table begin with the calls that are made most often
  bycalls: async (page) => {
    const want = [...CALLS].sort((a, b) => b.calls - a.calls).map((c) => c.key);
    deepEqual((await bars(page, 0)).map((b) => b.name), want);
    deepEqual((await cells(page, 0)).map((r) => r.text[1]), want);
    await diagonal(page, [0.77, 0.9, 1.1, 1.23], [0.73, 1.28]);
  },
  // all are drawn inside; twenty bars, two hundred rows, and the rest is counted
  many: async (page) => {
    const roofline = await seen(page, 0);
    inside(roofline);
    equal(roofline.marks.length, 2000, 'a thousand for each side');
    const scatter = await seen(page, 1);
    inside(scatter);
    equal(scatter.marks.length, 2000);
    const body = plain(await page.locator('main').innerText());
    for (const words of ['2000 more calls of these sides are not drawn.', '1980 more calls are in the table', '… and 1800 more, which -o FILE.csv has.']) ok(body.includes(words), words);
    const rows = await cells(page, 0);
    equal(rows.length, 200);
    const effects = rows.map((r) => Math.abs(parseFloat(r.title[3])));
    deepEqual(effects, [...effects].sort((a, b) => b - a));
    near(effects[0], Math.max(...results.many.rows.map((r) => Math.abs(r.effect_s))), 1e-6);
    ok(rows.some((r) => r.text[2] === 'slower') && rows.some((r) => r.text[2] === 'faster'), 'both directions');
    equal((await bars(page, 0)).length, 20);
  },
  // nothing of a name is markup
  hostile: async (page) => {
    equal(await page.title(), 'Library calls compared – profrig');
    equal(await page.evaluate(() => document.querySelectorAll('script, img, b, i, s, iframe, link, object, a, form').length), 0);
    equal(await page.evaluate(() => [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on|^src|^href/.test(a.name))).length), 0);
    const shown = (await cells(page, 0)).map((r) => r.text[1]);
    for (const n of HOSTILE.filter((k) => k.length < 100 && !k.includes('\u202e'))) ok(shown.includes(n), `${n} in ${shown.join(' | ')}`);
    ok(shown.some((n) => /^W{200}…$/.test(n)) && shown.some((n) => /^(行列)+行?…$/.test(n)), 'long names are cut between two letters');
    ok((await bars(page, 0)).some((b) => b.name === HOSTILE[0]));
    ok(await page.evaluate((n) => [...document.querySelectorAll('svg title')].some((t) => t.textContent.endsWith(n)), HOSTILE[0]), 'in titles, too');
  },
  extreme: says(['B against A: '], 2),
  apart: says(['B against A: not comparable', 'no call has a time in both', 'Not drawn: no measured call has both GFLOP/s and GB/s.', 'Not drawn: no call can be compared.', 'missing'], 0),
  refused: says(['B against A: not comparable', '1 refused', 'clock 2000 MHz against 3000'], 1),
  lonely: says(['the effects are 0, or calls were not counted', 'Nothing is predicted: the tables have no numbers of calls.', 'best measured: 13.5 GFLOP/s'], 2),
  sides: says(['Further sides are in the other outputs.', 'machine 1'], 9),
};

for (const name of PAGES) {
  test(`the page of ${name}: what it says; readable at 1280 and 390 px, in light and dark`, () => compare(name, async (page) => {
    await CHECKS[name](page);
    for (const [width, height] of [[1280, 800], [390, 844]]) {
      await page.setViewportSize({ width, height });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      ok(wide <= width, `${wide} px at ${width}`);
      deepEqual(await misfits(page), [], `${width} px`);
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        // thousands of marks and cells in the colours of the other pages say nothing new
        if (width === 390 && name !== 'many') {
          deepEqual(await contrasts(page), [], colorScheme);
          deepEqual(await faint(page), [], `marks in ${colorScheme}`);
          const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
          equal(back, colorScheme === 'dark' ? 'rgb(23, 27, 33)' : 'rgb(246, 247, 249)');
        }
        if (name === 'three' || (name === 'many' && width === 1280 && colorScheme === 'light')) await page.screenshot({ path: `${SHOTS}/compare-${name}-${width}-${colorScheme}.png` });
      }
    }
  }));
}
