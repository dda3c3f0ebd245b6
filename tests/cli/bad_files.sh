#!/usr/bin/env bash
# A damaged file of each format: the exit code, and words that name the file, the place in it and, where there is something to do, what.
. "$(dirname "$0")/../lib.sh"
FIX=$ROOT/tests/fixtures
