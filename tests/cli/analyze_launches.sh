#!/usr/bin/env bash
# Kernels whose grids draw different powers: what a recording says of launches reaches the energy by power, and no other table.
. "$(dirname "$0")/../lib.sh"

# trace KEY: PyTorch's words, grids under KEY. f draws 100 W with small grids, which run beside h, 300 W with large ones, beside g; both draw 200 W.
trace() {
	awk -v key="$1" 'function roll(n) { seed = (seed * 16807) % 2147483647; return seed % n }
		function kernel(name, grid, ms, w) {
			printf ",\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d,\"%s\":[%d,1,1],\"block\":[256,1,1]}}",
				name, now, ms * 1000, ++id, key, grid
			for (i = 0; i < ms; i++) power[now / 1000 + i] += w
			now += ms * 1000
		}
		BEGIN {
			seed = 7
			printf "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}], \"traceEvents\": [{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"python\"}}"
			while (now < 20e6) {
				large = int(now / 5e5) % 2
				if (roll(10) == 0) large = !large
				what = roll(5)
				if (what < 3) kernel("f", large ? 512 : 8, 1 + roll(5), large ? 300 : 100)
				else if (what < 4) kernel(int(now / 5e5) % 2 ? "g" : "h", 64, 1 + roll(5), 200)
				else now += 1000 * (1 + roll(5))
			}
			for (at = 0; at < 20000; at++) {
				if (at % 10 == 0) printf ",\n{\"ph\":\"C\",\"name\":\"measured\",\"pid\":0,\"ts\":%d,\"args\":{\"gpu0\":%.3f}}", at * 1000, joules
				joules += (80 + power[at]) / 1000
			}
			print "]}"
		}'
}
# watts TABLES NAME: energy by power over time, to 50 W
watts() {
	awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$(at["name"]) == name { printf "%d\n", 50 * int($(at["modelled_j"]) / $(at["exclusive_ns"]) * 1e9 / 50 + 0.5) }' "$1/energy.csv"
}

cat >"$T/counters.yaml" <<'END'
counters:
  - {match: "measured*", kind: cumulative, unit: J, device: gpu0}
END
trace grid >"$T/told.json"
trace hidden >"$T/untold.json"
for name in told untold; do
	code "$name is analyzed" 0 "$PROFRIG" -q analyze --counters "$T/counters.yaml" -o "$T/$name" "$T/$name.json"
done
is "without grids g seems to draw more" "$(watts "$T/untold/tables" g)" 350
is "and h less" "$(watts "$T/untold/tables" h)" 200
is "with grids they draw the same, with the static power" "$(watts "$T/told/tables" g) $(watts "$T/told/tables" h)" "300 300"
for table in functions kernels; do
	check "$table are the same" cmp "$T/told/tables/$table.csv" "$T/untold/tables/$table.csv"
done
