#!/usr/bin/env bash
# What the user says of counters (--counters, --tau, --exact-units), what profrig finds by itself, and what it says of both.
. "$(dirname "$0")/../lib.sh"

# cell FILE TABLE KEY=VALUE… COLUMN: the column of the first row that has all these values
cell() {
	local file=$1 table=$2 select=true column
	shift 2
	while [ $# -gt 1 ]; do
		select="$select and (.[\"${1%%=*}\"] | tostring) == \"${1#*=}\""
		shift
	done
	column=$1
	jq -r ".tables[\"$table\"] | [.columns[].name] as \$n | [.data | transpose | .[] | [\$n, .] | transpose | map({(.[0]): .[1]}) | add | select($select)][0] | .[\"$column\"]" "$file"
}
near() { # NAME GOT WANT TOLERANCE
	if awk -v a="$2" -v b="$3" -v e="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && a != "null" && d <= e) }'; then ok "$1"; else not_ok "$1" "got $2, want $3 ± $4"; fi
}
codes() { jq -r '[.warnings[].code] | unique | join(" ")' "$1/analysis.json"; }

# 100 W and 500 W by turns of 2 s; the reading lags behind by 0.4 s and shows whole watts. A meter of no known name, in Wh.
awk 'BEGIN {
	print "# profrig samples: 1\n# source: nvml\n# clock: CLOCK_MONOTONIC\nt_ns,power.gpu0[W],energy.gpu0[J],meter.rack[x]"
	y = 100; j = 0
	for (i = 0; i <= 5000; i++) {
		p = (i * 4 % 4000) <= 2000 && i * 4 % 4000 > 0 ? 100 : 500
		if (i) { y = p + (y - p) * exp(-0.004 / 0.4); j += p * 0.004 }
		printf "%.0f,%d,%.6f,%.9f\n", 1000000000 + i * 4000000, int(y), j, j / 3600
	}
}' >"$T/power.csv"

code "a reading and its counter" 0 "$PROFRIG" -q analyze "$T/power.csv" -o "$T/plain"
is "the filter is found" "$(cell "$T/plain/report.json" power_filter verdict)" one_pole
near "with its time constant" "$(cell "$T/plain/report.json" power_filter fit_tau_s)" 0.4 0.004
is "and not undone without being asked" "$(cell "$T/plain/report.json" power_filter source)" none
like "which is reported" "$(codes "$T/plain")" "W_POWER_FILTERED"
counted=$(cell "$T/plain/report.json" counters series=energy.gpu0 total)
face=$(cell "$T/plain/report.json" counters series=power.gpu0 total)
code "with --tau fit" 0 "$PROFRIG" -q analyze "$T/power.csv" --tau fit -o "$T/fit"
is "it is" "$(cell "$T/fit/report.json" power_filter source)" fit
fitted=$(cell "$T/fit/report.json" counters series=power.gpu0 total)
echo "# counted $counted J; power at face value $face J, with --tau fit $fitted J"
near "and the total is the counter's, but for half a watt" "$fitted" "$(awk -v j="$counted" 'BEGIN { print j - 0.5 * 20 }')" 2
code "with --tau 400ms" 0 "$PROFRIG" -q analyze "$T/power.csv" --tau 400ms -o "$T/given"
is "it is the user's" "$(cell "$T/given/report.json" power_filter source)/$(cell "$T/given/report.json" counters series=power.gpu0 tau_s)" user/0.4
check "every check holds" jq -e '.checks | all(.ok)' "$T/given/analysis.json"
for t in soon -1 2h nan fi; do
	code "--tau $t is a usage error" 2 "$PROFRIG" -q analyze "$T/power.csv" --tau="$t" -o "$T/no"
done

is "a meter of unknown name is not integrated" "$(cell "$T/plain/report.json" counters series=meter.rack kind)/$(cell "$T/plain/report.json" counters series=meter.rack total)" unknown/null
cat >"$T/counters.yaml" <<-'EOF'
	counters:
	  - {match: "meter.*", kind: cumulative, unit: Wh, device: gpu7}
	  - {match: "power.gpu*", tau_s: 0.4, period_s: 1, max_rate: 300}
	  - {match: "powr.gpu*", tau_s: 1}
EOF
code "a file that says what it is" 0 "$PROFRIG" -q analyze "$T/power.csv" --counters "$T/counters.yaml" -o "$T/file"
is "makes it an energy counter of a device" "$(cell "$T/file/report.json" counters series=meter.rack device)/$(cell "$T/file/report.json" counters series=meter.rack unit)" gpu7/J
near "in joules" "$(cell "$T/file/report.json" counters series=meter.rack total)" "$counted" 0.001
is "a filter, a period and a limit hold" "$(for k in tau_s period_s flags; do cell "$T/file/report.json" counters series=power.gpu0 $k; done | xargs)" "0.4 1 stale|rate_out_of_range"
like "an entry that matches nothing is reported" "$(jq -r '.warnings[] | select(.code == "W_UNUSED_RULE").text' "$T/file/analysis.json")" "powr.gpu"
like "and so is a filter that cannot be found" "$("$PROFRIG" -q analyze "$T/power.csv" --tau fit --counters <(echo 'counters: [{match: "power*", device: gpu1}]') -o "$T/lost" >/dev/null && codes "$T/lost")" W_TAU_UNKNOWN
echo '{"counters": [{"match": "meter.*", "kind": "gauge", "unit": "W"}]}' >"$T/counters.json"
code "the same in JSON" 0 "$PROFRIG" -q analyze "$T/power.csv" --counters "$T/counters.json" -o "$T/json"
is "is read" "$(cell "$T/json/report.json" counters series=meter.rack kind)" gauge

# The meter of the rack has all of it, or half: the device had more than its node.
code "a meter of the whole node" 0 "$PROFRIG" -q analyze "$T/power.csv" --counters <(echo 'counters: [{match: "meter.*", kind: cumulative, unit: Wh, device: node}]') -o "$T/node"
is "its device has no more" "$(cell "$T/node/report.json" node_energy verdict)" ok
near "and nothing is left" "$(cell "$T/node/report.json" node_energy rest_j)" 0 0.01
is "so nothing is reported" "$(codes "$T/node" | grep -c W_NODE_ENERGY)" 0
code "half of it" 6 "$PROFRIG" -q analyze --strict "$T/power.csv" --counters <(echo 'counters: [{match: "meter.*", kind: cumulative, unit: Wh, scale: 0.5, device: node}]') -o "$T/half"
is "is less than its device has" "$(cell "$T/half/report.json" node_energy verdict)" exceeded
like "which is reported" "$(codes "$T/half")" W_NODE_ENERGY
cat >"$T/bad.yaml" <<-'EOF'
	counters:
	  - match: a
	    tau_ms: 5
	    tau_s: -1
	  - {match: b, kind: gage}
	  - {kind: gauge}
	  - {match: c, quantity: energy, kind: gauge, unit: mW}
	  - {match: d}
	  - {match: [e], scale: {a: 1}, kind: [gauge]}
	colour: red
EOF
code "a file full of mistakes is a configuration error" 3 "$PROFRIG" -q analyze "$T/power.csv" --counters "$T/bad.yaml" -o "$T/no"
is "that names all of them with their lines" "$(grep -o 'bad.yaml:[0-9]*' "$T/err" | sort | uniq -c | xargs)" \
	"1 bad.yaml:10 1 bad.yaml:3 1 bad.yaml:4 1 bad.yaml:5 1 bad.yaml:6 2 bad.yaml:7 1 bad.yaml:8 3 bad.yaml:9"
like "with suggestions" "$(cat "$T/err")" "'tau_ms' in counters\[0\]; did you mean 'tau_s'.*'gage'; did you mean 'gauge'"
check "and nothing was written" test ! -e "$T/no"
code "a file that is not there is a usage error" 2 "$PROFRIG" -q analyze "$T/power.csv" --counters "$T/nosuch" -o "$T/no"
code "a file that is no YAML is a configuration error" 3 "$PROFRIG" -q analyze "$T/power.csv" --counters <(echo 'counters: [') -o "$T/no"
code "an empty one too" 3 "$PROFRIG" -q analyze "$T/power.csv" --counters /dev/null -o "$T/no"

like "list counters shows what is known" "$("$PROFRIG" list counters)" 'rocm_smi:\*energy_count.* 15\.3 +1\.52587890625e-05'

traces=${PROFRIG_TRACES:-}
if [ -z "$traces" ]; then
	case ,${PROFRIG_REQUIRE:-}, in *,traces,*) not_ok "PROFRIG_TRACES is required" ;; esac
	skip "real recordings" "PROFRIG_TRACES is not set"
	exit 0
fi

# heavy_kernel on device 0 and light_kernel on device 1, by the counter in exact units
mi=$traces/otf2/mi300a-two-kernels
within() { # NAME FILE COUNTER PERCENT
	local d name want got
	for d in "0 heavy_kernel 1837.532915" "1 light_kernel 1116.254775"; do
		read -r d name want <<<"$d"
		got=$(cell "$2" energy "counter=A2rocm_smi:::$3:device=$d" view=device "name=$name(float*, float const*)" exclusive_j)
		echo "# $1: $name $got J, $(awk -v a="$got" -v b="$want" 'BEGIN { printf "%+.4f %%", (a / b - 1) * 100 }')"
		near "$1: $name" "$got" "$want" "$(awk -v w="$want" -v p="$4" 'BEGIN { print w * p / 100 }')"
	done
}
code "mi300a in exact units" 0 "$PROFRIG" -q analyze "$mi" --exact-units --tau fit --format json -o "$T/mi-fit"
within "the counter" "$T/mi-fit/report.json" energy_count 0.00001
within "power alone, the filter as fitted" "$T/mi-fit/report.json" current_socket_power 0.25
near "the scale says so" "$(cell "$T/mi-fit/report.json" counters "series=A2rocm_smi:::energy_count:device=0" scale)" 9.97306e-7 1e-11
code "mi300a with the published time constant" 0 "$PROFRIG" -q analyze "$mi" --tau 0.1 --format json -o "$T/mi-given"
within "power alone, the filter as published" "$T/mi-given/report.json" current_socket_power 0.1
check "every check holds" jq -e '.checks | length > 0 and all(.ok)' "$T/mi-given/analysis.json"
code "mi300a at face value" 0 "$PROFRIG" -q analyze "$mi" --format json -o "$T/mi-face"
within "power alone, at face value" "$T/mi-face/report.json" current_socket_power 5
