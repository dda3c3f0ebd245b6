// Every tab of a page by keyboard, in both themes, at both sizes and on paper: it is the one that is shown, nothing leaves the window, and its numbers are
// those of the tables. Of a small job of two ranks, and of a real training where a python3 here has torch.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { deepEqual, equal, ok, test } from './tap.mjs';
import { sum, table } from './csv.mjs';
import { ROOT, withPage } from './pages.mjs';
import { activeTab, exact, settle } from './look.mjs';

// The file of a table that is the whole of its tab; in the order of the document.
const WHOLE = { timeline: ['lanes'], functions: ['functions'], kernels: ['kernels'], energy: ['energy', 'energy_calls'], samples: ['counters'] };
// What a column makes of others: shares of the rows that are shown, a moment behind the first one, a range of lengths.
const MADE = { 'memory.Peak at': 1, 'kernel_lengths.Length': 1, 'energy.±': 1, 'energy_calls.±': 1 };

// Drawings to move about in are not printed.
const MOVING = ['timeline', 'flame', 'samples'];

// Tables of a tab that can be seen: { name, cells: [[head, exact value]] }; name is that of the CSV file.
const shown = async (page, tab) => (await page.evaluate((t) => [...document.querySelectorAll(`#panel-${t} table.data:not(.plain)`)].filter((box) => box.checkVisibility()).map((box) => {
  const heads = [...box.querySelectorAll('th .th-label')].map((th) => th.firstChild.textContent);
  return {
    name: box.closest('[id^=part-]')?.id.replace(`part-${t}-`, ''),
    cells: [...box.querySelectorAll('tbody tr')].flatMap((tr) => [...tr.children].map((td, i) => [heads[i], (td.title || td.querySelector('[title]')?.title || '').replace(/[\u00a0\u202f]/g, '')])),
  };
}), tab)).map((t, i) => ({ ...t, name: t.name || WHOLE[tab]?.[i] }));

const files = new Map();
// Every number of a CSV file, and as percent, to 12 digits.
function numbers(dir, name) {
  const key = `${dir}/${name}`;
  if (!files.has(key)) files.set(key, new Set(table(dir, name).flatMap((r) => Object.values(r)).filter((v) => typeof v === 'number').flatMap((v) => [v, 100 * v]).map((v) => v.toPrecision(12))));
  return files.get(key);
}

// How many cells of a tab's tables are numbers of their files; fails at one that is not.
async function held(page, dir, tab) {
  let n = 0;
  for (const t of await shown(page, tab)) {
    for (const [head, title] of t.cells) {
      const v = exact(title);
      if (!/^-?[\d.]/.test(title) || Number.isNaN(v) || MADE[`${t.name}.${head}`] || (head === 'Share' && !['functions', 'energy'].includes(t.name))) continue;
      ok(numbers(dir, t.name).has(v.toPrecision(12)), `${tab}: ${t.name}.csv has no ${title}, which '${head}' shows`);
      n++;
    }
  }
  return n;
}

// What is no table of a file: how many numbers were held against one.
const drawn = {
  async summary(page, dir) {
    const costs = await page.evaluate(() => [...document.querySelectorAll('.costs strong')].filter((s) => s.checkVisibility()).map((s) => s.title));
    for (const c of costs) ok(numbers(dir, 'functions').has(exact(c).toPrecision(12)), `a cost of ${c}`);
    if (existsSync(`${dir}/tables/overlap.csv`)) {
      const all = table(dir, 'overlap');
      deepEqual(await page.evaluate(() => [...document.querySelectorAll('.stack > div')].map((d) => Number(/(\d[\d \u00a0\u202f]*)/.exec(d.title)[1].replace(/\D/g, '')))),
        ['compute_ns', 'exposed_comm_ns', 'exposed_copy_ns', 'idle_ns'].map((c) => sum(all, c)), 'where the time went');
    }
    return costs.length;
  },
  async flame(page, dir) {
    const paths = table(dir, 'callpaths');
    const rows = await page.evaluate(() => [...document.querySelectorAll('.flame-side table')].filter((t) => t.checkVisibility() && t.caption.textContent === 'largest frames')
      .flatMap((t) => [...t.tBodies[0].rows].map((r) => [r.cells[0].innerText, r.cells[1].title])));
    for (const [name, title] of rows) equal(Number(title.replace(/\D/g, '')), sum(paths.filter((p) => p.path.split(';').pop() === name), 'exclusive_ns'), name);
    return rows.length;
  },
  async run(page, dir) {
    const rows = await page.evaluate(() => [...document.querySelectorAll('#panel-run table')].filter((t) => t.caption?.textContent === 'tables' && t.checkVisibility())
      .flatMap((t) => [...t.tBodies[0].rows].map((r) => [r.cells[0].innerText, Number(r.cells[1].innerText.replace(/\D/g, ''))])));
    for (const [file, n] of rows.filter(([f]) => f.startsWith('tables/'))) equal(n, table(dir, file.slice(7, -4)).length, `rows of ${file}`);
    equal(rows.filter(([f]) => f.startsWith('tables/')).length, readdirSync(`${dir}/tables`).length, 'all tables are named');
    return rows.length;
  },
};

const count = async (page, dir, tab) => (drawn[tab] ? await drawn[tab](page, dir) : await held(page, dir, tab));
const tabsOf = (page) => page.evaluate(() => [...document.querySelectorAll('[role=tab]')].map((b) => b.id.replace('tab-', '')));

async function walk(page, dir, width) {
  const tabs = await tabsOf(page);
  await page.focus('#tab-summary');
  for (const [i, tab] of tabs.entries()) {
    if (i) await page.keyboard.press('ArrowRight');
    await page.waitForSelector(`#panel-${tab}:not([hidden])`);
    await settle(page);
    equal(await activeTab(page), tab);
    equal(await page.evaluate(() => document.activeElement.id), `tab-${tab}`, 'the focus');
    deepEqual(await page.evaluate(() => [...document.querySelectorAll('[role=tabpanel]')].filter((p) => p.checkVisibility()).map((p) => p.id)), [`panel-${tab}`]);
    ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, `${tab} is wider than ${width} px`);
    ok(await count(page, dir, tab) > 0, `${tab} shows no number`);
  }
  return tabs;
}

async function print(page, dir) {
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  await settle(page);
  for (const tab of (await tabsOf(page)).filter((t) => !MOVING.includes(t))) {
    const height = await page.evaluate((t) => document.getElementById(`panel-${t}`).getBoundingClientRect().height, tab);
    ok(height > 40, `${tab} is ${height} px high on paper`);
    ok(await count(page, dir, tab) > 0, `${tab} has no number on paper`);
  }
}

function walks(name, scenario, least) {
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    for (const scheme of ['light', 'dark']) {
      test(`${name}: every tab by keyboard has the numbers of its tables, ${width}×${height}, ${scheme}`, async () => withPage(await scenario(), { scheme, viewport: { width, height } }, async (page) => {
        const tabs = await walk(page, `${ROOT}/${await scenario()}`, width);
        for (const t of least) ok(tabs.includes(t), `${t} in ${tabs.join(' ')}`);
      }));
    }
  }
  for (const scheme of ['light', 'dark']) {
    test(`${name}: every tab on paper has the numbers of its tables, from ${scheme}`, async () => withPage(await scenario(), { scheme }, async (page) => print(page, `${ROOT}/${await scenario()}`)));
  }
}

walks('a job of two ranks', () => 'work', ['timeline', 'flame', 'functions', 'kernels', 'operators', 'communication', 'ranks', 'iterations', 'memory', 'idle', 'energy', 'samples', 'run']);

// ---- a real training, on processors ----

const python = ['python3', '/usr/bin/python3'].find((p) => {
  try {
    execFileSync(p, ['-c', 'import torch.profiler'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
});

const TRAIN = `import torch
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
for step in range(20):
    with torch.profiler.record_function(f"step_{step}"):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
print("performance: 64 samples/s")
`;

// A run with the hook of the tool, its page beside its tables: ROOT/torch.
let trained = '';
function train() {
  if (trained) return trained;
  const runs = resolve(`${ROOT}/torch-runs`);
  mkdirSync(runs, { recursive: true });
  writeFileSync(`${runs}/train.py`, TRAIN);
  execFileSync(resolve(process.env.B || 'build', 'profrig'), ['-q', 'run', '--engine', 'host', '-o', runs, '--tools', 'torch_profiler', '--', python, `${runs}/train.py`], { stdio: 'pipe' });
  trained = 'torch-runs/latest/analysis';
  return trained;
}

if (python) {
  walks('a real training', train, ['timeline', 'flame', 'functions', 'operators', 'iterations', 'run']);
  test('a real training: the first screen says what ran and what it took', async () => withPage(train(), {}, async (page) => {
    const words = (await page.locator('#panel-summary').innerText()).replace(/[\u00a0\u202f]/g, ' ');
    for (const want of ['64.0 samples/s', 'aten::']) ok(words.includes(want), `${want} in ${words}`);
    const run = JSON.parse(readFileSync(`${ROOT}/torch-runs/latest/run.json`, 'utf8'));
    equal(run.status, 'success');
    equal(table(`${ROOT}/${train()}`, 'iterations').length, 20);
  }));
} else {
  console.log('ok 1 - page in chromium: a real training # SKIP no python3 here has torch');
}
