#!/usr/bin/env bash
# Files that others shorten while profrig has them mapped: inputs of every command, plain and in an archive, and the switch of the tracers. Never SIGBUS;
# an error with the file's name, and nothing half-written.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
awk 'BEGIN { print "{\"traceEvents\":["
	for (i = 0; i < 300000; i++) printf "{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":5,\"name\":\"f%d\"},\n", i % 7, i * 10, i % 100
	print "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"z\"}]}" }' >whole.json
shrunk=0
shortened() { # delay, command on k.json
	local delay=$1 rc p
	shift
	rm -rf out o.json
	cp whole.json k.json
	"$PROFRIG" -q "$@" >printed 2>err &
	p=$!
	sleep "$delay"
	truncate -s 1000 k.json
	wait $p
	rc=$?
	case $rc in
	0) ;;
	5 | 6)
		grep -q 'k.json' err printed || echo "$delay $1: no name: $(cat err)"
		shrunk=$((shrunk + 1))
		;;
	*) echo "$delay $1: status $rc $(cat err)" ;;
	esac
	[ -z "$(find . -name '.profrig-*')" ] || echo "$delay $1: left $(find . -name '.profrig-*')"
}
for delay in 0.002 0.005 0.01 0.015 0.02 0.03 0.05; do
	shortened $delay info k.json
	shortened $delay analyze k.json -o out
	shortened $delay convert k.json -o o.json
done >bad
is "no command dies, and each names the file" "$(cat bad)" ""
check "some were shortened in time ($shrunk)" test $shrunk -gt 0

code "the workload empties the switch" 0 "$PROFRIG" -q run --no-analyze -o runs --engine host --record-for 0.3 -- /bin/sh -c ': >"$PROFRIG_RECORD"; sleep 0.8; echo it went on'
is "the run is whole" "$(field runs/2*/run.json .status)" success
like "so is its output" "$(cat runs/2*/steps/*.out)" "it went on"
