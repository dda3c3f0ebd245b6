// What stands out, in words and worst first, each with the most that mending it saves and the table that shows it.

import { h, icon, name } from './dom.js';
import * as fmt from './format.js';

const ICON = { high: 'bad', medium: 'warn', low: 'note' };
const SHOWN = 5;

// The rows of the table `findings`, in its order.
export function findingsOf(report) {
  const t = report.table('findings');
  return t ? t.objects().map((f) => ({ ...f, text: String(f.text ?? ''), severity: ICON[f.severity] ? f.severity : 'low', evidence: String(f.evidence ?? '') })) : [];
}

const bound = (f) => [
  Number(f.saves_at_most_ns) > 0 && h('span', { title: fmt.exact(f.saves_at_most_ns, 'ns') }, `saves at most ${fmt.time(f.saves_at_most_ns)}`),
  fmt.known(f.saves_at_most_j) && h('span', { title: fmt.exact(f.saves_at_most_j, 'J') }, `${Number(f.saves_at_most_ns) > 0 ? ', ' : 'saves at most '}${fmt.energy(f.saves_at_most_j)}`),
];

function line(f, ctx) {
  const tab = ctx.tabOf(f.evidence);
  return h('li', { cls: `verdict finding v-${ICON[f.severity]}` }, icon(ICON[f.severity]), h('span', { cls: 'verdict-word' }, f.severity),
    h('span', { cls: 'verdict-text' }, name(f.text, { title: null }), ' ', h('span', { cls: 'muted bound' }, bound(f)), ' ',
      tab && h('button', { type: 'button', cls: 'link', 'aria-label': `Show the evidence on the tab ${tab.label}: ${f.text}`, onclick: () => ctx.go(tab.id, tab.tables[0] === f.evidence ? {} : { '': f.evidence }) }, `${tab.label}\u00a0›`)));
}

// null without the analysis; findings that are none are good news and said as such.
export function findingsCard(ctx) {
  const rows = findingsOf(ctx.report);
  if (!rows.length) return null;
  const counts = ['high', 'medium', 'low'].map((s) => [s, rows.filter((f) => f.severity === s).length]).filter(([, n]) => n).map(([s, n]) => `${n} ${s}`).join(', ');
  const lines = rows.map((f) => line(f, ctx));
  const more = lines.slice(SHOWN);
  for (const l of more) l.hidden = true;
  const button = more.length ? h('button', { type: 'button', cls: 'quiet', 'aria-expanded': 'false', onclick: () => {
    const open = button.getAttribute('aria-expanded') !== 'true';
    button.setAttribute('aria-expanded', String(open));
    for (const l of more) l.hidden = !open;
    button.textContent = open ? 'Show fewer' : `Show ${more.length} more`;
  } }, `Show ${more.length} more`) : null;
  return h('section', { cls: 'card findings', 'aria-labelledby': 'findings-title' },
    h('h2', { id: 'findings-title' }, 'What stands out ', h('span', { cls: 'muted' }, counts)),
    h('ol', { cls: 'verdicts' }, lines), button);
}
