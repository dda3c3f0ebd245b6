// What is on the screen, for the tests.

export const plain = (s) => s.replace(/[\u00a0\u202f]/g, ' ').trim();

export const text = async (page, selector) => plain(await page.locator(selector).first().innerText());

export const texts = async (page, selector) => (await page.locator(selector).allInnerTexts()).map(plain);

export const activeTab = (page) => page.evaluate(() => document.querySelector('[role=tab][aria-selected=true]').id.replace('tab-', ''));

// Rows of the table in a tab: [{ text: [...], title: [...] }]
export const rows = (page, panel) => page.evaluate((p) => [...document.querySelectorAll(`#panel-${p} table.data:not(.plain) tbody tr`)].map((tr) => ({
  text: [...tr.children].map((td) => td.innerText.replace(/[\u00a0\u202f]/g, ' ').trim()),
  title: [...tr.children].map((td) => (td.title || td.querySelector('[title]')?.title || '').replace(/[\u00a0\u202f]/g, '')),
})), panel);

export const heads = (page, panel) => page.evaluate((p) => [...document.querySelectorAll(`#panel-${p} table.data:not(.plain) th`)].map((th) => th.querySelector('.th-label').firstChild.textContent), panel);

// The number in an exact title such as "9577000000ns" or "18446744073709551615".
export const exact = (title) => Number(/^-?[\d.]+(?:e[-+]?\d+)?/i.exec(title)?.[0]);

// Lets chromium paint what was asked for.
export const settle = (page) => page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
