#!/usr/bin/env bash
# Campaigns whose folder others write to: workloads, their owner, other processes; files that change; many cells.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/campaigns.sh"
cd "$T" || exit 1
file good 3 'echo performance: 1 s/s'
code "a campaign" 0 c run good.yaml

# ---- what a workload does to the campaign's folder
UP='cd $PROFRIG_RUN_DIR/../..'
file forge 1 "$UP"'; a=${PROFRIG_RUN_ID%-*}; echo $a >results/${a%.*}; exit 3'
code "a run that fails and commits itself" 1 c run forge.yaml
is "counts as failed" "$(state campaigns/forge '.committed,.failed')" "[0,4]"
like "which is said" "$(cat "$T/err")" "is no commit of profrig's"
file future 2 "$UP"'; for c in $(sed -n "s/.*\"id\": *\"\([0-9a-f]*\)\".*/\1/p" plan.json); do for r in 1 2; do echo $c-$r.7 >results/$c-$r; done; done; echo done'
code "a workload that commits attempts that never were" 0 c run future.yaml
is "each run is made" "$(state campaigns/future '.committed,.attempts')" "[8,8]"
is "each commit names an attempt that ran" "$(cd campaigns/future && for f in $(ls results | grep -v odd); do [ -d runs/$(cat results/$f) ] || echo $f; done)" ""
file remove 1 "$UP"'; rm -rf results logs'
code "one that removes results/ and logs/" 0 c run remove.yaml
is "and no commit is lost" "$(ls campaigns/remove/results | wc -l)" 4
file block 1 "$UP"'; rm -rf results; : >results' 'retry: {infrastructure: 0}'
code "one that makes results/ a file" 1 timeout 60 "$PROFRIG" campaign run block.yaml
like "ends with the reason" "$(cat "$T/err")" "cannot be committed: .*results"
file noruns 1 "$UP"'; mv runs elsewhere; : >runs' 'retry: {infrastructure: 0}'
code "one that takes runs/ away" 1 timeout 60 "$PROFRIG" campaign run noruns.yaml
file fifos 1 "$UP"'; rm -f lock logs/*; mkfifo lock; for c in $(sed -n "s/.*\"id\": *\"\([0-9a-f]*\)\".*/\1/p" plan.json); do mkfifo logs/$c-1.1.log logs/$c-1.2.log; done 2>/dev/null; :' 'retry: {infrastructure: 0}'
timeout 60 "$PROFRIG" campaign run fifos.yaml >/dev/null 2>&1
[ $? -le 1 ] && ok "FIFOs in place of lock and logs hold up nothing" || not_ok "FIFOs in place of lock and logs hold up nothing"
code "nor a look at it" 0 timeout 20 "$PROFRIG" campaign status campaigns/fifos

# ---- what its owner does to it
id=$(jq -r '.cells[0].id' campaigns/good/plan.json)
rm campaigns/good/results/"$id"-2
code "a commit that is gone" 0 c resume campaigns/good --keep-old
is "is made again from its run" "$(cat campaigns/good/results/"$id"-2)" "$id-2.1"
rm -rf campaigns/good/results/"$id"-2 campaigns/good/runs/"$id"-2.1
code "a commit and its run" 0 c resume campaigns/good --keep-old
is "another attempt takes its place" "$(cat campaigns/good/results/"$id"-2)" "$id-2.2"
is "and is counted" "$(state campaigns/good '.committed,.left')" "[12,0]"
code "the store made again, which lacks the run that is gone" 6 c rebuild campaigns/good
is "says the same" "$(state campaigns/good '.committed,.left')" "[12,0]"
rm -rf campaigns/good/runs/"$id"-3.1
code "a run directory alone" 0 c resume campaigns/good --keep-old
is "stays committed" "$(cat campaigns/good/results/"$id"-3)" "$id-3.1"
mv campaigns/good/store.sqlite saved.sqlite
a=$(c status --json campaigns/good | jq -c 'del(.eta_s)')
mv saved.sqlite campaigns/good/store.sqlite
is "status by the journal and by the store" "$(c status --json campaigns/good | jq -c 'del(.eta_s)')" "$a"
mv campaigns/good/journal.ndjson journal.away
ln -s "$PWD/journal.away" campaigns/good/journal.ndjson
code "a journal that is a link" 4 c resume campaigns/good
rm campaigns/good/journal.ndjson
mv journal.away campaigns/good/journal.ndjson

# ---- changes of the file that no cell shows
file turn 2 'echo $SLOT' 'budget_runs: 4'
code "a campaign that goes on with another file" 6 c run turn.yaml
sed -i 's/^budget_runs.*/slots: [{env: {SLOT: new}}]/' turn.yaml
code "with slots" 0 c resume turn.yaml
is "has them in its runs" "$(cat campaigns/turn/runs/*-2.1/steps/*workload.out | sort -u)" "new"
plans=$(ls campaigns/turn/plans | wc -l)
sed -i 's/\["1", "2"\]/["2", "1"]/' turn.yaml
code "other places of the same values" 0 c resume turn.yaml
is "are another plan with the same cells" "$(($(ls campaigns/turn/plans | wc -l) - plans)) $(state campaigns/turn '.cells,.committed')" "1 [4,8]"
code "the same once more" 0 c resume turn.yaml
is "is no other plan" "$(($(ls campaigns/turn/plans | wc -l) - plans))" 1

# ---- many cells, many lines
printf 'name: many\nmodels: [%s/examples/mlp]\nengine: host\naxes: {env.A: [%s], env.B: [%s]}\n' "$ROOT" "$(seq -s, 30)" "$(seq -s, 30)" >many.yaml
code "900 cells" 0 c plan many.yaml
is "a notice once" "$(grep -c 'ignores container settings' "$T/err")" 1
code "no cell is allowed" 2 c plan --max-cells 0 many.yaml

# ---- a filesystem without flock
cat >nolock.c <<-'EOF'
	#include <errno.h>
	#include <sys/stat.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int flock(int fd, int op)
	{
		struct stat st;
		if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
			return errno = ENOLCK, -1;
		return (int)syscall(SYS_flock, fd, op);
	}
EOF
gcc -D_GNU_SOURCE -shared -fPIC -o nolock.so nolock.c 2>/dev/null
if LD_PRELOAD=$PWD/nolock.so "$PROFRIG" --version >/dev/null 2>&1; then
	file nolock 3 'sleep 0.2'
	LD_PRELOAD=$PWD/nolock.so "$PROFRIG" campaign run nolock.yaml >/dev/null 2>&1 &
	pid=$!
	wait_for grep -q '"ev":"committed"' campaigns/nolock/journal.ndjson
	LD_PRELOAD=$PWD/nolock.so code "a second process without flock" 4 c resume campaigns/nolock
	kill -9 $pid
	wait $pid 2>/dev/null
	for i in 1 2 3 4; do
		(LD_PRELOAD=$PWD/nolock.so "$PROFRIG" campaign resume campaigns/nolock >/dev/null 2>&1; echo $? >nolock.$i) &
	done
	wait
	is "of four that take it over one does" "$(cat nolock.[1-4] | sort | tr '\n' ' ')" "0 4 4 4 "
	is "and each run counts once" "$(state campaigns/nolock '.committed,.left') $(jq -r 'select(.ev=="committed")|.run' campaigns/nolock/journal.ndjson | sort | uniq -d | wc -l)" "[12,0] 0"
else
	skip "a filesystem without flock" "no gcc, or a program with sanitizers"
fi

# ---- secrets in the file, wherever they stand
H='name: secret\nengine: host\nmodels: [{name: m, command: [true]}]\n'
for text in 'env: {HF_TOKEN: abc}' 'env: {HF_TOKEN: {value: abc, when: {env.A: 1}}}\naxes: {env.A: [1]}' 'vars: {HF_TOKEN: abc}' 'axes: {env.HF_TOKEN: [a, b]}' \
	'axes: {env: [{HF_TOKEN: a}, {HF_TOKEN: b}]}' 'axes: {z: {env.HF_TOKEN: [a], env.B: [b]}}' 'include: [{env.HF_TOKEN: a}]' 'slots: [{env: {HF_TOKEN: a}}]' \
	'tools: [{name: perf, env: {HF_TOKEN: a}}]' 'secrets: {HF_TOKEN: abc}'; do
	printf "$H$text\n" >secret.yaml
	code "a secret: $text" 3 c run secret.yaml
	like "is refused" "$(cat "$T/err")" "secrets(: \{HF_TOKEN: |\.HF_TOKEN: want )\{from_env"
done
check "and nothing is kept" test ! -e campaigns/secret
printf "${H}secrets: {HF_TOKEN: {from_env: MINE}}\nenv: {A: \$HF_TOKEN}\nanalyze: false\nrepeat: 1\n" >secret.yaml
MINE=s3cr3t code "one from the environment" 0 c run secret.yaml
check "is nowhere in the folder" sh -c '! grep -r s3cr3t campaigns/secret'

# ---- signals at any moment
file signals 3 'sleep 0.1'
"$PROFRIG" campaign run signals.yaml >/dev/null 2>&1 &
pid=$!
RANDOM=${SEED:-11}
for i in $(seq 12); do
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	kill -$([ $((RANDOM % 2)) = 0 ] && echo INT || echo TERM) $pid 2>/dev/null
	wait $pid
	echo $? >>signals.codes
	timeout 100 "$PROFRIG" campaign resume campaigns/signals >/dev/null 2>>signals.err &
	pid=$!
done
wait $pid
is "after twelve signals it ends well" $? 0
is "with the exit status of a stop each time" "$(sort -u signals.codes | grep -vxE '0|6|130|143' | tr '\n' ' ')" ""
is "and each run once" "$(state campaigns/signals '.committed,.failed,.left') $(jq -r 'select(.ev=="committed")|.run' campaigns/signals/journal.ndjson | sort | uniq -d | wc -l)" "[12,0,0] 0"
is "a stopped run is no failure" "$(jq -r 'select(.ev=="ended" and .class!="ok")|.class' campaigns/signals/journal.ndjson | sort -u | grep -v interrupted)" ""

# ---- logs of a workload that makes links
file logs 1 'mkdir away; echo secret >away/workload.out; cd $PROFRIG_RUN_DIR; echo seen; ln -s /etc/passwd steps/link; mkfifo steps/fifo'
code "links and FIFOs beside its output" 0 c run logs.yaml
id=$(jq -r '.cells[0].id' campaigns/logs/plan.json)
code "logs" 0 timeout 20 "$PROFRIG" campaign logs campaigns/logs "$id-1"
like "show the output" "$(cat "$T/out")" "seen"
check "and follow no link" sh -c "! grep -q root: '$T/out'"
mv campaigns/logs/runs/"$id-1.1"/steps elsewhere
ln -s "$PWD/elsewhere" campaigns/logs/runs/"$id-1.1"/steps
code "a link in place of steps/" 0 c logs campaigns/logs "$id-1"
check "is not followed" sh -c "! grep -q seen '$T/out'"

# ---- `run` refuses a file with the status that `plan` has
for text in 'models: [nosuch]\nengine: host' "models: [{name: m, command: [true]}]\nengine: host\naxes: {env.A: [1]}\ninclude: [{env.A: 2}, {env.A: '2'}]" \
	'models: [{name: m, command: [true]}]\nengine: host\naxes: {tools: [[nosuch]]}'; do
	printf "name: refused\n$text\n" >refused.yaml
	code "plan: $text" 3 c plan refused.yaml
	code "run" 3 c run refused.yaml
done
check "and makes nothing" test ! -e campaigns/refused

# ---- plans and copies that are something else
file plans 1 'echo a'
code "a campaign" 0 c run plans.yaml
for f in campaigns/plans/plans/*.json campaigns/plans/campaign.yaml; do
	mv "$f" away.file
	mkfifo "$f"
	code "a FIFO in place of ${f##*/plans/}" 5 timeout 20 "$PROFRIG" campaign resume campaigns/plans
	rm "$f"
	mv away.file "$f"
done
sed -i 's/"repeat": 1/"repeat": 2/' campaigns/plans/plans/*.json
code "a plan that was changed" 5 c resume campaigns/plans
like "is damaged" "$(cat "$T/err")" "damaged: it has another digest than its name"

# ---- files that cannot grow
file grow 2 'echo a'
(
	ulimit -f 2
	timeout 60 "$PROFRIG" campaign run grow.yaml >/dev/null 2>grow.err
	echo $? >grow.code
)
[ "$(cat grow.code)" -ge 1 ] && [ "$(cat grow.code)" -lt 124 ] && ok "a limit of files ends it with an error" || not_ok "a limit of files ends it with an error" "$(cat grow.code) $(tail -3 grow.err)"
if [ -e campaigns/grow/journal.ndjson ]; then code "and it goes on without" 0 c resume campaigns/grow; else code "and it begins without" 0 c run grow.yaml; fi
