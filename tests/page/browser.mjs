// The page in headless Chromium: what it shows against the CSV tables beside it, every tab by keyboard, both themes, hostile names.

import './browser_summary.mjs';
import './browser_findings.mjs';
import './browser_timeline.mjs';
import './browser_window.mjs';
import './browser_analyses.mjs';
import './browser_ensemble.mjs';
import './browser_tabs.mjs';
import './browser_flame.mjs';
import './browser_samples.mjs';
import './browser_walk.mjs';
import './browser_looks.mjs';
import './browser_compare.mjs';
import './browser_campaign.mjs';
import { close } from './pages.mjs';
import { done } from './tap.mjs';

process.exitCode = (await done('page in chromium')) ? 1 : 0;
await close();
