# Sourced by bash, behind faults.sh and tests/engines.sh: faults of a container engine.
containers() { $PROFRIG_DOCKER ps -aq --filter label=profrig.run; }
fault_container() {
	local c
	c=$(containers | head -n 1)
	[ -z "$c" ] || $PROFRIG_DOCKER kill "$c" >/dev/null
} 2>/dev/null
# The daemon, while its containers run, and all that it started: containerd and the shims, so the containers with it.
fault_dockerd() {
	excused=1
	kill -KILL "$engines_dockerd_pid"
	pause $((RANDOM % 1500))
	dockerd_again
}
dockerd_again() {
	local i
	stop_dockerd
	for i in 1 2 3; do
		# what the dead ones left in the way of new ones
		rm -f "$engines_dir"/docker/exec/containerd/*.{pid,sock,sock.ttrpc} "$engines_dir/docker/pid"
		start_dockerd && return
		note "$engines_why: $(tail -n 5 "$engines_dir/docker/log")"
	done
}
no_container() { [ -z "$(containers)" ]; }
