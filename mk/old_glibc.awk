# Out of `objdump -T` of a glibc library: what an older one has of it, to link against. The stub has the same names at the same places
# as far as it matters (names of one object stay names of one object), in the newest version up to `max`, and no code.
#
#	objdump -T libc.so.6 | awk -v max=31 -v map=libc.map -f mk/old_glibc.awk >libc.S
#
# A line: value, flags (w: weak), DF|DO|iDF, section, size, version (in parentheses: an old one), name.
$0 !~ / GLIBC_2\.[0-9.]+\)? / && $0 !~ /\(GLIBC_2\.[0-9.]+\)/ || /\*UND\*|\*ABS\*/ { next }
{
	name = $NF
	version = $(NF - 1)
	gsub(/[()]/, "", version)
	split(substr(version, 7), part, ".")
	rank = part[2] * 100 + part[3]
	if (part[1] != 2 || part[2] > max || (name in newest && newest[name] >= rank))
		next
	newest[name] = rank
	of[name] = version
	where[name] = $1
	weak[name] = $2 ~ /w/
	object[name] = / DO /
	size[name] = $(NF - 2) # hexadecimal, of one width: compared as text
}
function label(name) {
	printf "\t%s %s\n\t.type %s, %s\n%s:\n", weak[name] ? ".weak" : ".globl", name, name, object[name] ? "@object" : "@function", name
	if (object[name])
		printf "\t.size %s, 0x%s\n", name, size[name]
}
END {
	print "\t.section .note.GNU-stack,\"\",@progbits\n\t.text"
	for (name in of) {
		in_version[of[name]] = in_version[of[name]] " " name ";"
		if (!object[name]) {
			label(name)
			print "\t.byte 0xc3"
		}
		else if (size[name] ~ /[1-9a-f]/) {
			at[where[name]] = at[where[name]] " " name
			if (size[name] "" > room[where[name]] "")
				room[where[name]] = size[name]
		}
	}
	print "\t.bss"
	for (place in at) {
		print "\t.balign 32"
		n = split(at[place], names, " ")
		for (i = 1; i <= n; i++)
			label(names[i])
		printf "\t.zero 0x%s\n", room[place]
	}
	for (version in in_version)
		printf "%s { global:%s };\n", version, in_version[version] >map
}
