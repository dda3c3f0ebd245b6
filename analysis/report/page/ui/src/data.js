// What analyze wrote, as the page sees it: { analysis, run, tables, headline, logs }. Tables come column by column.

import { middle } from './format.js';

// A long column of texts that repeat themselves comes as its words and which of them each row has, one of integers that grow slowly
// as the differences between rows that follow each other.
function column(c) {
  if (Array.isArray(c)) return c;
  if (c.at) return c.at.map((i) => c.words[i]);
  let v = 0;
  return c.steps.map((d) => (d === null ? null : (v += d)));
}

export class Table {
  constructor(name, raw) {
    this.name = name;
    this.about = raw.about || '';
    this.columns = raw.columns || [];
    this.data = (raw.data || []).map(column);
    this.cut = raw.cut || null;
    this.rows = this.data.length ? this.data[0].length : 0;
    this.index = new Map(this.columns.map((c, i) => [c.name, i]));
  }

  has(col) {
    return this.index.has(col);
  }

  // A column's values; one of unknowns when a table was written without it.
  col(col) {
    const i = this.index.get(col);
    return i === undefined ? new Array(this.rows).fill(null) : this.data[i];
  }

  // Integers beyond 2^53 come as digit strings; for arithmetic and sorting they are rounded, for display they are not.
  num(col) {
    return this.col(col).map((v) => (v === null || v === '' ? NaN : Number(v)));
  }

  column(col) {
    return this.columns[this.index.get(col)] || null;
  }

  // Row objects; only for tables that are small by nature.
  objects() {
    return Array.from({ length: this.rows }, (_, r) =>
      Object.fromEntries(this.columns.map((c, i) => [c.name, this.data[i][r]])));
  }
}

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);

// run.json and analysis.json may be of another version or edited by hand: what should be a list is one, without holes.
function tidy(doc, lists) {
  if (!isObject(doc)) return null;
  const out = { ...doc };
  for (const k of lists) if (k in doc) out[k] = Array.isArray(doc[k]) ? doc[k].filter((v) => v !== null && v !== undefined) : [];
  return out;
}

export class Report {
  constructor(payload) {
    const p = payload && typeof payload === 'object' ? payload : {};
    this.analysis = tidy(p.analysis, ['inputs', 'warnings', 'checks', 'devices', 'tables']) || {};
    this.run = tidy(p.run, ['steps', 'artifacts', 'samplers', 'tools', 'metrics', 'warnings', 'devices', 'clocks']);
    this.headline = isObject(p.headline) ? p.headline : {};
    this.logs = p.logs || {};
    this.problems = p.problems || [];
    this.tables = new Map(Object.entries(p.tables || {}).map(([k, v]) => [k, new Table(k, v)]));
  }

  // null when absent or without a row: both mean "nothing to show".
  table(name) {
    const t = this.tables.get(name);
    return t && t.rows ? t : null;
  }

  // A kernel's readable name, which no other kernel of the report has; another name as it is.
  shortName(name) {
    if (!this.short_) {
      const k = this.tables.get('kernels');
      this.short_ = new Map(k && k.has('short_name') ? k.col('name').map((n, i) => [n, k.col('short_name')[i]]) : []);
    }
    return this.short_.get(name) || name;
  }

  // The same by both its ends where it is long, with more of its end where two would look alike.
  shownName(name) {
    if (!this.shown_) {
      this.shortName('');
      const all = [...new Set(this.short_.values())];
      const count = new Map();
      for (const s of all) count.set(middle(s), (count.get(middle(s)) || 0) + 1);
      this.shown_ = new Map(all.map((s) => [s, count.get(middle(s)) > 1 ? middle(s, 42, 0.75) : middle(s)]));
    }
    const short = this.shortName(name);
    return this.shown_.get(short) || middle(short);
  }

  get originNs() {
    const o = Number(this.analysis.origin_ns);
    return Number.isFinite(o) ? o : null;
  }
}

// The data as the writer put it: a JSON object, or for long ones the JSON string "gzip:<base64>" of it.
export async function readPayload(doc) {
  const value = JSON.parse(doc.getElementById('profrig-data').textContent);
  return new Report(typeof value === 'string' ? JSON.parse(await unpack(value)) : value);
}

function unpack(text) {
  if (!text.startsWith('gzip:')) throw new Error('unknown packing');
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old to unpack it');
  const raw = atob(text.slice(5));
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}
