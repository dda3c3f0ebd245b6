#!/usr/bin/env bash
# Traces as PyTorch's profiler writes them: what TensorBoard's plug-in and Holistic Trace Analysis ask of a file, each rank has its own, and profrig reads
# them back as they were. And parts of traces by name, category and number.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
FIX=$ROOT/tests/fixtures

# The rules of the two tools' parsers: what they look up without a default, and where they end when it is not there.
cat >rules.py <<'P'
import gzip, json, re, sys

def load(path):
    return json.load(gzip.open(path) if path.endswith(".gz") else open(path))

known = {"trace", "cpu_op", "operator", "runtime", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset", "user_annotation",
         "gpu_user_annotation", "python_function", "cuda_driver", "ac2g", "cuda_sync", "cuda_event", "cpu_instant_event", "launch", "flow"}
ranks, faults = {}, []
for path in sys.argv[1:]:
    name = path.rsplit("/", 1)[-1]
    doc = load(path)
    def fault(text):
        faults.append(f"{name}: {text}")
    # the plug-in's names of files: WORKER[.SPAN].pt.trace.json[.gz]
    m = re.match(r"^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$", name)
    if not m:
        fault("name")
    rank = doc["distributedInfo"]["rank"]
    if type(rank) is not int or rank < 0 or rank in ranks or not m[1].endswith(f"_worker_{rank}"):
        fault(f"rank {rank}")
    ranks[rank] = name
    if doc["schemaVersion"] != 1 or doc["distributedInfo"]["world_size"] <= rank:
        fault("head")
    devices = doc["deviceProperties"]
    if [d["id"] for d in devices] != list(range(len(devices))) or not all(type(d["name"]) is str for d in devices):
        fault("devices")
    calls, work, flows = set(), [], {}
    for e in doc["traceEvents"]:
        if type(e["name"]) is not str or e["ts"] < 0:
            fault(f"event {e}")
        if e["ph"] in "sf" and e["cat"] == "ac2g":
            flows.setdefault(e["id"], set()).add(e["ph"])
        if e["ph"] != "X":
            continue
        cat, args = e["cat"].lower(), e.get("args", {})
        if cat not in known or e["dur"] < 0 or type(e["pid"]) is not int or type(e["tid"]) is not int:
            fault(f"span {e}")
        if cat == "user_annotation" and e["name"].startswith("ProfilerStep#"):
            int(e["name"].split("#")[1])
        if cat in ("cuda_runtime", "cuda_driver") and "correlation" in args:
            calls.add(args["correlation"])
        if cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            if args["device"] != e["pid"] or not 0 <= args["device"] < min(64, len(devices)) or type(args["stream"]) is not int:
                fault(f"work {e}")
            work.append(args.get("correlation"))
    if any(v != {"s", "f"} for v in flows.values()):
        fault("flows")
    print(rank, len(work), sum(c in calls for c in work), len(flows))
print(*faults, sep="\n")
sys.exit(bool(faults))
P
spans() { for f; do "$PROFRIG" -q info --json "$f" 2>/dev/null; done | jq -s 'map(.spans) | add'; }
# All that a model holds, without numbers that each file makes up.
content() {
	local files=("$@")
	[ ${#files[@]} -eq 1 ] || { "$PROFRIG" -q convert "${files[@]}" -o one.json >/dev/null && files=(one.json); }
	"$PROFRIG" -q convert "${files[@]}" -o content.json >/dev/null
	python3 - content.json <<'P'
import json, sys
doc, track, rows, links, last = json.load(open(sys.argv[1])), {}, [], {}, None
numbers = {}
for e in doc["traceEvents"]:
    own = {k: v for k, v in e.get("args", {}).items() if k not in ("n", "parent", "owner")} if e["name"] == "profrig_track" else None
    if own is not None:
        track[e["pid"], e["tid"]] = numbers[e["args"]["n"]] = sorted(map(str, own.items()))
        rows.append(["track", track[e["pid"], e["tid"]]])
    elif e["name"] == "profrig_lane":
        track[e["pid"], e["tid"]] = numbers[e["args"]["track"]]
    elif e["ph"] in "Xi":
        own = dict(e.get("profrig", {}))
        linked = own.pop("correlation", None) is not None
        args = None if own.get("args") == "none" else e.get("args")
        last = [track.get((e["pid"], e["tid"])), e["name"], e.get("cat"), e["ts"], e.get("dur"), args, sorted(own.items()), linked]
        rows.append(last)
    elif e["ph"] == "C":
        rows.append(["C", e["name"], e["ts"], e["args"]["value"]])
    elif e["ph"] in "sf":
        links.setdefault(e["id"], []).append([e["ph"], e["cat"], last])
print(*sorted(map(json.dumps, rows + [sorted(map(json.dumps, v)) for v in links.values()])), sep="\n")
P
}
same() { # NAME FILE…
	local name=$1
	shift
	content "$@" >was
	rm -f t_worker_*
	code "$name: to PyTorch's dialect" 0 "$PROFRIG" -q convert "$@" -o t --dialect torch
	check "$name: the rules of its readers hold" python3 rules.py t_worker_*
	python3 rules.py t_worker_* >"$name.rules"
	content t_worker_* >is
	check "$name: it comes back equal" diff -u was is
}
same kineto "$FIX/tef/kineto.json"
same chrome "$FIX/tef/chrome.json"
same rocprofv3 "$FIX/tef/rocprofv3.json"
same nsys "$FIX/nsys/two-processes.sqlite"
is "launches are found by their correlation" "$(awk '{ print ($2 > 0), ($3 > 0) }' nsys.rules | head -n 1)" "1 1"

# Two ranks: both have files, none is left out.
for r in 0 1; do
	sed "s/\"rank\": *3/\"rank\": $r/" "$FIX/tef/kineto.json" >rank$r.json
done
code "ranks" 0 "$PROFRIG" convert rank0.json rank1.json -o log/job.pt.trace.json.gz --dialect tensorboard
is "have a file each" "$(cd log && echo *)" "job_worker_0.pt.trace.json.gz job_worker_1.pt.trace.json.gz"
check "by which their tools know them" python3 rules.py log/*
is "with all spans" "$(spans log/*)" "$(spans rank0.json rank1.json)"
code "the ending chooses the dialect" 0 "$PROFRIG" -q convert rank0.json -o x.pt.trace.json
check "too" test -s x_worker_0.pt.trace.json
code "an input is not written over" 2 "$PROFRIG" convert x_worker_0.pt.trace.json -o x --dialect torch
code "nor one of another rank" 2 "$PROFRIG" convert x_worker_0.pt.trace.json rank1.json -o ./x --dialect torch
code "an unknown dialect" 2 "$PROFRIG" convert rank0.json -o x --dialect caffe
code "beside --to" 2 "$PROFRIG" convert rank0.json -o x --dialect torch --to tef
code "in parts" 2 "$PROFRIG" convert rank0.json -o x --dialect torch --split-size 1M

# ---- parts of a trace ----
awk 'BEGIN {
	print "["
	for (i = 0; i < 20; i++)
		printf "%s{\"ph\":\"X\",\"name\":\"%s %d\",\"cat\":\"%s\",\"pid\":7,\"tid\":7,\"ts\":%d,\"dur\":0.9,\"args\":{}}\n", i ? "," : "", i % 2 ? "odd" : "even", i, i % 4 < 2 ? "a" : "b", i
	print ",{\"ph\":\"C\",\"name\":\"load\",\"pid\":7,\"ts\":3,\"args\":{\"value\":1}}]"
}' >in.json
part() { "$PROFRIG" -q convert in.json -o part.json "$@" >/dev/null && jq -c '[.traceEvents[] | select(.ph == "X") | .name | split(" ")[1] | tonumber] | sort' part.json; }
is "by name" "$(part --only-names '^odd 1')" "[1,11,13,15,17,19]"
is "by category" "$(part --only-categories b)" "[2,3,6,7,10,11,14,15,18,19]"
is "of several" "$(part --only-categories a,b --only-names even | jq length)" 10
is "the first so many" "$(part --limit 3)" "[0,1,2]"
is "of those that are left" "$(part --limit 2 --only-names odd --window 4us:)" "[5,7]"
is "counters stay" "$(part --limit 1 >/dev/null; jq '[.traceEvents[] | select(.ph == "C")] | length' part.json)" 1
code "with --json" 0 "$PROFRIG" -q convert --json in.json -o part.json --limit 5
is "what is left out is counted" "$(jq -c '[.spans, .outside_window.spans]' out)" "[5,15]"
code "a pattern that is none" 2 "$PROFRIG" convert in.json -o part.json --only-names '('
code "categories without a name" 2 "$PROFRIG" convert in.json -o part.json --only-categories ,
code "the first none" 2 "$PROFRIG" convert in.json -o part.json --limit 0
