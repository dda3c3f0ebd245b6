// The tabs of the analyses: what their tables and drawings show against the CSV files, and what is said of those that are not there.

import { deepEqual, equal, near, ok, test } from './tap.mjs';
import { sum, table } from './csv.mjs';
import { ROOT, withPage } from './pages.mjs';
import { activeTab, exact, open, plain, texts } from './look.mjs';
import { HOSTILE } from './workload.mjs';

const work = `${ROOT}/work`;
const TABS = ['timeline', 'functions', 'kernels', 'operators', 'communication', 'ranks', 'iterations', 'memory', 'idle', 'energy'];
// Pages of analyses with the tabs that only they have parts in.
const PAGES = [['work', TABS], ['programs', ['kernels', 'programs', 'iterations', 'idle']], ['cycles', ['kernels', 'idle']]];
const OF_ALL = PAGES.flatMap(([scenario, tabs]) => tabs.map((tab) => [scenario, tab]));

// Rows of the table of one part: { head: { text, title } }
const part = (page, tab, name) => page.evaluate(([t, n]) => {
  const box = document.querySelector(`#part-${t}-${n} table.data:not(.plain)`);
  const heads = [...box.querySelectorAll('th .th-label')].map((th) => th.firstChild.textContent);
  return [...box.querySelectorAll('tbody tr')].map((tr) => Object.fromEntries([...tr.children].map((td, i) => [heads[i], { text: td.innerText, title: (td.title || td.querySelector('[title]')?.title || '').replace(/[\u00a0\u202f]/g, '') }])));
}, [tab, name]);

// Each column of a part holds exactly the values of one of the CSV file's.
async function holds(page, tab, name, cols, dir = work) {
  const rows = await part(page, tab, name);
  const want = table(dir, name);
  equal(rows.length, want.length, `${name}: rows`);
  for (const [head, col] of Object.entries(cols)) {
    deepEqual(rows.map((r) => exact(r[head].title)).sort((a, b) => a - b), want.map((r) => r[col]).sort((a, b) => a - b), `${name}.${col}`);
  }
  return rows;
}

test('every analysis has its tab, in the order of the page', () => withPage('work', {}, async (page) => {
  deepEqual(await page.evaluate(() => [...document.querySelectorAll('[role=tab]')].map((t) => t.id.replace('tab-', ''))),
    ['summary', 'timeline', 'flame', 'functions', 'kernels', 'operators', 'communication', 'ranks', 'iterations', 'memory', 'idle', 'energy', 'samples', 'run']);
}));

test('no table of a tab is cut at 1280 px, and the page is no wider than 390 px', async () => {
  for (const [scenario, t] of OF_ALL) {
    await withPage(scenario, { hash: t }, async (page) => {
      await open(page, t);
      for (const w of await page.evaluate((id) => [...document.querySelectorAll(`#panel-${id} .table-scroll`)].map((s) => [s.getAttribute('aria-label'), s.scrollWidth, s.clientWidth]), t)) ok(w[1] <= w[2], `${scenario}, ${t}: ${w.join(' ')}`);
    });
    await withPage(scenario, { hash: t, viewport: { width: 390, height: 844 } }, async (page) => {
      await open(page, t);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      ok(wide <= 390, `${scenario}, ${t}: ${wide} px`);
    });
  }
});

test('shares of every table add up to 100 %', () => withPage('work', {}, async (page) => {
  let seen = 0;
  for (const [tab, name] of [['kernels', 'kernel_classes'], ['kernels', 'kernel_lengths'], ['operators', 'operators'], ['communication', 'collective_ranks'], ['iterations', 'critical_path'], ['memory', 'memory_peak'], ['idle', 'idle_causes'], ['idle', 'idle']]) {
    await open(page, tab);
    near((await part(page, tab, name)).reduce((a, r) => a + exact(r.Share.title), 0), 100, 1e-9, name);
    seen++;
  }
  equal(seen, 8);
}));

test('kernels: classes, matrix products and lengths', () => withPage('work', { hash: 'kernels=kernel_classes' }, async (page) => {
  await holds(page, 'kernels', 'kernel_classes', { Calls: 'calls', Total: 'total_ns', Union: 'union_ns' });
  const gemm = await holds(page, 'kernels', 'gemm', { Calls: 'calls', Total: 'total_ns' });
  equal(gemm[0].Tile.text, '128×64');
  const bars = await page.evaluate(() => [...document.querySelectorAll('#part-kernels-kernel_classes .bars-value')].map((b) => b.textContent));
  equal(bars.length, table(work, 'busy').length);
  ok(await page.evaluate(() => document.querySelector('#panel-kernels table.data').caption.textContent) === 'kernels', 'the kernels come first');
}));

test('a program without devices has the time of its host, and no columns of zeros', () => withPage('hostwork', { hash: 'operators' }, async (page) => {
  const heads = (rows) => Object.keys(rows[0]).join(' ');
  const rows = await part(page, 'operators', 'operators');
  equal(heads(rows), 'Operator Shapes Calls Share Host TFLOP/s');
  const host = rows.map((r) => exact(r.Host.title));
  deepEqual(host, [...host].sort((a, b) => b - a), 'by host time');
  near(rows.reduce((a, r) => a + exact(r.Share.title), 0), 100, 1e-9, 'shares');
  equal(await page.locator('#part-operators-autograd').count(), 0);
  await open(page, 'iterations');
  equal(heads(await part(page, 'iterations', 'iterations')).includes('On the device'), false);
}));

test('operators and their roofline', () => withPage('work', { hash: 'operators' }, async (page) => {
  await holds(page, 'operators', 'operators', { Calls: 'calls', 'Own work': 'own_ns', Host: 'host_self_ns' });
  const points = table(work, 'perf').filter((p) => !/nominal|host/.test(p.flags));
  equal(await page.locator('#part-operators-perf .point').count(), points.length);
  const title = plain(await page.evaluate(() => document.querySelector('#part-operators-perf .point title').textContent));
  ok(title.startsWith('aten::mm ') && title.includes(`${Number(points[0].tflops).toPrecision(3)} TFLOP/s`), title);
  const peak = table(work, 'peaks').find((p) => p.precision === points[0].precision && p.device === 'gpu0');
  const roof = plain(await page.evaluate(() => document.querySelector('#part-operators-perf .roof-name').textContent));
  ok(roof.startsWith(`fp32: ${Number(peak.value).toPrecision(3)} TFLOP/s`), roof);
  // On the roof's own scale the point lies as far below it as the table says.
  const y = await page.evaluate(() => {
    const at = document.querySelector('#part-operators-perf circle');
    const roof = document.querySelector('#part-operators-perf .roof');
    const ticks = [...document.querySelectorAll('#part-operators-perf line.grid')].filter((l) => l.getAttribute('y1') === l.getAttribute('y2')).map((l) => Number(l.getAttribute('y1')));
    let below = 0;
    for (let i = 0; i <= roof.getTotalLength(); i++) if (roof.getPointAtLength(i).x <= Number(at.getAttribute('cx'))) below = roof.getPointAtLength(i).y;
    return { decade: Math.abs(ticks[1] - ticks[0]), below: Number(at.getAttribute('cy')) - below };
  });
  near(100 * 10 ** (-y.below / y.decade), points[0].pct_of_attainable, 0.02, 'share of the roof');
}));

test('communication: bandwidth over size, waits of ranks', () => withPage('work', { hash: 'communication' }, async (page) => {
  await holds(page, 'communication', 'collectives', { Size: 'bytes', Calls: 'instances', Waits: 'wait_ns' });
  await holds(page, 'communication', 'collective_ranks', { Waited: 'wait_ns', 'Others waited': 'caused_wait_ns' });
  const all = table(work, 'collective_instances');
  equal(await page.locator('#part-communication-collective_instances circle.point').count(), all.filter((i) => i.complete === 'yes').length);
  equal(await page.locator('#part-communication-collective_instances path.point').count(), all.filter((i) => i.complete !== 'yes' && i.busbw_gbps > 0).length);
}));

test('iterations: their times, and the critical path by class', () => withPage('work', { hash: 'iterations' }, async (page) => {
  await holds(page, 'iterations', 'iterations', { Start: 'start_ns', Time: 'dur_ns', Busy: 'union_ns' });
  await holds(page, 'iterations', 'critical_path', { Time: 'ns' });
  const want = table(work, 'iterations');
  deepEqual(await texts(page, '#part-iterations-iterations .bars bdi'), want.map((i) => `${i.marker}, rank ${i.rank}`));
  const widths = await page.evaluate(() => [...document.querySelectorAll('#part-iterations-iterations .bars-bar')].map((b) => b.getBoundingClientRect().width));
  const max = Math.max(...want.map((i) => i.dur_ns));
  want.forEach((i, k) => near(widths[k] / Math.max(...widths), i.dur_ns / max, 0.02, i.marker));
  await page.click('#part-iterations-iterations .bars button >> nth=3');
  await page.waitForSelector('#panel-timeline:not([hidden])');
  equal(await page.evaluate(() => location.hash), `#timeline=${want[3].start_ns}:${want[3].start_ns + want[3].dur_ns}`);
}));

test('memory: the peak by operator', () => withPage('work', { hash: 'memory' }, async (page) => {
  await holds(page, 'memory', 'memory', { Peak: 'peak', Allocations: 'allocs' });
  await holds(page, 'memory', 'memory_peak', { Blocks: 'blocks', Size: 'bytes' });
  const said = await texts(page, '#part-memory-memory_peak h3');
  equal(said.length, new Set(table(work, 'memory_peak').map((r) => r.device)).size);
  ok(plain(said[0]).endsWith('10.5 MB at the peak'), said[0]);
}));

test('idle: causes, and a gap leads to its moment', () => withPage('work', { hash: 'idle' }, async (page) => {
  await holds(page, 'idle', 'idle_causes', { Stretches: 'parts', Time: 'total_ns' });
  await holds(page, 'idle', 'overlap', { 'First to last': 'wall_ns', Compute: 'compute_ns', Communication: 'comm_ns', Idle: 'idle_ns' });
  await holds(page, 'idle', 'idle', { Gaps: 'count', Time: 'total_ns' });
  await holds(page, 'idle', 'launch_latency', { Linked: 'linked', Median: 'median_ns' });
  await holds(page, 'idle', 'queue', { 'Latencies summed': 'area_ns' });
  const gaps = await holds(page, 'idle', 'idle_gaps', { Start: 'start_ns', Length: 'dur_ns' });
  equal(sum(table(work, 'idle_causes'), 'total_ns'), sum(table(work, 'overlap'), 'idle_ns'));
  await page.click('#part-idle-idle_gaps tbody button >> nth=0');
  await page.waitForSelector('#panel-timeline:not([hidden])');
  const [a, b] = /timeline=(\d+):(\d+)/.exec(await page.evaluate(() => location.hash)).slice(1).map(Number);
  const start = exact(gaps[0].Start.title);
  ok(a <= start && b >= start + exact(gaps[0].Length.title), `${a}:${b}`);
}));

test('iterations: where the time of each went', () => withPage('work', { hash: 'iterations=iteration_overlap' }, async (page) => {
  const want = table(work, 'iteration_overlap');
  await holds(page, 'iterations', 'iteration_overlap', { Start: 'start_ns', Time: 'wall_ns', Compute: 'compute_ns', Communication: 'comm_ns', Copies: 'copy_ns', Idle: 'idle_ns', 'Own work': 'own_ns' });
  const bars = await page.evaluate(() => [...document.querySelectorAll('#part-iterations-iteration_overlap .bars-track')].map((b) => b.getAttribute('aria-label')));
  equal(bars.length, want.length);
  ok(plain(bars[0]).includes(`compute ${(want[0].compute_ns / 1e6).toFixed(2)} ms, exposed communication ${want[0].exposed_comm_ns / 1e3} µs`), bars[0]);
}));

test('iterations: all of them side by side from their start', () => withPage('work', { hash: 'iterations' }, async (page) => {
  const want = table(work, 'iteration_overlap');
  // By keyboard, along the first row: what runs there adds up to the table's times.
  const start = table(work, 'iterations').find((i) => i.marker === want[0].iteration && i.rank === want[0].rank);
  const width = Math.max(...want.map((o) => { const i = table(work, 'iterations').find((x) => x.marker === o.iteration && x.rank === o.rank); return Math.max(i.dur_ns, o.start_ns + o.wall_ns - i.start_ns); }));
  await page.locator('#panel-iterations .heat').focus();
  await page.keyboard.press('Home');
  const said = await page.evaluate(() => Array.from({ length: document.querySelector('#panel-iterations .heat-row').width }, () => {
    const words = document.querySelector('#panel-iterations .heat-read').innerText;
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
    return words;
  }));
  const columns = said.length;
  const last = plain(said.at(-1));
  const sums = Object.fromEntries(['compute', 'communication alone', 'copies alone'].map((k) => [k, said.reduce((a, words) => a + parseFloat(new RegExp(`${k} <?\\s?([\\d.]+) %`).exec(plain(words))[1]) / 100, 0)]));
  ok(last.startsWith(`${want[0].iteration}, ${want[0].device}, `) && last.includes(' over by then'), last);
  const ns = width / columns;
  near(sums.compute * ns, want[0].compute_ns, 0.01, 'compute');
  near(sums['communication alone'] * ns, want[0].exposed_comm_ns, 0.02, 'communication');
  near(sums['copies alone'] * ns, want[0].exposed_copy_ns, 0.05, 'copies');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#panel-timeline:not([hidden])');
  const [a, b] = /timeline=(\d+):(\d+)/.exec(await page.evaluate(() => location.hash)).slice(1).map(Number);
  ok(a <= start.start_ns && b >= start.start_ns, `${a}:${b}`);
}));

test('communication: who waited in which collective, by keyboard and in a table', () => withPage('work', { hash: 'communication=collective_waits' }, async (page) => {
  const want = table(work, 'collective_waits');
  await holds(page, 'communication', 'collective_waits', { Number: 'first', Waited: 'wait_ns', 'Others waited': 'caused_wait_ns' });
  const ranks = table(work, 'collective_ranks');
  for (const [value, col] of [['wait_ns', 'wait_ns'], ['caused_wait_ns', 'caused_wait_ns']]) {
    await page.selectOption('#wait-heat-value', value);
    deepEqual((await texts(page, '#part-communication-collective_waits .heat > span')).map(parseFloat), ranks.map((r) => Number((r[col] >= 1e6 ? r[col] / 1e6 : r[col] / 1e3).toPrecision(3))), value);
  }
  await page.selectOption('#wait-heat-value', 'wait_ns');
  await page.locator('#part-communication-collective_waits .heat').focus();
  const read = async () => plain(await page.locator('#part-communication-collective_waits .heat-read').innerText());
  await page.keyboard.press('ArrowRight');
  const instance = table(work, 'collective_instances').filter((i) => i.complete === 'yes');
  for (let k = 0; k < instance.length; k++) {
    const mine = want.find((w) => w.rank === 0 && w.first === k);
    const words = await read();
    ok(words.startsWith(`rank 0, ${instance[k].name} #${instance[k].seq}, `) && words.includes(`: waited ${Number((mine.wait_ns / 1e3).toPrecision(3))} µs;`), `${words} of ${mine.wait_ns}`);
    await page.keyboard.press('ArrowRight');
  }
  await page.keyboard.press('ArrowDown');
  const last = want.filter((w) => w.rank === 1).at(-1);
  ok((await read()).includes(`waited 0 s; others waited ${Number((last.caused_wait_ns / 1e3).toPrecision(3))} µs for it`), await read());
  // The longest wait has the end of the scale as its colour.
  const colors = await page.evaluate(() => [...document.querySelectorAll('#part-communication-collective_waits canvas')].map((c) => Array.from(c.getContext('2d').getImageData(0, 0, c.width, 1).data)));
  equal(colors[0].length, 4 * instance.length, 'a column for each');
  const zero = want.filter((w) => w.rank === 1).every((w) => w.wait_ns === 0);
  ok(zero && colors[1][0] === 0x44 && colors[1][1] === 1 && colors[1][2] === 0x54, `${colors[1].slice(0, 3)}`);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#panel-timeline:not([hidden])');
}));

test('ranks: energy of functions by rank', () => withPage('work', { hash: 'ranks=energy_ranks' }, async (page) => {
  const want = table(work, 'energy_ranks');
  await holds(page, 'ranks', 'energy_ranks', { Rank: 'rank', Calls: 'calls', Own: 'exclusive_j', 'Own time': 'exclusive_ns', 'Mean power': 'mean_w' });
  const cell = (name, rank) => page.evaluate(([n, r]) => [...document.querySelectorAll('#part-ranks-energy_ranks .heat-table tbody tr')].find((tr) => tr.querySelector('[title]').title === n).children[1 + r].innerText, [name, rank]);
  for (const r of [0, 1]) {
    const row = want.find((w) => w.rank === r && w.name === 'cudaDeviceSynchronize');
    equal(plain(await cell('cudaDeviceSynchronize', r)), `${Number(row.exclusive_j.toPrecision(3))} J`);
  }
  await page.focus('#rank-energy-value');
  await page.keyboard.press('ArrowDown');
  const row = want.find((w) => w.rank === 1 && w.name === 'cudaDeviceSynchronize');
  equal(plain(await cell('cudaDeviceSynchronize', 1)), `${Math.round(row.mean_w)} W`);
}));

test('ticks of a drawing neither leave it nor lie on each other, on a narrow screen too', async () => {
  for (const width of [1280, 390]) {
    await withPage('work', { viewport: { width, height: 844 } }, async (page) => {
      for (const tab of ['operators', 'communication']) {
        await open(page, tab);
        const trouble = await page.evaluate((t) => [...document.querySelectorAll(`#panel-${t} .log-chart svg`)].flatMap((svg) => {
          const out = [];
          const all = svg.getBoundingClientRect();
          const boxes = [...svg.querySelectorAll('text.tick:not(.roof-name)')].map((e) => ({ words: e.textContent, b: e.getBoundingClientRect() }));
          for (const { words, b } of boxes) if (b.left < all.left - 1 || b.right > all.right + 1) out.push(`${words} leaves it`);
          for (const [i, x] of boxes.entries()) for (const y of boxes.slice(i + 1)) if (x.b.left < y.b.right - 1 && y.b.left < x.b.right - 1 && x.b.top < y.b.bottom - 3 && y.b.top < x.b.bottom - 3) out.push(`${x.words} on ${y.words}`);
          return [...out, `${boxes.length} ticks`];
        }), tab);
        ok(trouble.length === 1 && parseInt(trouble[0], 10) > 3, `${tab}, ${width} px: ${trouble.join(', ')}`);
      }
    });
  }
});

test('an address names the part to begin with', () => withPage('work', { hash: 'idle=queue' }, async (page) => {
  await page.waitForFunction(() => window.scrollY > 0);
  const top = await page.evaluate(() => document.querySelector('#part-idle-queue').getBoundingClientRect().top);
  ok(top < 800, `${top} px`);
}));

test('the tabs are walked by keyboard, and / filters the first table of each', () => withPage('work', {}, async (page) => {
  await page.focus('#tab-summary');
  for (const want of ['timeline', 'flame', 'functions', 'kernels', 'operators', 'communication', 'ranks', 'iterations', 'memory', 'idle', 'energy', 'samples', 'run']) {
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector(`#panel-${want}:not([hidden])`);
    equal(await activeTab(page), want);
    equal(await page.evaluate(() => document.activeElement.id), `tab-${want}`, 'the focus');
  }
  await open(page, 'idle');
  await page.locator('#panel-idle').focus();
  await page.keyboard.press('/');
  await page.keyboard.type('gpu1');
  equal((await part(page, 'idle', 'idle_causes')).length, table(work, 'idle_causes').filter((r) => r.device === 'gpu1').length);
  await page.keyboard.press('Escape');
  equal((await part(page, 'idle', 'idle_causes')).length, table(work, 'idle_causes').length);
}));

test('names in the new tabs are text', () => withPage('work', {}, async (page) => {
  for (const t of TABS) {
    await open(page, t);
    equal(await page.evaluate(() => document.querySelectorAll('#app img, #app script').length), 0, t);
  }
  ok((await page.locator('#panel-kernels').innerText()).includes('softmax <img src=x'), 'as it is');
  equal(await page.evaluate((n) => [...document.querySelectorAll('#panel-kernels bdi')].filter((b) => b.title === n).length > 0, `softmax ${HOSTILE}`), true, 'whole in its title');
}));

test('a tab whose data is missing is absent, and the Run tab has the reason of the analysis', async () => {
  await withPage('demo', { hash: 'run' }, async (page) => {
    const absent = Object.fromEntries((await texts(page, '.absent li')).map((l) => l.split(': ')));
    for (const t of ['Timeline', 'Operators', 'Communication', 'Iterations', 'Memory', 'Idle']) ok(absent[t], `${t} in ${Object.keys(absent)}`);
    equal(await page.locator('#tab-operators').count(), 0);
  });
  await withPage('work', { hash: 'run' }, async (page) => {
    const lines = await texts(page, '.absent li');
    ok(lines.includes('graphs: no graph was launched or captured.'), lines.join(' | '));
  });
});

const programs = `${ROOT}/programs`;
const cycles = `${ROOT}/cycles`;

// What a bar says of its parts: { name: words }
const bars = (page, selector) => page.evaluate((sel) => Object.fromEntries([...document.querySelectorAll(`${sel} .bars-track`)].map((t) => {
  const [label, said] = t.getAttribute('aria-label').replace(/[\u00a0\u202f]/g, ' ').split(/: (.*)/);
  return [label, Object.fromEntries(said.split(', ').map((p) => p.match(/^(.*) ([\d.]+ \S+)$/).slice(1)))];
})), selector);

const us = (ns) => `${(ns / 1000).toPrecision(3)} µs`;

test('programs: modules and their operations, as the tables have them', () => withPage('programs', { hash: 'programs' }, async (page) => {
  const modules = await holds(page, 'programs', 'program_modules', { Executions: 'executions', Operations: 'ops', Total: 'total_ns', Busy: 'busy_ns', Mean: 'mean_ns', Max: 'max_ns', Waited: 'wait_ns' }, programs);
  deepEqual(modules.map((r) => exact(r.Share.title)), [100, 100], 'of each device');
  equal(modules[0].Module.text, 'jit_step');
  await page.locator('#part-programs-program_modules .all-columns').click();
  await holds(page, 'programs', 'program_modules', { Pieces: 'works', Steady: 'steady', Variants: 'programs', Min: 'min_ns' }, programs);
  const ops = await holds(page, 'programs', 'program_ops', { Calls: 'calls', Total: 'total_ns', Cost: 'cost_ns', Median: 'median_ns' }, programs);
  near(ops.reduce((a, r) => a + exact(r.Share.title), 0), 100, 1e-9, 'shares');
}));

test('programs: compilations by phase, in bars that add up, and by pass', () => withPage('programs', { hash: 'programs=compile' }, async (page) => {
  for (const [name, cols] of [['compile_phases', { Times: 'ranges', Time: 'self_ns' }], ['compile', { Times: 'ranges', 'On other threads': 'given', Own: 'self_ns', 'With passes in it': 'total_ns' }]]) {
    const rows = await holds(page, 'programs', name, cols, programs);
    near(rows.reduce((a, r) => a + exact(r.Share.title), 0), 100, 1e-9, `${name}: shares`);
  }
  const all = await bars(page, '#part-programs-compile_phases');
  const rows = table(programs, 'compile_phases');
  deepEqual(Object.keys(all), ['jit_step', 'jit_loss'], 'the longest first');
  for (const r of rows.filter((x) => x.module === 'jit_step')) equal(all.jit_step[r.phase === 'XlaCompile jit_step' ? 'outside of phases' : r.phase], us(r.self_ns), r.phase);
  const kept = rows.filter((x) => x.module === 'jit_loss' && all.jit_loss[x.phase]).map((x) => x.phase);
  equal(kept.length, 5, 'eight phases have a name of their own, three are of the other module');
  const rest = rows.filter((x) => x.module === 'jit_loss' && x.phase.startsWith('XlaPass') && !kept.includes(x.phase));
  equal(all.jit_loss['other phases'], us(sum(rest, 'self_ns')));
}));

test('kernels: operators beside ideal cycles, and the phases of executions', () => withPage('cycles', { hash: 'kernels=categories' }, async (page) => {
  const rows = await holds(page, 'kernels', 'categories', { Calls: 'calls', Time: 'time_ns', Cycles: 'cycles', Ideal: 'ideal_ns' }, cycles);
  deepEqual([rows[0].Kind.text, rows[0].Phase.text], ['Total', 'decoding']);
  const want = table(cycles, 'categories');
  deepEqual(rows.map((r) => exact(r.Utilisation.title)).sort((a, b) => a - b), want.map((r) => r.pt_utilisation * 100).sort((a, b) => a - b));
  await page.locator('#part-kernels-categories .all-columns').click();
  await holds(page, 'kernels', 'categories', { Match: 'match', 'Stated time': 'stated_ns', 'Ideal cycles': 'ideal_cycles' }, cycles);
  await holds(page, 'kernels', 'kernel_phases', { Calls: 'calls', Time: 'total_ns', Cycles: 'cycles', Mean: 'mean_cycles', Median: 'median_cycles', Max: 'max_cycles' }, cycles);
  const all = await bars(page, '#part-kernels-kernel_phases');
  for (const d of ['gpu0', 'gpu1']) {
    for (const [phase, words] of [['dma_in', 'copied in'], ['prep', 'prepared'], ['exec', 'executed'], ['dma_out', 'copied out']]) {
      equal(all[d][words], us(sum(table(cycles, 'kernel_phases').filter((r) => r.device === d && r.phase === phase), 'total_ns')), `${d}, ${phase}`);
    }
  }
}));

test('kernels: utilisation over time is a step for each execution, and nothing between them', () => withPage('cycles', { hash: 'kernels=utilisation' }, async (page) => {
  await holds(page, 'kernels', 'utilisation', { Start: 'start_ns', End: 'end_ns', Cycles: 'cycles', 'Ideal cycles': 'ideal_cycles' }, cycles);
  const want = table(cycles, 'utilisation').filter((r) => r.device === 'gpu0').sort((a, b) => a.start_ns - b.start_ns);
  const d = await page.evaluate(() => document.querySelector('#part-kernels-utilisation .step-line').getAttribute('d'));
  const steps = [...d.matchAll(/M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)/g)].map((m) => m.slice(1).map(Number));
  equal(steps.length, want.length, d);
  const bottom = await page.evaluate(() => Number(document.querySelector('#part-kernels-utilisation line.grid').getAttribute('y1')));
  const best = Math.max(...want.map((r) => r.utilisation));
  const high = Math.min(...steps.map((s) => s[1]));
  const ns = (want[want.length - 1].end_ns - want[0].start_ns) / (steps[steps.length - 1][2] - steps[0][0]);
  for (const [i, s] of steps.entries()) {
    near(bottom - s[1], ((bottom - high) * want[i].utilisation) / best, 0.2, `height of step ${i}`);
    near((s[0] - steps[0][0]) * ns, want[i].start_ns - want[0].start_ns, 2 * 0.1 * ns, `start of step ${i}`);
    equal(s[1], s[3]);
  }
  for (const words of await page.evaluate(() => [...document.querySelectorAll('#part-kernels-utilisation svg')].map((svg) => [...svg.querySelectorAll('text.tick')].map((t) => t.textContent)))) {
    equal(new Set(words).size, words.length, `moments that can be told apart: ${words.join(', ')}`);
  }
}));

test('idle: clocks of cycle counters, and captures of graphs', async () => {
  await withPage('cycles', { hash: 'idle=device_clocks' }, async (page) => {
    const rows = await holds(page, 'idle', 'device_clocks', { Events: 'events', Clock: 'mhz', Stated: 'stated_mhz', 'Wrong by': 'stated_error_ns' }, cycles);
    deepEqual(rows.map((r) => r.Device.text), ['gpu0', 'gpu1']);
    await page.locator('#part-idle-device_clocks .all-columns').click();
    await holds(page, 'idle', 'device_clocks', { 'Between, mean': 'interval_mean_mhz', 'Of an execution, max': 'duration_max_mhz' }, cycles);
  });
  await withPage('programs', { hash: 'idle=graph_captures' }, (page) => holds(page, 'idle', 'graph_captures', { Start: 'start_ns', Lasted: 'dur_ns', Nodes: 'nodes' }, programs));
});

test('the new parts say that they are of the whole recording where a window is selected, and reasons stand where they are absent', async () => {
  for (const [scenario, tab, names] of [['programs', 'programs', ['program_modules', 'program_ops', 'compile', 'compile_phases']], ['cycles', 'kernels', ['categories', 'kernel_phases', 'utilisation']], ['cycles', 'idle', ['device_clocks']]]) {
    await withPage(scenario, { hash: `${tab}&window=100000:900000` }, async (page) => {
      for (const n of names) equal(await page.locator(`#part-${tab}-${n} .tag`).first().isVisible(), true, n);
    });
  }
  await withPage('work', { hash: 'run' }, async (page) => {
    const absent = (await texts(page, '.absent li')).join(' | ');
    for (const w of ['Programs: ', 'categories: ', 'device_clocks, kernel_phases: ']) ok(absent.includes(w), `${w} in ${absent}`);
    equal(await page.locator('#tab-programs').count(), 0);
  });
});
