#!/usr/bin/env bash
# Reports for mail programs: of runs, of tables of runs, of several of them.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
run() { "$PROFRIG" -q run --engine host "$@"; }
code "a run" 0 run --tools cpu_power --perf-csv perf.csv -- sh -c 'echo "performance: 12 <b>x</b>"; sleep 0.3'
good=$(cat "$T/out")
code "one that fails, and is not analysed" 1 run --no-analyze --perf-csv perf.csv -- sh -c 'echo RuntimeError: x; exit 2'
bad=$(cat "$T/out")
code "of one run" 0 "$PROFRIG" report runs/latest --format mail
is "lies in its analysis" "$(cat "$T/out")" runs/latest/analysis/mail.html
check "which was made" test -s "$bad/analysis/analysis.json"
code "of several" 0 "$PROFRIG" report "$good" "$bad" --format mail -o sent/mail.html
is "lies where it was wanted" "$(cat "$T/out")" sent/mail.html
html=$(cat sent/mail.html)
like "says how many went well" "$html" "2 runs, 1 of them not successful"
code "of two that went well" 0 "$PROFRIG" report "$good" "$good" --format mail -o sent/good.html
like "says so" "$(cat sent/good.html)" "2 runs, all successful"
like "status and reason" "$html" ">failed</td>.*>workload exited with status 2</td>"
like "the result, as text" "$html" ">12 &#60;b&#62;x&#60;/b&#62;</td>"
like "energy" "$html" ">Energy</h2>.*>energy.cpu0</td>.*>host</td>.*[0-9.]+ m?J</td>"
like "warnings" "$html" ">W_LOG_ERROR</td>"
check "no script, no style sheet, nothing to fetch" sh -c "test -s sent/mail.html && ! grep -iE '<script|<style|<link|<img|src=|href=|javascript:|url\(|@import|class=' sent/mail.html"
check "small" test "$(stat -c %s sent/mail.html)" -lt 20000
if command -v python3 >/dev/null; then
	check "its elements are closed" python3 - sent/mail.html <<'PY'
import html.parser, sys
class P(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attrs):
        if tag != 'meta': self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
p = P(); p.feed(open(sys.argv[1]).read()); assert not p.open, p.open
PY
fi
code "of a table" 0 "$PROFRIG" report perf.csv
is "lies beside it" "$(cat "$T/out")" perf.html
html=$(cat perf.html)
like "heading, columns, rows" "$html" ">perf.csv</h1>.*>model</th>.*>performance</th>.*>SUCCESS</td>.*>FAILURE</td>"
like "empty columns are named once" "$html" "Empty columns: n_gpus, "
check "and stand nowhere else" sh -c "! grep -q 'relative_change</th>' perf.html"
cp perf.csv a.csv
code "of several tables and a run" 0 "$PROFRIG" report a.csv perf.csv "$good" --format mail -o all.html
is "a heading each" "$(grep -cE '>(a|perf).csv</h1>' all.html)" 2
{ echo model,status,reason; for i in $(seq 1 3000); do echo "m$i,SUCCESS,<script>alert($i)</script>"; done; } >many.csv
code "of a long table" 0 "$PROFRIG" report many.csv --format mail
check "the last rows" sh -c "grep -q '>m3000<' many.html && ! grep -q '>m2900<' many.html && grep -q '2900 earlier rows are left out' many.html && ! grep -q '<script' many.html"
check "stays below what mail programs cut" test "$(stat -c %s many.html)" -lt 100000
printf 'a,b\n"open' >broken.csv
code "of a broken table" 5 "$PROFRIG" report broken.csv
like "is refused with its line" "$(cat "$T/err")" "broken.csv"
for words in "nowhere --format mail" nowhere.csv; do
	code "of nothing: $words" 5 "$PROFRIG" report $words
	like "is reported as such" "$(cat "$T/err")" "there is no file or folder 'nowhere"
done
code "a table in another format" 5 "$PROFRIG" report perf.csv --format csv
like "the message says what there is" "$(cat "$T/err")" "perf.csv is a file: of a table there is a page"
code "with another format" 2 "$PROFRIG" report "$good" --format mail,csv
code "an output for another format" 2 "$PROFRIG" report "$good" --format csv -o x
code "where nobody may write" 4 "$PROFRIG" report perf.csv -o /proc/nowhere/x.html
