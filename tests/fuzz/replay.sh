#!/usr/bin/env bash
# Runs every fuzz entry over its corpus and over the fixtures of the same name; one TAP line per entry. Environment: B (build folder).
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
shopt -s nullglob
n=0 failed=0
for src in tests/fuzz/fuzz_*.c tests/fuzz/readers/fuzz_*.c; do
	entry=$(basename "$src" .c)
	program=$B/${src%.c}
	name=${entry#fuzz_}
	n=$((n + 1))
	mapfile -t files < <(find "tests/fuzz/corpus/$name" "tests/fixtures/$name" -type f 2>/dev/null | sort)
	if [ ${#files[@]} -eq 0 ]; then
		echo "not ok $n - $entry has no corpus"
		failed=1
	elif out=$(timeout 120 "$program" "${files[@]}" 2>&1); then
		echo "ok $n - $entry over ${#files[@]} files"
	else
		echo "not ok $n - $entry ended with status $?"
		printf '%s\n' "$out" | tail -n 40 | sed 's/^/# /'
		failed=1
	fi
done
echo "1..$n"
exit $failed
