/* Files of PyTorch's TunableOp: what is taken reads back as the same validators. */
#include <stdint.h>
#include <string.h>

#include "profrig/bench/bench_tuning.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bench_tuning none = { .form = BENCH_TUNABLEOP };
	struct bench_validators v, again;
	struct err err = ERR_INIT;
	char *text = NULL;
	size_t size;
	FILE *f;

	if (bench_validators_parse((const char *)data, n, "x", &v, &err) < 0)
		return 0;
	f = xmemstream(&text, &size);
	bench_tuning_write(&none, &v, NULL, f);
	fclose(f);
	if (bench_validators_parse(text, size, "x", &again, &err) < 0 || again.v.nr != v.v.nr)
		abort();
	for (size_t i = 0; i < v.v.nr; i++)
		if (strcmp(v.v.v[i].name, again.v.v[i].name) != 0 ||
		    strcmp(v.v.v[i].value, again.v.v[i].value) != 0)
			abort();
	free(text);
	bench_validators_release(&v);
	bench_validators_release(&again);
	return 0;
}
