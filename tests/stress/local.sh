#!/usr/bin/env bash
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/stress/faults.sh"
disk=$T/disk
mkdir $disk
mount -t tmpfs -o size=${SIZE:-64m} none $disk
at_end "umount -l $disk"
campaign_file here 'sleep 0.05' "${MORE:-}"
storm here ${N:-10} ${GAP:-30} ${KINDS:-campaign worker agent all two stopped term disk}
cp "$T/here.log" /tmp/w/st/here.$SEED.log; rm -rf /tmp/w/st/here.$SEED; cp -r "$dir" /tmp/w/st/here.$SEED
cp $T/grown.csv $T/anew.csv /tmp/w/st/here.$SEED
