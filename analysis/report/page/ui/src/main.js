// The page as a whole: tabs, the address, the selected window, the theme and the keys.

import { announce, append, clear, h, icon, name, visible } from './dom.js';
import { Report, readPayload } from './data.js';
import * as fmt from './format.js';
import { status, title } from './facts.js';
import * as summary from './summary.js';
import * as flame from './flame.js';
import * as energy from './energy.js';
import * as spans from './spans.js';
import * as samples from './samples.js';
import * as run from './run.js';
import { ensemble } from './ensemble.js';
import { functions } from './functions.js';
import { kernels } from './kernels.js';
import { operators } from './operators.js';
import { programs } from './programs.js';
import { communication } from './communication.js';
import { iterations } from './iterations.js';
import { memory } from './memory.js';
import { idle } from './idle.js';
import { ranks } from './ranks.js';
import { libraries } from './libraries.js';
import { Lanes } from './spanlanes.js';
import { Strip } from './strip.js';
import { Windows } from './windowed.js';

const TABS = [
  { id: 'summary', label: 'Summary', available: () => true, render: summary.render },
  spans, ensemble, flame, functions, kernels, operators, programs, communication, ranks, iterations, memory, idle, libraries, energy, samples, run,
];

const KEYS = [
  ['/', 'search the flame graph, or filter the table'],
  ['1, 2 …', 'go to a tab; ← and → move between tabs when one has the focus'],
  ['Esc', 'clear: the dialog, the search, the zoom, then the selected window'],
  ['Arrows', 'in the flame graph: parent, child, neighbours; in the charts: move the cursor; in the timeline: neighbours in the lane, other rows'],
  ['w s a d f', 'in the timeline: zoom in, out, move left, right, show all; m twice measures, [ and ] follow a launch, n goes to the next match'],
  ['Enter', 'zoom into the frame under the flame graph’s cursor'],
  ['c', 'copy the stack of that frame'],
  ['Arrows', 'on the strip above a tab: move the selected window, with Shift its end; a drag on it, or Shift and a drag on the timeline, selects'],
  ['+ −', 'zoom the charts; with Ctrl or Shift the mouse wheel does too'],
  ['t', 'switch between light and dark'],
  ['?', 'this list'],
];

// Tabs without a strip: the first says what ran, the timeline has one of its own, the samples have charts to select in.
const STRIPLESS = new Set(['summary', 'timeline', 'samples', 'run', 'ensemble', 'libraries']);

// "#flame=energy:gpu0&focus=a;b" → { tab: 'flame', params: Map { '' → 'energy:gpu0', focus → 'a;b' } }
export function parseHash(hash) {
  const params = new Map();
  let tab = '';
  const text = hash.replace(/^#/, '');
  text.split('&').filter(Boolean).forEach((part, i) => {
    const eq = part.indexOf('=');
    const key = decode(eq < 0 ? part : part.slice(0, eq));
    const value = eq < 0 ? '' : decode(part.slice(eq + 1));
    if (i === 0) {
      tab = key;
      params.set('', value);
    } else params.set(key, value);
  });
  return { tab, params };
}

function decode(s) {
  try {
    return decodeURIComponent(s);
  } catch {
    return s;
  }
}

// Readable where the characters allow it: ';' ':' ',' and '/' may stand in a fragment as they are.
const encode = (s) => encodeURIComponent(s).replace(/%(3A|3B|2C|2F|5B|5D)/gi, (m) => decodeURIComponent(m));

export function formatHash(tab, params) {
  const own = params[''] ? `${tab}=${encode(params[''])}` : tab;
  return `#${[own, ...Object.entries(params).filter(([k, v]) => k && v).map(([k, v]) => `${k}=${encode(v)}`)].join('&')}`;
}

class Page {
  constructor(report) {
    this.report = report;
    this.window_ = null;
    this.listeners = { window: [], theme: [] };
    this.late = new Map(); // tabs → events that they have not seen, as they were hidden
    this.views = new Map();
    this.panels = new Map();
    this.tabs = TABS.filter((t) => t.available(report));
    this.media = matchMedia('(prefers-color-scheme: dark)');
    this.media.addEventListener('change', () => this.fire('theme'));
    this.hashParams = new Map();
  }

  // ---- what the tabs may use ----

  params(tab) {
    return this.hashParams.get(tab) || new Map();
  }

  has(tab) {
    return this.tabs.some((t) => t.id === tab);
  }

  // The tab that shows a table; null when none does.
  tabOf(table) {
    return this.tabs.find((t) => t.tables && t.tables.includes(table)) || null;
  }

  // While a tab is made it listens as long as it is seen; what it misses it hears of when it is seen again.
  on(event, fn) {
    this.listeners[event].push({ fn, tab: this.making || null });
  }

  fire(event) {
    for (const l of this.listeners[event]) {
      if (l.tab === null || l.tab === this.tab) l.fn();
      else if (this.late.has(l.tab)) this.late.get(l.tab).add(event);
      else this.late.set(l.tab, new Set([event]));
    }
  }

  // What a tab has missed.
  catchUp(tab) {
    const events = this.late.get(tab);
    this.late.delete(tab);
    if (events) for (const e of events) for (const l of this.listeners[e]) if (l.tab === tab) l.fn();
  }

  // Keeps a tab's state in the address: push makes a step that "back" returns to.
  store(tab, params, push) {
    this.hashParams.set(tab, new Map(Object.entries(params)));
    if (this.tab === tab) this.address(push);
  }

  // The selected window goes along: it is one for the whole page.
  go(tab, params) {
    location.hash = formatHash(tab, this.withWindow(params));
  }

  withWindow(params) {
    return this.window_ ? { ...params, window: this.window_.map(Math.round).join(':') } : params;
  }

  dark() {
    const forced = document.documentElement.dataset.theme;
    return forced ? forced === 'dark' : this.media.matches;
  }

  window() {
    return this.window_;
  }

  windowText() {
    const [a, b] = this.window_;
    return `${fmt.time(a)} to ${fmt.time(b)} (${fmt.time(b - a)})`;
  }

  setWindow(w, quiet) {
    if (String(w) === String(this.window_)) return;
    this.window_ = w;
    this.drawWindowChip();
    this.fire('window');
    if (!quiet) {
      this.address(false);
      announce(w ? `window ${this.windowText()} selected` : 'window cleared');
    }
  }

  // The lanes of the timeline, read when they are asked for first; null where there are none.
  lanes() {
    if (this.lanes_ === undefined) this.lanes_ = spans.available(this.report) ? new Lanes(this.report) : null;
    return this.lanes_;
  }

  windows() {
    if (!this.windows_ && this.lanes()) this.windows_ = new Windows(this.report, this.lanes());
    return this.windows_ || null;
  }

  // Whether a table has an answer for the selected window.
  answers(table) {
    return Boolean(table && this.window_ && this.windows() && this.windows().has(table));
  }

  // The report as it is in the selected window: tables that know no windows are those of the whole recording.
  shown() {
    if (!this.window_ || !this.windows()) return this.report;
    const view = Object.create(this.report);
    view.table = (name) => (this.answers(name) ? this.windows().table(name, this.window_) : this.report.table(name));
    return view;
  }

  // How true a figure of the window is.
  windowTruth(table) {
    const w = this.windows();
    if (/^energy/.test(table)) return ', by time, from the bins of the power curves.';
    if (w.exact) return ' exactly, as analyze --window has it.';
    if (!w.short) return '; calls that are nested deeper than the timeline shows are part of those around them.';
    return `; ${fmt.group(w.short)} short spans of the recording come from bins of ${fmt.time(w.bin)}, as [short] by category.`;
  }

  // With a window selected: what answers for it, what is about the whole recording, and where there are answers. table: what is
  // shown, a name or a function that has it. The note's draw() is for when that changes.
  windowNote(what, table = null) {
    const note = h('p', { cls: 'window-note', hidden: true });
    const draw = () => {
      note.hidden = !this.window_;
      if (!this.window_) return;
      const shown = typeof table === 'function' ? table() : table;
      const answers = this.answers(shown);
      note.classList.toggle('answers', answers);
      if (answers) {
        clear(note, icon('clock'), ` ${what} is of the selected ${this.windowText()}${this.windowTruth(shown)}`);
        return;
      }
      const links = ['samples', 'energy'].filter((id) => this.has(id)).map((id, i) => [i ? ', ' : ' What the sampled counters say about it: ',
        h('button', { type: 'button', cls: 'link', onclick: () => this.go(id, this.paramsObject(id)) }, this.tabs.find((t) => t.id === id).label)]);
      clear(note, icon('clock'), ` ${what} is about the whole recording, not only the selected ${this.windowText()}.`, links, links.length ? '.' : '');
    };
    this.on('window', draw);
    draw();
    note.draw = draw;
    return note;
  }

  absentTabs() {
    return TABS.filter((t) => !this.has(t.id) && t.about);
  }

  // ---- frame ----

  build(root) {
    const st = status(this.report);
    const t = title(this.report);
    document.title = visible(`${t}${st ? ` (${st.word})` : ''} – profrig`);
    this.chip = h('button', { type: 'button', cls: 'chip', hidden: true, onclick: () => this.setWindow(null) });
    this.tablist = h('div', { cls: 'tabs', role: 'tablist', 'aria-label': 'views of the report', onkeydown: (e) => this.tabKey(e) });
    const themeButton = h('button', { type: 'button', cls: 'quiet icon-button', title: 'Light or dark (t)', 'aria-label': 'Switch between light and dark', onclick: () => this.switchTheme() }, icon('theme'));
    const help = h('button', { type: 'button', cls: 'quiet icon-button', title: 'Keys (?)', 'aria-label': 'Show the keys', onclick: () => this.help() }, '?');
    append(root, [
      h('a', { cls: 'skip', href: '#main', onclick: (e) => { e.preventDefault(); this.panels.get(this.tab).focus(); } }, 'Skip to content'),
      h('header', { cls: 'top' },
        h('div', { cls: 'top-line' }, h('h1', null, name(t)), st && pill(st), h('span', { cls: 'spring' }), this.chip, h('span', { cls: 'brand' }, 'profrig'), themeButton, help),
        this.tablist),
      (this.strip = new Strip(this)).el,
      this.main = h('main', { id: 'main' }),
    ]);
    for (const tab of this.tabs) {
      const button = h('button', { type: 'button', role: 'tab', id: `tab-${tab.id}`, 'aria-controls': `panel-${tab.id}`, tabindex: '-1', onclick: () => this.go(tab.id, this.paramsObject(tab.id)) }, tab.label);
      this.tablist.appendChild(button);
      const panel = h('section', { role: 'tabpanel', id: `panel-${tab.id}`, cls: 'panel', data: { title: tab.id === 'summary' ? '' : tab.label }, 'aria-labelledby': `tab-${tab.id}`, tabindex: '-1', hidden: true });
      this.panels.set(tab.id, panel);
      this.main.appendChild(panel);
    }
  }

  paramsObject(tab) {
    return Object.fromEntries(this.params(tab));
  }

  start() {
    window.addEventListener('hashchange', () => this.route(false));
    document.addEventListener('keydown', (e) => this.key(e));
    window.addEventListener('beforeprint', () => this.beforePrint());
    window.addEventListener('afterprint', () => this.afterPrint());
    this.route(true);
    // What a window asks for first is made while nothing else is to do.
    (window.requestIdleCallback || ((f) => setTimeout(f, 1500)))(() => this.windows() && this.windows().warm(), { timeout: 5000 });
  }

  route(first) {
    const { tab, params } = parseHash(location.hash);
    const id = this.has(tab) ? tab : 'summary';
    const w = /^(-?\d+):(-?\d+)$/.exec(params.get('window') || '');
    params.delete('window');
    this.hashParams.set(id, params);
    if (w || this.window_) this.setWindow(w && Number(w[2]) > Number(w[1]) ? [Number(w[1]), Number(w[2])] : null, true);
    const seen = this.views.has(id);
    this.show(id, !first);
    const view = this.views.get(id);
    if (seen && view && view.setParams) view.setParams(params);
    if (this.wantsFilter && view && view.focusFilter) view.focusFilter();
    this.wantsFilter = false;
  }

  show(id, focusTab) {
    const changed = this.tab !== id;
    this.tab = id;
    for (const b of this.tablist.children) {
      const on = b.id === `tab-${id}`;
      b.setAttribute('aria-selected', String(on));
      b.tabIndex = on ? 0 : -1;
      if (on && changed && this.tablist.scrollWidth > this.tablist.clientWidth) b.scrollIntoView({ block: 'nearest', inline: 'center' });
      if (on && focusTab && this.tablist.contains(document.activeElement)) b.focus({ preventScroll: true });
    }
    for (const [k, p] of this.panels) p.hidden = k !== id;
    this.strip.show(!STRIPLESS.has(id));
    if (!this.views.has(id)) this.render(id);
    else this.catchUp(id);
    if (changed) window.scrollTo(0, 0);
  }

  render(id) {
    const panel = this.panels.get(id);
    const tab = this.tabs.find((t) => t.id === id);
    this.views.set(id, null);
    this.making = id;
    try {
      this.views.set(id, tab.render(panel, this) || null);
    } catch (e) {
      append(panel, [h('p', { cls: 'window-note' }, icon('bad'), ` This part of the report cannot be drawn (${e.message}). The files in tables/ hold its figures.`)]);
      console.error(e);
    }
    this.making = null;
  }

  address(push) {
    const hash = formatHash(this.tab, this.withWindow(this.paramsObject(this.tab)));
    if (hash === location.hash || (this.tab === 'summary' && !this.window_ && !location.hash)) return;
    if (push) history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
  }

  drawWindowChip() {
    this.chip.hidden = !this.window_;
    if (!this.window_) return;
    clear(this.chip, icon('clock'), ` ${this.windowText()} `, icon('close'));
    this.chip.setAttribute('aria-label', `Selected window ${this.windowText()}. Press to clear.`);
  }

  // ---- keys ----

  tabKey(e) {
    const ids = this.tabs.map((t) => t.id);
    const i = ids.indexOf(this.tab);
    const to = { ArrowRight: (i + 1) % ids.length, ArrowLeft: (i + ids.length - 1) % ids.length, Home: 0, End: ids.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    this.go(ids[to], this.paramsObject(ids[to]));
    document.getElementById(`tab-${ids[to]}`).focus({ preventScroll: true });
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    if (this.dialog && this.dialog.open) return;	// the dialog closes itself on Esc
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    if (e.key === 'Escape') {
      this.escape(e);
      return;
    }
    if (typing) return;
    const view = this.views.get(this.tab);
    if (e.key === '/') {
      e.preventDefault();
      if (view && view.focusFilter) view.focusFilter();
      else if (this.has('functions')) {
        this.wantsFilter = true;
        this.go('functions', this.paramsObject('functions'));
      }
    } else if (e.key === '?') this.help();
    else if (e.key === 't') this.switchTheme();
    else if (/^[1-9]$/.test(e.key) && this.tabs[Number(e.key) - 1]) {
      const tab = this.tabs[Number(e.key) - 1].id;
      this.go(tab, this.paramsObject(tab));
    } else return;
    e.preventDefault();
  }

  escape(e) {
    const view = this.views.get(this.tab);
    if (view && view.escape && view.escape()) e.preventDefault();
    else if (this.window_) this.setWindow(null);
    else if (/^INPUT$/.test(e.target.tagName)) e.target.blur();
  }

  help() {
    if (!this.dialog) {
      this.dialog = h('dialog', { cls: 'help', 'aria-labelledby': 'help-title' },
        h('h2', { id: 'help-title' }, 'Keys'),
        h('dl', null, KEYS.map(([k, v]) => h('div', null, h('dt', null, h('kbd', null, k)), h('dd', null, v)))),
        h('button', { type: 'button', autofocus: true, onclick: () => this.dialog.close() }, 'Close'));
      document.body.appendChild(this.dialog);
    }
    this.dialog.showModal();
  }

  switchTheme(to) {
    document.documentElement.dataset.theme = to || (this.dark() ? 'light' : 'dark');
    this.fire('theme');
  }

  // Paper is white and has no tabs: all that are tables and drawings follow each other.
  beforePrint() {
    this.before = document.documentElement.dataset.theme || '';
    this.switchTheme('light');
    for (const id of ['functions', 'kernels', 'operators', 'communication', 'ranks', 'iterations', 'memory', 'idle', 'libraries', 'energy', 'run']) if (this.has(id) && !this.views.has(id)) this.render(id);
    for (const id of this.views.keys()) this.catchUp(id);
  }

  afterPrint() {
    if (this.before) document.documentElement.dataset.theme = this.before;
    else delete document.documentElement.dataset.theme;
    this.fire('theme');
  }
}

function pill(st) {
  const ic = st.id === 'success' ? 'ok' : st.bad ? 'bad' : 'warn';
  return h('span', { cls: `pill p-${ic}`, title: st.reason || st.word }, icon(ic), ` ${st.word}`);
}

async function boot() {
  const root = document.getElementById('app');
  let report;
  try {
    report = await readPayload(document);
  } catch (e) {
    report = new Report({ problems: [`The data inside this page cannot be read (${e.message}). The tables beside it, tables/*.csv, hold the same figures.`] });
  }
  clear(root);
  const page = new Page(report);
  page.build(root);
  page.start();
}

if (typeof document !== 'undefined') boot();
