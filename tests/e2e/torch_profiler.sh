#!/usr/bin/env bash
# The hook that profiles PyTorch programs, on a torch that has a profiler of the real one's shape and nothing else: one trace for each process, and no program
# that is any the worse for it.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/fakes/machine.sh"
if ! need python3 command -v python3; then
	skip "torch_profiler" "python3 is not installed"
	exit 0
fi
plain_machine "$T/plain"
export PROFRIG_SYSFS_ROOT=$T/plain PYTHONPATH=$ROOT/tests/fakes/python PYTHONDONTWRITEBYTECODE=1
run() { # WORDS…
	"$PROFRIG" -q run --engine host --no-analyze -o "$T/runs" --tools torch_profiler "$@" >"$T/out" 2>"$T/err"
	local code=$?
	run=$(cat "$T/out")
	return $code
}
err() { cat "$run"/steps/*-workload.err; }
printed() { cat "$run"/steps/*-workload.out; }
traces() { find "$run/artifacts/torch_profiler" -name '*.pt.trace.json.gz' | wc -l; }
asked() { gzip -dc "$run"/artifacts/torch_profiler/*.gz | jq -r '.traceEvents[0].args.asked'; }

code "a program that uses torch" 0 run -- python3 -c 'import torch; print("ran", torch.__version__)'
is "runs as ever" "$(printed)$(err)" "ran 2.4.0"
is "and leaves its trace, which is read" "$(jq -r '.artifacts[] | .reader + " " + .verdict + " " + (.records | tostring)' "$run/run.json")" "tef valid 2"
like "named by host and process" "$(jq -r '.artifacts[0].path' "$run/run.json")" "/$(uname -n)\.[0-9]+\.pt\.trace\.json\.gz$"
is "of everything, with shapes" "$(asked | jq -c '[.activities, .record_shapes, .with_stack, .profile_memory]')" '[["CPU","CUDA"],true,false,false]'
code "options" 0 run --set 'tools[0].options={activities: cpu, shapes: false, stacks: true, memory: true}' -- python3 -c 'import torch'
is "reach the profiler" "$(asked | jq -c '[.activities, .record_shapes, .with_stack, .profile_memory]')" '[["CPU"],false,true,true]'
code "imports below torch" 0 run -- python3 -c 'from torch.profiler import ProfilerActivity; import torch; assert torch.LOADED'
is "are one trace" "$(traces)" 1

code "a program without torch" 7 run -- python3 -c 'print("hello")'
is "runs as ever" "$(printed)$(err)" "hello"
like "and the run says that nothing was recorded" "$(jq -r .reason "$run/run.json")" "of tool 'torch_profiler' is missing"
PYTHONPATH='' code "where there is no torch" 7 run -- python3 -c 'try:
    import torch
except ImportError as e:
    print(type(e).__name__)'
is "the program sees what it would see" "$(printed)$(err)" "ModuleNotFoundError"
FAKE_TORCH=broken code "a torch that cannot be loaded" 7 run -- python3 -c 'try:
    import torch
except ImportError as e:
    print(e)'
is "fails with its own words" "$(printed)$(err)" "libtorch_cpu.so: cannot open shared object file"
FAKE_TORCH=noprofiler code "a torch without a profiler" 7 run -- python3 -c 'import torch; print("ran")'
is "runs" "$(printed)" "ran"
like "and is reported" "$(err)" "profrig: torch_profiler: not started: ModuleNotFoundError"
FAKE_TORCH=export code "a trace that cannot be written" 7 run -- python3 -c 'import torch; print("ran")'
is "is not the program's failure" "$(jq -r '.exit_code' "$run/run.json") $(printed)" "0 ran"
like "and is reported" "$(err)" "no trace was written: OSError: No space left"
code "a program that fails" 1 run -- python3 -c 'import torch, sys; sys.exit(9)'
is "fails with its own status" "$(jq -r '.exit_code' "$run/run.json")" 9
is "and its trace is there" "$(traces)" 1
code "an exception" 1 run -- python3 -c 'import torch; raise ValueError("x")'
is "leaves a trace too" "$(traces)" 1

code "several processes" 0 run -- sh -c 'python3 -c "import torch" & python3 -c "import torch" & wait'
is "have one each" "$(traces)" 2
code "a fork" 0 run -- python3 -c 'import os, torch
if os.fork() == 0:
    raise SystemExit(0)
os.wait()'
is "has no trace of its own, and does no harm to its parent's" "$(traces)$(err)" 1
code "a profiler of the program's own" 0 run -- python3 -c 'import torch.profiler as p
with p.profile(activities=[p.ProfilerActivity.CPU]) as mine:
    pass
mine.export_chrome_trace("'"$T"'/mine.json")'
is "gets what it wants" "$(jq '.traceEvents | length' "$T/mine.json")" 2
is "after ours has ended" "$(traces)" 1
like "which is reported" "$(err)" "the program starts a profiler of its own: the trace ends here"

mkdir "$T/site"
echo 'print("site of the image", flush=True)' >"$T/site/sitecustomize.py"
PYTHONPATH=$T/site:$PYTHONPATH code "a sitecustomize that is there already" 0 run -- python3 -c 'import torch, sitecustomize; print(sitecustomize.__file__)'
is "still runs, and is the one that is seen" "$(printed)" "site of the image
$T/site/sitecustomize.py"
is "beside ours" "$(traces)" 1
code "in front of one program of a script" 0 run --wrap-at python3 -- sh -c 'python3 -c "import torch"; echo "path ${PYTHONPATH%%:*}"'
is "nothing else is touched" "$(printed)" "path $ROOT/tests/fakes/python"
is "and that one is traced" "$(traces)" 1
"$PROFRIG" -q report "$run" --format csv >/dev/null 2>&1
check "the tables know kernels and operators" grep -q '^device,gemm,kernel,1,' "$run/analysis/tables/functions.csv"

# A torch without Kineto writes times from 0: the hook leaves the clock beside the trace.
FAKE_TORCH=fromzero code "a torch whose times count from 0" 0 run --tools torch_profiler,cpu_power -- python3 -c 'import torch, time; time.sleep(0.2)'
clock=$(cat "$run"/artifacts/torch_profiler/*.clock)
is "has its clock beside its trace" "$(jq -r '"\(.own_ns) \(.monotonic_ns > 0) \(.realtime_ns > 1600000000000000000)"' <<<"$clock")" "0 true true"
between() { # when the profiler began: inside the workload
	jq --argjson c "$clock" '.steps[] | select(.name == "workload") | .started_ns < $c.monotonic_ns and $c.monotonic_ns < .ended_ns' "$run/run.json"
}
is "taken while the workload ran" "$(between)" true
code "is analysed" 0 "$PROFRIG" -q analyze "$run" -o "$T/zero"
is "and stands where it was recorded" "$(jq -c '[.inputs[] | select(.reader == "tef") | .clock.aligned]' "$T/zero/analysis.json") $(jq '[.warnings[].code | select(test("ALIGNED|ASSUMED"))] | length' "$T/zero/analysis.json")" "[true] 0"
rm "$run"/artifacts/torch_profiler/*.clock
code "without it" 0 "$PROFRIG" -q analyze "$run" -o "$T/zero2"
is "the start of the workload is taken, and that is reported" "$(jq -r '[.warnings[].code | select(test("ALIGNED|ASSUMED"))] | join(" ")' "$T/zero2/analysis.json")" "W_CLOCK_ASSUMED"
# The clock that stands there is the workload's word: nothing but a plain small file with numbers counts.
ln -s /etc/passwd "$(ls "$run"/artifacts/torch_profiler/*.gz).clock"
code "a link in its place" 0 "$PROFRIG" -q analyze "$run" -o "$T/zero3"
is "is none" "$(jq -r '[.warnings[].code | select(test("ALIGNED|ASSUMED"))] | join(" ")' "$T/zero3/analysis.json")" "W_CLOCK_ASSUMED"

# The real one, where it is installed.
real=
for p in python3 /usr/bin/python3; do PYTHONPATH='' "$p" -c 'import torch.profiler' 2>/dev/null && real=$p && break; done
if [ -z "$real" ]; then
	skip "a real torch" "no python3 here has torch"
	exit 0
fi
cat >"$T/train.py" <<'END'
import time

import torch

net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
end = time.monotonic() + 1
while time.monotonic() < end:
    net(torch.randn(256, 64)).pow(2).mean().backward()
print("done at", time.clock_gettime_ns(time.CLOCK_MONOTONIC))
END
PYTHONPATH='' code "a real torch, with its power" 0 "$PROFRIG" -q run --engine host -o "$T/real" --tools torch_profiler,cpu_power -- "$real" "$T/train.py"
run=$T/real/latest
a=$run/analysis
is "its clock is that of the samples" "$(jq -r '[.warnings[].code | select(test("ALIGNED|ASSUMED"))] | length' "$a/analysis.json")" 0
ops() { awk -F, '$1 ~ /^energy/ && $3 == "host" && $5 ~ /^aten::/ { s += $8 } END { print (s > 1) }' "$a/tables/energy.csv"; }
is "its operators have joules" "$(ops)" 1
last=$(awk '{ print $3 }' "$run"/steps/*-workload.out)
end=$(jq "[.inputs[] | select(.reader == \"tef\") | .end_ns + .clock.shift_ns] | max" "$a/analysis.json")
check "and stand where they ran, to 50 ms" awk -v a="$last" -v b="$end" 'BEGIN { d = a - b; exit !(d > -5e7 && d < 5e7) }'

# A training whose products are known: three layers forward are three, backward they are five, as nothing asks for the gradient of the data.
cat >"$T/steps.py" <<'END'
import torch

torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
for step in range(20):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
print("performance: 64 samples/s")
END
PYTHONPATH='' code "a training" 0 "$PROFRIG" run --engine host -o "$T/train" --tools torch_profiler -- "$real" "$T/steps.py"
a=$T/train/latest/analysis
calls() { awk -F, -v n="$1" '$1 == "host" && $2 == n { s += $4 } END { print s + 0 }' "$a/tables/functions.csv"; }
is "its products, forward and backward" "$(calls aten::addmm) $(calls aten::mm)" "60 100"
is "its steps" "$(awk -F, '$2 ~ /^Optimizer\.step/ { print $4 }' "$a/tables/functions.csv")" 20
like "the closing lines begin with how it ended" "$(grep -v '^profrig:' "$T/err" | head -n 1)" "^success +[^ ]+ in .* on host.*, 64 samples/s$"
like "and say where the time went" "$(cat "$T/err")" "  time    .*aten::"
like "one artifact is valid, the checks hold, and warnings have names" "$(grep '^  data' "$T/err")" \
	"^  data    1 artifact valid; 0 samples; ([0-9]+) of \1 checks hold(; [0-9]+ warnings? \(W_[A-Z_, …]+\))?(; [0-9]+ notes?)?$"
check "the page it names is there" test -s "$(sed -n 's/^  report  //p' "$T/err")"
is "operators are a table, without device work of theirs" "$(python3 - "$a/tables/operators.csv" <<'P'
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1], newline="")) if r["name"] == "aten::mm"]
print(sum(int(r["calls"]) for r in rows), sum(int(r["own_ns"]) for r in rows))
P
)" "100 0"
