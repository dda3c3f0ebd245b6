#!/usr/bin/env bash
# A real framework: PyTorch trains two networks on the CPU under torch_profiler, onednn_trace and blas_trace at once. What the libraries log agrees with what
# PyTorch counts of its own operators.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
python=/usr/bin/python3
need torch "$python" -c 'import torch, torchvision' || { skip "PyTorch's library calls" "python3-torch and python3-torchvision are not installed"; exit 0; }

cat >"$T/train.py" <<'P'
import sys, torch, torchvision
torch.manual_seed(0)
torch.set_num_threads(1)
if sys.argv[1] == "mlp":
    net, x = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)), torch.randn(32, 256)
else:
    net, x = torchvision.models.resnet18(num_classes=10), torch.randn(2, 3, 64, 64)
y = torch.zeros(x.shape[0], dtype=torch.long)
opt = torch.optim.SGD(net.parameters(), 0.01)
for step in range(3):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
P
train() { "$PROFRIG" -q run --engine host -o "$T/runs" --tools "$2" -- "$python" "$T/train.py" "$1"; }
calls() { awk -F, -v n="$1" '$2 == n { s += $4 } END { print s + 0 }' "$run/analysis/tables/functions.csv"; }
traced() { "$PROFRIG" -q lib trace --json -o "$T/trace.csv" "$run" | jq -c "$1"; }

code "a convolutional network" 0 train resnet torch_profiler,onednn_trace,blas_trace
run=$(cat "$T/out")
check "convolutions were computed" test "$(calls aten::mkldnn_convolution)" -eq 60
is "oneDNN: one for each forward, one for each gradient of weights, none for the input of the first layer" "$(traced '.operations.convolution')" \
	$(($(calls aten::mkldnn_convolution) + 2 * $(calls aten::convolution_backward) - 3))
is "BLAS: one product for each addmm and mm" "$(traced '.operations.sgemm')" $(($(calls aten::addmm) + $(calls aten::mm)))
is "nothing is torn" "$(traced '[.torn, .bad]')" "[0,0]"
logged=$("$python" - "$T/trace.csv" <<'P'
import csv, sys
print(sum(int(r["flops"]) for r in csv.DictReader(open(sys.argv[1], newline="")) if r["key"].startswith("conv dir=fwd")))
P
)
of_layers=$("$python" - <<'P'
import torch, torchvision
net, total = torchvision.models.resnet18(num_classes=10), 0
def count(m, i, o):
    global total
    total += 2 * o.numel() * (m.in_channels // m.groups) * m.kernel_size[0] * m.kernel_size[1]
for m in net.modules():
    if isinstance(m, torch.nn.Conv2d):
        m.register_forward_hook(count)
net(torch.randn(2, 3, 64, 64))
print(3 * total)
P
)
is "flops of the forward convolutions are those of the network's layers" "$logged" "$of_layers"
check "the tables have both libraries" grep -q '^onednn,convolution,' "$run/analysis/tables/library_calls.csv"
check "with the time that oneDNN logged" awk -F, '$1 == "onednn" && $7 > 0 { n++ } END { exit n < 20 }' "$run/analysis/tables/library_calls.csv"

# Its convolutions, measured again with the library that made them: PyTorch's own oneDNN is Debian's, too.
if need dnnl test -e "/usr/lib/$(uname -m)-linux-gnu/libdnnl.so.2"; then
	{ head -n 1 "$T/trace.csv" && grep 'conv dir=' "$T/trace.csv"; } >"$T/conv.csv"
	code "its convolutions with oneDNN" 0 "$PROFRIG" -q lib perf "$T/conv.csv" --backends onednn2 --cache weights-cold --precision 50% -o "$T/perf.csv"
	is "are right, in all directions" "$("$python" - "$T/perf.csv" "$T/conv.csv" <<'P'
import csv, sys
rows, calls = [list(csv.DictReader(open(f, newline=""))) for f in sys.argv[1:]]
of = {d: [r["status"] for r in rows if "dir=" + d + " " in r["key"]] for d in ("fwd", "bwd_data", "bwd_weights")}
print(len(rows) == len({r["key"] for r in calls}), {s for v in of.values() for s in v}, all(of.values()))
print("# %d configurations: %s" % (len(rows), {d: len(v) for d, v in of.items()}), file=sys.stderr)
P
)" "True {'ok'} True"
else
	skip "its convolutions with oneDNN" "libdnnl2 is not installed"
fi
# by the trace: which operators needed the primitives. Debian's PyTorch counts from a moment that is known to milliseconds, so some primitives fit no operator.
columns() { "$python" - "$run/analysis/tables/library_calls.csv" "$@" <<'P'
import csv, sys
for r in csv.DictReader(open(sys.argv[1], newline="")):
    print("|".join(r[c] for c in sys.argv[2:]))
P
}
inclusive() { awk -F, -v n="$1" '$2 == n { s += $5 } END { printf "%.0f", s }' "$run/analysis/tables/functions.csv"; }
is "convolutions are made in operators of convolutions" "$(columns operation trace_calls called_by | awk -F'|' '$1 == "convolution" && $2 > 0 && tolower($3) !~ /conv/')" ""
check "half of them at least are found in one" awk -v c="$(columns operation calls trace_calls | awk -F'|' '$1 == "convolution" { n += $2; f += $3 } END { print f / n }')" 'BEGIN { print c; exit c < 0.5 }'
check "all that oneDNN logs takes a quarter of these operators' time at least, and no more than all" awk -v p="$(columns library logged_ns | awk -F'|' '$1 == "onednn" { s += $2 } END { printf "%.0f", s }')" \
	-v o="$(inclusive aten::mkldnn_convolution)" -v b="$(inclusive aten::convolution_backward)" 'BEGIN { print p / (o + b); exit p > o + b || p < (o + b) / 4 }'
is "products are found by the calls of the tracer" "$(columns library operation calls trace_calls logged_ns trace_ns | awk -F'|' '$2 == "sgemm" && ($3 != $4 || $5 != $6)')" ""
is "in operators of products" "$(columns operation called_by | awk -F'|' '$1 == "sgemm" && $2 != "" && tolower($2) !~ /mm|linear/')" ""

code "a perceptron" 0 train mlp torch_profiler,blas_trace
run=$(cat "$T/out")
is "BLAS: one product for each addmm and mm" "$(traced '.operations.sgemm')" $(($(calls aten::addmm) + $(calls aten::mm)))
is "which are five shapes, three times each" "$(grep -c ',sgemm,' "$T/trace.csv") $(grep ',sgemm,' "$T/trace.csv" | grep -c '",3,,')" "5 5"
is "of the flops that the layers have" "$(traced '[.flops]' | tr -d '[]')" $((3 * 2 * (512 * 32 * 256 * 2 + 10 * 32 * 512 * 3) + 4))
