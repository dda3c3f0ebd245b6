#!/usr/bin/env bash
# analyze of several run directories: the tables ensemble and runs, the runs' own analyses, and what is wrong with some of them.
. "$(dirname "$0")/../lib.sh"

# run NAME F_US MODEL STATUS WORD METRIC: a run in which f took that long on a thread of its own number
n=0
run() {
	n=$((n + 1))
	mkdir -p "$T/runs/$1/artifacts/t"
	echo "[{\"ph\":\"X\",\"name\":\"f\",\"pid\":$((4000 + n)),\"tid\":$((4000 + n)),\"ts\":0,\"dur\":$2}]" >"$T/runs/$1/artifacts/t/t.json"
	cat >"$T/runs/$1/run.json" <<-END
	{"schema": "profrig.run/1", "id": "${7:-$1}", "model": "$3", "status": "$4", "tools": [{"name": "t"}],
	 "steps": [{"name": "workload", "kind": "workload", "argv": ["./x", "/o/$1/$5"]}],
	 "metrics": [{"name": "speed", "value": $6, "unit": "1/s", "source": "workload"}],
	 "artifacts": [{"tool": "t", "path": "artifacts/t/t.json", "reader": "tef", "verdict": "valid"}]}
	END
}
row() { grep "^$2" "$1/tables/ensemble.csv" | cut -d, -f4-; }
codes() { jq -r '[.warnings[].code] | unique | join(" ")' "$1/analysis.json"; }

run a 10 m success out 1
run b 12 m success out 2
run c 14 m success out 3
code "three repeats" 0 "$PROFRIG" -q analyze "$T"/runs/{a,b,c} -o "$T/o"
code "said as runs" 0 "$PROFRIG" analyze "$T"/runs/{a,b,c} -o "$T/o"
like "that went well" "$(cat "$T/err")" "data    3 runs, all successful; "
mkdir "$T/beside" && cp -r "$T"/runs/{a,b} "$T/beside" && cp -r "$T/o" "$T/beside/ensemble-a"
code "beside what an ensemble left" 0 "$PROFRIG" -q analyze "$T"/beside/* -o "$T/again"
is "that is no run" "$(tail -n +2 "$T/again/tables/runs.csv" | wc -l)" 2
code "three repeats, again" 0 "$PROFRIG" -q analyze "$T"/runs/{a,b,c} -o "$T/o"
is "the page's path is shown" "$(cat "$T/out")" "$T/o/report.html"
is "columns" "$(head -n 1 "$T/o/tables/ensemble.csv")" table,key,column,runs,mean,stddev,ci_low,ci_high,outlier_runs
is "mean, deviation and Student's interval" "$(row "$T/o" 'functions,host|f|,inclusive_ns' | awk -F, '{ printf "%d %d %d %.3f %.3f %s", $1, $2, $3, $4, $5, $6 }')" "3 12000 2000 7031.725 16968.275 "
is "threads of other ids are one" "$(grep -c '^callpaths,thread {1}|f,calls,3,1,0,1,1,$' "$T/o/tables/ensemble.csv")" 1
is "metrics of the runs" "$(row "$T/o" 'metrics,speed|1/s|workload,value' | cut -d, -f1-3)" 3,2,1
is "each run's own" "$(grep '^functions,host|f|,inclusive_ns' "$T/o/tables/ensemble_runs.csv" | cut -d, -f4- | xargs)" "a,10000 b,12000 c,14000"
is "but for those of paths" "$(grep -c callpaths "$T/o/tables/ensemble_runs.csv")" 0
check "none stands out of three" test ! -e "$T/o/tables/ensemble_outliers.csv"
is "the runs" "$(cut -d, -f1-3,5-7 "$T/o/tables/runs.csv" | tail -n +2 | xargs)" "a,m,success,each/a,7,0 b,m,success,each/b,7,0 c,m,success,each/c,7,0"
is "no warning" "$(codes "$T/o")" ""
is "each run's checks" "$(jq -r '[.checks[] | .name + " " + (.ok | tostring)] | join(", ")' "$T/o/analysis.json")" "run a true, run b true, run c true"
for r in a b c; do
	is "run $r has an analysis of its own" "$(sed -n 2p "$T/o/each/$r/tables/functions.csv" | cut -d, -f1-4)" host,f,,1
	check "and a page" test -s "$T/o/each/$r/report.html"
done
code "which is as good as one made alone" 0 "$PROFRIG" -q analyze "$T/runs/a" -o "$T/alone"
check "tables" diff -r "$T/alone/tables" "$T/o/each/a/tables"
cp -r "$T/o/tables" "$T/before"
code "a report of the ensemble" 0 "$PROFRIG" -q report "$T/o"
check "has the same tables" diff -r "$T/before" "$T/o/tables"
code "again" 0 "$PROFRIG" -q analyze "$T"/runs/{a,b,c} -o "$T/o"
check "too" diff -r "$T/before" "$T/o/tables"
ln -s a "$T/runs/latest"
code "a run by two names counts once" 0 "$PROFRIG" -q analyze "$T"/runs/{a,latest,b,c} -o "$T/o"
check "so nothing changes" diff -r "$T/before" "$T/o/tables"
touch "$T/o/each/a/mine"
code "two of them, into the same folder" 0 "$PROFRIG" -q analyze "$T"/runs/{b,c} -o "$T/o"
is "what was made of the third is gone, what was not stays" "$(find "$T/o/each/a" -type f)" "$T/o/each/a/mine"
code "one run, into the same folder" 0 "$PROFRIG" -q analyze "$T/runs/a" -o "$T/o"
is "leaves nothing of the ensemble" "$(find "$T/o/each" -type f; ls "$T/o/tables" | grep -E 'ensemble|runs')" "$T/o/each/a/mine"

run d 11 m success out 2
run e 100 m failed out 2
code "one that stands out, and did not end well" 0 "$PROFRIG" -q analyze "$T"/runs/{a,b,c,d,e} -o "$T/odd"
like "is named" "$(row "$T/odd" 'functions,host|f|,inclusive_ns')" ',e$'
is "and counted" "$(tail -n 1 "$T/odd/tables/runs.csv" | cut -d, -f1,3,7)" "e,failed,4"
like "with the reason" "$(grep '^e,functions,host|f|,inclusive_ns' "$T/odd/tables/ensemble_outliers.csv")" '^e,functions,host\|f\|,inclusive_ns,100000,12000,7\.33[0-9]*,[0-9.]+,7\.95,"?its score is [0-9.]+, the limit for 5 runs is 7\.95"?$'
is "and what sets it apart" "$(cut -d, -f1,8 "$T/odd/tables/runs.csv" | tail -n +2 | xargs -d '\n')" "a, b, c, d, e,status failed"
is "its status is reported" "$(codes "$T/odd")" W_FAILED_RUN
code "--strict does not take it" 6 "$PROFRIG" -q analyze --strict "$T"/runs/{a,b,c,d,e} -o "$T/odd"
run other 10 m2 success out 1
run words 10 m success else 1
code "runs of other models and commands" 0 "$PROFRIG" -q analyze "$T"/runs/{a,other,words} -o "$T/mixed"
is "are told apart" "$(jq -r '.warnings[] | .code + " " + (.count | tostring)' "$T/mixed/analysis.json" | xargs)" "W_DIFFERENT_RUNS 1 W_DIFFERENT_RUNS 1"
is "with what differs" "$(jq -r '.warnings[1].text' "$T/mixed/analysis.json")" "words ran './x /o//else, tools t', a './x /o//out, tools t'"

run up 10 m success out 1 ../../up
run twin 10 m success out 1 a
code "ids that are no folders, or another's" 0 "$PROFRIG" -q analyze "$T"/runs/{a,up,twin} -o "$T/ids"
is "get a number" "$(ls "$T/ids/each" | xargs)" "a run-2 run-3"
mkdir "$T/runs/late"
sed 's,profrig.run/1,profrig.run/2,' "$T/runs/a/run.json" >"$T/runs/late/run.json"
code "one of three cannot be read: 6" 6 "$PROFRIG" -q analyze "$T"/runs/{a,late,b} -o "$T/part"
is "the others count" "$(row "$T/part" 'functions,host|f|,inclusive_ns' | cut -d, -f1,2)" 2,11000
is "and it is reported" "$(codes "$T/part") $(jq .partial "$T/part/analysis.json")" "W_UNREADABLE true"
mkdir "$T/runs/later"
cp "$T/runs/late/run.json" "$T/runs/later"
code "none can be read: 5" 5 "$PROFRIG" -q analyze "$T"/runs/{late,later} -o "$T/none"
check "nothing is written" test ! -e "$T/none"
rm "$T/runs/b/artifacts/t/t.json"
code "a trace of one is lost: 6" 6 "$PROFRIG" -q analyze "$T"/runs/{a,b,c} -o "$T/lost"
is "it is partial" "$(jq -r '.inputs[] | select(.partial).path' "$T/lost/analysis.json")" "$T/runs/b"
is "and the number counts the others" "$(row "$T/lost" 'functions,host|f|,inclusive_ns' | cut -d, -f1,2)" 2,12000
code "only some analyses" 0 "$PROFRIG" -q analyze --analysis functions --format csv "$T"/runs/{a,c} -o "$T/some"
is "give only their rows" "$(cut -d, -f1 "$T/some/tables/ensemble.csv" | uniq | xargs)" "table metrics functions"
check "and no page" test ! -e "$T/some/report.html" -a ! -e "$T/some/each/a/report.html"

code "repeats" 0 env -C "$T" "$PROFRIG" run --engine host --repeat 2 -- true
like "say which of them it is" "$(grep ' run ' "$T/err" | tr '\n' ' ')" 'run 1/2 of true .*run 2/2 of true'
like "end with where they are seen together" "$(tail -n 1 "$T/err")" 'these 2 runs: (.*/ensemble-.*)$'
is "which is of both" "$(grep '^metrics,wall|s|workload' "${BASH_REMATCH[1]}/tables/ensemble.csv" | cut -d, -f4)" 2
is "and no run" "$(cd "$T" && "$PROFRIG" list runs --json | jq '[.[] | select(.id | startswith("ensemble"))] | length')" 0
code "one run" 0 env -C "$T" "$PROFRIG" run --engine host -- true
check "has no such line" sh -c '! grep ensemble "$1"' sh "$T/err"
