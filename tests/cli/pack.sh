#!/usr/bin/env bash
# Bundles: what is packed comes back, what must not be in one is not, what is damaged or hostile is refused.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
export TMPDIR=$T/tmp
mkdir "$TMPDIR"

left() { find "$T" -name '.profrig-*' | sed "s,^$T/,,"; }
names() { python3 -c 'import sys, zipfile; print(*sorted(zipfile.ZipFile(sys.argv[1]).namelist()))' "$1"; }
manifest() { python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read("manifest.json"))' "$1" | jq -r "$2"; }
member() { python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' "$1" "$2"; }

# ---- a run ----
mkdir work
cp "$ROOT"/tests/fixtures/tef/kineto.json work/ 2>/dev/null || cp "$(ls "$ROOT"/tests/fixtures/tef/*.json | head -n 1)" work/kineto.json
code "a run" 0 "$PROFRIG" run -o runs --engine host --label rank=3 --tools cpu_usage --no-analyze -- sh -c 'sleep 0.2; echo performance: 1 s/s'
run=$(cat out)
id=$(basename "$run")
code "is packed" 0 "$PROFRIG" pack runs/latest work/kineto.json -o a.zip
like "it says what it wrote" "$(cat out)" "^a.zip: [0-9]+ files, .* in "
check "another program finds it whole" python3 -c 'import sys, zipfile; sys.exit(zipfile.ZipFile("a.zip").testzip() is not None)'
is "the run is named by its folder, not by the link" "$(manifest a.zip '.inputs[] | "\(.path) \(.kind)"' | xargs)" "$id run kineto.json file"
is "the manifest says whose it is" "$(manifest a.zip '.runs[] | "\(.path) \(.rank) \(.status)"')" "$id 3 success"
is "with the clock anchors of its run.json" "$(manifest a.zip '.runs[0].clocks' | jq -c .)" "$(jq -c .clocks "$run/run.json")"
is "and the versions" "$(manifest a.zip '.runs[0].versions.profrig')" "$(jq -r .versions.profrig "$run/run.json")"
while read -r sha path; do
	[ "$(member a.zip "$path" | sha256sum | cut -d' ' -f1)" = "$sha" ] || echo "$path"
done < <(manifest a.zip '.members[] | "\(.sha256) \(.path)"') >wrong
is "every SHA-256 is that of the member" "$(cat wrong)" ""
is "members know the rank of their run" "$(manifest a.zip '.members[] | select(.path | startswith("'"$id"'")) | .rank' | sort -u)" 3
code "it is as packed" 0 "$PROFRIG" pack --check a.zip
code "packed again it is the same, byte by byte" 0 "$PROFRIG" pack runs/latest work/kineto.json -o b.zip
check "it is" cmp a.zip b.zip
rm b.zip

# ---- read as it was ----
"$PROFRIG" -q pack runs/latest -o run.zip >/dev/null
code "the run is analysed" 0 "$PROFRIG" analyze runs/latest -o plain
code "and out of the bundle" 0 "$PROFRIG" analyze run.zip -o packed
check "the tables are equal to the byte" diff -r plain/tables packed/tables
is "inputs are named by their place in the bundle" "$(jq -r '.inputs[0].path' packed/analysis.json)" "run.zip/$id/samples/cpu_usage.csv"
code "a run with a trace beside it is one analysis" 0 "$PROFRIG" analyze "$run" work/kineto.json -o plain2
code "out of the bundle too" 0 "$PROFRIG" analyze a.zip -o packed2
check "with equal tables" diff -r plain2/tables packed2/tables
"$PROFRIG" -q pack work -o work.zip >/dev/null
code "info takes a bundle" 0 "$PROFRIG" info --json work.zip
is "and counts as of the file" "$(jq -c '[.spans, .links]' out)" "$("$PROFRIG" -q info --json work/kineto.json | jq -c '[.spans, .links]')"
code "convert takes it" 0 "$PROFRIG" convert work.zip -o conv.json
code "as the file" 0 "$PROFRIG" convert work/kineto.json -o conv2.json
check "with one result, but for the path" cmp <(tail -n +3 conv.json) <(tail -n +3 conv2.json)
is "nothing is left of unpacking" "$(left)" ""

# ---- refusals ----
code "an output that is there is refused" 2 "$PROFRIG" pack /nowhere -o a.zip
like "before anything is looked at" "$(cat err)" "a.zip: there is such a file; --force replaces it"
mkdir one
echo 1 >one/x
code "--force replaces it" 0 "$PROFRIG" pack one -o a.zip --force
is "by the new one" "$(names a.zip)" "manifest.json one/x"
code "an input that is not there" 5 "$PROFRIG" pack one nowhere -o c.zip
check "leaves no output" test ! -e c.zip
code "nor a folder for it" 4 "$PROFRIG" pack one -o no/c.zip
code "no output" 2 "$PROFRIG" pack one
code "no input" 2 "$PROFRIG" pack -o c.zip
code "a rank that is none" 2 "$PROFRIG" pack one -o c.zip --rank x
code "the first rank" 0 "$PROFRIG" pack one -o c.zip --rank 0
is "is one" "$(manifest c.zip '.members[].rank')" 0
rm c.zip
code "--check takes one bundle" 2 "$PROFRIG" pack --check a.zip run.zip
mkdir empty
code "nothing to pack" 5 "$PROFRIG" pack empty -o c.zip
is "and nothing is left" "$(left)" ""

# ---- what is not taken ----
mkdir -p odd/sub
echo kept >odd/sub/kept
echo outside >outside
ln -s ../outside odd/link
ln -s .. odd/up
mkfifo odd/fifo
code "links and FIFOs are left out" 0 "$PROFRIG" pack odd -o odd.zip
is "the rest is there" "$(names odd.zip)" "manifest.json odd/sub/kept"
is "the manifest says which and why" "$(manifest odd.zip '.left_out[] | "\(.path): \(.why)"')" "odd/fifo: a FIFO
odd/link: a symbolic link
odd/up: a symbolic link"
like "and so does the command" "$(cat err)" "odd.zip: left out: odd/link: a symbolic link"
code "a FIFO by name" 5 "$PROFRIG" pack odd/fifo -o c.zip
ln outside odd/second
code "a second name of a file outside is not read" 6 "$PROFRIG" pack odd -o odd.zip --force
is "it is not there" "$(names odd.zip)" "manifest.json odd/sub/kept"
like "which is said" "$(cat err)" "not packed: odd/second: "
rm -r odd
SECRET=tok-$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')
mkdir secret
echo fine >secret/fine
echo "token=$SECRET" >secret/log
{ head -c 262140 /dev/zero | tr '\0' a; printf %s "$SECRET"; } >secret/edge
HF_TOKEN=$SECRET code "files with the value of a secret variable are not packed" 6 "$PROFRIG" pack secret -o secret.zip
is "in no block of a file" "$(names secret.zip)" "manifest.json secret/fine"
check "the bundle has no byte of it" sh -c '! grep -aqF "$1" secret.zip' sh "$SECRET"
like "and the message names the file" "$(cat err)" "not packed: secret/log: it holds the value of a secret variable"

# ---- files that change ----
head -c 60000000 /dev/urandom >grow
(while :; do echo more >>grow; done) &
grower=$!
code "a file that grows is noticed" 5 "$PROFRIG" pack grow -o c.zip
kill $grower
wait $grower 2>/dev/null
like "and named" "$(cat err)" "grow: it changed while it was packed"
check "nothing was written" test ! -e c.zip
is "nor left" "$(left)" ""

# ---- signals ----
head -c 100000000 /dev/urandom >large
"$PROFRIG" pack large large large large large large -o c.zip >/dev/null 2>&1 &
packer=$!
wait_for sh -c 'ls -A | grep -q "^.profrig-"'
kill -TERM $packer
wait $packer
is "SIGTERM ends it" $? 143
is "and leaves nothing" "$(left) $(ls c.zip 2>/dev/null)" " "
"$PROFRIG" -q pack large -o large.zip >/dev/null
"$PROFRIG" info large.zip >/dev/null 2>&1 &
reader=$!
wait_for sh -c 'ls -A tmp | grep -q "^.profrig-"'
kill -INT $reader 2>/dev/null
kill -TERM $reader
wait $reader
like "nor does a reader of a bundle" "$? $(left)" "^(143|130) $"
rm -f large large.zip grow

# ---- large files ----
truncate -s 4300M huge
printf end >>huge
code "a file of more than 4 GiB" 0 "$PROFRIG" pack huge -o huge.zip
is "has its size" "$(manifest huge.zip '.members[0].bytes')" 4508876803
rm -f huge
check "as another program sees it" python3 -c '
import sys, zipfile
z = zipfile.ZipFile("huge.zip")
i = z.getinfo("huge")
f = z.open(i)
f.seek(4508876800)
sys.exit(not (i.file_size == 4508876803 and f.read() == b"end"))'
code "and is as packed" 0 "$PROFRIG" pack --check huge.zip
rm -f huge.zip

# ---- damage ----
printf 'stored\037\213' >one/y
printf '\037\213stored' >one/z
"$PROFRIG" -q pack one -o good.zip >/dev/null
rewrite() { # OUT CODE: members as a dict d
	python3 -c '
import sys, zipfile
z = zipfile.ZipFile("good.zip")
d = {i.filename: z.read(i) for i in z.infolist()}
exec(sys.argv[2])
with zipfile.ZipFile(sys.argv[1], "w") as w:
    for name, data in d.items():
        w.writestr(name, data)' "$1" "$2"
}
rewrite bad.zip 'd["one/x"] = b"2\n"'
code "another content" 7 "$PROFRIG" pack --check bad.zip
like "is named" "$(cat err)" "member one/x is not what was packed: its SHA-256 differs"
rewrite bad.zip 'del d["one/x"]'
code "a member that is missing" 7 "$PROFRIG" pack --check bad.zip
like "is named" "$(cat err)" "member one/x of its manifest is missing"
rewrite bad.zip 'd["one/new"] = b"2\n"'
code "one that was not packed" 7 "$PROFRIG" pack --check bad.zip
like "is named" "$(cat err)" "member one/new is not in its manifest"
python3 -c '
b = bytearray(open("good.zip", "rb").read())
b[b.index(b"\x1f\x8bstored") + 4] ^= 1
open("bad.zip", "wb").write(b)'
code "a flipped bit" 7 "$PROFRIG" pack --check bad.zip
like "is a wrong checksum" "$(cat err)" "member one/z: wrong checksum"
code "a damaged bundle is not merged" 5 "$PROFRIG" pack --merge good.zip bad.zip -o c.zip
check "into anything" test ! -e c.zip
code "nor read" 5 "$PROFRIG" info bad.zip
head -c 100 good.zip >cut.zip
code "a cut one" 5 "$PROFRIG" pack --check cut.zip
rewrite bad.zip 'd["manifest.json"] = d["manifest.json"].replace(b"profrig.bundle/1", b"profrig.bundle/9")'
code "a manifest of another version" 5 "$PROFRIG" pack --check bad.zip
rewrite plain.zip 'del d["manifest.json"]'
code "an archive without a manifest" 0 "$PROFRIG" pack --check plain.zip
like "is checked by what it has" "$(cat err)" "only sizes and CRC-32 are checked"

# ---- hostile archives ----
hostile() { # NAME WORDS CODE: with the archive w
	python3 -c '
import sys, zipfile, stat
with zipfile.ZipFile("hostile.zip", "w", zipfile.ZIP_DEFLATED) as w:
    exec(sys.argv[1])' "$3" 2>/dev/null
	for command in "info" "pack --check" "convert -o c.json" "analyze -o c"; do
		code "$1: $command refuses it" 5 "$PROFRIG" $command hostile.zip
		like "with the reason" "$(cat err)" "$2"
	done
	is "and nothing is anywhere" "$(left) $(ls -d c c.json /tmp/evil "$T/../evil" 2>/dev/null)" " "
}
hostile "a way out" "the name '../evil'" 'w.writestr("../evil", "x")'
hostile "an absolute name" "the name '/tmp/evil': absolute" 'i = zipfile.ZipInfo("a"); i.filename = "/tmp/evil"; w.writestr(i, "x")'
hostile "a link" "member evil: a symbolic link" 'i = zipfile.ZipInfo("evil"); i.create_system = 3; i.external_attr = (stat.S_IFLNK | 0o777) << 16; w.writestr(i, "/etc/passwd")'
hostile "a name twice" "its name is there twice" 'w.writestr("evil", "x"); w.writestr("evil", "y")'
hostile "a file that is a folder, too" "a file and a folder have this name" 'w.writestr("evil", "x"); w.writestr("evil/y", "y")'
hostile "a bomb" "contents of more than 256 times its size" 'w.writestr("evil", bytes(100000000))'
hostile "an encrypted member" "member evil: encrypted" '
w.writestr("evil", "x"); w.filelist[0].flag_bits |= 1'

# ---- bundles of ranks (the names of another tool's test of merging) ----
forge='
import sys, zlib
def forged(data, crc):
    table = []
    for i in range(256):
        c = i
        for _ in range(8):
            c = c >> 1 ^ (0xedb88320 if c & 1 else 0)
        table.append(c)
    of_top = {t >> 24: i for i, t in enumerate(table)}
    want, steps = crc ^ 0xffffffff, []
    for _ in range(4):
        steps.append(of_top[want >> 24])
        want = (want ^ table[steps[-1]]) << 8 & 0xffffffff
    now, tail = zlib.crc32(data) ^ 0xffffffff, b""
    for i in reversed(steps):
        tail += bytes([(now ^ i) & 255])
        now = now >> 8 ^ table[i]
    return data + tail
a = b"the contents of rank a"
b = forged(a[:-5] + b"b", zlib.crc32(a))
assert a != b and len(a) == len(b) and zlib.crc32(a) == zlib.crc32(b)
open("ra/crc", "wb").write(a)
open("rb/crc", "wb").write(b)'
mkdir ra rb
python3 -c "$forge"
echo same | tee ra/same >rb/same
echo a >ra/diff
echo b >rb/diff
echo a >ra/only_a
(cd ra && "$PROFRIG" -q pack same diff only_a crc -o ../a.zip --force) >/dev/null
(cd rb && "$PROFRIG" -q pack same diff crc -o ../b.zip) >/dev/null
code "two bundles" 0 "$PROFRIG" pack --merge a.zip b.zip -o m.zip
is "become one" "$(names m.zip)" "crc/a crc/b diff/a diff/b manifest.json only_a same"
is "two contents of one CRC-32 are two" "$(member m.zip crc/a | sha256sum) $(member m.zip crc/b | sha256sum)" "$(sha256sum <ra/crc) $(sha256sum <rb/crc)"
is "each member knows whose it is" "$(manifest m.zip '.members[] | "\(.path) \(.bundles | join(","))"')" "crc/a a
crc/b b
diff/a a
diff/b b
only_a a
same a,b"
is "and where it came from" "$(manifest m.zip '.members[] | select(.path == "only_a" or .path == "diff/b") | .origin' | xargs)" "$T/rb/diff $T/ra/only_a"
like "what differs is said" "$(cat err)" "m.zip: kept side by side: crc"
code "it is as packed" 0 "$PROFRIG" pack --check m.zip
mkdir h0 h1
cp a.zip h0/r.zip
cp b.zip h1/r.zip
code "inputs of one name" 0 "$PROFRIG" pack --merge h0/r.zip h1/r.zip -o m2.zip
is "have names of their own" "$(names m2.zip)" "crc/h0-r crc/h1-r diff/h0-r diff/h1-r manifest.json only_a same"
code "a third that says nothing new" 0 "$PROFRIG" pack --merge a.zip b.zip a.zip -o m3.zip
is "adds nothing" "$(names m3.zip)" "crc/a crc/b diff/a diff/b manifest.json only_a same"
code "a file that is a folder elsewhere" 0 sh -c 'mkdir -p c/same c/diff && echo 1 >c/same/x && echo 2 >c/diff/a && cd c && "$0" -q pack same diff -o ../c.zip && cd .. && "$0" -q pack --merge a.zip b.zip c.zip -o m4.zip' "$PROFRIG"
is "takes no place of another" "$(names m4.zip)" "crc/a crc/b diff/a diff/a-2 diff/b manifest.json only_a same/a same/x"
code "and is whole" 0 "$PROFRIG" pack --check m4.zip
code "an output that is there is refused" 2 "$PROFRIG" pack --merge a.zip b.zip -o m.zip
rm -r c c.zip

# Runs of one name with other contents stay whole.
mkdir other
cp -r "$run" "other/$id"
sed -i 's/"status": *"success"/"status": "failed"/' "other/$id/run.json"
"$PROFRIG" -q pack "other/$id" -o other.zip >/dev/null
code "runs that differ" 0 "$PROFRIG" pack --merge run.zip other.zip -o runs.zip
is "are kept as wholes" "$(manifest runs.zip '.runs[] | "\(.path) \(.status)"' | xargs)" "$id/run success $id/other failed"
is "with all of their files" "$(names runs.zip | tr ' ' '\n' | grep -c "^$id/other/")" "$(names run.zip | tr ' ' '\n' | grep -c "^$id/")"
code "and analysed as several runs" 0 "$PROFRIG" analyze runs.zip -o ensemble
is "each with its table" "$(tail -n +2 ensemble/tables/runs.csv | wc -l)" 2
is "equal runs are there once" "$("$PROFRIG" -q pack --merge run.zip run.zip -o twice.zip >/dev/null; manifest twice.zip '.runs | length')" 1

# ---- archives of nsys-jax ----
db=$(ls "$ROOT"/tests/fixtures/nsys/*.sqlite | head -n 1)
jax() { # OUT WITH_EXPORT
	python3 -c '
import sys, zipfile, lzma
with zipfile.ZipFile(sys.argv[1], "w") as z:
    z.writestr("job.nsys-rep", "report")
    z.writestr("nvtx_gpu_proj_trace/trace.parquet", "PAR1")
    z.writestr("report_nvtx_pushpop_trace.parquet", "PAR1")
    z.writestr("thread-metadata.parquet", "PAR1")
    z.writestr("dump/module_0001.jit_f.hlo.pb.xz", lzma.compress(b"proto"))
    z.writestr("protos/xla.proto", "syntax")
    z.writestr("install.sh", "#!/bin/sh")
    if len(sys.argv) > 2:
        z.write(sys.argv[2], "job.sqlite")' "$@"
}
jax jax.zip
code "an archive of nsys-jax has nothing that is read" 5 "$PROFRIG" info jax.zip
like "tables in Parquet are named, and why" "$(cat err)" "3 members are not read, first nvtx_gpu_proj_trace/trace.parquet: tables in Parquet"
like "the report too" "$(cat err)" "1 member is not read, first job.nsys-rep: .*nsys export --type sqlite"
like "and dumps" "$(cat err)" "first dump/module_0001.jit_f.hlo.pb.xz: compressed by xz"
jax jax.zip "$db"
code "with an export in it that is read" 6 "$PROFRIG" info --json jax.zip
is "as it is" "$(jq .spans out)" "$("$PROFRIG" -q info --json "$db" 2>/dev/null | jq .spans)"
cp jax.zip jax2.zip
code "two of them merge" 0 "$PROFRIG" pack --merge jax.zip jax2.zip -o jaxes.zip
is "with what is equal once" "$(names jaxes.zip | wc -w)" 9
is "nothing is left at the end" "$(left)" ""
