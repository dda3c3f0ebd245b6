#!/usr/bin/env bash
# Traces that Chromium writes here and now, as Perfetto and as trace events: read whole, with as many slices as there are in them.
. "$(dirname "$0")/../lib.sh"
need chromium command -v chromium || { skip "traces of Chromium" "chromium is not installed" && exit 0; }

# The events of a trace: "slices instants ends", by a walk over the bytes that shares nothing with the reader.
cat >"$T/count.py" <<'EOS'
import json, sys
from collections import Counter

def varint(b, i):
    v = s = 0
    while True:
        c = b[i]
        i, v, s = i + 1, v | (c & 127) << s, s + 7
        if c < 128:
            return v, i

def fields(b):
    i = 0
    while i < len(b):
        key, i = varint(b, i)
        if key & 7 == 0:
            v, i = varint(b, i)
        else:
            n, i = {1: (8, i), 5: (4, i)}.get(key & 7) or varint(b, i)
            v, i = b[i:i + n], i + n
            assert len(v) == n, "cut"
        yield key >> 3, v

data = open(sys.argv[1], "rb").read()
n = Counter()
if sys.argv[2] == "proto":
    for number, packet in fields(data):
        assert number == 1, "no packet"
        for field, event in fields(packet):
            if field == 11:
                event = dict(fields(event))
                phase = chr(dict(fields(event[6])).get(2, 0)) if 6 in event else "\0"
                n[{1: "B", 2: "E", 3: "I"}.get(event.get(9), phase)] += 1
else:
    n.update(e["ph"] for e in json.loads(data)["traceEvents"])
print(sum(n[p] for p in "BXbS"), sum(n[p] for p in "Iin"), n["E"])
EOS

# What analyze has: "slices instants", the count of a warning, all warnings that a whole trace of a browser that goes on does not have.
cat >"$T/read.py" <<'EOS'
import json, sys
a = json.load(open(sys.argv[1]))
i, = a["inputs"]
count = {}
for w in a["warnings"]:
    count[w["code"]] = count.get(w["code"], 0) + w.get("count", 1)
if sys.argv[2] == "counts":
    print(i["spans"] - i["instants"], i["instants"])
elif sys.argv[2] == "whole":
    print("partial" if i["partial"] else "whole")
else:
    print(count.get(sys.argv[2], 0))
EOS

record() { # proto or json
	timeout -k 5 150 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$T/user-$1" --trace-startup=toplevel,blink,v8 \
		--trace-startup-format="$1" --trace-startup-duration=1 --trace-startup-file="$T/trace.$1" --remote-debugging-port=0 about:blank \
		>"$T/chromium.$1" 2>&1 &
	local pid=$!
	wait_for test -s "$T/trace.$1"
	kill "$pid"
	wait "$pid" 2>/dev/null
}

for format in proto json; do
	record $format
	if ! [ -s "$T/trace.$format" ]; then
		not_ok "Chromium writes a trace ($format)" "$(tail -n 20 "$T/chromium.$format")"
		continue
	fi
	code "$format" 0 "$PROFRIG" -q analyze "$T/trace.$format" --format csv -o "$T/$format"
	told() { python3 "$T/read.py" "$T/$format/analysis.json" "$1"; }
	read -r slices instants ends < <(python3 "$T/count.py" "$T/trace.$format" $format)
	is "$format: nothing is cut" "$(told whole)" whole
	is "$format: slices and instants" "$(told counts)" "$slices $instants"
	check "$format: there are some" test "${slices:-0}" -gt 1000
	is "$format: nothing is damaged" "$(for w in W_TRUNCATED W_BAD_EVENT W_BAD_NUMBER W_UNKNOWN_REFERENCE W_MEMORY_LIMIT; do told $w; done | sort -u)" 0
	[ $format = json ] && continue
	is "every end closes a slice or is counted" "$ends" $((slices - $(told W_OPEN_SPAN) + $(told W_STRAY_LEAVE)))
	other=$(python3 -c 'import json, sys
print(*(w["text"] for w in json.load(open(sys.argv[1]))["warnings"] if w["code"] == "W_IGNORED_RECORD"))' "$T/proto/analysis.json")
	is "packets that are not read hold facts of the browser alone" "$(printf '%s' "$other" | grep -oE '[0-9]+ \(' | tr -d ' (' | grep -vxE '5|51')" ""
done
