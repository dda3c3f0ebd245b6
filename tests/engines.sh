# Container engines for tests. Sourced, by bash, from any folder:
#
#	. tests/engines.sh
#	engines_dir=$(mktemp -d); trap 'engines_stop; rm -rf "$engines_dir"' EXIT
#	start_dockerd && test_image docker profrig-test:1	# a private daemon; exports PROFRIG_DOCKER
#	start_podman && test_image podman profrig-test:1	# a private storage; exports PROFRIG_PODMAN
#
# start_* return 1 and leave the reason in $engines_why when the engine cannot work here; need_engine turns that into a skip, or a failure when
# PROFRIG_REQUIRE (a comma list) names the engine. Nothing outside $engines_dir is used or left behind.

engines_dir=${engines_dir:-}
engines_why=
engines_dockerd_pid=

# A container engine wants a folder of its own; the socket's path must stay short.
engines_need_dir() {
	if [ -z "$engines_dir" ]; then
		engines_dir=$(mktemp -d /tmp/profrig-engines.XXXXXX)
	fi
	mkdir -p "$engines_dir"
}

start_dockerd() {
	engines_why=
	command -v dockerd >/dev/null || { engines_why="dockerd is not installed"; return 1; }
	command -v docker >/dev/null || { engines_why="docker is not installed"; return 1; }
	[ "$(id -u)" = 0 ] || { engines_why="a private dockerd needs root"; return 1; }
	engines_need_dir
	local d=$engines_dir/docker tries=0
	mkdir -p "$d/data" "$d/exec" "$d/config"
	dockerd --iptables=false --bridge=none --exec-opt native.cgroupdriver=cgroupfs --data-root "$d/data" --exec-root "$d/exec" \
		-H "unix://$d/sock" --pidfile "$d/pid" >"$d/log" 2>&1 </dev/null &
	engines_dockerd_pid=$!
	while ! docker --config "$d/config" -H "unix://$d/sock" version >/dev/null 2>&1; do
		tries=$((tries + 1))
		if ! kill -0 "$engines_dockerd_pid" 2>/dev/null || [ $tries -gt 480 ]; then
			engines_why="dockerd does not start: $(grep -E 'level=(error|fatal)|failed' "$d/log" | tail -n 1)"
			stop_dockerd
			return 1
		fi
		sleep 0.25
	done
	export PROFRIG_DOCKER="docker --config $d/config -H unix://$d/sock"
}

# The daemon is ended by its process id, then what it mounted is let go.
stop_dockerd() {
	[ -n "$engines_dockerd_pid" ] || return 0
	local tries=0 pid=$engines_dockerd_pid m words
	kill "$pid" 2>/dev/null
	while kill -0 "$pid" 2>/dev/null && [ $tries -lt 60 ]; do
		sleep 0.25
		tries=$((tries + 1))
	done
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	engines_dockerd_pid=
	# A daemon that was killed leaves its containerd, the shims of its containers and its mounts to us.
	for m in /proc/[0-9]*; do
		words=()
		{ mapfile -d '' -t words <"$m/cmdline"; } 2>/dev/null
		case " ${words[*]}" in
		*" -address $engines_dir/docker/"* | *" --config $engines_dir/docker/exec/"*) kill -9 "${m#/proc/}" 2>/dev/null ;;
		esac
	done
	awk -v d="$engines_dir/docker" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
		while read -r m; do umount -l "$m" 2>/dev/null; done
	unset PROFRIG_DOCKER
}

start_podman() {
	engines_why=
	command -v podman >/dev/null || { engines_why="podman is not installed"; return 1; }
	engines_need_dir
	local d=$engines_dir/podman words
	mkdir -p "$d/root" "$d/run" "$d/tmp" "$d/containers"
	words="podman --root $d/root --runroot $d/run --tmpdir $d/tmp --storage-driver vfs --events-backend file --cgroup-manager cgroupfs"
	# crun refuses hosts that mix cgroup versions; runc does not.
	if command -v runc >/dev/null; then
		words="$words --runtime runc"
	fi
	# Without CAP_SYS_RESOURCE nobody may raise a limit again. podman lowers its own (nproc to 32768) and then asks for what it found first, unless it
	# gets limits here.
	cat >"$d/containers.conf" <<-CONF
		[containers]
		default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
		netns = "none"
	CONF
	export CONTAINERS_CONF=$d/containers.conf
	# shellcheck disable=SC2086
	if ! $words info >"$d/log" 2>&1; then
		engines_why="podman does not work: $(tail -n 1 "$d/log")"
		unset CONTAINERS_CONF
		return 1
	fi
	export PROFRIG_PODMAN="$words"
}

stop_podman() {
	[ -n "${PROFRIG_PODMAN:-}" ] || return 0
	local m
	# shellcheck disable=SC2086
	$PROFRIG_PODMAN rm --all --force --time 0 >/dev/null 2>&1
	awk -v d="$engines_dir/podman" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
		while read -r m; do umount -l "$m" 2>/dev/null; done
	unset PROFRIG_PODMAN CONTAINERS_CONF
}

engines_stop() {
	stop_podman
	stop_dockerd
}

# engine_words ENGINE: its command words.
engine_words() {
	case $1 in
	docker) echo "${PROFRIG_DOCKER:-docker}" ;;
	podman) echo "${PROFRIG_PODMAN:-podman}" ;;
	*) echo "engine_words-has-no-case-for-$1" ;;
	esac
}

# test_root FOLDER: what an image of busybox holds.
test_root() {
	local root=$1 applet bb
	bb=$(command -v busybox) || { engines_why="busybox-static is not installed"; return 1; }
	mkdir -p "$root"
	chmod 755 "$root"
	mkdir -p "$root"/bin "$root"/etc "$root"/tmp "$root"/root "$root"/proc "$root"/sys "$root"/dev "$root"/usr/local/bin
	chmod 1777 "$root/tmp"
	cp "$bb" "$root/bin/busybox"
	for applet in sh cat echo env false true ls mkdir rm sleep kill ps setsid nohup id touch head tail dd grep test date; do
		ln -s busybox "$root/bin/$applet"
	done
	printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\nuser:x:1000:\n' >"$root/etc/group"
}

# test_image ENGINE NAME [FILE…]: imports an image FROM scratch: busybox as /bin/sh and friends, and FILEs in /usr/local/bin. IMAGE_USER=… is its user.
test_image() {
	local engine=$1 name=$2 root
	shift 2
	engines_need_dir
	root=$(mktemp -d "$engines_dir/image.XXXXXX")
	test_root "$root" || return 1
	[ $# -eq 0 ] || cp "$@" "$root/usr/local/bin/"
	# shellcheck disable=SC2046
	if ! tar -C "$root" --owner=0 --group=0 -cf - . |
		$(engine_words "$engine") import --change 'ENV PATH=/usr/local/bin:/bin' --change 'ENV IMAGE_SAYS=hello' \
			${IMAGE_USER:+--change "USER $IMAGE_USER"} - "$name" \
			>"$root.log" 2>&1; then
		engines_why="$engine import: $(tail -n 1 "$root.log")"
		rm -rf "$root"
		return 1
	fi
	rm -rf "$root" "$root.log"
}

# need_engine ENGINE: starts it; 0 works, 1 skip it, 2 PROFRIG_REQUIRE names it and it does not work. The reason is in $engines_why.
need_engine() {
	case $1 in
	docker) start_dockerd && return 0 ;;
	podman) start_podman && return 0 ;;
	*) engines_why="no engine '$1'" ;;
	esac
	case ",${PROFRIG_REQUIRE:-}," in
	*",$1,"*) return 2 ;;
	esac
	return 1
}
