#!/usr/bin/env bash
# The table idle_power, of run directories made here whose answers are known: 90 W idle, 300 W for 10 s.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/contract.sh"

# a_run DIR PERIOD IDLE_JSON: a sampled run; the workload is from 10 s to 20 s
a_run() {
	mkdir -p "$1/samples"
	cat >"$1/run.json" <<END
{"schema": "profrig.run/1", "id": "20240101T000000Z-a-0a1b2c", "model": "a", "status": "success", "engine": "host", "host": {"hostname": "n"},
 "clocks": [{"monotonic_ns": 1000000000, "realtime_ns": 1700000000000000000, "boottime_ns": 1000000000, "at": "begin"}], "idle": $3,
 "steps": [{"name": "workload", "kind": "workload", "started_ns": 11000000000, "ended_ns": 21000000000, "exit_code": 0, "pid": 7}], "artifacts": []}
END
	awk -v p="$2" 'BEGIN {
		printf "# profrig samples: 1\n# source: nvml\n# clock: CLOCK_MONOTONIC\n# host: n\n# storage: every\n# device: gpu0: A\n"
		print "t_ns,power.gpu0[W],energy.gpu0[J],temperature.gpu0[degC],busy.gpu0[%]"
		n = int(30 / p + 0.5)
		for (i = 0; i <= n; i++) {
			t = i * p; work = t < 10 ? 0 : t > 20 ? 10 : t - 10
			printf "%.0f,%s,%.9f,%s,0\n", (t + 1) * 1e9, (t > 10 && t <= 20 ? 300 : 90), 90 * (t - work) + 300 * work, (t < 15 ? 40 : 60)
		}
	}' >"$1/samples/gpu_power.csv"
}
both='[{"when": "before", "start_ns": 1000000000, "end_ns": 11000000000}, {"when": "after", "start_ns": 21000000000, "end_ns": 31000000000}]'
cell() { # ANALYSIS COUNTER COLUMN
	jq -r --arg c "$2" --arg k "$3" '.tables.idle_power | (.columns | map(.name)) as $n | .data | transpose | .[] | select(.[0] == $c)
		| .[$n | index($k)]' "$1/report.json"
}
near() { # name, got, want, tolerance
	if awk -v a="$2" -v b="$3" -v e="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && a != "null" && d <= e) }'; then ok "$1"; else not_ok "$1" "got $2, want $3 ± $4"; fi
}
codes() { jq -r '[.warnings[].code | select(startswith("W_IDLE"))] | join(" ")' "$1/analysis.json"; }

a_run "$T/run" 0.1 "$both"
code "a run with idle time" 0 "$PROFRIG" -q analyze --strict "$T/run" -o "$T/a"
table_contract "$T/a" idle_power
is "one row per counter of power or energy" "$(jq -r '.tables.idle_power.data[0] | join(" ")' "$T/a/report.json")" "energy.gpu0 power.gpu0"
near "idle of the energy counter" "$(cell "$T/a" energy.gpu0 level_w)" 90 1e-6
near "of the power reading" "$(cell "$T/a" power.gpu0 level_w)" 90 1e-6
near "no drift" "$(cell "$T/a" energy.gpu0 drift_w)" 0 1e-6
is "both windows, whole" "$(cell "$T/a" energy.gpu0 method) $(cell "$T/a" energy.gpu0 duration_ns)" "both 20000000000"
is "temperatures of the device" "$(cell "$T/a" energy.gpu0 before_degc | cut -c 1-2) $(cell "$T/a" energy.gpu0 after_degc | cut -c 1-2)" "40 60"
is "nothing to warn of" "$(codes "$T/a")" ""
near "what it drew in the idle time" "$(cell "$T/a" energy.gpu0 idle_j)" 1800 1e-6
near "by its power too, which steps at the edge" "$(cell "$T/a" power.gpu0 idle_j)" 1800 15
code "its closing lines" 0 "$PROFRIG" analyze "$T/run" -o "$T/a2"
total=$(awk -F, '$1 == "energy.gpu0" && $3 == "host" { print $4 }' "$T/a2/tables/energy_totals.csv")
like "say the energy without it" "$(cat "$T/err")" "energy +energy.gpu0 $(awk -v t="$total" 'BEGIN { printf "%.2f kJ", (t - 1800) / 1000 }')"
code "a window of it" 0 "$PROFRIG" -q analyze --window 0s:5s "$T/run" -o "$T/a3"
near "has the part of it that is inside" "$(cell "$T/a3" energy.gpu0 idle_j)" 450 91

code "stated" 0 "$PROFRIG" -q analyze --strict --idle-power gpu=70 --idle-power 5 "$T/run" -o "$T/s"
is "is believed" "$(cell "$T/s" energy.gpu0 level_w) $(cell "$T/s" energy.gpu0 method) $(cell "$T/s" energy.gpu0 stderr_w)" "70 stated null"
near "what was measured is shown too" "$(cell "$T/s" energy.gpu0 before_w)" 90 1e-6

a_run "$T/none" 0.1 '[]'
code "a run without idle time" 0 "$PROFRIG" -q analyze "$T/none" -o "$T/n"
check "has no such table" test ! -e "$T/n/tables/idle_power.csv"
code "for which it is stated" 0 "$PROFRIG" -q analyze --idle-power gpu0=80 "$T/none" -o "$T/n"
is "has one" "$(cell "$T/n" energy.gpu0 level_w) $(cell "$T/n" energy.gpu0 before_w)" "80 null"
code "stated for a device that is not there" 6 "$PROFRIG" -q analyze --strict --idle-power gpu0=80,cpu=3 "$T/none" -o "$T/n"
is "is reported" "$(codes "$T/n")" W_IDLE_STATED

a_run "$T/slow" 2.5 "$both"
code "read every 2.5 s" 0 "$PROFRIG" -q analyze "$T/slow" -o "$T/l"
is "is too few readings" "$(cell "$T/l" energy.gpu0 method), $(cell "$T/l" energy.gpu0 reason), $(cell "$T/l" energy.gpu0 level_w)" "none, too few readings, null"
is "and a warning" "$(codes "$T/l")" W_IDLE_UNKNOWN

# What run.json says there and cannot be is nothing.
a_run "$T/odd" 0.1 '[{"when": "before", "start_ns": 5, "end_ns": 1}, {"when": "after", "start_ns": -3, "end_ns": 9223372036854775807}, {"when": 3}, null, [], "x",
	{"when": "during", "start_ns": 1000000000, "end_ns": 9000000000}]'
code "windows that cannot be" 0 "$PROFRIG" -q analyze "$T/odd" -o "$T/o"
check "are none" test ! -e "$T/o/tables/idle_power.csv"
a_run "$T/odd" 0.1 '{"when": "before"}'
code "no list of windows" 0 "$PROFRIG" -q analyze "$T/odd" -o "$T/o"

for bad in '' gpu0 gpu0=-1 gpu0=nan gpu0=1,gpu0=2 90W; do
	code "'--idle-power $bad' is a usage error" 2 "$PROFRIG" analyze --idle-power "$bad" "$T/run" -o "$T/x"
done
like "which says why" "$(cat "$T/err")" "analyze: --idle-power 90W: '90W' is no power in W"
