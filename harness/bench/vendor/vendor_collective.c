/* A collective as its key tells it: vendor.h. */
#include "vendor.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* clang-format off */
static const struct vendor_collective operations[] = {
	{ .name = "AllReduce", .program = "all_reduce_perf", .reduces = true },
	{ .name = "AllGather", .program = "all_gather_perf", .of_ranks = true },
	{ .name = "ReduceScatter", .program = "reduce_scatter_perf", .reduces = true,
	  .of_ranks = true },
	{ .name = "Broadcast", .program = "broadcast_perf", .root_told = true },
	{ .name = "Reduce", .program = "reduce_perf", .reduces = true, .root_told = true },
	{ .name = "AlltoAll", .program = "alltoall_perf", .of_ranks = true },
	{ .name = "Gather", .program = "gather_perf", .root_told = true, .of_ranks = true },
	{ .name = "Scatter", .program = "scatter_perf", .root_told = true, .of_ranks = true },
};
/* clang-format on */

/* "bytes": the log does not tell the type, and what is moved is the same. */
static int type_read(struct bench_key *k, const struct vendor_type **ret, struct err *err)
{
	const char *v = bench_key_word(k, "dtype");

	if (!v || strcmp(v, "bytes") != 0)
		return vendor_type_read(k, "dtype", NULL, ret, err);
	*ret = vendor_type("i8");
	return 0;
}

static int redop_read(struct bench_key *k, struct vendor_collective *c, struct err *err)
{
	static const char *const names[] = { "sum", "prod", "min", "max", "avg" };
	const char *v = c->reduces ? bench_key_word(k, "op") : NULL;

	c->redop = c->reduces && !v ? "sum" : NULL;
	for (size_t i = 0; v && i < ARRAY_LEN(names); i++)
		if (!strcmp(v, names[i]))
			c->redop = names[i];
	if (v && !c->redop)
		return err_set(err, ENOTSUP, "op=%.40s cannot be replayed: its factor is unknown",
			       v);
	return 0;
}

static int ranks_read(struct bench_key *k, struct vendor_collective *c, struct err *err)
{
	int r;

	if (!bench_key_word(k, "nranks"))
		return err_set(err, ENOTSUP, "the key does not tell the number of ranks");
	r = vendor_size(k, "nranks", 0, 1, &c->nranks, err);
	if (r == 0 && c->nranks > VENDOR_RANKS_MAX)
		r = err_set(err, ERANGE, "nranks=%lld are too many", (long long)c->nranks);
	if (r == 0 && c->root_told)
		r = vendor_size(k, "root", 0, 0, &c->root, err);
	if (r == 0 && c->root >= c->nranks)
		r = err_set(err, EINVAL, "root=%lld of %lld ranks", (long long)c->root,
			    (long long)c->nranks);
	return r;
}

int vendor_collective_read(struct vendor_request *req, struct err *err)
{
	struct vendor_collective *c = &req->collective;
	struct bench_key *k = &req->key;
	int r;

	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		if (!strcmp(operations[i].name, bench_key_operation(k)))
			*c = operations[i];
	r = vendor_size(k, "count", 0, 1, &c->count, err);
	if (r == 0)
		r = type_read(k, &c->type, err);
	if (r == 0)
		r = redop_read(k, c, err);
	if (r == 0)
		r = ranks_read(k, c, err);
	if (r == 0)
		r = vendor_all_read(k, err);
	if (r < 0)
		return r;
	if (__builtin_mul_overflow(c->count, c->type->bits / 8, &c->bytes) ||
	    __builtin_mul_overflow(c->bytes, c->of_ranks ? c->nranks : 1, &c->bytes) ||
	    c->bytes > VENDOR_SIZE_MAX)
		return err_set(err, ERANGE, "count=%lld is too large", (long long)c->count);
	req->flops = 0;
	req->bytes = (double)c->bytes;
	return 0;
}
