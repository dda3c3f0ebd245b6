#!/usr/bin/env bash
# madengine's own documentation, command by command: it works as it stands, or is answered with what to write instead. docs/madengine.md has the same table.
. "$(dirname "$0")/../lib.sh"
cp -r "$ROOT/tests/fixtures/mad" "$T/package" && cd "$T/package" || exit 1
git init -q . 2>/dev/null
host="--engine host --no-analyze"
answered() { # name, word to use, command…
	local name=$1 word=$2
	shift 2
	code "$name: is answered" 2 "$PROFRIG" "$@"
	like "$name: with the word" "$(cat "$T/err")" "$word"
}

# discover
code "discover" 0 "$PROFRIG" -q discover
code "discover --tags" 0 "$PROFRIG" -q discover --tags plain --verbose
code "discover -t SCOPE:MODEL" 0 "$PROFRIG" -q discover -t scoped:one
like "finds the model of the scope" "$(cat "$T/out")" "scoped/one"
code "discover with a data name that is nowhere" 0 "$PROFRIG" -q discover -t lost
like "shows it" "$(cat "$T/out")" "lost"

# build
code "build --target-archs A B" 0 "$PROFRIG" -q build -n -t plain --target-archs gfx90a gfx942 --clean-docker-cache --live-output
is "is what a comma gives" "$(cat "$T/out")" "$("$PROFRIG" -q build -n -t plain -a gfx90a,gfx942)"
code "build without a GPU, with what madengine takes then" 0 "$PROFRIG" -q build -n -t plain
like "is AMD and Ubuntu" "$(cat "$T/out")" "plain.ubuntu.amd.Dockerfile"
code "build -l" 0 "$PROFRIG" -q build -n -t plain -l
answered "build --summary-output" "--json" build -t plain --summary-output s.json
answered "build -s" "--json" build -t plain -s s.json
answered "build --build-on-compute" "on that node" build -t plain --build-on-compute

# run
code "run --live-output --keep-alive --timeout -1 -o X.csv" 0 "$PROFRIG" -q run $host --live-output --keep-alive --timeout -1 -o perf.csv --sys-env-details --ignore-deprecated -t plain
check "-o X.csv is the table" test -f perf.csv
code "run --output=X.csv -l" 0 "$PROFRIG" -q run $host -l --output=other.csv -t plain
check "--output=X.csv too" test -f other.csv
code "run -o DIR" 0 "$PROFRIG" -q run $host -o "$T/elsewhere" -t plain
check "-o DIR is where runs go" test -e "$T/elsewhere/latest/run.json"
code "run --manifest-file of what is not there" 2 "$PROFRIG" -q run $host --manifest-file nowhere.json -t plain
like "is read as one" "$(cat "$T/err")" "nowhere.json"
code "run -m" 2 "$PROFRIG" -q run $host -m nowhere.json -t plain
answered "run --clean-docker-cache" "build --clean-cache" run --clean-docker-cache -t plain
answered "run --registry" "build --registry" run --registry localhost:5000 -t plain
answered "run --manifest-output" "build --manifest-output" run --manifest-output m.json -t plain
answered "run --summary-output" "--json" run --summary-output s.json -t plain
answered "run --data-config" "--config FILE" run --data-config data.json -t plain
answered "run --force-mirror-local" "mirrorlocal=PATH" run --force-mirror-local /tmp -t plain
answered "run --cleanup-perf" "--perf-csv FILE" run --cleanup-perf -t plain
code "words behind -- are the workload's" 0 "$PROFRIG" -q run $host -- echo --live-output -o x.csv --registry
is "as they are" "$(cat runs/latest/steps/*workload.out)" "--live-output -o x.csv --registry"

# context
code "a comment in a context" 0 "$PROFRIG" -q plan $host -t plain -c '{"_comment": "why", "tools": [{"name": "rocprof", "_comment2": "x"}, {"name": "rpd"}]}'
code "timeout_multiplier" 3 "$PROFRIG" -q plan $host -t plain -c '{"timeout_multiplier": 2}'
like "is answered" "$(cat "$T/err")" "did you mean 'timeout'"

# report, database
code "report to-html" 0 "$PROFRIG" -q report to-html --csv-file-path perf.csv
check "is a page" test -s perf.html
code "report to-email" 0 "$PROFRIG" -q report to-email --directory . --output mail.html
check "is a mail" test -s mail.html
answered "report to-html without a file" "csv-file-path FILE" report to-html
answered "database" "mongoimport" database --csv-file perf.csv --database-name x --collection-name y

# The page says nothing else.
for word in live-output keep-alive manifest-file clean-docker-cache target-archs summary-output data-config force-mirror-local build-on-compute cleanup-perf to-html to-email sys-env-details ignore-deprecated; do
	grep -q -- "$word" "$ROOT/docs/madengine.md" || not_ok "docs/madengine.md: $word" "not there"
done
