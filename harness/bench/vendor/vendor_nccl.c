/*
 * nccl-tests and rccl-tests: one program for each collective. Source: NVIDIA/nccl-tests, README.md,
 * src/common.cu, src/util.cu, src/all_gather.cu; rccl-tests prints the same.
 *
 *	#  Rank  0 Group  0 Pid 5092 on host device  0 [0000:05:00] AMD Instinct MI300X
 *	#                                    out-of-place                       in-place
 *	#  size  count  type redop root   time  algbw  busbw #wrong   time  algbw  busbw #wrong
 *	#   (B)  (elements)                (us)  (GB/s) (GB/s)         (us)  (GB/s) (GB/s)
 *	1048576  262144  float  sum  -1  105.9   9.90  17.33      0  105.7   9.92  17.37      0
 *
 * Names are matched with the words of a row one by one; the first `time` is that of different
 * buffers, which is the one taken. One iteration is checked (-c 1): #wrong must be 0 or N/A.
 *
 * -b and -e are bytes, of all ranks for AllGather, ReduceScatter, AlltoAll, Gather, Scatter.
 *
 * Traps: these five round the count down to 16 bytes of each rank, so others cannot be had; sizes
 * are reduced without an error where memory is short; a build without MPI under mpirun runs as many
 * tests of one rank each. So the count of the row and the ranks that are listed are compared with
 * the key.
 */
#include "vendor.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define ALIGNED 16 /* bytes */

static const char *type_name(const struct vendor_request *r)
{
	const struct vendor_type *t = r->collective.type;

	return r->end->program->amd ? t->rccl : t->nccl;
}

/* The program stands beside the one that was found. */
static char *program_path(const struct vendor_request *r)
{
	const char *path = r->end->path, *base = strrchr(path, '/');

	return xasprintf("%.*s%s", base ? (int)(base + 1 - path) : 0, path, r->collective.program);
}

static void int_push(struct strvec *to, const char *option, int64_t v)
{
	strvec_push(to, option);
	strvec_pushf(to, "%" PRId64, v);
}

static int expressible(const struct vendor_request *r, struct err *err)
{
	const struct vendor_collective *c = &r->collective;

	if (r->family != FAMILY_COLLECTIVE)
		return vendor_lacks(r, err, "no '%.40s'", bench_key_operation(&r->key));
	if (r->cache != BENCH_WARM)
		return vendor_lacks(r, err, "no cache mode but warm");
	if (!type_name(r))
		return vendor_lacks(r, err, "no type %s", c->type->name);
	if (c->of_ranks && c->count * (c->type->bits / 8) % ALIGNED)
		return vendor_lacks(r, err, "counts of whole 16 bytes alone for %s", c->name);
	if (c->nranks > r->end->gpus && !r->end->launch)
		return err_set(err, ENOTSUP,
			       "it needs %lld ranks: %u GPUs can be seen, and there is no mpirun",
			       (long long)c->nranks, r->end->gpus);
	return 0;
}

/* argv[0] is the path of the end: it becomes what starts the test. */
static int argv(struct vendor_request *r, struct strvec *ret, struct err *err)
{
	const struct vendor_collective *c = &r->collective;
	CLEANUP(xfreep) char *path = NULL;
	bool one;
	int e = expressible(r, err);

	if (e < 0)
		return e;
	path = program_path(r);
	one = c->nranks <= r->end->gpus;
	strvec_clear(ret);
	if (!one) {
		strvec_push(ret, r->end->launch);
		int_push(ret, "-n", c->nranks);
	}
	strvec_push(ret, path);
	int_push(ret, "-b", c->bytes);
	int_push(ret, "-e", c->bytes);
	strvec_pushl(ret, "-d", type_name(r), NULL);
	if (c->redop)
		strvec_pushl(ret, "-o", c->redop, NULL);
	if (c->root_told)
		int_push(ret, "-r", c->root);
	int_push(ret, "-g", one ? c->nranks : 1);
	int_push(ret, "-n", (int64_t)r->iterations);
	int_push(ret, "-w", (int64_t)r->warmup);
	strvec_pushl(ret, "-c", "1", NULL);
	if (!one)
		strvec_pushl(ret, "-a", "3", NULL); /* the slowest rank's time */
	return 0;
}

/* ---- output ---- */

/* "#  Rank  3 Group …": each rank of the key once. */
static int ranks_check(const struct vendor_request *r, const char *at, struct err *err)
{
	int64_t nranks = r->collective.nranks, found = 0;
	bool *seen = xcalloc((size_t)nranks, sizeof(*seen)), wrong = false;
	struct vendor_cell line;
	struct vendor_cells c;

	while (vendor_line(&at, &line)) {
		int64_t rank;

		vendor_split(line, ' ', &c);
		if (c.nr < 3 || !vendor_cell_is(c.v[0], "#") || !vendor_cell_is(c.v[1], "Rank") ||
		    num_i64(c.v[2].s, c.v[2].n, &rank) < 0)
			continue;
		if (rank < 0 || rank >= nranks || seen[rank])
			wrong = true;
		else
			seen[rank] = true;
		found++;
	}
	free(seen);
	if (!wrong && found == nranks)
		return 0;
	return err_set(err, EPROTO, "it ran with other ranks than the %lld of the key",
		       (long long)nranks);
}

struct result_row {
	struct vendor_cells names, values;
	int rows;
};

static void row_find(const char *at, struct result_row *ret)
{
	struct vendor_cell line;
	struct vendor_cells c;

	ret->rows = 0;
	ret->names.nr = 0;
	while (vendor_line(&at, &line)) {
		int64_t size;

		vendor_split(line, ' ', &c);
		if (c.nr > 3 && vendor_cell_is(c.v[0], "#") && vendor_cell_is(c.v[1], "size")) {
			ret->names = c;
		} else if (ret->names.nr && c.nr >= ret->names.nr - 1 &&
			   num_i64(c.v[0].s, c.v[0].n, &size) == 0) {
			ret->values = c;
			ret->rows++;
		}
	}
}

/* The name of a row's cell stands one further on, behind the "#". */
static const struct vendor_cell *row_value(const struct result_row *row, const char *name)
{
	for (size_t i = 1; i < row->names.nr && i <= row->values.nr; i++)
		if (vendor_cell_is(row->names.v[i], name))
			return &row->values.v[i - 1];
	return NULL;
}

/* "0", "0e+00", "N/A". */
static bool cell_is_right(struct vendor_cell c)
{
	double v;

	return vendor_cell_is(c, "N/A") || (num_f64(c.s, c.n, &v) == 0 && v == 0);
}

static int row_check(const struct vendor_request *r, const struct result_row *row, struct err *err)
{
	const struct vendor_cell *count = row_value(row, "count"), *wrong;
	int64_t n;

	if (row->rows == 0)
		return err_set(err, ENODATA, "it prints no result");
	if (row->rows > 1)
		return err_set(err, EPROTO, "it ran %d tests instead of one: it has no MPI",
			       row->rows);
	if (!count || num_i64(count->s, count->n, &n) < 0 || n != r->collective.count)
		return err_set(err, EPROTO,
			       "it measured another problem: count is %.*s and not %lld",
			       count ? (int)(count->n < 20 ? count->n : 20) : 0,
			       count ? count->s : "", (long long)r->collective.count);
	wrong = row_value(row, "#wrong");
	if (!wrong)
		wrong = row_value(row, "error");
	if (wrong && !cell_is_right(*wrong))
		return err_set(err, EDOM, "%.*s elements are wrong",
			       (int)(wrong->n < 20 ? wrong->n : 20), wrong->s);
	return 0;
}

static void version_read(const struct vendor_output *o, struct vendor_result *ret)
{
	static const char *const prefixes[] = { "RCCL version : ", "RCCL version ", "NCCL version ",
						"# nccl-tests version ", "rccl-tests: Version " };

	for (size_t i = 0; i < ARRAY_LEN(prefixes) && !*ret->version; i++)
		vendor_after(o->out, prefixes[i], "", ret->version, sizeof(ret->version));
}

static int read_output(const struct vendor_request *r, const struct vendor_output *o,
		       struct vendor_result *ret, struct err *err)
{
	const struct vendor_cell *time;
	struct result_row row;
	int e;

	if (vendor_says(o, "invalid number of gpus") || vendor_says(o, "not enough slots"))
		return err_set(err, ENOTSUP, "%lld ranks cannot be had here",
			       (long long)r->collective.nranks);
	row_find(o->out, &row);
	e = row_check(r, &row, err);
	if (e == 0)
		e = ranks_check(r, o->out, err);
	if (e < 0)
		return e;
	time = row_value(&row, "time");
	if (!time)
		return err_set(err, ENODATA, "it prints no column 'time'");
	version_read(o, ret);
	return vendor_positive(*time, "time", &ret->us, err);
}

static const char *const executables[] = {
	"all_reduce_perf", "all_gather_perf", "reduce_scatter_perf",
	"broadcast_perf",  "reduce_perf",     "alltoall_perf",
	"gather_perf",     "scatter_perf",    NULL
};
static const char *const rccl_folders[] = { "/opt/rocm/bin", "/opt/rccl-tests/build", NULL };
static const char *const nccl_folders[] = { "/opt/nccl-tests/build", "/usr/local/nccl-tests/build",
					    NULL };

const struct bench_program bench_program_rccl_tests = { .name = "rccl-tests",
							.executables = executables,
							.folders = rccl_folders,
							.amd = true,
							.launched = true,
							.checks = true,
							.timer = "host",
							.init = "random",
							.patience = 6,
							.argv = argv,
							.read = read_output };

const struct bench_program bench_program_nccl_tests = { .name = "nccl-tests",
							.executables = executables,
							.folders = nccl_folders,
							.nvidia = true,
							.launched = true,
							.checks = true,
							.timer = "host",
							.init = "random",
							.patience = 6,
							.argv = argv,
							.read = read_output };
