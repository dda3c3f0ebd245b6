/* Keys of library calls: what is taken has operands that are bounded, and small ones are filled. */
#include "dnn_op.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The same for the operations of neural networks. */
static void network_op(const char *key)
{
	struct err err = ERR_INIT;
	struct dnn_op op;

	if (dnn_op_parse(key, &op, &err) < 0 || !op.bytes || op.bytes > 1 << 14 ||
	    op.flops > 1 << 20)
		return;
	for (int i = 0; i < DNN_ROLES; i++) {
		uint64_t all = dnn_elements(&op.of[i]);
		float *to;
		double worst;

		if (!all || all > 1 << 14)
			continue;
		to = xcalloc(all, sizeof(*to));
		dnn_fill(&op, (enum dnn_role)i, to);
		if (dnn_is_result(&op, (enum dnn_role)i))
			dnn_check(&op, (enum dnn_role)i, to, &worst, &err);
		free(to);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	CLEANUP(xfreep) char *key = xstrndup((const char *)data, n);
	struct err err = ERR_INIT;
	struct bench_op op;

	key[strcspn(key, "\n")] = 0;
	network_op(key);
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
