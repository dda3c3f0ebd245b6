#!/usr/bin/env bash
# rocpd databases: what info and analyze say of them, whole and cut; two processes in one file stay two.
. "$(dirname "$0")/../lib.sh"

FIX=$ROOT/tests/fixtures/rocpd/two-processes.db

code "info" 0 "$PROFRIG" -q info --json "$FIX"
is "names the reader and the schema" "$(jq -r '.reader + ": " + .format' "$T/out")" "rocpd: rocpd (schema 3)"
is "counts spans, marks, samples, links" "$(jq -c '[.spans, .instants, .samples, .links]' "$T/out")" "[14,1,1,2]"
is "knows devices and ranks" "$(jq -c '[.devices, .ranks]' "$T/out")" '[["gpu0"],[4,5]]'

cp "$FIX" "$T/a.db"
before=$(sha256sum <"$T/a.db")
code "analyze" 0 "$PROFRIG" -q analyze "$T/a.db" -o "$T/o"
is "kernels of both processes" "$(sed -n 2p "$T/o/tables/kernels.csv" | cut -d, -f1,2,4,5)" "gpu0,k,4,10000"
is "busy is a union: 5500 of 6500" "$(sed -n 2p "$T/o/tables/busy.csv" | cut -d, -f1,4,5)" "gpu0,5500,6500"
is "the file is as it was" "$(sha256sum <"$T/a.db")" "$before"
is "and nothing lies beside it" "$(cd "$T" && echo a.db*)" a.db

head -c -100 "$FIX" >"$T/cut.db"
code "a cut file is partial: 6" 6 "$PROFRIG" -q info "$T/cut.db"
head -c 3000 "$FIX" >"$T/lost.db"
code "one of which nothing is left is an error: 5" 5 "$PROFRIG" -q info "$T/lost.db"
like "that names the file" "$(cat "$T/err")" "lost.db"
