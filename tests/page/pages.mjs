// The pages under test, made anew, and a headless Chromium that opens them. Screenshots are left in build/page-shots.

import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeCycles, makeHostWork, makePrograms, makeWorkload } from './workload.mjs';

const require = createRequire(new URL('../../analysis/report/page/ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const B = process.env.B || 'build';
export const ROOT = resolve(B, 'page-pages');
export const SHOTS = resolve('build/page-shots');

const MADE = ['demo', 'cpu', 'trace', 'failed', 'partial', 'empty', 'damaged', 'hostile', 'big', 'huge', 'untraced'];
export const SCENARIOS = [...MADE, 'work', 'hostwork', 'programs', 'cycles'];
rmSync(ROOT, { recursive: true, force: true });
mkdirSync(SHOTS, { recursive: true });
makeWorkload(`${ROOT}/work`);
makeHostWork(`${ROOT}/hostwork`);
makePrograms(`${ROOT}/programs`);
makeCycles(`${ROOT}/cycles`);
for (const s of MADE) execFileSync(`${B}/tests/page/make_page`, [`${ROOT}/${s}`, s], { stdio: 'inherit' });

// Nothing here is late before this: other programs may take the machine's processors away for a while.
const PATIENCE_MS = 90000;

const browser = await chromium.launch({
  timeout: PATIENCE_MS,
  executablePath: process.env.PROFRIG_CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// Windows by what distinguishes them. A window of its own for each test, with its renderer, is two thirds of what opening a
// page costs, and leaves nothing that a new document does not begin with: the page keeps nothing in the browser.
const windows = new Map();
async function window(look, own) {
  const key = own ? Symbol('own') : JSON.stringify(look);
  if (!windows.has(key)) {
    const context = await browser.newContext({ ...look, permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    windows.set(key, page);
  }
  return { key, page: windows.get(key) };
}

// As a window was when it was new: no document, pointer in the corner, what tests change set back.
async function clear(page, look) {
  await page.goto('about:blank');
  await page.mouse.move(0, 0);
  await page.emulateMedia({ media: null });
  const { width, height } = page.viewportSize();
  if (width !== look.viewport.width || height !== look.viewport.height) await page.setViewportSize(look.viewport);
}

// Opens a scenario's page, hands it to fn, and fails on any console error, exception or request that leaves the file. Where opts.own is
// set, in a window that no test had before: what it measures begins there.
export async function withPage(scenario, opts, fn) {
  const look = { viewport: opts.viewport || { width: 1280, height: 800 }, colorScheme: opts.scheme || 'light', reducedMotion: opts.motion || 'reduce' };
  const { key, page } = await window(look, opts.own);
  const trouble = [];
  const check = () => { if (trouble.length) throw new Error(trouble.join('\n')); };
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && trouble.push(`console ${m.type()}: ${m.text()}`));
  page.on('pageerror', (e) => trouble.push(`exception: ${e.stack}`));
  page.on('request', (r) => /^(file|data|blob):|^about:blank$/.test(r.url()) || trouble.push(`request to ${r.url()}`));
  page.on('dialog', (d) => { trouble.push(`dialog: ${d.message()}`); d.dismiss(); });
  try {
    await page.goto(`file://${ROOT}/${scenario}/${opts.file || 'report.html'}${opts.hash ? `#${opts.hash}` : ''}`);
    if (!opts.file) await page.waitForSelector('[role=tab][aria-selected=true]');
    const result = await fn(page);
    check();
    await clear(page, look);
    check();
    page.removeAllListeners();
    if (opts.own) {
      windows.delete(key);
      await page.context().close();
    }
    return result;
  } catch (e) {
    windows.delete(key);
    await page.context().close();
    throw e;
  }
}

export const close = () => browser.close();
