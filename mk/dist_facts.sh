#!/bin/sh
# dist_facts.sh TARBALL FOLDER: what `make dist` says of what it made: sizes, and how long its profrig takes to start.
set -eu
packed=$(wc -c <"$1")
unpacked=$(du -sk "$2" | cut -f 1)
runs=20
start=$(date +%s%N)
n=0
while [ $n -lt $runs ]; do
	"$2/profrig" --version >/dev/null
	n=$((n + 1))
done
end=$(date +%s%N)
awk -v p="$packed" -v u="$unpacked" -v t=$(((end - start) / runs)) -v name="$1" \
	'BEGIN { printf "%s: %.1f MB, %.1f MB unpacked; profrig starts in %.1f ms\n", name, p / 1e6, u * 1024 / 1e6, t / 1e6 }'
