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

// Every piece of visible text against what is behind it; labels of frames against their rectangles, texts of drawings by their fill.
export const contrasts = (page) => page.evaluate(() => {
  const parse = (c) => (/rgba?\(([^)]+)\)/.exec(c) || [])[1]?.split(/[ ,/]+/).map(Number) || [0, 0, 0, 0];
  const over = (top, under) => { const a = top[3] === undefined ? 1 : top[3]; return [0, 1, 2].map((i) => top[i] * a + under[i] * (1 - a)); };
  const lum = (c) => { const [r, g, b] = c.map((v) => { const x = v / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (el) => {
    const layers = [];
    for (let e = el; e; e = e.parentElement) {
      if (e.tagName === 'foreignObject') { layers.push(parse(getComputedStyle(e.parentElement.querySelector('rect')).fill)); break; }
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c[3] !== 0) layers.push(c);
      if (c[3] === undefined || c[3] === 1) break;
    }
    return layers.reverse().reduce((under, c) => over(c, under), parse(getComputedStyle(document.body).backgroundColor).slice(0, 3));
  };
  const out = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const el = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !el || /SCRIPT|STYLE|NOSCRIPT/.test(el.tagName)) continue;
    const box = el.getBoundingClientRect();
    const style = getComputedStyle(el);
    if (box.width < 2 || box.height < 2 || style.visibility === 'hidden' || !el.checkVisibility?.()) continue;
    if (el.closest('.visually-hidden, .skip, [disabled]')) continue;
    const bg = behind(el);
    const fg = over(parse(el.ownerSVGElement ? style.fill : style.color), bg);
    const [a, b] = [lum(fg), lum(bg)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) out.push(`${ratio.toFixed(2)} “${walk.currentNode.data.trim().slice(0, 30)}” in .${el.className}`);
  }
  return [...new Set(out)];
});
