#!/usr/bin/env bash
# Runs test programs that speak TAP, shows what failed or was skipped, and ends with "N passed, N failed, N skipped".
# Exit 1 when anything failed or a program died. Environment: B (build folder), VERBOSE=1 shows everything.
set -u
cd "$(dirname "$0")/.." || exit 1
export B=${B:-build}
passed=0 failed=0 skipped=0

# One line for each reason, with the tests it kept from running. cmocka has the reason in the line before; a script behind "# SKIP".
skips() {
	awk '/^(not )?ok .*# [Ss][Kk][Ii][Pp]/ {
			name = why = $0
			if (name ~ / - /) {
				sub(/^(not )?ok [0-9]+ - /, "", name); sub(/ # [Ss][Kk][Ii][Pp].*/, "", name); sub(/.*# [Ss][Kk][Ii][Pp] */, "", why)
			} else {
				sub(/.*# [Ss][Kk][Ii][Pp] */, "", name); why = before; sub(/^# */, "", why)
			}
			if (why == "") why = "no reason was given"
			if (!(why in names)) order[++n] = why
			names[why] = names[why] (names[why] == "" ? "" : ", ") name
		}
		{ before = /^(not )?ok / ? "" : $0 }
		END { for (i = 1; i <= n; i++) printf "    skipped, %s: %s\n", order[i], names[order[i]] }' "$1"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for prog in "$@"; do
	name=${prog#"$B"/}
	start=$(date +%s%N)
	CMOCKA_MESSAGE_OUTPUT=TAP timeout "${TEST_TIMEOUT:-1500}" "$prog" >"$log" 2>&1
	rc=$?
	ms=$((($(date +%s%N) - start) / 1000000))
	ok=$(grep -cE '^ok ' "$log")
	# cmocka writes "not ok N # SKIP", which TAP counts as no failure.
	skip=$(grep -ciE '^(not )?ok .*# skip' "$log")
	bad=$(grep -E '^not ok ' "$log" | grep -ciEv '# skip')
	ok=$((ok + $(grep -ciE '^not ok .*# skip' "$log")))
	if [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
		echo "not ok - $name ended with status $rc" >>"$log"
	fi
	if [ $((ok + bad)) -eq 0 ]; then
		bad=1
		echo "not ok - $name ran no test" >>"$log"
	fi
	passed=$((passed + ok - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
	printf '%-48s %4d ok %3d failed %3d skipped %7d ms\n' "$name" $((ok - skip)) "$bad" "$skip" "$ms"
	skips "$log"
	if [ "$bad" -gt 0 ]; then
		sed 's/^/    /' "$log" | tail -n 200
	elif [ -n "${VERBOSE:-}" ]; then
		sed 's/^/    /' "$log"
	fi
done
[ -z "${TEST_TALLY:-}" ] || echo "$passed $failed $skipped" >>"$TEST_TALLY"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
