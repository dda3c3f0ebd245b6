#!/usr/bin/env bash
# Operators of a trace, and what their devices can reach: --peaks.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/contract.sh"

cat >"$T/trace.json" <<'JSON'
{"deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}],
 "traceEvents": [
 {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":0,"dur":100,"args":{"External id":1,"Input Dims":[[64,32],[16,32]],"Input type":["c10::BFloat16","c10::BFloat16"]}},
 {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":50,"args":{"External id":2,"Input Dims":[[64,32],[32,16]],"Input type":["c10::BFloat16","c10::BFloat16"]}},
 {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":7}},
 {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":3,"ts":200,"dur":2,"args":{"device":0,"stream":3,"correlation":7}}
]}
JSON
code "it is analyzed" 0 "$PROFRIG" -q analyze "$T/trace.json" -o "$T/a"
table_contract "$T/a" operators perf peaks mfu
like "mm counts, and linear around it does not" "$(cat "$T/a/tables/perf.csv")" 'aten::mm,.*,1,65536,7168,2000,'
is "so nothing counts twice" "$(grep -c aten::linear "$T/a/tables/perf.csv")" 0
like "the device is known by its name" "$(cat "$T/a/tables/peaks.csv")" 'gpu0,AMD Instinct MI300X,bf16,1307.4,708,TFLOP/s'

cat >"$T/mine.json" <<'JSON'
{"schema": "profrig.peaks/1", "devices": [{"match": "MI300X", "source": "me", "peaks": [
 {"precision": "bf16", "value": 0.065536, "unit": "TFLOP/s"}, {"precision": "memory", "value": 1, "unit": "TB/s"}]}]}
JSON
code "peaks of a file" 0 "$PROFRIG" -q analyze "$T/trace.json" --peaks "$T/mine.json" -o "$T/b"
like "they are used" "$(cat "$T/b/tables/perf.csv")" ',bf16,compute,50,'
like "they are shown" "$(cat "$T/b/tables/peaks.csv")" 'gpu0,AMD Instinct MI300X,bf16,0.065536,,TFLOP/s,me'
echo '{"schema": "profrig.peaks/1", "devices": [{"match": "(", "peaks": []}]}' >"$T/bad.json"
code "a file that is wrong" 2 "$PROFRIG" -q analyze "$T/trace.json" --peaks "$T/bad.json" -o "$T/c"
like "is named with its line" "$(cat "$T/err")" 'peaks: .*bad.json:1: match'
code "a file that is not there" 2 "$PROFRIG" -q analyze "$T/trace.json" --peaks "$T/none.json" -o "$T/c"

# A host without devices, and peaks that lib peak measured.
jq '{traceEvents: [.traceEvents[] | select(.cat == "cpu_op")]}' "$T/trace.json" >"$T/host.json"
code "a host alone" 0 "$PROFRIG" -q analyze "$T/host.json" -o "$T/d"
like "takes its calls' own time" "$(cat "$T/d/tables/perf.csv")" 'aten::mm,.*,1,65536,7168,50000,.*,host,,,'
echo 'processor,host,dtype,threads,unit,gflops,gflops_median,gbps,gbps_median,ridge,stores,array_bytes,units,measured,status,reason
cpu,h,f32,2,avx2,190,99,256,9,8,plain,1,avx2,t,ok,' >"$T/peak.csv"
code "measured peaks" 0 "$PROFRIG" -q analyze "$T/host.json" --peaks "$T/peak.csv" -o "$T/e"
like "are the host's" "$(cat "$T/e/tables/peaks.csv")" ',,memory,0.256,,TB/s,measured by profrig lib peak'
