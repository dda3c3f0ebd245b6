#include "peak_child.h"
#include "peak_crew.h"
#include "peak_loops.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "profrig/base/num.h"

#define FMA_WARM_S 0.03 /* clocks rise, and wide units are switched on */
#define FMA_S 0.1
#define FMA_MOST_S 1
#define FMA_BLOCK_S 0.0005 /* short, as other programs interrupt long ones */
#define FMA_BLOCKS_MIN 5
#define FMA_BLOCKS_MAX 10000
#define TRIAD_S 0.15 /* of each kind of stores */
#define TRIAD_MOST_S 0.6
#define TRIAD_BLOCKS_MIN 4
#define TRIAD_BLOCKS_MAX 100
#define TRIAD_ARRAYS 3
/* Loads and stores at the same place of different pages would wait for each other. */
#define TRIAD_APART ((size_t)1024)
#define BYTES_MAX (UINT64_C(1) << 46)

/* ---- multiply-adds ---- */

static void fma_part(const void *ctx, unsigned me, unsigned of, uint64_t size)
{
	peak_loop_fn *const *loop = ctx;
	volatile double kept = (*loop)(size);

	(void)me;
	(void)of;
	(void)kept;
}

static int fma_run(const char *type, const char *unit, struct crew_rates *ret, struct err *err)
{
	const struct peak_unit *u = peak_units;
	struct crew_work w = { .part = fma_part,
			       .size = 1000,
			       .block_s = FMA_BLOCK_S,
			       .warm_s = FMA_WARM_S,
			       .seconds = FMA_S,
			       .seconds_most = FMA_MOST_S,
			       .blocks_min = FMA_BLOCKS_MIN,
			       .blocks_max = FMA_BLOCKS_MAX };
	unsigned threads = bench_peaks_processors();
	double scale;
	int t = 0, r;

	while (u->name && strcmp(u->name, unit) != 0)
		u++;
	while (t < BENCH_PEAK_TYPES && strcmp(bench_type_name((enum bench_type)t), type) != 0)
		t++;
	if (!u->name || t == BENCH_PEAK_TYPES)
		return err_set(err, EINVAL, "no such loop");
	w.ctx = &u->of[t].loop;
	r = crew_run(threads, &w, ret, err);
	if (r < 0)
		return r;
	scale = (double)u->of[t].flops * threads / 1e9;
	ret->best *= scale;
	ret->median *= scale;
	return 0;
}

/* ---- triad ---- */

struct arrays {
	double *a, *b, *c;
	size_t n;
	peak_triad_fn *run; /* NULL: they are filled */
};

static void triad_part(const void *ctx, unsigned me, unsigned of, uint64_t size)
{
	const struct arrays *t = ctx;
	size_t steps = size / PEAK_TRIAD_STEP;
	size_t from = steps * me / of * PEAK_TRIAD_STEP;
	size_t to = steps * (me + 1) / of * PEAK_TRIAD_STEP;

	if (t->run) {
		t->run(t->a + from, t->b + from, t->c + from, 3, to - from);
		return;
	}
	/* each thread touches its part first, so that its memory is near to it */
	for (size_t i = from; i < to; i++) {
		t->a[i] = 0;
		t->b[i] = 2;
		t->c[i] = 0.5;
	}
}

static int triad_run(struct arrays *t, struct crew_rates *ret, const char **ret_stores,
		     struct err *err)
{
	const struct crew_work fill = {
		.part = triad_part, .ctx = t, .size = t->n, .blocks_min = 1, .blocks_max = 1
	};
	struct crew_work w = { .part = triad_part,
			       .ctx = t,
			       .size = t->n,
			       .seconds = TRIAD_S,
			       .seconds_most = TRIAD_MOST_S,
			       .blocks_min = TRIAD_BLOCKS_MIN,
			       .blocks_max = TRIAD_BLOCKS_MAX };
	struct crew_rates rates;
	int r = crew_run(bench_peaks_processors(), &fill, &rates, err);

	*ret = (struct crew_rates){ 0 };
	for (const struct peak_triad *k = peak_triads; r == 0 && k->stores; k++) {
		t->run = k->run;
		r = crew_run(bench_peaks_processors(), &w, &rates, err);
		if (r < 0 || rates.best <= ret->best)
			continue;
		*ret = rates;
		*ret_stores = k->stores;
	}
	ret->best *= PEAK_TRIAD_BYTES / 1e9;
	ret->median *= PEAK_TRIAD_BYTES / 1e9;
	return r;
}

static int triad_measure(uint64_t bytes, struct crew_rates *ret, const char **ret_stores,
			 uint64_t *ret_bytes, struct err *err)
{
	size_t n = bytes / PEAK_TRIAD_BYTES / PEAK_TRIAD_STEP * PEAK_TRIAD_STEP;
	size_t step = n * sizeof(double) + TRIAD_APART, all = TRIAD_ARRAYS * step;
	struct arrays t = { .n = n };
	char *map;
	int r;

	if (!n || bytes > BYTES_MAX)
		return err_set(err, EINVAL, "no such arrays");
	map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return err_sys(err, errno, "%zu bytes for arrays", all);
	madvise(map, all, MADV_HUGEPAGE);
	t.a = (void *)map;
	t.b = (void *)(map + step);
	t.c = (void *)(map + 2 * step);
	*ret_bytes = TRIAD_ARRAYS * n * sizeof(double);
	r = triad_run(&t, ret, ret_stores, err);
	munmap(map, all);
	return r;
}

/* ---- lines ---- */

/* What is out of memory or threads is no failure of the loops. */
static int refuse(struct bench_link *link, int r, const struct err *err)
{
	enum bench_status s = r == -ENOMEM || r == -EAGAIN ? BENCH_SKIPPED : BENCH_FAILED;

	return bench_link_write(link, "no\t%s\t%s", bench_status_name(s), err->msg);
}

static int answer(struct bench_link *link, const struct bench_line *line)
{
	char best[32], median[32];
	struct err err = ERR_INIT;
	struct crew_rates rates;
	const char *stores = "";
	uint64_t bytes = 0;
	int r = -EINVAL;

	if (!strcmp(line->field[0], "fma"))
		r = fma_run(line->field[1], line->field[2], &rates, &err);
	else if (!strcmp(line->field[0], "triad") &&
		 num_u64(line->field[1], strlen(line->field[1]), &bytes) == 0)
		r = triad_measure(bytes, &rates, &stores, &bytes, &err);
	else
		err_set(&err, EINVAL, "no such request");
	if (r < 0)
		return refuse(link, r, &err);
	num_fmt_f64(best, rates.best);
	num_fmt_f64(median, rates.median);
	return bench_link_write(link, "ok\t%s\t%s\t%s\t%" PRIu64, best, median, stores, bytes);
}

void peak_child_serve(struct bench_link *link)
{
	CLEANUP(strbuf_release) struct strbuf units = STRBUF_INIT;
	struct bench_line line;

	peak_units_names(&units);
	if (bench_link_write(link, "hello\t0\t%u\t" PEAK_CHILD "\t%s", bench_peaks_processors(),
			     units.buf) < 0)
		return;
	while (bench_link_read(link, -1, &line, NULL) > 0)
		if (answer(link, &line) < 0)
			return;
}
