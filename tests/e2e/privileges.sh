#!/usr/bin/env bash
# What a container may do, and whose its files are: nothing more than the engine gives unless it is asked for, processors, a caller who is not root, and
# podman without root.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
mkdir "$T/t"
cat >"$T/t/wants.yaml" <<'Y'
name: wants
about: a tool that cannot do without
class: wrap
wrap: [sh, -c, 'exec "$@"', wants]
caps: [SYS_ADMIN]
security: [seccomp=unconfined]
because: it mounts things
Y
cat >"$T/t/likes.yaml" <<'Y'
name: likes
about: a tool that knows less without
class: wrap
wrap: [sh, -c, 'exec "$@"', likes]
caps: [SYS_PTRACE]
privileges: wanted
because: it looks into processes
Y
run() { # ENGINE WORDS…
	local engine=$1
	shift
	"$PROFRIG" -q run --no-analyze -o "$T/runs" --engine "$engine" ${IMAGE:+--image $IMAGE} --tools-dir "$T/t" "$@" >"$T/out" 2>"$T/err"
	local code=$?
	run=$(cat "$T/out")
	return $code
}
said() { cat "$run"/steps/*-workload.out; }
show='grep -E "^(CapEff|Seccomp|Cpus_allowed_list):" /proc/self/status'
may() { # CAP-BIT: of what was shown
	local eff
	eff=$(said | awk '/^CapEff/ { print $2 }')
	echo $(((16#$eff >> $1) & 1))
}
seccomp() { said | awk '/^Seccomp:/ { print $2 }'; }
cpus() { said | awk '/^Cpus_allowed_list/ { print $2 }'; }
SYS_PTRACE=19 SYS_ADMIN=21

least() { # ENGINE
	code "$1: a run" 0 run $1 -- sh -c "$show"
	is "$1: may not administer, nor look into processes" "$(may $SYS_ADMIN)$(may $SYS_PTRACE)" 00
	is "$1: is filtered" "$(seccomp)" 2
	code "$1: a tool that cannot do without" 4 run $1 --tools wants -- sh -c "$show"
	is "$1: is refused with all it lacks" "$(grep -c "tool 'wants' needs the \(capability SYS_ADMIN\|security option seccomp=unconfined\) in a container (it mounts things): add --privileged-profiling" "$T/err")" 2
	code "$1: one that would like to" 0 run $1 --tools likes -- sh -c "$show"
	is "$1: does without" "$(may $SYS_PTRACE)" 0
	code "$1: privileged profiling" 0 run $1 --privileged-profiling --tools wants,likes -- sh -c "$show"
	is "$1: gives what they declare" "$(may $SYS_ADMIN)$(may $SYS_PTRACE) $(seccomp)" "11 0"
	code "$1: of one of them" 0 run $1 --privileged-profiling --tools likes -- sh -c "$show"
	is "$1: nothing beside it" "$(may $SYS_ADMIN)$(may $SYS_PTRACE) $(seccomp)" "01 2"
	code "$1: the user's own words are enough" 0 run $1 --tools wants \
		--set 'container.options=[--cap-add=SYS_ADMIN, --security-opt, seccomp=unconfined]' -- sh -c "$show"
	code "$1: processors" 0 run $1 --set cpus=0 -- sh -c "$show"
	is "$1: are those" "$(cpus)" 0
}
cd "$T" || exit 1
code "host: processors" 0 run host --set cpus=0 -- sh -c "$show"
is "host: are those" "$(cpus)" 0
code "processors that are not here" 4 run host --set cpus=0-1000 -- true
like "are reported" "$(cat "$T/err")" "cpus: processor 1000 is not here \(there are [0-9]+, from 0\)"
code "host: tools need no privileges" 0 run host --tools wants -- true

# --- a caller who is not root and may talk to docker ---
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$T/home" XDG_RUNTIME_DIR="$T/home" "$@"; }
callers() {
	mkdir -p "$T/home"
	chown 65534:65534 "$T/home"
	chmod 755 "$T" "$T/e" "$T/e/docker" "$T/e/docker/config" 2>/dev/null
	chmod 666 "$T/e/docker/sock"
	cat >"$T/files.sh" <<-'S'
		#!/bin/sh
		id -u
		mkdir -p "$PROFRIG_OUT/deep/er"
		echo x >"$PROFRIG_OUT/deep/er/file"
		ln -s /etc/passwd "$PROFRIG_OUT/link"
	S
	chmod 755 "$T/files.sh"
	code "docker: a run of somebody who is not root" 0 nobody "$PROFRIG" -q run --no-analyze -o "$T/home/runs" --engine docker --image "$IMAGE" -- /bin/sh "$T/files.sh"
	run=$(cat "$T/out")
	is "docker: its container was root" "$(said)" 0
	is "docker: its files are the caller's" "$(find "$T/home/runs" ! -user 65534 | wc -l)" 0
	is "docker: all of them" "$(find "$run" -name file -o -name link | wc -l)" 2
	is "docker: what a link points at is not" "$(stat -c %u /etc/passwd)" 0
	check "docker: who can remove them" nobody rm -r "$run"
	code "docker: a failure too" 1 nobody "$PROFRIG" -q run --no-analyze -o "$T/home/runs" --engine docker --image "$IMAGE" -- /bin/sh -c 'echo x >"$PROFRIG_OUT/x"; exit 3'
	is "docker: is the caller's" "$(find "$T/home/runs" ! -user 65534 | wc -l)" 0
}

for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		if test_image $engine profrig-priv:1; then
			IMAGE=profrig-priv:1
			least $engine
			if [ $engine = docker ] && command -v setpriv >/dev/null; then callers; fi
			IMAGE=
		else
			not_ok "$engine: test image" "$engines_why"
		fi
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
stop_podman
stop_dockerd

# --- podman without root: a user of its own with subordinate ids, in a mount namespace where /etc knows it ---
rootless() {
	local d=$T/rl f
	mkdir -p "$d/home" "$d/xdg" "$d/runs"
	test_root "$d/img" >/dev/null || return 1
	tar -C "$d/img" --owner=0 --group=0 -cf "$d/home/img.tar" .
	chown -R 12345:12345 "$d/home" "$d/xdg" "$d/runs"
	chmod 755 "$T" "$d"
	chmod 700 "$d/xdg"
	cp /etc/passwd /etc/group "$d"
	echo "profrigtest:x:12345:12345::$d/home:/bin/sh" >>"$d/passwd"
	echo 'profrigtest:x:12345:' >>"$d/group"
	echo 'profrigtest:200000:65536' | tee "$d/subuid" >"$d/subgid"
	printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\nnetns = "none"\n' >"$d/containers.conf"
	touch /etc/subuid /etc/subgid
	cat >"$d/enter" <<-'S'
		d=$1
		shift
		for f in passwd group subuid subgid; do mount --bind "$d/$f" "/etc/$f" || exit 97; done
		cd "$d/home" || exit 97
		exec setpriv --reuid 12345 --regid 12345 --clear-groups env HOME="$d/home" XDG_RUNTIME_DIR="$d/xdg" CONTAINERS_CONF="$d/containers.conf" \
			PROFRIG_PODMAN="podman --root $d/home/root --runroot $d/xdg/run --storage-driver vfs --events-backend file --cgroup-manager cgroupfs --runtime runc" "$@"
	S
	enter() { unshare -m bash "$T/rl/enter" "$T/rl" "$@"; }
	enter sh -c '$PROFRIG_PODMAN import --change "ENV PATH=/usr/local/bin:/bin" img.tar profrig-rl:1' >"$T/rl.log" 2>&1
}
rl() { # WORDS…
	enter "$PROFRIG" -q run --no-analyze -o "$T/rl/runs" --engine podman --image profrig-rl:1 --tools-dir "$T/t" "$@" >"$T/out" 2>"$T/err"
	local code=$?
	run=$(cat "$T/out")
	return $code
}
if [ "$(id -u)" != 0 ] || ! command -v podman newuidmap setpriv runc >/dev/null; then
	skip "rootless podman" "it takes root to make a user for it, podman, newuidmap, setpriv and runc"
elif ! rootless; then
	skip "rootless podman" "it does not work here: $(tail -n 1 "$T/rl.log")"
else
	at_end 'enter sh -c "\$PROFRIG_PODMAN rm --all --force --time 0" >/dev/null 2>&1; enter podman unshare rm -rf "$T/rl/home/root" >/dev/null 2>&1'
	code "rootless podman: a run" 0 rl -- sh -c 'id -u; echo x >"$PROFRIG_OUT/x"'
	is "is root inside" "$(said)" 0
	is "and its files are the caller's" "$(find "$T/rl/runs" ! -user 12345 | wc -l)" 0
	code "a workload that fails" 1 rl -- sh -c 'exit 9'
	is "has its status" "$(jq -r .exit_code "$run/run.json")" 9
	code "privileged profiling" 0 rl --privileged-profiling --tools likes -- sh -c "$show"
	is "gives what its user namespace has" "$(may $SYS_PTRACE)" 1
	code "processors" 0 rl --set cpus=0 -- sh -c "$show"
	is "are those, without a cpuset too" "$(cpus)" 0
	is "no container is left" "$(enter sh -c '$PROFRIG_PODMAN ps -aq' 2>/dev/null | wc -l)" 0
fi
