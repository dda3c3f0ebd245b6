#include "collective_match.h"
#include "stats_test.h"

#include "profrig/library/library_log.h"
#include "profrig/model/library_calls.h"
#include "profrig/readers/reader.h"

/* --- facts of the call around the launch --- */

static span_id call_with_facts(struct maker *k, track_id t, int64_t start, int64_t end,
			       const char *name, int64_t elements)
{
	struct span_facts f = { .kind = FACTS_COLLECTIVE, .collective = COLLECTIVE_FACTS_NONE };
	span_id id = make_call(k, t, start, end, "record_param_comms");

	f.collective.name = sink_puts(k->s, name);
	f.collective.dtype = sink_puts(k->s, "Float");
	f.collective.in_elements = f.collective.out_elements = elements;
	f.collective.group = sink_puts(k->s, "0");
	f.collective.group_size = 1;
	k->s->ops->facts(k->s, id, &f);
	return id;
}

/* Two kernels of one call are one part; a launch outside of such calls has the kernel's name. */
TEST(test_facts_around_the_launch)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);
	struct model *m;
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

	call_with_facts(&k, t, 0, 100, "_allgather_base", 25);
	make_span(&k, t, SPAN_HOST, 10, 90, "inner", 0);
	make_span(&k, t, SPAN_HOST, 20, 30, "launch", 1);
	make_span(&k, t, SPAN_HOST, 40, 50, "launch", 2);
	make_span(&k, t, SPAN_HOST, 120, 130, "launch", 3);
	make_span(&k, q, SPAN_KERNEL, 1000, 1100, "ncclDevKernel_SendRecv(x)", 1);
	make_span(&k, q, SPAN_KERNEL, 1150, 1200, "ncclDevKernel_SendRecv(x)", 2);
	make_span(&k, q, SPAN_KERNEL, 1300, 1350, "ncclDevKernel_AllReduce_Sum_f32(x)", 3);
	m = make_end(&k);
	ts = analyse(m, &analysis_collectives);
	expect_table(table_set_find(&ts, "collective_instances"),
		     "group name dtype bytes ranks complete transfer_ns busbw_gbps\n"
		     "0 _allgather_base Float 100 1 yes 200 0\n"
		     "- allreduce - - 1 no - -\n");
	model_free(m);
}

/* --- logs of NCCL --- */

#define NCCL(pid, name, count) \
	"n1:" pid ":" pid " [0] NCCL INFO " name \
	": opCount 0 sendbuff 0x1 recvbuff 0x2 count " count \
	" datatype 7 op 0 root 0 comm 0x10 [nranks=2] stream 0x3\n"

static void push_log(struct sink *s, const char *path, const char *text)
{
	struct library_calls *calls = library_calls_new();
	struct library_log *log = library_log_new(path, calls);
	struct library_counts n;

	library_calls_keep_order(calls);
	library_log_text(log, text, strlen(text));
	library_log_end(log, &n);
	library_log_free(log);
	s->ops->input(s, path, "library_log");
	s->ops->clock(s);
	s->ops->library(s, calls);
	s->ops->input_end(s);
}

/* Sizes come from the logs of both ranks; what the logs do not match has none. */
TEST(test_logs_tell_sizes)
{
	static const char trace[] =
		"queue gpu0/7 owner=77 rank=0: ncclDevKernel_AllReduce_Sum_f32(x) 0-30 "
		"ncclDevKernel_AllGather_Sum_f32(x) 40-50\n"
		"queue gpu1/7 owner=78 rank=1: ncclDevKernel_AllReduce_Sum_f32(x) 10-30 "
		"ncclDevKernel_AllGather_Sum_f32(x) 42-50\n";
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

	s->ops->input(s, "trace", "tef");
	s->ops->clock(s);
	trace_text(s, 1, trace);
	s->ops->input_end(s);
	push_log(s, "n.77.log", NCCL("77", "AllReduce", "8") NCCL("77", "AllGather", "5"));
	push_log(s, "n.78.log", NCCL("78", "AllReduce", "8") NCCL("78", "AllGather", "5"));
	model_finish(m);
	ts = analyse(m, &analysis_collectives);
	expect_table(table_set_find(&ts, "collective_instances"),
		     "name dtype bytes ranks complete transfer_ns skew_ns\n"
		     "allreduce f32 32 2 yes 20 10\nallgather f32 40 2 yes 8 2\n");
	model_free(m);
}

/* --- recordings --- */

static struct model *model_of_recording(const char *const *names, size_t n)
{
	struct read_opts o = { .facts = true };
	struct model *m;

	free(test_trace("tef")); /* skips here, before anything is owned */
	m = model_new();
	for (size_t i = 0; i < n; i++) {
		CLEANUP(xfreep) char *path = test_trace(names[i]);
		const struct reader *r = reader_find("tef");
		struct err err = { 0 };

		if (r->read(path, model_sink(m), &o, &err) < 0)
			fail_msg("%s: %s", path, err.msg);
	}
	model_finish_flat(m);
	return m;
}

static struct table_set of_recording(const char *const *names, size_t n)
{
	CLEANUP(model_freep) struct model *m = model_of_recording(names, n);

	return analyse(m, &analysis_collectives);
}
#define OF_RECORDING(...) \
	of_recording((const char *const[]){ __VA_ARGS__ }, \
		     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

TEST(test_merged_nccl_4rank)
{
	static const struct {
		const char *name, *dtype;
		double count, bytes, transfer, skew, alg, bus;
	} rows[] = {
		{ "allreduce", "Float", 6822912, 27291648, 321714.333, 2080499.333, 84.831931,
		  127.247896 },
		{ "allreduce", "Float", 6637568, 26550272, 322171.333, 6603581.333, 82.410411,
		  123.615617 },
		{ "allreduce", "Float", 6563840, 26255360, 313331.667, 1641514.667, 83.794148,
		  125.691222 },
		{ "allreduce", "Float", 2431040, 9724160, 136829.333, 8870692, 71.067802,
		  106.601703 },
		{ "allreduce", "Float", 1257572, 5030288, 86805.333, 3379721.667, 57.949066,
		  86.923599 },
		{ "broadcast", "Float", 53120, 212480, 22764, 2976409.667, 9.334036, 9.334036 },
		{ "broadcast", "Long", 53, 424, 7825, 2665735.667, 0.054185, 0.054185 },
	};
	CLEANUP(table_set_release)
	struct table_set ts = OF_RECORDING("tef/merged-nccl-4rank/merged_nccl_only.json.gz");
	struct table *t = table_set_find(&ts, "collectives");

	assert_int_equal(table_rows(t), ARRAY_LEN(rows));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t r = 0;

		while (r < table_rows(t) && num_of(t, r, "count") != rows[i].count)
			r++;
		if (r == table_rows(t) || strcmp(table_get_str(t, r, 0), rows[i].name) != 0 ||
		    strcmp(table_get_str(t, r, 1), rows[i].dtype) != 0 ||
		    num_of(t, r, "bytes") != rows[i].bytes || num_of(t, r, "ranks") != 4 ||
		    num_of(t, r, "instances") != 3 || num_of(t, r, "complete") != 3 ||
		    fabs(num_of(t, r, "transfer_mean_ns") - rows[i].transfer) > 1e-3 ||
		    fabs(num_of(t, r, "skew_mean_ns") - rows[i].skew) > 1e-3 ||
		    fabs(num_of(t, r, "algbw_gbps") - rows[i].alg) > 1e-6 ||
		    fabs(num_of(t, r, "busbw_gbps") - rows[i].bus) > 1e-6)
			ROW_FAIL(i, "differs");
	}
	expect_table(table_set_find(&ts, "collective_ranks"),
		     "rank count dur_ns wait_ns last_count caused_wait_ns\n"
		     "0 21 64471378 61016775 0 0\n"
		     "1 21 46984875 43475233 0 0\n"
		     "2 21 49845198 46353785 0 0\n"
		     "3 21 3591089 0 21 150845793\n");
}

/* Who waited in what, and what the clip of a wait at the rank's own end takes away. */
struct merged_sums {
	int64_t reduce[4], broadcast[4], unclipped[4], first[4], dur;
	uint64_t ends_early; /* on one rank before another starts */
};

static void merged_add(struct merged_sums *s, const struct collective_match *cm,
		       const struct collective_instance *ci)
{
	int64_t last = INT64_MIN, end = INT64_MAX;

	for (size_t k = ci->first; k < ci->first + ci->nr; k++) {
		last = cm->parts.v[k].start_ns > last ? cm->parts.v[k].start_ns : last;
		end = cm->parts.v[k].end_ns < end ? cm->parts.v[k].end_ns : end;
	}
	for (size_t k = ci->first; k < ci->first + ci->nr; k++) {
		const struct collective_part *p = &cm->parts.v[k];
		int64_t *kind = ci->kind == COLLECTIVE_BROADCAST ? s->broadcast : s->reduce;

		kind[p->rank] += cm->wait_ns.v[k];
		s->unclipped[p->rank] += last - p->start_ns;
		s->dur += p->end_ns - p->start_ns;
	}
	s->first[ci->first_rank]++;
	s->ends_early += end < last;
}

TEST(test_waits_of_merged_nccl_4rank)
{
	static const struct merged_sums want = {
		.reduce = { 60946390, 36029634, 37412268, 0 },
		.broadcast = { 70385, 7445599, 8941517, 0 },
		.unclipped = { 76935355, 43817131, 46693419, 0 },
		.first = { 13, 1, 7, 0 },
		.ends_early = 6,
		.dur = 64471378 + 46984875 + 49845198 + 3591089,
	};
	static const char *const file[] = { "tef/merged-nccl-4rank/merged_nccl_only.json.gz" };
	CLEANUP(model_freep) struct model *m = model_of_recording(file, 1);
	struct works *w = works_new(m);
	struct collective_parts *cp = collective_parts_new(m, w);
	struct collective_match *cm = collective_match_new(cp);
	struct merged_sums got = { .dur = 0 };

	collective_measure(cm);
	assert_int_equal(cm->v.nr, 21);
	for (size_t i = 0; i < cm->v.nr; i++)
		merged_add(&got, cm, &cm->v.v[i]);
	assert_memory_equal(&got, &want, sizeof(want));
	assert_true(fabs(150845793. / (double)got.dur - 0.914813) < 5e-7);
	collective_match_free(cm);
	collective_parts_free(cp);
	works_free(w);
}

/* The mean over the instances of a size of the shortest part. */
TEST(test_shortest_parts_of_merged_nccl_4rank)
{
	static const struct {
		int64_t count;
		double mean_ns;
	} want[] = { { 1257572, 83203.667 },  { 2431040, 136829.333 }, { 6563840, 313331.667 },
		     { 6637568, 322171.333 }, { 6822912, 317858.333 }, { 53120, 15623.333 },
		     { 53, 7704.667 } };
	static const char *const file[] = { "tef/merged-nccl-4rank/merged_nccl_only.json.gz" };
	CLEANUP(model_freep) struct model *m = model_of_recording(file, 1);
	struct works *w = works_new(m);
	struct collective_parts *cp = collective_parts_new(m, w);
	struct collective_match *cm = collective_match_new(cp);

	collective_measure(cm);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		double sum = 0, nr = 0;

		for (size_t k = 0; k < cm->v.nr; k++)
			if (cm->v.v[k].count == want[i].count) {
				sum += (double)cm->v.v[k].least_ns;
				nr++;
			}
		if (nr != 3 || fabs(sum / nr - want[i].mean_ns) > 1e-3)
			ROW_FAIL(i, "%g of %g", sum / nr, nr);
	}
	collective_match_free(cm);
	collective_parts_free(cp);
	works_free(w);
}

/* One rank of two: durations, and nothing that needs the other. */
TEST(test_hta_nccl)
{
	CLEANUP(table_set_release)
	struct table_set ts = OF_RECORDING("tef/hta-nccl/nccl_data.json.gz");

	expect_table(table_set_find(&ts, "collectives"),
		     "collective dtype count ranks instances complete dur_mean_ns dur_min_ns "
		     "algbw_gbps wait_ns\n"
		     "allreduce Float 2049000 2 3 0 11820962/3 2520607 - -\n"
		     "allreduce Float 2431040 2 3 0 5847250/3 1689577 - -\n"
		     "allreduce Float 6563840 2 3 0 3599312 2368513 - -\n"
		     "allreduce Float 6637568 2 3 0 7214656/3 2160803 - -\n"
		     "allreduce Float 7875584 2 3 0 3693785 2424415 - -\n"
		     "broadcast Float 53120 2 3 0 91007/3 29184 - -\n"
		     "broadcast Long 53 2 3 0 23327/3 7648 - -\n");
	expect_table(table_set_find(&ts, "collective_ranks"),
		     "rank count dur_ns wait_ns\n0 21 46876493 -\n");
}

TEST(test_longest_parts_of_hta_nccl)
{
	static const struct {
		int64_t count, max_ns;
	} want[] = { { 2049000, 5993392 }, { 6637568, 2636669 } };
	static const char *const file[] = { "tef/hta-nccl/nccl_data.json.gz" };
	CLEANUP(model_freep) struct model *m = model_of_recording(file, 1);
	struct works *w = works_new(m);
	struct collective_parts *cp = collective_parts_new(m, w);

	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		int64_t max = 0;

		for (size_t k = 0; k < cp->v.nr; k++) {
			int64_t ns = cp->v.v[k].end_ns - cp->v.v[k].start_ns;

			if (cp->v.v[k].count == want[i].count && ns > max)
				max = ns;
		}
		assert_int_equal(max, want[i].max_ns);
	}
	collective_parts_free(cp);
	works_free(w);
}

/* Two of 128 ranks, and no word of their groups. */
TEST(test_hta_two_rank)
{
	CLEANUP(table_set_release)
	struct table_set ts = OF_RECORDING("tef/hta-two-rank/sampled_rank-0.json.gz",
					   "tef/hta-two-rank/sampled_rank-1.json.gz");

	expect_table(table_set_find(&ts, "collectives"),
		     "collective ranks instances complete algbw_gbps wait_ns\n"
		     "sendrecv 128 10 0 - -\n");
	expect_table(table_set_find(&ts, "collective_ranks"),
		     "rank count dur_ns wait_ns\n0 10 396199000 -\n1 10 379053000 -\n");
	assert_null(table_set_find(&ts, "alignment"));
}
