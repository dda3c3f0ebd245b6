#!/usr/bin/env bash
# Library calls of two real programs, examples/mlp and a network of PyTorch's, measured with lib perf and ranked with lib compare by the commands of
# docs/library.md, beside an independent measurement of the same calls (tests/bench/direct_calls.c). runs alone: it compares times.
#
# Both measure warm (each call has the same operands), and a layer of the network also with weights-cold, which is what lib perf does without --cache: its
# weights then change from call to call. They share no code: direct_calls reads the keys itself, has all libraries in one process, fills its own buffers and
# reads another clock. It runs in front of lib perf and behind it, on the processor that lib perf takes, so that a machine that becomes slower between the two
# makes its interval wider.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
cd "$T" || exit 1
DIRECT=$B/tests/bench/direct_calls
LIB=/usr/lib/$(uname -m)-linux-gnu
python=/usr/bin/python3
processor=$(taskset -cp $$ | grep -o '[0-9]*$')

# installed WORD NAME FILE: a line of libraries, the name of lib perf and the file
installed() {
	need "$1" test -e "$LIB/$3" && echo "$2 $LIB/$3" >>libraries
}
# "openblas" means its first flavour that is installed
flavour() { # NAME FILE
	local f
	for f in pthread openmp serial; do
		test ! -e "$LIB/$1-$f/$2" || break
	done
	installed "$1" "$1-$f" "$1-$f/$2"
}
flavour openblas libopenblas.so.0 && flavour blis libblis.so.4 && installed atlas atlas atlas/libblas.so.3 && installed reference reference blas/libblas.so.3 &&
	installed dnnl onednn2 libdnnl.so.2 || { skip "the ranking" "OpenBLAS, BLIS, ATLAS, the reference BLAS and libdnnl2 are not all installed"; exit 0; }
test -e /usr/include/dnnl.h || { skip "the ranking" "libdnnl-dev is not installed"; exit 0; }
need torch "$python" -c 'import torch' || { skip "calls of PyTorch" "python3-torch is not installed"; exit 0; }

# --- what the programs call ---
cat >train.py <<'P'
import torch
import torch.utils.mkldnn as mkldnn
torch.manual_seed(0)
torch.set_num_threads(1)
head = torch.nn.Sequential(torch.nn.Linear(3136, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
net = torch.nn.Sequential(torch.nn.Conv2d(32, 64, 3, padding=1, bias=False), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), head)
x, y = torch.randn(8, 32, 14, 14, requires_grad=True), torch.zeros(8, dtype=torch.long)
opt = torch.optim.SGD(net.parameters(), 0.01)
for step in range(3):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
# for inference its layers can be oneDNN's, inner products among them
layers = mkldnn.to_mkldnn(head.eval())
with torch.no_grad():
    for step in range(3):
        layers(torch.randn(8, 3136).to_mkldnn())
P
code "examples/mlp under blas_trace" 0 "$PROFRIG" -q run --engine host -o runs --tools blas_trace -- "$ROOT/examples/mlp/mlp" --epochs 1
run=$(cat out)
code "its calls" 0 "$PROFRIG" -q lib trace "$run" -o mlp.csv
code "a network of PyTorch's under blas_trace and onednn_trace" 0 "$PROFRIG" -q run --engine host -o runs --tools blas_trace,onednn_trace -- "$python" train.py
run=$(cat out)
code "its calls" 0 "$PROFRIG" -q lib trace "$run" -o torch.csv

# --- both measurements ---
# columns FILE NAME…: of all rows, behind each other
columns() {
	"$python" -c 'import csv,sys
for r in csv.DictReader(open(sys.argv[1], newline="")): print("|".join(r[n] for n in sys.argv[2:]))' "$@"
}
# The calls of a table, the heaviest first, each as a table of its own: NAME.1, NAME.2, … up to N.
heaviest() { # FILE N NAME
	"$python" - "$@" <<'P'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
for i, r in enumerate(sorted(rows, key=lambda r: -int(r["flops"]))[:int(sys.argv[2])], 1):
    out = csv.DictWriter(open("%s.%d" % (sys.argv[3], i), "w", newline=""), r.keys())
    out.writeheader()
    out.writerow(r)
P
}
direct() { # KEY BYTES: of weights that change, 0: none; a line for each library that has such a call: mean, error, shortest, file, key
	local files
	files=$(awk -v operation="${1%% *}" 'operation == "gemm" || $1 ~ /^onednn/ { print $2 }' libraries)
	# shellcheck disable=SC2086
	taskset -c "$processor" "$DIRECT" -p 4 -r "$2" "$1" $files | sed "s#\$#|$1#"
}
# Twice the largest cache, 64 MiB where the kernel tells of none (docs/library.md, Cache).
rotated=$(cat /sys/devices/system/cpu/cpu0/cache/index*/size 2>/dev/null | numfmt --from=iec 2>/dev/null | sort -n | tail -n 1)
rotated=$((2 * ${rotated:-$((32 << 20))}))
perf=(--backends openblas,blis,atlas,reference,onednn --precision 5% --no-peak)
measure() { # FILE N NAME MODE: the N heaviest calls of FILE; what comes out is NAME.…
	local i key bytes=0
	[ "$4" = warm ] || bytes=$rotated
	heaviest "$@"
	for i in $(seq "$2"); do
		key=$(columns "$3.$i" key)
		direct "$key" $bytes >>"$3.before"
		timeout 100 "$PROFRIG" -q lib perf "$3.$i" "${perf[@]}" --cache "$4" -o "$3.perf.csv" >/dev/null 2>err || not_ok "lib perf of $key" "$(cat err)"
		direct "$key" $bytes >>"$3.behind"
	done
	timeout 60 "$PROFRIG" lib compare "$3.perf.csv" --json >"$3.json" 2>err || not_ok "lib compare $3.perf.csv" "$(cat err)"
	measured+=("$3")
}

# --- what is compared ---
# A mean agrees when its distance from the direct one, as a logarithm, is at most 1.5 times the sum of both intervals' halves, and 5 % more. Intervals of two
# means that are drawn from one distribution nearly always overlap; 1.5 is for about 40 of them that are looked at, on machines whose other work comes in
# waves. 5 % is what no interval of either measurement has: where code and operands lie in memory. A mean is judged where all that is at most 25 %, so an
# error of 30 % is seen; how many are must not be few.
#
# A pair of back ends is judged when their intervals of lib perf do not overlap and their means differ by more than 10 %. Then the direct one has their order.
cat >judge.py <<'P'
import csv, json, math, sys

WIDER, BESIDE, AT_MOST, MARGIN = 1.5, 0.05, 0.25, 0.10
T = 2.45  # of 95 %, with the 6 degrees of freedom of 4 and 4 processes
backend_of = {f: n for n, f in (l.split() for l in open("libraries"))}

def direct(name):
    """(key, back end): mean and half of its interval, of the time in front of lib perf and of that behind it"""
    both = {}
    for when in "before", "behind":
        for line in open(name + "." + when):
            figures, key = line.rstrip("\n").split("|")
            mean, error, least, path = figures.split()
            both.setdefault((key, backend_of[path]), []).append((float(mean), float(error)))
    return {at: ((a + b) / 2, max(T * math.hypot(ea, eb) / 2, abs(a - b) / 2)) for at, ((a, ea), (b, eb)) in both.items()}

def order(perf, found, told):
    """pairs that are clear to lib perf, and whether the direct measurement has their order"""
    clear = []
    for i, (one, p) in enumerate(perf):
        for two, q in perf[i + 1:]:
            (fast, f), (slow, s) = sorted(((one, p), (two, q)), key=lambda x: x[1][0])
            if f[2] < s[1] and s[0] > f[0] * (1 + MARGIN):
                right = found[fast][0] < found[slow][0]
                clear.append(right)
                if not right:
                    told.append("%s is not faster than %s: %.4g µs, %.4g µs" % (fast, slow, found[fast][0], found[slow][0]))
    return clear

def judge(name):
    """by key and cache mode: what is wrong, distances by back end, means that are judged, pairs that are, and rows that are not there"""
    found, compared, out = direct(name), json.load(open(name + ".json")), {}
    names = {s["side"]: s["backend"] for s in compared["sides"]}
    rows = list(csv.DictReader(open(name + ".perf.csv", newline="")))
    for key in sorted({k for k, b in found}):
        told, distance, judged = [], {}, 0
        perf = [(r["backend"], tuple(float(r[c]) for c in ("mean_us", "ci_low_us", "ci_high_us"))) for r in rows if r["key"] == key and r["status"] == "ok"]
        want = {b for k, b in found if k == key}
        if {b for b, p in perf} != want:
            told.append("lib perf has %s, not %s" % (sorted(b for b, p in perf), sorted(want)))
        for b, (mean, low, high) in perf:
            other, half = found[key, b]
            distance[b] = math.log(mean / other)
            allowed = BESIDE + WIDER * ((high - low) / 2 / mean + half / other)
            judged += allowed <= AT_MOST
            if abs(distance[b]) > allowed:
                told.append("%s: %.4g µs (%.4g to %.4g), directly %.4g ± %.2g" % (b, mean, low, high, other, half))
        of = {b: found[key, b] for b, p in perf}
        pairs = order(perf, of, told)
        for r in (r for r in compared["rows"] if r["key"] == key):
            winner, best = names[r["winner"]], min(of, key=lambda b: of[b][0])
            # the fastest, or in a tie with it
            if of[winner][0] > of[best][0] * (1 + MARGIN) and of[winner][0] - of[winner][1] > of[best][0] + of[best][1]:
                told.append("%s wins, and %s is the fastest" % (winner, best))
            a, b = of[names["A"]], of[names[r["side"]]]
            if r["verdict"] in ("faster", "slower") and abs(math.log(b[0] / a[0])) > MARGIN and (b[0] < a[0]) != (r["verdict"] == "faster"):
                told.append("%s is called %s" % (names[r["side"]], r["verdict"]))
        verdicts = sum(r["key"] == key for r in compared["rows"])
        if verdicts != len(perf) - 1:
            told.append("lib compare has %d rows" % verdicts)
        out[key, rows[0]["cache"]] = (told, distance, judged, pairs)
    return out

results = {}
for name in sys.argv[1:]:
    results.update(judge(name))
json.dump([{"key": k, "cache": c, "told": t, "distance": d, "judged": j, "pairs": p} for (k, c), (t, d, j, p) in results.items()], sys.stdout)
P
facts() { # EXPRESSION: of verdict.json, which has the last measurement of each call
	jq -r "$1" verdict.json
}
judge() {
	"$python" judge.py "${measured[@]}" >verdict.json || not_ok "the comparison" "of ${measured[*]}"
}
rows_of() { # KEYS FILE…: rows of the tables with one of these keys
	"$python" - "$@" <<'P'
import csv, sys
keys, rows = {l.rstrip("\n") for l in open(sys.argv[1])}, []
for f in sys.argv[2:]:
    rows += [r for r in csv.DictReader(open(f, newline="")) if r["key"] in keys]
out = csv.DictWriter(sys.stdout, rows[0].keys())
out.writeheader()
out.writerows(rows)
P
}
measured=()
measure mlp.csv 3 mlp warm
measure torch.csv 7 torch warm
is "of both: products, convolutions in all directions, an inner product" \
	"$(for f in mlp torch; do columns $f.perf.csv key; done | sort -u | awk '{ print $1, /^conv/ ? $2 : "" }' | sort | uniq -c | awk '{ printf "%s ", $0 }' | tr -s ' ')" \
	" 1 conv dir=bwd_data 1 conv dir=bwd_weights 1 conv dir=fwd 6 gemm 1 ip "
is "lib perf loads the same files" "$(columns mlp.perf.csv backend path | sort -u | while IFS='|' read -r b f; do echo "$b $(readlink -f "$f")"; done)" \
	"$(while read -r b f; do echo "$b $(readlink -f "$f")"; done <libraries | sort)"
code "the heaviest ones of examples/mlp" 0 "$PROFRIG" -q lib perf mlp.csv --top 3 "${perf[@]}" --cache warm -o mlp.perf.csv
like "are those of lib perf --top" "$(cat out)" ": 0 new rows"
code "and of the network's" 0 "$PROFRIG" -q lib perf torch.csv --top 7 "${perf[@]}" --cache warm -o torch.perf.csv
like "too" "$(cat out)" ": 0 new rows"
columns torch.perf.csv key | awk '/^gemm ta=T/ && !n++' >layer.key
rows_of layer.key torch.csv >layer.csv
measure layer.csv 1 layer weights-cold
judge
for again in once. twice.; do
	for mode in warm weights-cold; do
		# what disagrees; where too few means are precise enough to see it, also what has such
		facts '(map(.judged) | add < 20) as $few | .[] | select(.cache == "'$mode'") | select((.told | length > 0) or $few and .judged < (.distance | length)) | .key' >"$again$mode.keys"
		n=$(wc -l <"$again$mode.keys")
		[ "$n" -gt 0 ] || continue
		echo "# $n calls are measured again, $mode: $(facts '[.[].told[]] | join("; ")')"
		rows_of "$again$mode.keys" mlp.csv torch.csv >"$again$mode"
		measure "$again$mode" "$n" "again.$again$mode" "$mode"
	done
	judge
done
is "each call has the same times, the same order and the same fastest library when measured directly" "$(facts '.[] | select(.told | length > 0) | "\(.told | join("; ")): \(.cache) \(.key)"')" ""
means=$(facts 'map(.distance | length) | add') judged=$(facts 'map(.judged) | add') pairs=$(facts 'map(.pairs | length) | add')
echo "# $judged of $means means, $pairs of 70 pairs are judged; distances: $(facts '[.[].distance | to_entries[]] | group_by(.key) | map("\(.[0].key) \(map(.value * 100 | round) | join(" ")) %") | join(", ")')"
is "means of 5 libraries for 7 products, of one for 4 layers" "$means" 39
# On a host that others use ratios of neighbouring blocks hold, means do not.
if [ "$judged" -ge 20 ]; then
	ok "half of the means are precise enough for an error of 30 % to be seen"
elif [ "$judged" -lt 5 ]; then
	not_ok "half of the means are precise enough for an error of 30 % to be seen" "$judged of $means are"
else
	skip "half of the means are precise enough for an error of 30 % to be seen" "the host is too busy: $judged of $means are, measured three times"
fi
check "half of the pairs are clear" test "$pairs" -ge 35
is "no library is off by more than 15 % in the median of its calls" \
	"$(facts '[.[].distance | to_entries[]] | group_by(.key) | .[] | {key: .[0].key, middle: (map(.value) | sort | .[length / 2 | floor])} | select(.middle > 0.14 or .middle < -0.16) | "\(.key): \(.middle)"')" ""
