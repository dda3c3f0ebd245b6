#!/usr/bin/env bash
# A campaign of 60 runs on this machine, disturbed six times: its process, a worker, an agent, all at once are killed, two go on at once, the disk is
# full. `make stress` does more of it. And two campaigns of the same cells at once, on one docker.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
SEED=${SEED:-19}
. "$ROOT/tests/stress/faults.sh"
at_end disk_down
kinds="campaign worker agent all two"
if disk_up; then kinds+=" disk"; else skip "a full disk" "needs root and a mount namespace"; fi
AGAIN=exit,output campaign_file here 'sleep 0.05'
# shellcheck disable=SC2086
storm here 6 $kinds

# ---- the same cells twice ----
disk_down
disk= log=$T/twice.log
need_engine docker
case $? in
0)
	test_image docker profrig-storm:1 || not_ok "docker: test image" "$engines_why"
	ENGINE=docker IMAGE=profrig-storm:1 campaign_file twice 'sleep 0.3'
	sed -i 's/^axes:.*/axes: {env.A: ["1", "2"]}/; s/^repeat:.*/repeat: 2/' "$T/twice.yaml"
	"$PROFRIG" campaign run -o "$T/one" "$T/twice.yaml" >"$T/one.log" 2>&1 &
	code "two campaigns of the same cells at once" 0 "$PROFRIG" campaign run -o "$T/two" "$T/twice.yaml"
	check "end well, both" wait $!
	for dir in "$T"/{one,two}/twice; do name=${dir%/*} && campaign_check "${name##*/}" 2 2; done
	is "with no failed attempt" "$(jq -r 'select(.ev=="ended" and .class!="ok")|.reason' "$T"/{one,two}/twice/journal.ndjson)" ""
	;;
1) skip "two campaigns in docker" "$engines_why" ;;
2) not_ok "docker is required" "$engines_why" ;;
esac
