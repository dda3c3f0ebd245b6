#!/usr/bin/env bash
# What a trace says of the environment it was recorded in stays in it: PyTorch's traces carry the
# variables of the host, passwords and tokens among them.
. "$(dirname "$0")/../lib.sh"

SECRET="tok-$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')"
ENV='"metadata":{"system":{"env":{"HF_TOKEN":"'$SECRET'","AWS_SECRET_ACCESS_KEY":"'$SECRET'","argv":["--password='$SECRET'"]}},
"clock-domain":"'$SECRET'"},"mast_job_environment":{"PASSWORD":"'$SECRET'"},"INFO":["INFO: '$SECRET'"]'
op() { # NAME TS ARGS
	printf '{"ph":"X","cat":"cpu_op","name":"%s","pid":7,"tid":8,"ts":%s,"dur":5,"args":{%s}}' "$1" "$2" "$3"
}
{
	printf '{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"Made Up","numSms":4}],%s,"traceEvents":[' "$ENV"
	op aten::mm 10 '"External id":1,"Input Dims":[[2,3],[3,4]],"Input type":["float","float"],"Concrete Inputs":["",""]'
	printf ',{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":11,"dur":2,"args":{"correlation":3}}'
	printf ',{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":9,"args":{"device":0,"stream":7,"correlation":3,"grid":[4,1,1],"block":[64,1,1]}}'
	printf '],"system":{"env":{"API_KEY":"%s"}}}' "$SECRET"
} >"$T/t.json"
is "the trace has it" "$(grep -c "$SECRET" "$T/t.json")" 2

found() { grep -rlaF "$SECRET" "$@" | sed "s,^$T/,," | sort | xargs; }
code "it is analysed" 0 "$PROFRIG" analyze "$T/t.json" -o "$T/a"
cp "$T/out" "$T/a/stdout"
cp "$T/err" "$T/a/stderr"
is "the operator is in the tables" "$(grep -c ',aten::mm,' "$T/a/tables/functions.csv")" 1
is "no table, page, JSON or message has the secret" "$(found "$T/a")" ""
code "it is shown" 0 "$PROFRIG" info "$T/t.json"
is "without the secret" "$(found "$T/out" "$T/err")" ""
code "also as JSON" 0 "$PROFRIG" info --json "$T/t.json"
is "without the secret" "$(found "$T/out" "$T/err")" ""

mkdir "$T/c"
for format in $("$PROFRIG" list converters --json | jq -r '.. | .name? // empty'); do
	"$PROFRIG" -v convert "$T/t.json" --to "$format" -o "$T/c/$format.out" >"$T/c/$format.stdout" 2>"$T/c/$format.stderr"
	is "$format is written" "$(ls -d "$T/c/$format.out"* >/dev/null && echo yes)" yes
done
is "in each format" "$(ls -d "$T"/c/*.out* | wc -l)" "$("$PROFRIG" list converters --json | jq '[.. | .name? // empty] | length')"
is "no converted file has the secret" "$(found "$T/c")" ""
