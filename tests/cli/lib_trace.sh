#!/usr/bin/env bash
# lib trace: logs of libraries, or runs, to library_trace.csv; what is lost is shown; exit statuses.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1

gemm() { echo "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m $1 -n 32 -k 16 --alpha 1 --lda $1 --ldb 32 --beta 0 --ldc $1"; }
{ gemm 64; gemm 64; gemm 128; echo "epoch 1: loss 0.5"; gemm 64; } >a.log
lt() { "$PROFRIG" -q lib trace "$@"; }

code "a log" 0 lt a.log
is "is counted" "$(head -n 1 out)" "library_trace.csv: 4 calls of 2 configurations, 328 kflop"
is "the first columns are those of madengine" "$(head -n 1 library_trace.csv | tr -d '\r')" \
	"jobid,created_date,model,library,config,calls,rank,pid,first_ns,last_ns,total_ns,flops,bytes,operation,key"
is "lines end in CR LF" "$(grep -c $'\r$' library_trace.csv)" 3
like "a row" "$(sed -n 2p library_trace.csv | tr -d '\r')" "^0,[0-9-]{10} [0-9:]{8},,rocblas,$(gemm 64 | sed 's/[.]/[.]/g'),3,,,,,,196608,43008,sgemm,gemm ta=N tb=T m=64 "
JENKINS_BUILD_NUMBER=42 MAD_MODEL_NAME=dummy lt a.log >"$T/out"
like "the job and the model of the environment" "$(sed -n 2p library_trace.csv)" "^42,[^,]*,dummy,rocblas,"
lt --model mine a.log >"$T/out"
like "or as named" "$(sed -n 2p library_trace.csv)" "^0,[^,]*,mine,rocblas,"
code "elsewhere" 0 lt a.log -o b.csv
is "the same" "$(wc -l <b.csv)" 3
lt a.log -o - >c.csv 2>err
is "to standard output" "$(cut -d , -f 3- c.csv)" "$(cut -d , -f 3- b.csv)"
like "the summary is on the other one" "$(cat err)" "4 calls of 2 configurations"
code "both on standard output" 2 lt --json -o - a.log

json() { lt --json "$@" | jq -c "$q"; }
q='[.records, .distinct, .torn, .doubled, .foreign, .flops, .bytes, .operations.sgemm, (.warnings | length)]'
is "as JSON" "$(json a.log)" "[4,2,0,0,1,327680,69632,4,0]"
is "from a compressed one" "$(gzip -c a.log >a.log.gz; json a.log.gz)" "[4,2,0,0,1,327680,69632,4,0]"
is "several logs add up" "$(cp a.log b.log; json a.log b.log)" "[8,2,0,0,2,655360,139264,8,0]"
is "one that is named twice counts once" "$(json a.log a.log 2>err)" "[4,2,0,0,1,327680,69632,4,1]"
mkdir folder && cp a.log folder/x.log && cp a.log folder/y.txt && echo "nothing here" >folder/readme
is "a folder of them" "$(json folder 2>err)" "[8,2,0,0,2,655360,139264,8,1]"

# Torn, impossible and hostile records: counted with an example, and never a call.
{ gemm 64; gemm 64 | head -c 70; gemm 128; gemm -5; printf 'x ./rocblas-bench -f $(touch pwned) -m 1 ; touch pwned\n'; } >bad.log
code "a log with losses" 6 "$PROFRIG" lib trace bad.log
like "shows the first torn one" "$(cat err)" "2 torn records; the first is on line 2: ./rocblas-bench -f gemm -r s --transposeA N"
like "and the first impossible one" "$(cat err)" "1 impossible calls; the first is on line 3: m=-5 is no size"
check "and runs nothing" test ! -e pwned
q='[.records, .torn, .bad]'
is "counts" "$(json bad.log 2>err)" "[2,2,1]"
printf '%s' "$(gemm 200)" | sed 's/--ldc 200/--ldc 2000/' >cut.log
code "a number that may have lost digits at the end of the file" 6 lt cut.log
head -c 100000 /dev/urandom >junk
code "no log" 5 lt junk
like "is reported" "$(cat err)" "junk: no line of it is of a library"
code "an empty file" 5 lt /dev/null
code "a file that is not there" 5 lt nowhere.log
code "a folder that cannot be written to" 4 lt a.log -o /proc/none/x.csv
code "nothing" 2 lt
code "one more word" 2 "$PROFRIG" lib
like "is listed" "$(cat err)" "lib trace"
code "help" 0 "$PROFRIG" lib --help

code "an analysis of torn records" 0 "$PROFRIG" -q analyze bad.log -o an
is "warns" "$(jq -c '[.warnings[] | [.code, .count]]' an/analysis.json)" '[["W_TORN_RECORD",2],["W_BAD_CALL",1]]'
code "which is not enough for --strict" 6 "$PROFRIG" -q analyze --strict bad.log -o an
code "a log that ends inside a record" 6 "$PROFRIG" -q analyze cut.log -o an

# Every library's log of the recordings, as a whole analysis.
code "an analysis of a log" 0 "$PROFRIG" -q analyze a.log -o an
is "has its table" "$(head -n 1 an/tables/library_calls.csv)" "library,operation,calls,ranks,flops,bytes,logged_ns,share,tflops,key,config,trace_calls,trace_ns,trace_share,trace_tflops,kernels,kernel,called_by,unmatched"
is "of all configurations" "$(wc -l <an/tables/library_calls.csv)" 3
is "and its calls in info" "$("$PROFRIG" -q info --json a.log | jq -c '[.reader, .definitions.library_calls, .definitions.configurations, .partial]')" '["library_log",4,2,false]'

# A run: the tool's log is collected, judged by its records, and an input of the analysis.
mkdir tools && cat >tools/log_trace.yaml <<'Y'
name: log_trace
about: a log
class: env
env: {LOG: "{out}/lib.%i.log"}
outputs:
  - {glob: "*.log", reader: library_log, required: true, min_records: 1}
Y
code "a run" 0 "$PROFRIG" -q run --engine host --tools-dir tools --tools log_trace -- sh -c "cat '$T/a.log' >\"\${LOG%%%*}77.log\""
run=$(cat out)
is "counts the calls of its log" "$(jq -c '[.artifacts[] | [.reader, .records, .verdict]]' "$run/run.json")" '[["library_log",4,"valid"]]'
check "its analysis has the table" test -s "$run/analysis/tables/library_calls.csv"
code "and is an input" 0 lt "$run"
like "with the model and the process" "$(sed -n 2p library_trace.csv)" "^0,[^,]*,sh,rocblas,.*,3,,77,"
code "a run without calls" 7 "$PROFRIG" -q run --engine host --tools-dir tools --tools log_trace -- sh -c 'echo hello >"${LOG%%%*}1.log"'
code "several runs, and a log that is not there" 6 lt "$run" nowhere.log "$run" -o several.csv
is "count each run once" "$(sed -n 2p several.csv | sed 's/.*--ldc 64,//' | cut -d , -f 1)" 3
cp -r "$run" "$run-2"
code "two runs" 0 lt "$run" "$run-2" -o several.csv
is "add up" "$(sed -n 2p several.csv | sed 's/.*--ldc 64,//' | cut -d , -f 1)" 6
