#!/usr/bin/env bash
# A run directory whose archive is streamed: the counters of its sample files are read first, and all is as when it is kept in memory.
. "$(dirname "$0")/../lib.sh"
make_otf2=$B/tests/fixtures/gen/make_otf2

# The archive's clock read 0 at real time 1700000000 s, the run's CLOCK_MONOTONIC 50 s then.
run() { # DIR OPTIONS OF THE ARCHIVE…
	local d=$1
	shift
	mkdir -p "$d/samples" "$d/artifacts/scorep"
	"$make_otf2" --realtime_s 1700000000 --processes 2 --threads 2 --queues 1 --devices 2 --energy 0 --events 20000 "$@" "$d/artifacts/scorep/scorep-1" >/dev/null
	cat >"$d/run.json" <<-END
		{"schema": "profrig.run/1", "id": "r", "model": "m", "status": "success", "host": {"hostname": "n"}, "engine": "docker",
		 "clocks": [{"monotonic_ns": 50000000000, "realtime_ns": 1700000000000000000, "boottime_ns": 50000000000, "at": "start"}],
		 "steps": [{"name": "workload", "started_ns": 51000000000, "ended_ns": 51060000000, "exit_code": 0}],
		 "artifacts": [{"tool": "scorep", "path": "artifacts/scorep/scorep-1", "reader": "otf2", "verdict": "valid"}]}
	END
	awk 'BEGIN {
		print "# clock: CLOCK_MONOTONIC\nt_ns,energy.gpu0[J],energy.gpu1[J],power.cpu0[W]"
		for (i = 0; i <= 120; i++) printf "%.0f,%.6f,%.6f,%d\n", 50990000000 + i * 1000000, 0.3 * i + (i % 7) / 50, 0.2 * i, 60 + i % 9
	}' >"$d/samples/power.csv"
	echo '{"schema": "profrig.plan/1", "configuration": [], "steps": [{"name": "workload", "env": [{"name": "CUDA_VISIBLE_DEVICES", "value": "1,0"}]}]}' >"$d/plan.json"
}
warned() { jq -r --arg re "$2" '.warnings[] | select(.code | test($re)) | .code + ": " + .text' "$1/analysis.json"; }
# Rounded alike: in a profile sums are made of other parts.
rounded() { sed 1d "$1" | awk -F, -v OFS=, '{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9]*\.[0-9]+(e-?[0-9]+)?$/) $i = sprintf("%.8g", $i); print }' | sort; }
same() { # NAME ONE OTHER TABLE…: cell by cell, but for percentiles and rounding errors
	local name=$1 one=$2 other=$3 t
	shift 3
	for t; do
		check "$name: $t is there" test -s "$one/tables/$t.csv"
		is "$name: $t" "$(rounded "$other/tables/$t.csv")" "$(rounded "$one/tables/$t.csv")"
	done
}

run "$T/run"
code "a run, kept in memory" 0 "$PROFRIG" -q analyze --sink model "$T/run" -o "$T/model"
code "and streamed" 0 "$PROFRIG" -q analyze --sink profile "$T/run" -o "$T/profile"
is "which it was" "$(jq -r .sink "$T/profile/analysis.json")" profile
check "there is energy to compare" test "$(wc -l <"$T/model/tables/energy.csv")" -gt 50
same "the same" "$T/model" "$T/profile" energy energy_totals energy_callpaths energy_fit energy_calls callpaths sharing counters busy
is "nothing is left out" "$(warned "$T/profile" NOT_IN_PROFILE)" ""
check "and every check holds" jq -e '.checks | length > 0 and all(.ok)' "$T/profile/analysis.json"
is "what the run's processes saw is followed" "$(sed 1d "$T/profile/tables/sharing.csv" | cut -d, -f5 | sort -u | paste -sd' ')" "$(sed 1d "$T/model/tables/sharing.csv" | cut -d, -f5 | sort -u | paste -sd' ')"

# an archive and sample files on the command line, or side by side in a folder
mkdir "$T/both"
cp -r "$T/run/artifacts/scorep/scorep-1/." "$T/run/samples/power.csv" "$T/both"
sed -i 's/CLOCK_MONOTONIC/CLOCK_REALTIME/; s/^5\([0-9]\)/170000000\1/' "$T/both/power.csv"
code "an archive and samples in real time, kept" 0 "$PROFRIG" -q analyze --sink model "$T/both" -o "$T/model"
code "streamed" 0 "$PROFRIG" -q analyze --sink profile "$T/both" -o "$T/profile"
same "in a folder" "$T/model" "$T/profile" energy energy_totals callpaths counters
check "the clocks met" test "$(wc -l <"$T/model/tables/energy.csv")" -gt 50
is "nothing is unrelated" "$(warned "$T/profile" "NOT_ALIGNED|NOT_IN_PROFILE")" ""
code "named one by one, in any order" 0 "$PROFRIG" -q analyze --sink profile "$T/both/traces.otf2" "$T/both/power.csv" -o "$T/named"
same "by name" "$T/profile" "$T/named" energy energy_totals

# what cannot be
run "$T/two"
cp -r "$T/two/artifacts/scorep/scorep-1" "$T/two/artifacts/scorep/scorep-2"
sed -i 's|"artifacts": .|&{"tool": "scorep", "path": "artifacts/scorep/scorep-2", "reader": "otf2", "verdict": "valid"}, |' "$T/two/run.json"
code "a run of two archives is not streamed" 2 "$PROFRIG" -q analyze --sink profile "$T/two" -o "$T/no"
like "which is said" "$(cat "$T/err")" "one archive at a time .*scorep-1 lies beside .*scorep-2"

# By default a large archive is streamed, and a small one or a part of one is read into memory.
code "an archive of 1.6 million events" 0 "$make_otf2" --threads 2 --devices 2 --roots 20 --events 800000 "$T/large"
code "is analysed" 0 "$PROFRIG" -q analyze --format csv "$T/large" -o "$T/streamed"
is "and streamed without being asked" "$(jq -r .sink "$T/streamed/analysis.json")" profile
is "nothing is left out of it" "$(warned "$T/streamed" NOT_IN_PROFILE)" ""
code "kept in memory" 0 "$PROFRIG" -q analyze --sink model --format csv "$T/large" -o "$T/kept"
same "by default as in memory" "$T/kept" "$T/streamed" energy energy_totals energy_callpaths callpaths counters
code "a window of it" 0 "$PROFRIG" -q analyze --window 10%:20% --format csv "$T/large" -o "$T/part"
is "needs single calls" "$(jq -r .sink "$T/part/analysis.json")" model
code "one of 2000 events" 0 "$make_otf2" --threads 2 --events 1000 "$T/little"
code "is analysed, too" 0 "$PROFRIG" -q analyze --format csv "$T/little" -o "$T/exact"
is "with exact percentiles" "$(jq -r .sink "$T/exact/analysis.json")" model
