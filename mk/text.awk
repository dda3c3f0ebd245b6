# What make lint asks of every text file, and of C beyond what the formatter sees:
#	awk -v paths="/home/me/src/ …" -f mk/text.awk FILE...
# Blanks at line ends and paths of a machine anywhere; in C lines past 100 columns (the formatter
# leaves comments alone), files past 800 lines and functions past 80. A function is what stands
# between a "{" and a "}" in the first column, as the formatter puts them.
BEGIN {
	for (n = split(paths, path, " "); n > 0; n--)
		foreign[path[n]] = 1
	for (n = 1; n < 256; n++)
		follows[sprintf("%c", n)] = n >= 128 && n < 192
}
function complain(line, what) {
	printf "%s:%d: %s\n", FILENAME, line, what
	bad = 1
}
# Whether a path stands in the text as one from the root, and not as "<run>/work/" or "$dir/tmp/".
function is_absolute(s, path,   at, from) {
	for (from = 1; (at = index(substr(s, from), path)) > 0; from += at)
		if (from + at == 2 || substr(s, from + at - 2, 1) !~ /[A-Za-z0-9_.*)}>\]-]/)
			return 1
	return 0
}
# columns of a line: tabs of 8, a UTF-8 sequence counts once
function width(s,   i, c, w) {
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "\t")
			w += 8 - w % 8
		else if (!follows[c])
			w++
	}
	return w
}
FNR == 1 {
	is_c = FILENAME ~ /\.[ch]$/
	start = 0
}
/[ \t\r]$/ { complain(FNR, "blanks at the end of the line") }
{
	for (p in foreign)
		if (is_absolute($0, p))
			complain(FNR, "a path of this machine: " p)
}
!is_c { next }
length($0) > 93 || /\t/ {
	# A tab is at most 8 columns, so most lines need no counting.
	if (length($0) + 7 * gsub(/\t/, "\t") > 100 && width($0) > 100)
		complain(FNR, "past 100 columns")
}
FNR == 801 { complain(FNR, "the file goes past 800 lines: split it by idea") }
/^{/ { start = FNR }
/^}/ {
	if (start && FNR - start > 80)
		complain(start, "a function of " FNR - start - 1 " lines: 80 at the most, better a screen")
	start = 0
}
END { exit bad }
