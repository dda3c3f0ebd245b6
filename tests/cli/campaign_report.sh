#!/usr/bin/env bash
# campaign report, list campaigns: the numbers of page, JSON and mail against the export, what each state of a campaign looks like, and names that want to be markup.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
c() { timeout 120 "$PROFRIG" -q campaign "$@"; }
# plain FILE: the words of a page, without its tags
plain() {
	python3 - "$1" <<'PY'
import html.parser, sys
class P(html.parser.HTMLParser):
    off, words = 0, []
    def handle_starttag(self, tag, attrs): self.off += tag in ('style', 'head')
    def handle_endtag(self, tag): self.off -= tag in ('style', 'head')
    def handle_data(self, s): self.off or self.words.append(s)
p = P(); p.feed(open(sys.argv[1], encoding='utf-8').read()); p.close()
print(' '.join(' '.join(p.words).split()))
PY
}
# closed FILE: each element that is opened is closed, and there is no script, no handler, nothing to fetch
closed() {
	python3 - "$1" <<'PY'
import html.parser, sys
class P(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attrs):
        assert tag not in ('script', 'img', 'iframe', 'link', 'object', 'embed'), tag
        for k, v in attrs:
            assert not k.startswith('on') and 'javascript:' not in (v or '').lower(), (tag, k, v)
        if tag != 'meta': self.open.append(tag)
    def handle_startendtag(self, tag, attrs): pass
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
p = P(); p.feed(open(sys.argv[1], encoding='utf-8').read()); p.close()
assert not p.open, p.open
PY
}

# ---- a campaign with a clear change, an equal cell, and a run that fails
cat >work.sh <<'SH'
n=$(cat "n.$A.$K" 2>/dev/null || echo 0)
n=$((n + 1))
echo $n >"n.$A.$K"
[ "$A$K" != 2new ] || [ $n -ne 2 ] || { echo "RuntimeError: no <b>room</b>"; exit 3; }
v=$((1000 * A + n * 7 % 10))
[ "$A$K" != 1new ] || v=$((v * 7 / 10))
echo "performance: $v samples/s"
SH
cat >two.yaml <<'YAML'
name: two
models: [{name: m, command: [sh, work.sh]}]
engine: host
analyze: false
axes: {env.A: ["1", "2", "3"], env.K: [old, new]}
repeat: 5
baseline: {env.K: old}
gate: [{metric: performance, threshold: 5%}]
YAML
code "a campaign" 1 c run two.yaml
D=campaigns/two
check "writes its report" test -s $D/report.html
check "whose elements are closed" closed $D/report.html
check "which may use nothing but its own style sheet" grep -q "default-src &#39;none&#39;\|default-src 'none'" $D/report.html
words=$(plain $D/report.html)
like "the verdict comes first" "$words" "^two The gate fails: 1 of 3 cells is slower than its baseline \(2 same\); the largest change: A=1 K=new, performance -30\.[0-9] %"
like "then how far it is" "$words" "29 of 30 runs done, 1 failed for good\. 6 cells × 5\."
like "and the gate" "$words" "performance may not get worse by more than 5 %"
like "a failure has its reason, and what it costs" "$words" "1 cell has lost 1 run for good: means and intervals there are over the survivors.* A=2 K=new 1 of 5 workload workload exited with status 3 1"
like "how it was measured" "$words" "Order: interleaved, 5 runs of each cell.*Methods: paired-log-holm.*Power: gate on performance, margin 5 %: paired t on logarithms, by blocks, n = 5, CV .* \(measured\)"

# ---- its numbers against the export
code "JSON" 0 c report $D --json
mv out r.json
c export $D --format ndjson -o all.ndjson
jq -s -c '[.[] | select(.metric == "performance" and .committed == 1)] | group_by(.cell) | map({cell: .[0].cell, n: length, mean: (map(.value) | add / length), values: (map(.value) | sort)}) | sort_by(.cell)' all.ndjson >want
jq -c '[.figures[0].cells[] | {cell, n, mean, values: ([.values[].value] | sort)}] | sort_by(.cell)' r.json >got
is "cells, runs, means, values are the export's" "$(cat got)" "$(cat want)"
is "in the order of the runs" "$(jq -r '[.figures[0].cells[] | [.values[].order] == ([.values[].order] | sort)] | all' r.json)" true
is "one figure, of the gate" "$(jq -r '.figures[] | "\(.metric) \(.unit) \(.better) \(.threshold)"' r.json)" "performance samples/s higher 0.05"
c query $D --json "SELECT b, est, lo, hi, p_adj, verdict, n_a, n_b FROM verdict ORDER BY b" >v.json
is "verdicts are those of the campaign's end" "$(jq -c '[.figures[0].cells[] | select(.against) | [.cell, (.against | .ratio, .low, .high, .p_adj, .verdict, .n_baseline, .n)]] | sort' r.json)" \
	"$(jq -c '[.[] | [.b, .est, .lo, .hi, .p_adj, .verdict, .n_a, .n_b]] | sort' v.json)"
is "the gate" "$(jq -r '.verdict | "\(.gate) \(.overall) \(.compared) \(.slower) \(.same)"' r.json)" "fails slower 3 1 2"
is "failures" "$(jq -r '.failures[] | "\(.class): \(.reason) \(.attempts)"' r.json)" "workload: workload exited with status 3 1"
is "runs" "$(jq -c '.runs | [.planned, .committed, .failed, .left]' r.json)" "[30,29,1,0]"
is "each committed run is a dot that leads to its folder" "$(grep -o '<a href="runs/[0-9a-f-]*\.1/"><circle' $D/report.html | sort -u | wc -l)" 29
check "each of them is there" sh -c 'grep -o "href=\"runs/[^\"]*" campaigns/two/report.html | cut -d\" -f2 | sort -u | while read -r f; do test -e "campaigns/two/$f" || exit 1; done'
is "titles have the values" "$(grep -o '<title>[0-9.]* samples/s, run' $D/report.html | cut -d'>' -f2 | cut -d' ' -f1 | sort -n | tr '\n' ' ')" \
	"$(jq -r '.figures[0].cells[].values[].value' r.json | sort -n | tr '\n' ' ')"

# ---- options
code "a page elsewhere" 0 c report two.yaml -o "pages/a b/two.html"
is "prints its path" "$(cat out)" "pages/a b/two.html"
like "and links from there" "$(cat "pages/a b/two.html")" 'href="../../campaigns/two/runs/'
mkdir -p "x y/#1" && cp -r campaigns "x y/#1/"
code "of a folder with odd letters" 0 c report "x y/#1/campaigns/two" -o p.html
like "is encoded in links" "$(cat p.html)" 'href="x%20y/%231/campaigns/two/runs/'
code "other metrics" 0 c report $D --metric duration,max_rss --json
is "have their own comparison" "$(jq -r '.figures[] | "\(.metric) \([.cells[].n] | add) \([.cells[].against | select(.)] | length)"' out | tr '\n' ' ')" "duration 29 3 max_rss 29 3 "
is "and the gate's verdict stays" "$(jq -r .verdict.gate out)" fails
code "a metric that no run has" 2 c report $D --metric speed
like "gets those that there are" "$(cat err)" "no run has 'speed'; there are: .*performance"
code "no campaign" 5 c report nothing
code "a page that cannot be written" 4 c report $D -o /dev/null/x.html

# ---- mail
code "a mail" 0 c report $D --mail m.html
is "prints its path alone" "$(cat out)" m.html
check "its elements are closed" closed m.html
check "no style sheet, nothing to fetch" sh -c "! grep -iE '<style|<link|src=|href=|url\(|@import|class=' m.html"
like "has verdict, matrix, failures" "$(plain m.html)" "The gate fails: .* slower A=1 K=new performance '?-30\.[0-9] % .*env.A = 1.*A=2 K=new workload workload exited with status 3"
check "is small" test "$(stat -c %s m.html)" -lt 40000
code "a message" 0 c report $D --mail m.eml
check "has two parts" python3 - m.eml m.html <<'PY'
import email, sys
m = email.message_from_bytes(open(sys.argv[1], 'rb').read())
assert m['Subject'] == 'Campaign two: the gate fails', m['Subject']
text, html = m.get_payload()
assert text.get_content_type() == 'text/plain' and 'The gate fails' in text.get_payload(decode=True).decode()
assert html.get_content_type() == 'text/html' and html.get_payload(decode=True) == open(sys.argv[2], 'rb').read()
assert all(len(l) < 998 for l in open(sys.argv[1], 'rb').read().split(b'\r\n'))
PY

cells=
for i in $(seq 400); do
	printf -v id '%012x' "$i"
	cells+=",{\"id\":\"$id\",\"label\":\"a rather long label of a cell, number $i of many\",\"model\":\"m\",\"axes\":{\"env.A\":\"$((i % 40))\",\"env.B\":\"$((i / 40))\"},\"is_baseline\":false,\"baseline\":null,\"config\":{}}"
done
# ---- states
# crc32 TEXT: eight hexadecimal digits, out of the end of a gzip file
crc32() { printf %s "$1" | gzip -c | tail -c 8 | od -An -tx4 -N4 --endian=little | tr -d ' '; }
event() {
	SEQ=$((SEQ + 1))
	local line
	printf -v line '{"seq":%d,"t":"2026-03-04T05:%02d:%02d.000000000Z","boot_id":"b","ev":"%s"%s' $SEQ $((SEQ / 60)) $((SEQ % 60)) "$1" "${2:+,$2}"
	printf '%s,"crc":"%s"}\n' "$line" "$(crc32 "$line")" >>"$AT/journal.ndjson"
}
# begin NAME CELLS: a campaign whose plan has these cells (JSON), 2 repeats
begin() {
	AT=$T/campaigns/$1 SEQ=0
	mkdir -p "$AT/plans" "$AT/results" "$AT/runs"
	printf '{"schema":"profrig.campaign/1","name":"%s","repeat":2,"order":"random","seed":7,"cells":[%s],"gate":[],"metrics":["performance"]}' "$1" "$2" >"$AT/plan.json"
	local sha
	sha=$(sha256sum <"$AT/plan.json" | cut -c1-12)
	cp "$AT/plan.json" "$AT/plans/$sha.json"
	event open "\"version\":\"0.1.0\",\"file\":\"x.yaml\",\"dir\":\".\",\"name\":\"$1\""
	event plan "\"plan\":\"plans/$sha.json\""
}
# cell ID LABEL MODEL AXES BASELINE: all but the id are JSON
cell() { printf '{"id":"%s","label":%s,"model":%s,"axes":%s,"is_baseline":%s,"baseline":%s,"config":{}}' "$1" "$2" "$3" "$4" "$([ "$5" = null ] && echo true || echo false)" "$5"; }
A=aaaaaaaaaaaa C=cccccccccccc
begin none "$(cell $A '"N=1"' '"m"' '{"N":"1"}' null),$(cell $C '"N=2"' '"m"' '{"N":"2"}' "\"$A\"")"
code "nothing has run" 0 c report "$AT"
like "is said" "$(plain "$AT/report.html")" "No run has ended yet\. 0 of 4 runs done, 4 left; no process works on it\."
check "its elements are closed" closed "$AT/report.html"
event intend "\"run\":\"$A-1\",\"attempt\":1,\"cell\":\"$A\",\"repeat\":1,\"block\":1,\"pos\":1"
event ended "\"run\":\"$A-1\",\"attempt\":1,\"state\":\"failed\",\"class\":\"workload\",\"reason\":\"exit 3\",\"exit\":3"
event failed "\"run\":\"$A-1\",\"class\":\"workload\",\"attempts\":1"
code "all that ran has failed" 0 c report "$AT"
like "is said" "$(plain "$AT/report.html")" "No run has ended well: 1 of 4 failed for good, 3 are left\."
begin many "${cells#,}"
event intend "\"run\":\"000000000001-1\",\"attempt\":1,\"cell\":\"000000000001\",\"repeat\":1,\"block\":1,\"pos\":1"
mkdir -p "$AT/runs/000000000001-1.1"
echo '{"schema":"profrig.run/1","id":"x","status":"success","host":{},"devices":[],"tools":[],"metrics":[{"name":"performance","value":3,"unit":"x/s"}]}' >"$AT/runs/000000000001-1.1/run.json"
event ended "\"run\":\"000000000001-1\",\"attempt\":1,\"state\":\"success\",\"class\":\"ok\",\"reason\":null,\"exit\":0"
echo 000000000001-1.1 >"$AT/results/000000000001-1"
event committed "\"run\":\"000000000001-1\",\"attempt\":1"
code "400 cells" 0 c report "$AT" --mail many.html -o many-page.html
check "have a mail below what mail programs cut" test "$(stat -c %s many.html)" -lt 100000
like "which says what is missing" "$(plain many.html)" "Further rows are in the report"
like "and the page counts cells without a value" "$(plain many-page.html)" "399 cells are without a value"
begin nocells ""
code "a plan without cells" 0 c report "$AT"
like "is said" "$(plain "$AT/report.html")" "The plan has no cells"
sed 's/name: two/name: alone/; /baseline/d; /gate/d; s/\["1", "2", "3"\]/["1", "3"]/' two.yaml >alone.yaml
rm -f n.*
code "a campaign without a baseline" 0 c run alone.yaml
like "says so" "$(plain campaigns/alone/report.html)" "Nothing is compared: the campaign's file names no baseline\."
like "and shows what was measured" "$(plain campaigns/alone/report.html)" "performance in samples/s.* not compared · 5 runs"
sed 's/name: two/name: part/; s/repeat: 5/repeat: 5\nbudget_runs: 20/' two.yaml >part.yaml
rm -f n.*
code "a part of a campaign" 6 c run part.yaml
like "the page states it" "$(plain campaigns/part/report.html)" "The campaign is not complete: 'profrig campaign resume' goes on\."
like "and so is the verdict" "$(plain campaigns/part/report.html)" "So far the gate fails: 1 of 3 cells is slower"

cat >live.yaml <<YAML
name: live
models: [{name: m, command: [sh, -c, 'echo performance: 1 x/s; [ "\$A" = 1 ] || touch began; while [ "\$A" = 2 ] && ! [ -e go ]; do sleep 0.05; done']}]
engine: host
analyze: false
axes: {env.A: ["1", "2"]}
baseline: {env.A: "1"}
repeat: 1
YAML
sed -i "s#began; while#$T/began; while#; s#-e go#-e $T/go#" live.yaml
"$PROFRIG" -q campaign run live.yaml >live.out 2>live.err &
live=$!
wait_for test -e began
code "a campaign that runs" 0 c report campaigns/live
like "is shown as such" "$(plain campaigns/live/report.html)" "So far .*1 of 2 runs done, 1 running; the campaign is running\."
touch go
wait $live
like "and in the end without" "$(plain campaigns/live/report.html)" "2 of 2 runs done\. 2 cells × 1\."
is "its verdict has too few runs" "$(c report campaigns/live --json | jq -r '.figures[0].cells[1] | .word + " " + .against.method')" "unclear few"

# ---- names that want to be markup
BAD='"<img src=x onerror=alert(1)>\"'"'"'&amp;</td><script>alert(2)</script>\u202e\u001b[2J"'
begin bad "$(cell $A "$BAD" "$BAD" '{"<b>axis</b>":"<script>1</script>","tools":[]}' null),$(cell $C "$BAD" "$BAD" '{"<b>axis</b>":"\"><svg onload=alert(3)>","tools":["<i>t</i>"]}' "\"$A\"")"
for run in $A-1 $C-1 $A-2; do
	event intend "\"run\":\"$run\",\"attempt\":1,\"cell\":\"${run%-*}\",\"repeat\":${run#*-},\"block\":${run#*-},\"pos\":1"
	mkdir -p "$AT/runs/$run.1"
	printf '{"schema":"profrig.run/1","id":"x","status":"success","host":{"kernel":"<u>%s</u>"},"devices":[],"tools":[],"metrics":[{"name":"performance","value":%d,"unit":"<s>/s"}]}' "$run" "1${run#*-}" >"$AT/runs/$run.1/run.json"
	event ended "\"run\":\"$run\",\"attempt\":1,\"state\":\"success\",\"class\":\"ok\",\"reason\":null,\"exit\":0"
	echo "$run.1" >"$AT/results/$run"
	event committed "\"run\":\"$run\",\"attempt\":1"
done
event intend "\"run\":\"$C-2\",\"attempt\":1,\"cell\":\"$C\",\"repeat\":2,\"block\":2,\"pos\":1"
event ended "\"run\":\"$C-2\",\"attempt\":1,\"state\":\"failed\",\"class\":\"workload\",\"reason\":$BAD,\"exit\":3"
code "hostile names" 0 c report "$AT" --mail bad.html -o bad-page.html
for f in bad.html bad-page.html; do
	check "stay text ($f)" closed $f
	is "without control characters ($f)" "$(LC_ALL=C grep -cP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae' $f)" 0
	like "and are shown ($f)" "$(plain $f)" '<img src=x onerror=alert\(1\)>.*<script>alert\(2\)</script>'
done
like "environments differ, in this" "$(plain bad-page.html)" 'Runs had 3 environments, which differ in 1 fact\. 1 cell has runs of several environments.* host.kernel "<u>'
code "as JSON" 0 c report "$AT" --json
like "are the texts" "$(jq -r '.cells[0].label' out)" '^<img src=x onerror=alert\(1\)>"'
is "with what differs" "$(jq -r '.differences[] | "\(.fact) \(.values | length)"' out)" "host.kernel 3"

# ---- list campaigns
code "a list" 0 "$PROFRIG" list campaigns
like "has each campaign" "$(cat out)" "campaigns/alone +20/20 +0 +0 .*campaigns/two +29/30 +1 +0 +slower +20"
code "as JSON" 0 "$PROFRIG" list campaigns -o campaigns --json
is "with what it says" "$(jq -c '.[] | select(.name == "two") | [.runs, .committed, .failed, .left, .verdict, .verdict_old]' out)" '[30,29,1,0,"slower",false]'
code "no such folder" 5 "$PROFRIG" list campaigns -o nowhere
cd "$T/x y" || exit 1
code "no campaign yet" 0 "$PROFRIG" list campaigns --json
is "is an empty list" "$(tr -d '\n' <"$T/out")" "[]"
mkdir -p campaigns/broken && sed '3s/intend/intent/' '#1/campaigns/two/journal.ndjson' >campaigns/broken/journal.ndjson
code "one that is damaged" 6 "$PROFRIG" list campaigns
like "is named" "$(cat "$T/err")" "campaigns/broken"
