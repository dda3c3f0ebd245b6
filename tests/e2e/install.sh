#!/usr/bin/env bash
# What `make install` leaves works from any folder and at any place, without the sources and without being told where it is.
. "$(dirname "$0")/../lib.sh"
unset PROFRIG_TOOLS_PATH
[ "$B" = "$ROOT/build" ] || { skip "install" "not the ordinary build folder" && exit 0; }

make -C "$ROOT" --no-print-directory PAGE="$(cat "$B/gen/page.mode")" PREFIX=/opt/first DESTDIR="$T/stage" install >"$T/log" 2>&1 ||
	{ not_ok "make install" "$(cat "$T/log")" && exit 0; }
ok "make install"
mkdir -p "$T/moved to" "$T/elsewhere"
mv "$T/stage/opt/first" "$T/moved to/second"
ln -s "$T/moved to/second/bin/profrig" "$T/elsewhere/profrig"
cd "$T/elsewhere" || exit 1
code "doctor" 0 ./profrig doctor --json
check "finds its agent" jq -e --arg d "$T/moved to/second" '.[] | select(.name == "profrig-init") | .state == "ok" and (.detail | startswith($d))' "$T/out"
code "list tools" 0 ./profrig list tools --json
is "has every tool" "$(jq length "$T/out")" "$(find "$ROOT/tools.d" -name '*.yaml' ! -path '*/base/*' | wc -l)"
check "and no broken one" sh -c "! grep BROKEN '$T/out'"
code "a run" 0 ./profrig -q run --engine host --tools cpu_power -- sleep 0.2
check "leaves a report" test -s "$(cat "$T/out")/analysis/report.html"
check "manual pages" sh -c "man -l '$T/moved to/second/share/man/man1/profrig-run.1' 2>/dev/null | grep -q perf-csv || grep -q perf '$T/moved to/second/share/man/man1/profrig-run.1'"
check "completion for three shells" test -s "$T/moved to/second/share/bash-completion/completions/profrig" -a -s "$T/moved to/second/share/zsh/site-functions/_profrig" \
	-a -s "$T/moved to/second/share/fish/vendor_completions.d/profrig.fish"
