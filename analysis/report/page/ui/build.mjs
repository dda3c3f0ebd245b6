// Bundles src/ into one HTML file: node build.mjs OUT. The shell's place for the data, @PROFRIG_DATA@, is filled by the
// report writer. The script's hash stands in the content security policy, so no other script can run in the page.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] || join(here, '../../../build/gen/page.html');
const LIMIT = 900 * 1000;

async function bundle(entry, options) {
  const r = await build({
    entryPoints: [join(here, 'src', entry)], bundle: true, minify: true, write: false, charset: 'utf8', legalComments: 'none',
    target: ['es2020', 'chrome90', 'firefox90', 'safari15'], logLevel: 'warning', absWorkingDir: here, ...options,
  });
  return r.outputFiles[0].text.trim();
}

// The libraries' licences ask that their notice goes where their code goes.
const NOTICE = '/* Contains Apache ECharts and ZRender (Apache-2.0, BSD-3-Clause), d3-flame-graph (Apache-2.0), D3 (ISC), tslib (0BSD). */';

const script = `${NOTICE}\n${await bundle('main.js', { format: 'iife', loader: { '.css': 'empty' }, define: { 'process.env.NODE_ENV': '"production"' } })}`;
const style = await bundle('style.css', {});
if (/<\/script/i.test(script) || /<\/style/i.test(style)) throw new Error('the bundle closes its own element');

const hash = `sha256-${createHash('sha256').update(script, 'utf8').digest('base64')}`;
const parts = { STYLE: style, SCRIPT: script, SCRIPT_HASH: hash };
const shell = readFileSync(join(here, 'src/shell.html'), 'utf8');
const html = shell.replace(/@(STYLE|SCRIPT|SCRIPT_HASH)@/g, (_, k) => parts[k]);

const places = html.split('@PROFRIG_DATA@').length - 1;
if (places !== 1) throw new Error(`the page has ${places} places for its data instead of one`);
const bytes = Buffer.byteLength(html);
if (bytes > LIMIT) throw new Error(`the page has ${bytes} bytes, more than ${LIMIT}`);

mkdirSync(dirname(out), { recursive: true });
writeFileSync(`${out}.tmp`, html);
renameSync(`${out}.tmp`, out);
