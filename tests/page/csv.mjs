// The tables as make_page wrote them beside the page: what the page shows is held against these.

import { readFileSync } from 'node:fs';

// RFC 4180. → [[field, …], …]
export function parseCsv(text) {
  const rows = [];
  let row = [];
  let field = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') {
        field += '"';
        i++;
      } else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ',') {
      row.push(field);
      field = '';
    } else if (c === '\n' || c === '\r') {
      if (c === '\r' && text[i + 1] === '\n') i++;
      row.push(field);
      rows.push(row);
      row = [];
      field = '';
    } else field += c;
  }
  if (field !== '' || row.length) rows.push([...row, field]);
  return rows;
}

// → [{ column: value, … }], numbers where the field is one
export function table(dir, name) {
  const [head, ...rows] = parseCsv(readFileSync(`${dir}/tables/${name}.csv`, 'utf8'));
  return rows.map((r) => Object.fromEntries(head.map((k, i) => [k, r[i] !== '' && Number.isFinite(Number(r[i])) ? Number(r[i]) : r[i]])));
}

export const sum = (rows, col) => rows.reduce((a, r) => a + (Number(r[col]) || 0), 0);
