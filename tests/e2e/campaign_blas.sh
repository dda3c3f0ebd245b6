#!/usr/bin/env bash
# A whole campaign: examples/mlp with three libraries and one or two threads, to a verdict that is known beforehand.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
L=/usr/lib/x86_64-linux-gnu
need reference test -e $L/blas/libblas.so.3 && need openblas test -e $L/openblas-pthread/libblas.so.3 && need blis test -e $L/blis-serial/libblas.so.3 || {
	skip "a campaign over BLAS libraries" "one of them is not installed"
	exit 0
}
code "plan" 0 "$PROFRIG" campaign plan "$ROOT/examples/mlp/blas.yaml"
like "has six cells in blocks" "$(cat "$T/out")" "6 cells × 5 repeats = 30 runs.*threads=2 blas=blis.*paired t on logarithms, by blocks, n = 5"
code "run" 0 "$PROFRIG" campaign run "$ROOT/examples/mlp/blas.yaml"
is "all runs are committed" "$("$PROFRIG" campaign status --json campaigns/blas-on-mlp | jq -c '[.runs,.committed,.failed,.left]')" "[30,30,0,0]"
verdicts() { "$PROFRIG" campaign query campaigns/blas-on-mlp --format csv "SELECT cell.label, verdict.verdict FROM verdict JOIN cell ON cell.id = b WHERE metric = 'performance' ORDER BY 1" | tail -n +2; }
is "openblas and blis are faster than reference" "$(verdicts | tr '\n' ' ')" \
	"threads=1 blas=blis,faster threads=1 blas=openblas,faster threads=2 blas=blis,faster threads=2 blas=openblas,faster "
code "compare says the same" 0 "$PROFRIG" compare campaigns/blas-on-mlp --metric performance --json
is "of each cell and its baseline" "$(jq -r '[.rows[].verdict] | unique | join(" ")' "$T/out")" faster
code "between the two it says what the figures support" 0 "$PROFRIG" compare "campaigns/blas-on-mlp:threads=1 blas=blis" "campaigns/blas-on-mlp:threads=1 blas=openblas" --metric performance --json
like "one of the four verdicts" "$(jq -r '.rows[0].verdict' "$T/out")" "^(faster|slower|same|unclear)$"
"$PROFRIG" campaign export campaigns/blas-on-mlp -o before.csv
code "rebuild" 0 "$PROFRIG" campaign rebuild campaigns/blas-on-mlp
"$PROFRIG" campaign export campaigns/blas-on-mlp -o after.csv
check "and the export is the same" cmp before.csv after.csv
is "with a row for each run's performance" "$(grep -c ',performance,' after.csv)" 30
