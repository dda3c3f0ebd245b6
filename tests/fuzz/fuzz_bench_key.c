/* Keys of library calls: what is taken has operands that are bounded, and small ones are filled. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	CLEANUP(xfreep) char *key = xstrndup((const char *)data, n);
	struct err err = ERR_INIT;
	struct bench_op op;

	key[strcspn(key, "\n")] = 0;
	if (bench_op_parse(key, &op, &err) < 0 || bench_op_all_bytes(&op) > 1 << 16 || !op.flops)
		return 0;
	for (int i = 0; i < OPERANDS; i++) {
		char *p = xmalloc(bench_op_bytes(&op, i));

		bench_op_fill(&op, i, p);
		if (i == OPERAND_C && op.flops < 1 << 20) {
			double worst;

			bench_op_check(&op, p, &worst, &err);
		}
		free(p);
	}
	return 0;
}
