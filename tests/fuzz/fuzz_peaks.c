/*
 * Files of --peaks: what is taken has values above 0 and stands in front of the table of profrig,
 * which is there whatever the file is.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/cost/peaks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const devices[] = { "", "AMD Instinct MI300X", "NVIDIA H200" };
	CLEANUP(xfreep) char *text = xmalloc(n + 1);
	CLEANUP(peaks_freep) struct peaks *p = peaks_new();
	struct peak k;
	int r;

	if (n)
		memcpy(text, data, n);
	text[n] = 0;
	r = peaks_read_text(p, text, n, "fuzz", NULL);
	if (r < 0 && peaks_tbps(p, "NVIDIA H200") != 4.8)
		abort();
	for (size_t d = 0; d < ARRAY_LEN(devices); d++)
		for (size_t i = 0; peaks_at(p, devices[d], i, &k); i++)
			if (!(k.value > 0) || k.reachable <= 0 || !k.source || !k.unit)
				abort();
	return 0;
}
