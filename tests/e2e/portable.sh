#!/usr/bin/env bash
# `make dist`: its profrig in chroots of Debian 11, 12 and 13 and in one that has busybox alone. The chroots are made by debootstrap once and kept
# in build/chroots; only the packages' files are unpacked, as nothing has to be configured to run a program.
. "$(dirname "$0")/../lib.sh"
MIRROR=${PROFRIG_DEBIAN:-http://deb.debian.org/debian}
name=profrig-$("$PROFRIG" --version | sed -n 's/^profrig //p')-$(uname -m)
tarball=$B/$name.tar.gz

page=$(cat "$B/gen/page.mode")
[ "$B" = "$ROOT/build" ] || { skip "portable" "the tarball is made of the plain build, and this one is in $B" && exit 0; }
check "make dist makes the tarball" make -C "$ROOT" --no-print-directory PAGE="$page" dist
made="build/tests/fixtures/gen/make_otf2 build/tests/fakes/fake_nvml.so"
check "and what this script compares it with" make -C "$ROOT" --no-print-directory PAGE="$page" $made
tar -C "$T" -xzf "$tarball" || exit 1
D=$T/$name

# What is in it.
is "nothing is asked for but the one folder" "$(tar -tzf "$tarball" | cut -d/ -f1 | sort -u)" "$name"
like "profrig is static" "$(file "$D/profrig" 2>/dev/null || readelf -h "$D/profrig")" "statically linked|EXEC"
is "profrig asks for no loader" "$(readelf -lW "$D/profrig" "$D/profrig-init" | grep -c INTERP)" 0
for f in "$D"/profrig-dynamic "$D"/profrig-rsmi "$D"/libprofrig_*.so; do
	[ -e "$f" ] || continue
	is "${f##*/}: no symbol above GLIBC_2.31" "$(objdump -T "$f" | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | awk -F. '$2 > 31' | tr '\n' ' ')" ""
	is "${f##*/}: no library but those of glibc" "$(readelf -dW "$f" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|libm\.so\.6|libdl\.so\.2|libpthread\.so\.0|ld-linux-x86-64\.so\.2)$')" ""
done
bytes=$(stat -c %s "$tarball")
check "the tarball is below 10 MB: $bytes" [ "$bytes" -lt 10000000 ]
check "tools.d lies beside it" [ -s "$D/tools.d/cpu_power.yaml" ]
case $page in 0) ;; *) like "the page is embedded" "$("$D/profrig" --version)" "page: built in" ;; esac

# gzip by zlib says what gzip by isa-l says, of whole and of damaged files.
mkdir -p "$T/gz"
gzip -nc tests/fixtures/tef/kineto.json >"$T/gz/whole.json.gz"
size=$(stat -c %s "$T/gz/whole.json.gz")
cat "$T/gz/whole.json.gz" <(head -c 4096 /dev/zero) >"$T/gz/padded.json.gz"
head -c $((size / 2)) "$T/gz/whole.json.gz" >"$T/gz/cut.json.gz"
head -c 3 "$T/gz/whole.json.gz" >"$T/gz/tiny.json.gz"
head -c $((size - 8)) "$T/gz/whole.json.gz" >"$T/gz/no-trailer.json.gz"
{ head -c $((size - 8)) "$T/gz/whole.json.gz"; printf 'AAAA'; tail -c 4 "$T/gz/whole.json.gz"; } >"$T/gz/checksum.json.gz"
cat "$T/gz/whole.json.gz" <(echo none) >"$T/gz/behind.json.gz"
{ head -c 1000 tests/fixtures/tef/kineto.json | gzip -n; tail -c +1001 tests/fixtures/tef/kineto.json | gzip -n; } >"$T/gz/members.json.gz"
# how far into a damaged member each has read is its own
told() { { "$1" info --json "$2" 2>&1; echo $?; } | sed 's/at byte [0-9]* of/at some byte of/'; }
for f in "$T"/gz/*.gz; do
	is "gzip: ${f##*/}" "$(told "$D/profrig" "$f")" "$(told "$PROFRIG" "$f")"
done
code "gzip: it writes" 0 "$D/profrig" convert tests/fixtures/tef/kineto.json -o "$T/out.json.gz"
check "gzip: what it wrote is whole" gzip -t "$T/out.json.gz"

# Elsewhere.
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { skip "chroots" "they need root and mounts of one's own" && exit 0; }

# One that is whole has the file `done`, and is replaced by nobody.
debian() { # SUITE
	local to=$B/chroots/$1 temp=$B/chroots/.$1.$$
	[ ! -e "$to/done" ] || return 0
	command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap"; return 1; }
	mkdir -p "$temp"
	timeout 300 debootstrap --foreign --variant=minbase "$1" "$temp" "$MIRROR" >"$T/debootstrap.$1" 2>&1 || {
		echo "debootstrap $1: $(grep -E '^(E|W):' "$T/debootstrap.$1" | tail -n 1)"
		rm -rf "$temp"
		return 1
	}
	# What debootstrap leaves to its second stage and programs want.
	rm -rf "$temp/proc" "$temp/debootstrap" "$temp/var/cache/apt" # proc is a link to /proc
	mkdir -p "$temp/proc" "$temp/dev" "$temp/tmp"
	[ -e "$temp/etc/passwd" ] || echo root:x:0:0:root:/root:/bin/sh >"$temp/etc/passwd"
	touch "$temp/done"
	mv -T "$temp" "$to" 2>/dev/null || rm -rf "$temp"
}

# inside ROOT COMMAND…: beside it /t, the test's folder; / itself cannot be written to but for /tmp
inside() {
	local root=$1
	shift
	timeout 120 unshare -m sh -c '
		set -e
		root=$1 t=$2
		shift 2
		mount --bind "$root" "$root"
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs none "$root/tmp"
		mkdir "$root/tmp/t"
		mount --bind "$t" "$root/tmp/t"
		exec chroot "$root" /bin/sh -c "cd /tmp/t && export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp && unset XDG_RUNTIME_DIR PROFRIG_TOOLS_PATH TMPDIR && exec \"\$@\"" sh "$@"' sh "$root" "$T" "$@"
}

busy='i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
cp tests/fixtures/tef/kineto.json "$T/kineto.json"
"$B/tests/fixtures/gen/make_otf2" --seed 7 --threads 2 --events 2000 "$T/otf2" >/dev/null || exit 1
"$PROFRIG" -q analyze "$T/kineto.json" -o "$T/want-tef" >/dev/null 2>&1
"$PROFRIG" -q analyze "$T/otf2/traces.otf2" -o "$T/want-otf2" >/dev/null 2>&1

# What is so everywhere.
everywhere() { # NAME ROOT
	local s=$1 r=$2 p=/tmp/t/$name/profrig
	code "$s: doctor" 0 inside "$r" "$p" doctor
	tr -s ' ' <"$T/out" >"$T/doctor.$s"
	like "$s: it finds its tools" "$(inside "$r" "$p" list tools)" "cpu_power"
	code "$s: run" 0 inside "$r" "$p" run -o "runs-$s" --tools cpu_power,cpu_usage -- /bin/sh -c "$busy"
	check "$s: with samples" grep -q power "$T/runs-$s/latest/samples/cpu_power.csv"
	code "$s: report" 0 inside "$r" "$p" report "runs-$s/latest"
	code "$s: list runs" 0 inside "$r" "$p" list runs -o "runs-$s"
	code "$s: ctl asks a run that is over" 4 inside "$r" "$p" ctl "runs-$s/latest" status
	code "$s: a workload that fails" 1 inside "$r" "$p" run -o "runs-$s" --no-analyze -- /bin/sh -c 'exit 3'
	code "$s: analyze a PyTorch trace" 0 inside "$r" "$p" analyze kineto.json -o "tef-$s"
	check "$s: the same tables" diff -r "$T/want-tef/tables" "$T/tef-$s/tables"
	code "$s: analyze an OTF2 archive" 0 inside "$r" "$p" analyze otf2/traces.otf2 -o "otf2-$s"
	check "$s: the same tables of it" diff -r "$T/want-otf2/tables" "$T/otf2-$s/tables"
	code "$s: convert" 0 inside "$r" "$p" convert otf2/traces.otf2 -o "$s.json.gz"
}

nvml=$B/tests/fakes/fake_nvml.so
cp "$nvml" "$T/"
on_debian() { # SUITE
	local s=$1 r=$B/chroots/$1 f
	everywhere "$s" "$r"
	is "$s: doctor lacks no libraries" "$(grep -c "program libraries" "$T/doctor.$s")" 0
	check "$s: doctor says how to get libcurl" grep -q "^no data libcurl .*apt-get install libcurl4" "$T/doctor.$s"
	for f in "$D"/libprofrig_*.so; do
		f=${f##*/}
		code "$s: $f loads into a program that has libc alone" 0 inside "$r" env LD_BIND_NOW=1 LD_PRELOAD="/tmp/t/$name/$f" /bin/true
	done
	code "$s: a shell with the wrapper starts programs" 0 inside "$r" env LD_PRELOAD="/tmp/t/$name/libprofrig_wrap.so" /bin/sh -c '/bin/ls / >/dev/null'
	code "$s: run with a preload" 0 inside "$r" "/tmp/t/$name/profrig" run -o "runs-$s" --no-analyze --set "env.LD_PRELOAD=/tmp/t/$name/libprofrig_blas.so" -- /bin/sh -c '/bin/ls / >/dev/null'
	if objdump -T "$nvml" | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | awk -F. '$2 > 31' | grep -q . && [ "$s" = bullseye ]; then
		skip "$s: it loads a library" "the stand-in for NVML is built for this machine's glibc"
	else
		code "$s: it loads a library" 0 inside "$r" env PROFRIG_NVML_LIB=/tmp/t/fake_nvml.so "/tmp/t/$name/profrig" sample --source nvml --period 0.01 -o "samples-$s" -- /bin/sh -c 'sleep 0.2'
	fi
}
for s in bullseye bookworm trixie; do
	if why=$(debian $s); then on_debian $s; else skip "$s" "$why"; fi
done

busybox=$(command -v busybox) && ! readelf -lW "$busybox" | grep -q INTERP || { skip "busybox alone" "no static busybox: apt-get install busybox-static" && exit 0; }
mkdir -p "$T/bb/bin" "$T/bb/proc" "$T/bb/dev" "$T/bb/tmp"
cp "$busybox" "$T/bb/bin/busybox"
"$busybox" --list | while read -r applet; do ln -s busybox "$T/bb/bin/$applet" 2>/dev/null; done
everywhere busybox "$T/bb"
check "busybox: doctor says that libraries cannot be loaded" grep -q "^no program libraries .*needs glibc 2.31 or newer.*there is no glibc" "$T/doctor.busybox"
like "busybox: doctor says what is lacking for it" "$(cat "$T/doctor.busybox")" "samplers nvml and rocm_smi and data sets"
is "busybox: it advises no package manager, as there is none" "$(grep -cE 'apt-get|dnf' "$T/doctor.busybox")" 0
