#!/usr/bin/env bash
# What a campaign costs beside its runs: no-op host runs in a campaign (journal and store included), and the same command by `profrig run` in turn.
#	RUNS=1000 ROUNDS=5
set -eu
P=${B:-build}/profrig
case $P in /*) ;; *) P=$PWD/$P ;; esac
RUNS=${RUNS:-1000} ROUNDS=${ROUNDS:-5}
each=$((RUNS / ROUNDS))
T=$(mktemp -d "${TMPDIR:-/tmp}/profrig-bench.XXXXXX")
trap 'rm -rf "$T"' EXIT
cd "$T"
now() { date +%s%N; }
printf 'models: [{name: noop, command: ["true"]}]\nengine: host\nrepeat: %s\nanalyze: false\n' "$each" >base.yaml
for r in $(seq "$ROUNDS"); do
	(echo "name: c$r"; cat base.yaml) >c.yaml
	a=$(now)
	"$P" -q campaign run c.yaml >/dev/null
	b=$(now)
	for _ in $(seq "$each"); do "$P" -q run --no-analyze --engine host -- true >/dev/null; done
	c=$(now)
	echo "$((b - a)) $((c - b))"
done | awk -v n="$each" '{ ratio[NR] = $1 / $2; a[NR] = $1 / n / 1e6; b[NR] = $2 / n / 1e6 }
	function med(v, n,   i, k, t) { for (i = 2; i <= n; i++) for (k = i; k > 1 && v[k] < v[k - 1]; k--) { t = v[k]; v[k] = v[k - 1]; v[k - 1] = t } return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2 }
	END { printf "campaign: %.1f ms a run, profrig run --no-analyze: %.1f ms; ratio %.2f (at most 1.5)\n", med(a, NR), med(b, NR), med(ratio, NR) }'
