// Pictures of every tab of a page, for people to look at: node tests/page/shots.mjs REPORT.html OUT [TAB …]. Both themes at 1280×800 and
// 390×844, whole height, and the page as it prints: OUT/<tab>-<width>-<theme>.png, OUT/print.pdf and OUT/print.png. Says what is wider than the
// window.

import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

const require = createRequire(new URL('../../analysis/report/page/ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const [file, out, ...only] = process.argv.slice(2);
if (!out) throw new Error('usage: node tests/page/shots.mjs REPORT.html OUT [TAB …]');
mkdirSync(out, { recursive: true });

const browser = await chromium.launch({ executablePath: process.env.PROFRIG_CHROMIUM || '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu'] });
for (const [width, height] of [[1280, 800], [390, 844]]) {
  for (const scheme of ['light', 'dark']) {
    const page = await (await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' })).newPage();
    page.on('console', (m) => ['error', 'warning'].includes(m.type()) && console.log(`console: ${m.text()}`));
    page.on('pageerror', (e) => console.log(`exception: ${e.stack}`));
    await page.goto(`file://${resolve(file)}`);
    await page.waitForSelector('[role=tab][aria-selected=true]');
    for (const tab of await page.evaluate(() => [...document.querySelectorAll('[role=tab]')].map((b) => b.id.replace('tab-', '')))) {
      if (only.length && !only.includes(tab)) continue;
      await page.click(`#tab-${tab}`);
      await page.waitForTimeout(250);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) console.log(`${tab}: ${wide} px of ${width}`);
      await page.screenshot({ path: `${out}/${tab}-${width}-${scheme}.png`, fullPage: true });
    }
    if (width === 1280 && scheme === 'light') await page.pdf({ path: `${out}/print.pdf`, format: 'A4', printBackground: false });
    if (width === 1280 && scheme === 'light') {
      await page.setViewportSize({ width: 690, height: 1000 });
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
      await page.emulateMedia({ media: 'print' });
      await page.screenshot({ path: `${out}/print.png`, fullPage: true });
    }
    await page.context().close();
  }
}
await browser.close();
