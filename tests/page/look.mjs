// What is on the screen, for the tests.

export const plain = (s) => s.replace(/[\u00a0\u202f]/g, ' ').trim();

export const text = async (page, selector) => plain(await page.locator(selector).first().innerText());

export const texts = async (page, selector) => (await page.locator(selector).allInnerTexts()).map(plain);

export const activeTab = (page) => page.evaluate(() => document.querySelector('[role=tab][aria-selected=true]').id.replace('tab-', ''));

// Rows of the table in a tab: [{ text: [...], title: [...] }]
export const rows = (page, panel) => page.evaluate((p) => [...document.querySelector(`#panel-${p} table.data:not(.plain)`).querySelectorAll('tbody tr')].map((tr) => ({
  text: [...tr.children].map((td) => td.innerText.replace(/[\u00a0\u202f]/g, ' ').trim()),
  title: [...tr.children].map((td) => (td.title || td.querySelector('[title]')?.title || '').replace(/[\u00a0\u202f]/g, '')),
})), panel);

export const heads = (page, panel) => page.evaluate((p) => [...document.querySelector(`#panel-${p} table.data:not(.plain)`).querySelectorAll('th')].map((th) => th.querySelector('.th-label').firstChild.textContent), panel);

// The number in an exact title such as "9577000000ns" or "18446744073709551615".
export const exact = (title) => Number(/^-?[\d.]+(?:e[-+]?\d+)?/i.exec(title)?.[0]);

// Lets chromium paint what was asked for.
export const settle = (page) => page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));

// Goes to a tab by its button; its panel is drawn when this returns.
export async function open(page, tab) {
  await page.click(`#tab-${tab}`);
  await page.waitForSelector(`#panel-${tab}:not([hidden])`);
  await settle(page);
}

// How long the page's main thread has worked since it was asked for the first time, in seconds of processor time: what a
// budget can be held against, whatever else the machine is doing.
export async function stopwatch(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value;
  const start = await worked();
  return async () => (await worked()) - start;
}
