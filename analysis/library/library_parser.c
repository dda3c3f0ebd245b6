#include "library_parser.h"

size_t library_path_before(struct text_slice line, size_t at)
{
	size_t n = 0;

	while (n < at && !slice_blank(line.p[at - n - 1]))
		n++;
	if (n == 0 || line.p[at - 1] != '/')
		return 0;
	if (line.p[at - n] == '/' || line.p[at - n] == '.')
		return n;
	return n >= 2 && line.p[at - 2] == '.' ? 2 : 0; /* other text stands before "./" */
}
