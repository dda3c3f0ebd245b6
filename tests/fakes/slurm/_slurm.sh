#!/usr/bin/env bash
# Sourced by the stand-ins of Slurm's programs in this folder: they take the words that profrig gives and no others, and keep their jobs in files.
#
#	FAKE_SLURM=DIR	calls: a line for every start; rows: the queue, a line as squeue prints it; ended: rows of sacct; next: the next job's number
#	DIR/<name>.do	bash that runs first; it may exit (what a site or a fault does), or change $words
FAKE=${FAKE_SLURM:?}
name=${0##*/}
printf '%s\n' "$name $*" >>"$FAKE/calls"
[ "${LC_ALL:-}" = C ] || { echo "$name: LC_ALL is not C" >&2; exit 99; }
touch "$FAKE/rows"
refuse() {
	echo "$name: unrecognized option '$1'" >&2
	echo "Try \"$name --help\" for more information" >&2
	exit 255
}
if [ -f "$FAKE/$name.do" ]; then . "$FAKE/$name.do"; fi
# rows of the names in a comma list
rows_named() {
	awk -F'|' -v names="$1" 'BEGIN { n = split(names, a, ","); for (i = 1; i <= n; i++) want[a[i]] = 1 } $NF in want' "$FAKE/rows"
}
