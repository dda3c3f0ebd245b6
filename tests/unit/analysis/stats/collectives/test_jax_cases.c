/*
 * The acceptance cases of nsys-jax, 1 to 5 and 10: overlap, bandwidth, clocks and the report of a
 * step, as small models pushed through the sink and from the recording jax/pax-fsdp4 (JAX-Toolbox,
 * Apache-2.0). Times of the cases are ms.
 *
 * Case 5 takes for the offset of a rank the median, over instances, of its end less the mean of the
 * instance's ends, and states residuals to that mean. Offsets here are those of least absolute
 * residuals to the median end, which differ by 66 ns at most; the table's residuals are to the
 * median end, too (largest: 0.058216 ms). So both are counted here: the case's own offsets, and
 * residuals to the mean from the table's offsets. Of the step function alone the case's offsets
 * move by 109 ns, those here are within 94 ns of the case's: both as written.
 *
 * What nsys-jax lacks, and which test shows that it is here:
 *	 1 programs have one identity	recording_with_two_fingerprints (test_collective_programs.c)
 *	 2 overlap with a union		overlap
 *	 3 nothing ends the load	wrapped_collectives, joined (test_hlo.c), bad_names,
 *					programs_that_are_odd (test_nsys_xla.c), tests/cli/hlo.sh
 *	 4 no other program		"without another program in reach" (tests/cli/nsys.sh)
 *	 5 speed			make bench-xplane
 *	 6 drift, residuals		alignment, test_drift_without_noise (test_clock_align.c)
 *	 7 warm-up by rule		warmup (test_xla_warmup.c), warmup_of_modules
 *	 8 passes of all programs	passes_of_several_programs (test_compile.c)
 *	 9 one definition of waits	"waits of modules are those of collectives" (nsys.sh)
 *	10 libraries without XLA	test_merged_nccl_4rank (test_collective_parts.c)
 *	11 contents, not checksums	"two contents of one CRC-32 are two" (tests/cli/pack.sh)
 *	12 quantiles, gates		tests/cli/compare.sh
 */
#include "parts_test.h"

#include "profrig/model/warnings.h"
#include "profrig/stats/clock_align.h"

#define MS INT64_C(1000000)

static struct table_set analyse_ms(const char *trace, const struct analysis *a)
{
	CLEANUP(model_freep) struct model *m = model_of_text_with(MS, trace, model_finish_flat);

	return analyse(m, a);
}

/* How often a warning whose text has these words was counted; 0: not at all. */
static uint64_t warned(const struct model *m, const char *code, const char *words)
{
	for (size_t i = 0; i < m->warnings.nr; i++) {
		const struct warning *w = &m->warnings.v[i];

		if (strcmp(w->code, code) == 0 && w->severity == SEV_WARNING &&
		    strstr(w->text, words))
			return w->count;
	}
	return 0;
}

/* ---- cases 1 and 2: overlap ---- */

static const struct overlap_case {
	const char *trace, *overlap, *exposed;
} overlap_cases[] = {
	/* simple */
	{ "queue gpu0/1: ncclAllReduce 0-10\nqueue gpu0/2: gemm 2-5 gemm 6-8\n",
	  "gpu0 10 5 10 5 5 0", "5 5" },
	/* computes overlap each other */
	{ "queue gpu0/1: ncclAllReduce 0-10\nqueue gpu0/2: gemm 1-9\nqueue gpu0/3: gemm 2-8\n",
	  "gpu0 10 8 10 2 8 0", "2 8" },
	/* of another program, on a queue of its own */
	{ "rank 1/1 host=node: main 0-1\nrank 2/2 host=node: main 0-1\n"
	  "queue gpu0/1 owner=1: ncclAllReduce 0-10\nqueue gpu0/2 owner=2: gemm 1-9\n",
	  "gpu0 10 8 10 2 8 0", "2 8" },
	/* two collectives alone: the first comes first */
	{ "queue gpu0/1: ncclAllReduce 0-10\nqueue gpu0/2: ncclAllReduce 5-15\n",
	  "gpu0 15 0 15 15 0 0", "15 5" },
};

TEST(overlap)
{
	for (size_t i = 0; i < ARRAY_LEN(overlap_cases); i++) {
		const struct overlap_case *c = &overlap_cases[i];
		CLEANUP(table_set_release)
		struct table_set ts = analyse_ms(c->trace, &analysis_overlap);
		CLEANUP(table_set_release)
		struct table_set by_rank = analyse_ms(c->trace, &analysis_collectives);
		const struct table *t = table_set_find(&ts, "overlap");
		const struct table *r = table_set_find(&by_rank, "collective_ranks");
		CLEANUP(xfreep)
		char *got = xasprintf(
			"%s %g %g %g %g %g %g", str_of(t, 0, "device"),
			num_of(t, 0, "wall_ns") / 1e6, num_of(t, 0, "compute_ns") / 1e6,
			num_of(t, 0, "comm_ns") / 1e6, num_of(t, 0, "exposed_comm_ns") / 1e6,
			num_of(t, 0, "hidden_comm_ns") / 1e6, num_of(t, 0, "idle_ns") / 1e6);
		double exposed = 0, hidden = 0;

		if (strcmp(got, c->overlap) != 0)
			ROW_FAIL(i, "%s, not %s", got, c->overlap);
		for (size_t k = 0; k < table_rows(r); k++) {
			exposed += num_of(r, k, "exposed_ns") / 1e6;
			hidden += num_of(r, k, "hidden_ns") / 1e6;
		}
		CLEANUP(xfreep) char *sums = xasprintf("%g %g", exposed, hidden);

		if (strcmp(sums, c->exposed) != 0)
			ROW_FAIL(i, "exposed %g, hidden %g", exposed, hidden);
	}
}

/* What another device computes hides nothing; each record has its own part. */
TEST(exposed_by_record)
{
	CLEANUP(table_set_release)
	struct table_set other = analyse_ms("queue gpu0/1: ncclAllReduce 0-10\n"
					    "queue gpu1/1: gemm 1-9\n",
					    &analysis_overlap);
	CLEANUP(table_set_release)
	struct table_set two = analyse_ms("queue gpu0/1: ncclAllReduce 0-10\n"
					  "queue gpu0/2: ncclAllReduce 5-15\n",
					  &analysis_collectives);

	expect_table(table_set_find(&other, "overlap"), "device=gpu0 exposed_comm_ns "
							"hidden_comm_ns\n10000000 0\n");
	expect_table(table_set_find(&two, "collective_instances"), "exposed_ns hidden_ns\n"
								   "10000000 0\n5000000 5000000\n");
}

/* ---- case 3: bandwidth ---- */

static const struct bandwidth_case {
	const char *name;
	int ranks;
	int64_t in, out, dur_ns, hidden_ns;
	double alg, bus;
} bandwidths[] = {
	{ "all-gather", 4, 7077888, 4 * 7077888, 248702, 238911, 113.837251, 85.377938 },
	{ "all-reduce", 2, 1000000, 1000000, 100000, 0, 10, 10 },
	{ "all-reduce", 4, 1000000, 1000000, 100000, 0, 10, 15 },
	{ "all-reduce", 8, 1000000, 1000000, 100000, 0, 10, 17.5 },
	{ "all-to-all", 2, 1000000, 1000000, 100000, 0, 10, 5 },
	{ "all-to-all", 4, 1000000, 1000000, 100000, 0, 10, 7.5 },
	{ "all-to-all", 8, 1000000, 1000000, 100000, 0, 10, 8.75 },
	{ "reduce-scatter", 4, 1000000, 250000, 100000, 0, 10, 7.5 },
	{ "broadcast", 4, 1000000, 1000000, 100000, 0, 10, 10 },
	{ "collective-permute", 4, 1000000, 1000000, 100000, 0, 10, 10 },
	{ "all-reduce", 1, 1000000, 1000000, 100000, 0, 10, 0 },
	{ "all-gather", 1, 1000000, 1000000, 100000, 0, 10, 0 },
};

TEST(bandwidth)
{
	for (size_t i = 0; i < ARRAY_LEN(bandwidths); i++) {
		const struct bandwidth_case *c = &bandwidths[i];
		struct part_def v[8];
		struct table *t;

		for (int r = 0; r < c->ranks; r++)
			v[r] = (struct part_def){
				PART_INIT,       .rank = r,         .end_ns = c->dur_ns,
				.name = c->name, .in = c->in,       .out = c->out,
				.group = "0",    .ranks = c->ranks, .hidden_ns = c->hidden_ns
			};
		CLEANUP(model_freep) struct model *m = model_of_parts(v, (size_t)c->ranks, true);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);

		t = table_set_find(&ts, "collectives");
		if (fabs(num_of(t, 0, "algbw_gbps") - c->alg) > 1e-6 ||
		    fabs(num_of(t, 0, "busbw_gbps") - c->bus) > 1e-6)
			ROW_FAIL(i, "%g, %g", num_of(t, 0, "algbw_gbps"),
				 num_of(t, 0, "busbw_gbps"));
		assert_true(num_of(t, 0, "hidden_ns") == (double)(c->hidden_ns * c->ranks));
		assert_true(num_of(t, 0, "exposed_ns") ==
			    (double)((c->dur_ns - c->hidden_ns) * c->ranks));
	}
}

/* ---- case 4: clocks, synthetic ---- */

/* 8 collectives whose true ends coincide; starts are staggered by half a ms. */
static struct model *staggered(int ranks)
{
	static const int64_t offset[] = { 0, 5, -3, 1 };
	VEC(struct part_def) v = VEC_INIT;
	struct model *m;

	for (int i = 0; i < 8; i++)
		for (int r = 0; r < ranks; r++)
			VEC_PUSH(&v,
				 ((struct part_def){ PART_INIT, .rank = r,
						     .start_ns = (100 * i + 90 + offset[r]) * MS +
								 r * MS / 2,
						     .end_ns = (100 * i + 100 + offset[r]) * MS,
						     .name = "all-reduce", .in = 64, .out = 64,
						     .group = "all", .ranks = 4, .seq = i + 1 }));
	m = model_of_parts(v.v, v.nr, false);
	VEC_RELEASE(&v);
	return m;
}

TEST(alignment)
{
	CLEANUP(model_freep) struct model *four = staggered(4);
	CLEANUP(model_freep) struct model *two = staggered(2);
	CLEANUP(table_set_release) struct table_set a = analyse(four, &analysis_collectives);
	CLEANUP(table_set_release) struct table_set b = analyse(two, &analysis_collectives);
	const struct table *t = table_set_find(&a, "collective_instances");

	expect_table(table_set_find(&a, "alignment"),
		     "track offset_ns drift_ppm residual_max_ns events used\n"
		     "'rank 0' -750000 0 0 8 yes\n"
		     "'rank 1' 4250000 0 0 8 yes\n"
		     "'rank 2' -3750000 0 0 8 yes\n"
		     "'rank 3' 250000 0 0 8 yes\n");
	assert_int_equal(table_rows(t), 8);
	for (size_t i = 0; i < table_rows(t); i++)
		assert_true(num_of(t, i, "skew_ns") == 1.5 * MS &&
			    num_of(t, i, "transfer_ns") == 8.5 * MS);
	/* ranks 2 and 3 are missing, which is counted and no failure */
	expect_table(table_set_find(&b, "alignment"), "track offset_ns residual_max_ns\n"
						      "'rank 0' -2500000 0\n"
						      "'rank 1' 2500000 0\n");
	assert_int_equal(warned(two, W_COLLECTIVE_INCOMPLETE, "ranks are missing"), 8);
}

/* ---- case 5: clocks of the recording ---- */

static const double offsets_ns[] = { -25631623, -54172429, -200045644, 279849693 };

static int cmp_f64(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The case's own offset of a device: the median of its end less the mean of the instance's. */
static double median_of_skew(const struct jax_parts *p, uint32_t device, bool step)
{
	VEC(double) skew = VEC_INIT;
	double median;

	for (size_t i = 0; i < p->v.nr; i++) {
		double mean = 0;

		if (p->v.v[i].device != device || (step && !p->v.v[i].step))
			continue;
		for (size_t k = 0; k < p->v.nr; k++)
			if (p->v.v[k].instance == p->v.v[i].instance)
				mean += (double)p->v.v[k].end_ns / 4;
		VEC_PUSH(&skew, (double)p->v.v[i].end_ns - mean);
	}
	assert_int_equal(skew.nr, step ? 115 : 120);
	qsort(skew.v, skew.nr, sizeof(*skew.v), cmp_f64);
	median = (skew.v[skew.nr / 2] + skew.v[(skew.nr - 1) / 2]) / 2;
	VEC_RELEASE(&skew);
	return median;
}

/* Residuals to the mean or median of an instance: standard deviation, and the largest. */
static void residuals(const struct jax_parts *p, const double *offset, bool to_median,
		      double *ret_sigma, double *ret_max)
{
	double sum = 0, squares = 0, n = 0;

	*ret_max = 0;
	for (size_t i = 0; i < p->v.nr; i++) {
		double end[4] = { 0 }, mean = 0;
		size_t ends = 0;

		if (p->v.v[i].device != 0)
			continue;
		for (size_t k = 0; k < p->v.nr; k++)
			if (p->v.v[k].instance == p->v.v[i].instance) {
				end[ends] = (double)p->v.v[k].end_ns - offset[p->v.v[k].device];
				mean += end[ends++] / 4;
			}
		assert_int_equal(ends, 4);
		qsort(end, 4, sizeof(*end), cmp_f64);
		mean = to_median ? (end[1] + end[2]) / 2 : mean;
		for (size_t k = 0; k < 4; k++) {
			sum += end[k] - mean;
			squares += (end[k] - mean) * (end[k] - mean);
			*ret_max = fmax(*ret_max, fabs(end[k] - mean));
			n++;
		}
	}
	*ret_sigma = sqrt(squares / n - sum / n * (sum / n));
}

TEST(alignment_of_the_recording)
{
	struct jax_parts p;
	struct clock_alignment ca;
	VEC(struct clock_event) ends = VEC_INIT;
	double offset[4], sigma, max, squares = 0;

	jax_parts_read(&p);
	CLEANUP(model_freep) struct model *m = jax_model(&p, false);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);
	const struct table *t = table_set_find(&ts, "alignment");

	assert_int_equal(table_rows(t), 4);
	for (size_t r = 0; r < 4; r++) {
		offset[r] = num_of(t, r, "offset_ns");
		assert_true(fabs(median_of_skew(&p, (uint32_t)r, false) - offsets_ns[r]) <= 1.5);
		assert_true(fabs(offset[r] - offsets_ns[r]) <= 66);
		assert_true(num_of(t, r, "events") == 120);
		assert_true(num_of(t, r, "residual_max_ns") <= 58216 + 3);
		squares += pow(num_of(t, r, "residual_std_ns"), 2) / 4;
	}
	assert_true(sqrt(squares) <= 10000);
	t = table_set_find(&ts, "collective_instances");
	assert_int_equal(table_rows(t), 120);
	for (size_t i = 0; i < 120; i++)
		assert_string_equal(str_of(t, i, "complete"), "yes");
	assert_int_equal(warned(m, W_COLLECTIVE_INCOMPLETE, ""), 0);
	residuals(&p, offset, true, &sigma, &max);
	assert_true(fabs(sigma - 9981) <= 1 && fabs(max - 58216) <= 3);
	residuals(&p, offset, false, &sigma, &max);
	assert_true(sigma <= 10000);
	assert_true(lround(max / 100) <= 562); /* as written, to 0.0001 ms */
	for (size_t r = 0; r < 4; r++)
		offset[r] = median_of_skew(&p, (uint32_t)r, false);
	residuals(&p, offset, false, &sigma, &max);
	assert_true(sigma <= 10000 && max <= 56200);
	/* of the step function alone */
	for (size_t i = 0; i < p.v.nr; i++)
		if (p.v.v[i].step)
			VEC_PUSH(&ends, ((struct clock_event){ p.v.v[i].instance, p.v.v[i].device,
							       p.v.v[i].end_ns }));
	assert_int_equal(ends.nr, 460);
	clock_align(ends.v, ends.nr, 4, &ca);
	for (size_t r = 0; r < 4; r++) {
		assert_true(fabs((double)ca.ranks.v[r].offset_ns - offsets_ns[r]) <= 110);
		assert_true(fabs(median_of_skew(&p, (uint32_t)r, true) - offsets_ns[r]) <= 110);
	}
	clock_alignment_release(&ca);
	VEC_RELEASE(&ends);
	jax_parts_release(&p);
}

/*
 * By the id of the program, which rank 3 has another one of, groups are fragments of 1 and 3. Where
 * the size of the group is stated they are incomplete; where it is not a warning says how small
 * they are. The offsets are right all the same, though nothing joins rank 3 to the others but the 5
 * groups of 4.
 */
static struct model *fragments(const struct jax_parts *p, bool stated)
{
	VEC(struct part_def) v = VEC_INIT;
	struct model *m;

	for (size_t i = 0; i < p->v.nr; i++) {
		const struct jax_part *j = &p->v.v[i];
		const char *key = intern_str(p->names, j->by_program);
		struct part_def d = part_of_jax(p, j);

		d.seq = j->by_program + 1;
		if (!stated) {
			d.ranks = 0;
			d.group =
				intern_str(p->names, intern_put(p->names, key, strcspn(key, "|")));
		}
		VEC_PUSH(&v, d);
	}
	m = model_of_parts(v.v, v.nr, false);
	VEC_RELEASE(&v);
	return m;
}

TEST(groups_that_are_fragments)
{
	struct jax_parts p;
	uint64_t of_size[5] = { 0 };

	jax_parts_read(&p);
	CLEANUP(model_freep) struct model *stated = fragments(&p, true);
	CLEANUP(model_freep) struct model *unstated = fragments(&p, false);
	CLEANUP(table_set_release) struct table_set a = analyse(stated, &analysis_collectives);
	CLEANUP(table_set_release) struct table_set b = analyse(unstated, &analysis_collectives);
	const struct table *t = table_set_find(&a, "collective_instances");

	for (size_t i = 0; i < table_rows(t); i++)
		of_size[(int)num_of(t, i, "present")]++;
	assert_true(of_size[1] == 115 && of_size[3] == 115 && of_size[4] == 5);
	assert_int_equal(warned(stated, W_COLLECTIVE_INCOMPLETE, "ranks are missing"), 230);
	assert_int_equal(warned(stated, W_COLLECTIVE_GROUPS, ""), 0);
	t = table_set_find(&a, "alignment");
	for (size_t r = 0; r < 4; r++)
		assert_true(fabs(num_of(t, r, "offset_ns") - offsets_ns[r]) < 100000);
	assert_int_equal(warned(unstated, W_COLLECTIVE_GROUPS, "fewer than all 4 ranks"), 230);
	assert_int_equal(warned(unstated, W_COLLECTIVE_INCOMPLETE, "the group is not known"), 115);
	assert_non_null(table_set_find(&b, "collectives"));
	jax_parts_release(&p);
}

/* ---- case 10: the report of a step ---- */

/* All thunks of execution 3 of the step function, communication on a queue of its own. */
static struct model *step_model(void)
{
	struct csv_reader *r = jax_open("jax4_thunk_stepfn_exec3.csv");
	struct intern *names = intern_new();
	struct rank_maker k = { .m = model_new() };
	char *const *f;
	size_t n;

	k.s = model_sink(k.m);
	k.s->ops->input(k.s, "test", "tef");
	k.s->ops->clock(k.s);
	while (csv_next(r, &f, &n, NULL) == 1) {
		int64_t start = jax_ns(f[8]), end = start + jax_ns(f[7]) + jax_ns(f[13]);
		int rank = f[4][0] - '0';

		if (strcmp(f[12], "True") == 0) {
			CLEANUP(xfreep) char *key = xasprintf("%s|%s", f[2], f[3]);

			push_part(&k,
				  &(struct part_def){ PART_INIT, .rank = rank, .start_ns = start,
						      .end_ns = end, .name = "all-reduce",
						      .seq = intern_puts(names, key) + 1, .in = 1,
						      .out = 1, .group = "all", .ranks = 4 });
		} else {
			push_kernel(&k, rank, start, end, f[2]);
		}
	}
	k.s->ops->input_end(k.s);
	model_finish(k.m);
	csv_free(r);
	intern_free(names);
	return k.m;
}

TEST(report_of_a_step)
{
	free(test_trace("jax")); /* skips here */
	CLEANUP(model_freep) struct model *m = step_model();
	CLEANUP(table_set_release) struct table_set overlap = analyse(m, &analysis_overlap);
	CLEANUP(table_set_release) struct table_set busy = analyse(m, &analysis_busy);
	CLEANUP(table_set_release) struct table_set c = analyse(m, &analysis_collectives);

	/* wall = compute + exposed + idle; communication is hidden by computing alone */
	expect_table(table_set_find(&overlap, "overlap"),
		     "device wall_ns compute_ns exposed_comm_ns idle_ns comm_ns hidden_comm_ns\n"
		     "gpu0 127464524 120156434 4073644 3234446 8444436 4370792\n"
		     "gpu1 125548221 120146955 2351217 3050049 6297526 3946309\n"
		     "gpu2 126814507 120150855 3447504 3216148 7926195 4478691\n"
		     "gpu3 127164002 120202593 4012493 2948916 8603571 4591078\n");
	expect_table(table_set_find(&busy, "busy"), "device union_ns\n"
						    "gpu0 124230078\ngpu1 122498172\n"
						    "gpu2 123598359\ngpu3 124215086\n");
	expect_table(table_set_find(&c, "collective_ranks"), "rank count exposed_ns hidden_ns\n"
							     "0 23 4073644 4370792\n"
							     "1 23 2351217 3946309\n"
							     "2 23 3447504 4478691\n"
							     "3 23 4012493 4591078\n");
	assert_true(column_sum(table_set_find(&c, "collective_instances"), "exposed_spread_ns") ==
		    2178002);
}

/* What was hidden of the recording's collectives: of which, by kind, and of all. */
TEST(hidden_of_the_recording)
{
	static const struct {
		const char *kind; /* NULL: all */
		bool step;        /* of the step function alone */
		size_t rows;
		double share;
	} want[] = {
		{ "all-gather", false, 120, 0.665709 },    { "all-reduce", false, 120, 0.000292 },
		{ "reduce-scatter", false, 48, 0.456003 }, { NULL, false, 288, 0.006498 },
		{ "all-gather", true, 120, 0.665709 },     { "all-reduce", true, 108, 0.768666 },
		{ "reduce-scatter", true, 48, 0.456003 },  { NULL, true, 276, 0.577215 },
	};
	struct jax_parts p;
	int64_t hidden = 0, dur = 0;
	size_t step = 0;

	jax_parts_read(&p);
	for (size_t i = 0; i < p.v.nr; i++) {
		hidden += p.v.v[i].hidden_ns;
		dur += p.v.v[i].end_ns - p.v.v[i].start_ns;
		step += p.v.v[i].step;
	}
	assert_true(p.v.nr == 480 && step == 460 && hidden == 223284702);
	assert_true(dur - hidden == 22879821916);
	for (size_t w = 0; w < ARRAY_LEN(want); w++) {
		VEC(struct part_def) v = VEC_INIT;

		for (size_t i = 0; i < p.v.nr; i++) {
			const struct jax_part *j = &p.v.v[i];

			if (j->execution >= 2 && (j->step || !want[w].step) &&
			    (!want[w].kind ||
			     strcmp(intern_str(p.names, j->kind), want[w].kind) == 0))
				VEC_PUSH(&v, part_of_jax(&p, j));
		}
		CLEANUP(model_freep) struct model *m = model_of_parts(v.v, v.nr, false);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);
		const struct table *t = table_set_find(&ts, "collectives");
		double hid = column_sum(t, "hidden_ns"), exp = column_sum(t, "exposed_ns");

		if (v.nr != want[w].rows || fabs(hid / (hid + exp) - want[w].share) > 5e-7)
			ROW_FAIL(w, "%zu rows, %.6f", v.nr, hid / (hid + exp));
		VEC_RELEASE(&v);
	}
	jax_parts_release(&p);
}

/* The step function's calls in executions 2 to 4, of 4 processes. */
TEST(steps_of_the_recording)
{
	struct maker k = make_begin();
	struct csv_reader *r;
	char *const *f;
	size_t n;

	free(test_trace("jax")); /* skips here */
	r = jax_open("jax4_module.csv");
	while (csv_next(r, &f, &n, NULL) == 1)
		if (strcmp(f[3], "pjit__wrapped_step_fn") == 0 && f[1][0] >= '2' && !f[1][1])
			make_call(&k, make_thread(&k, 1, f[2][0], f[2][0] - '0', "launcher"),
				  jax_ns(f[7]), jax_ns(f[7]) + jax_ns(f[6]), f[3]);
	csv_free(r);

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_functions);
	const struct table *t = table_set_find(&ts, "functions");

	assert_int_equal(table_rows(t), 1);
	assert_true(num_of(t, 0, "calls") == 12 && num_of(t, 0, "inclusive_ns") == 1519972177);
	assert_true(fabs(num_of(t, 0, "mean_ns") - 126664348) < 1);
	assert_true(fabs(num_of(t, 0, "stddev_ns") - 632541) < 1);
}

/* The wait of executions 2 to 4, over their communication alone, and what was hidden by kind. */
TEST(waits_of_steps)
{
	static const double want[] = { 1689829, 2178002, 1989672 };
	static const struct {
		const char *name;
		double share;
	} kinds[] = { { "all-gather", 0.665709 },
		      { "all-reduce", 0.768666 },
		      { "reduce-scatter", 0.456003 } };
	struct jax_parts p;
	double wait[5] = { 0 };

	jax_parts_read(&p);
	CLEANUP(model_freep) struct model *m = jax_model(&p, true);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_collectives);
	const struct table *t = table_set_find(&ts, "collective_instances");

	assert_int_equal(table_rows(t), 69);
	for (size_t i = 0; i < table_rows(t); i++)
		for (size_t k = 0; k < p.v.nr; k++)
			if (p.v.v[k].device == 0 && p.v.v[k].instance == num_of(t, i, "seq"))
				wait[p.v.v[k].execution] += num_of(t, i, "exposed_spread_ns");
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_true(wait[2 + i] == want[i]);
	t = table_set_find(&ts, "collectives");
	assert_true(column_sum(t, "exposed_ns") == 38540638);
	assert_true(column_sum(t, "hidden_ns") == 52618406);
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		double hidden = 0, exposed = 0;

		for (size_t r = 0; r < table_rows(t); r++)
			if (strcmp(table_get_str(t, r, 0), kinds[k].name) == 0) {
				hidden += num_of(t, r, "hidden_ns");
				exposed += num_of(t, r, "exposed_ns");
			}
		if (fabs(hidden / (hidden + exposed) - kinds[k].share) > 5e-7)
			ROW_FAIL(k, "%g", hidden / (hidden + exposed));
	}
	jax_parts_release(&p);
}
