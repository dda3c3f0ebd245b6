# A dictionary for libFuzzer: each text between quotes in C sources that is one of a format: no include, no message.
/^[ \t]*#[ \t]*include/ || /^ \*|^\/\*/ { next }
{
	line = $0
	while (match(line, /"([^"\\]|\\["\\])*"/)) {
		text = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		n = length(text) - 2
		if (n >= 2 && n <= 40 && text !~ /[^ -~]/ && text !~ /%|, [a-z]+ [a-z]+ | is | are / && !seen[text]++)
			print text
	}
}
