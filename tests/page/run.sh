#!/usr/bin/env bash
# The report page: its parts under node, then the whole in headless Chromium, and the page of lib compare. TAP. Skips with the reason when node or chromium is absent,
# fails instead when PROFRIG_REQUIRE names chromium. Environment: B (build folder), ONLY (part of a test's name), PROFRIG_CHROMIUM.
set -u
cd "$(dirname "$0")/../.." || exit 1
export B=${B:-build}
ui=analysis/report/page/ui

missing() {
	case ",${PROFRIG_REQUIRE:-}," in
	*,chromium,*) echo "not ok 1 - page # $1" && exit 1 ;;
	esac
	echo "ok 1 - page # SKIP $1"
	exit 0
}
command -v node >/dev/null || missing "node is not installed"
[ -d $ui/node_modules/playwright-core ] || missing "the page was not built (PAGE=0)"
[ -x "$B/tests/page/make_page" ] || missing "$B/tests/page/make_page was not built: run make $B/tests/page/make_page"
[ -x "$B/profrig" ] || missing "$B/profrig was not built"
[ "$(cat "$B/gen/page.mode" 2>/dev/null)" != 0 ] || missing "built with PAGE=0"
rc=0
node tests/page/unit.mjs || rc=1
node tests/page/windows.mjs || rc=1
if [ -z "${PROFRIG_CHROMIUM:-}" ]; then
	PROFRIG_CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || missing "chromium is not installed"
	export PROFRIG_CHROMIUM
fi
node tests/page/browser.mjs || rc=1
exit $rc
