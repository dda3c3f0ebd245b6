#include "otf2_support.h"

static char *real(const char *name)
{
	return test_trace(textf("otf2/%s", name));
}

struct call_answer {
	const char *name;
	uint64_t calls;
	uint64_t inclusive, exclusive; /* ticks; exclusive 0 = not given */
};

/* Every span's ends are rounded to a ns each: a sum of n spans is within n ns, an exclusive time
 * also pays for its children. */
static void check_calls(const struct model *m, const struct track *t, const struct call_answer *a,
			uint64_t resolution)
{
	int64_t inclusive = 0, exclusive = 0;
	uint64_t calls = 0;

	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		if (strncmp(span_name(m, i), a->name, strlen(a->name)) != 0)
			continue;
		calls++;
		inclusive += m->spans.end_ns[i] - m->spans.start_ns[i];
		exclusive += m->spans.exclusive_ns[i];
	}
	print_message("# %s: %" PRIu64 " calls, %" PRId64 " ns\n", a->name, calls, inclusive);
	assert_int_equal(calls, a->calls);
	assert_in_range(inclusive - otf2_ns(a->inclusive, resolution) + 100, 100 - calls - 1,
			100 + calls + 1);
	if (a->exclusive)
		assert_in_range(exclusive - otf2_ns(a->exclusive, resolution) + 1000,
				1000 - t->spans, 1000 + t->spans);
}

static const struct track *thread_of_rank(const struct model *m, int32_t rank)
{
	for (size_t i = 0; i < m->tracks.nr; i++) {
		if (m->tracks.v[i].kind == TRACK_THREAD && m->tracks.v[i].rank == rank)
			return &m->tracks.v[i];
	}
	fail_msg("no thread of rank %d", rank);
	abort();
}

#define MI300A_HZ UINT64_C(3699958577)

TEST(test_real_mi300a_structure)
{
	static const struct {
		const char *key;
		int64_t value;
	} facts[] = {
		{ "events", 72670 },  { "metric", 72584 },      { "enter", 40 },
		{ "leave", 40 },      { "parameter", 4 },       { "program_begin", 1 },
		{ "program_end", 1 }, { "definitions", 368 },   { "regions", 21 },
		{ "locations", 32 },  { "location_groups", 3 },
	};
	CLEANUP(xfreep) char *path = real("mi300a-two-kernels");
	CLEANUP(model_freep) struct model *m = read_archive(path, 0, false);
	const struct input *in = &m->inputs.v[0];

	assert_int_equal(m->warnings.nr, 0);
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		print_message("# %s\n", facts[i].key);
		assert_int_equal(fact(m, facts[i].key), facts[i].value);
	}
	assert_int_equal(in->samples, 72584);
	assert_int_equal(in->spans, 40);
	assert_int_equal(in->first_ns, otf2_ns(6127384835033798, MI300A_HZ));
	assert_string_equal(in->format, "OTF2 3.1.1");
	/* each kernel hangs on its launch */
	assert_int_equal(m->links.nr, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(span_name(m, m->links.from[i]), "hipLaunchKernel");
}

TEST(test_real_mi300a_thread)
{
	static const struct call_answer calls[] =
		LIST({ "main", 1, 26603239501, 2713469 },
		     { "hipEventSynchronize", 2, 23545715641, 23545715641 },
		     { "hipMemset", 2, 2613431767, 0 }, { "hipMalloc", 4, 412650973, 0 },
		     { "hipFree", 4, 24321802, 0 }, { "hipLaunchKernel", 2, 3748359, 0 },
		     { "__device_stub__heavy_kernel", 1, 2105596, 78033 },
		     { "__device_stub__light_kernel", 1, 1740147, 14652 });
	CLEANUP(xfreep) char *path = real("mi300a-two-kernels");
	CLEANUP(model_freep) struct model *m = read_archive(path, 0, false);
	CLEANUP(xfreep) uint32_t *depths = model_depths(m);
	const struct track *t = track_named(m, "Master thread");
	int64_t exclusive = 0;
	uint32_t levels = 0;

	assert_int_equal(t->spans, 38);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		check_calls(m, t, &calls[i], MI300A_HZ);
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		exclusive += m->spans.exclusive_ns[i];
		levels = depths[i] + 1 > levels ? depths[i] + 1 : levels;
	}
	assert_int_equal(levels, 3);
	/* exclusives add up to main, to the ns */
	assert_int_equal(exclusive,
			 m->spans.end_ns[t->first_span] - m->spans.start_ns[t->first_span]);
}

TEST(test_real_mi300a_streams)
{
	static const struct {
		const char *stream, *device;
		struct call_answer kernel;
		int64_t start_ns, end_ns; /* since the start of the trace */
	} answers[] = {
		ROW("HIP[0:0]", "gpu0", { "heavy_kernel", 1, 17520723958, 17520723958 }, 414470569,
		    5149854383),
		ROW("HIP[1:0]", "gpu1", { "light_kernel", 1, 6024764085, 6024764085 }, 5564305391,
		    7192638239),
	};
	CLEANUP(xfreep) char *path = real("mi300a-two-kernels");
	CLEANUP(model_freep) struct model *m = read_archive(path, 0, false);

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		const struct track *q = track_named(m, answers[i].stream);
		int64_t start = m->spans.start_ns[q->first_span] - m->first_ns;
		int64_t end = m->spans.end_ns[q->first_span] - m->first_ns;

		assert_string_equal(model_str(m, q->device), answers[i].device);
		assert_int_equal(m->spans.kind[q->first_span], SPAN_KERNEL);
		check_calls(m, q, &answers[i].kernel, MI300A_HZ);
		assert_in_range(start, answers[i].start_ns - 1, answers[i].start_ns + 1);
		assert_in_range(end, answers[i].end_ns - 1, answers[i].end_ns + 1);
	}
}

TEST(test_real_mi300a_counters)
{
	static const double rises[] = { 2237380365, 1874190017, 881594227, 904416717 };
	CLEANUP(xfreep) char *path = real("mi300a-two-kernels");
	CLEANUP(model_freep) struct model *m = read_archive(path, 0, false);
	const struct series *s;
	uint64_t memory = 0;

	for (int device = 0; device < 4; device++) {
		char name[64], id[16];
		int64_t gap = 0;

		snprintf(name, sizeof(name), "A2rocm_smi:::energy_count:device=%d", device);
		snprintf(id, sizeof(id), "gpu%d", device);
		s = series_named(m, name);
		assert_int_equal(s->t_ns.nr, 1740);
		assert_string_equal(model_str(m, s->device), id);
		assert_true(s->value.v[1739] - s->value.v[0] == rises[device]);
		for (size_t i = 1; i < s->t_ns.nr; i++) {
			int64_t step = s->t_ns.v[i] - s->t_ns.v[i - 1];

			gap = step > gap ? step : gap;
		}
		assert_in_range(gap, 5500000, 5600000);
	}
	s = series_named(m, "A2rocm_smi:::energy_count:device=0");
	assert_in_range(s->t_ns.v[0] - m->first_ns, 5375179, 5375181);
	assert_in_range(s->t_ns.v[1739] - m->first_ns, 7192976217, 7192976219);
	/* one location, two devices: the instances are told apart */
	for (size_t i = 0; i < m->series.nr; i++) {
		s = &m->series.v[i];
		if (strcmp(model_str(m, s->name), "HIP Memory") != 0)
			continue;
		assert_int_equal(s->kind, SERIES_GAUGE);
		assert_true(s->change_points);
		assert_string_equal(model_str(m, s->device), memory ? "gpu1" : "gpu0");
		memory += s->t_ns.nr;
	}
	assert_int_equal(memory, 8);
}

static void check_ping_pong(const struct model *m, const struct call_answer *answers, size_t nr,
			    int32_t rank, uint64_t hz)
{
	const struct track *t = thread_of_rank(m, rank);
	int64_t exclusive = 0;

	for (size_t i = 0; i < nr; i++)
		check_calls(m, t, &answers[i], hz);
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++)
		exclusive += m->spans.exclusive_ns[i];
	assert_int_equal(exclusive,
			 m->spans.end_ns[t->first_span] - m->spans.start_ns[t->first_span]);
}

static void check_messages(const struct model *m)
{
	uint64_t sent[2] = { 0 };

	expect_model(m, "fact.mpi_send=16 fact.mpi_recv=16");
	assert_int_equal(fact(m, "mpi_send_bytes"), 2 * 4177920);
	expect_model(m, "fact.messages=16 input.spans=42 input.instants=0 links=16");
	for (size_t i = 0; i < m->links.nr; i++) {
		uint64_t from = m->links.from[i], to = m->links.to[i];

		assert_string_equal(span_name(m, from), "MPI_Send");
		assert_string_equal(span_name(m, to), "MPI_Recv");
		assert_int_not_equal(m->spans.track[from], m->spans.track[to]);
		assert_in_range(m->tracks.v[m->spans.track[from]].rank, 0, 1);
		sent[m->tracks.v[m->spans.track[from]].rank]++;
		assert_true(m->spans.start_ns[from] < m->spans.end_ns[to]);
	}
	assert_int_equal(sent[0], 8);
	assert_int_equal(sent[1], 8);
}

TEST(test_real_ping_pong)
{
	static const struct call_answer rank0[] = {
		{ "int main", 1, 417443455, 4995746 }, { "MPI_Init", 1, 404995511, 404995511 },
		{ "MPI_Send", 8, 3709060, 3709060 },   { "MPI_Recv", 8, 3614228, 3614228 },
		{ "MPI_Finalize", 1, 123344, 123344 }, { "MPI_Comm_size", 1, 3178, 3178 },
		{ "MPI_Comm_rank", 1, 2388, 2388 },
	};
	static const struct call_answer rank1[] = {
		{ "int main", 1, 418089722, 6245348 }, { "MPI_Init", 1, 405637613, 405637613 },
		{ "MPI_Send", 8, 3607517, 3607517 },   { "MPI_Recv", 8, 2499468, 2499468 },
		{ "MPI_Finalize", 1, 94508, 94508 },   { "MPI_Comm_size", 1, 3034, 3034 },
		{ "MPI_Comm_rank", 1, 2234, 2234 },
	};
	CLEANUP(xfreep) char *path = real("ping-pong/traces.otf2");
	CLEANUP(model_freep) struct model *m = read_archive(path, 0, false);

	expect_model(m, "warnings=0 fact.definitions=533 fact.regions=235 fact.events=120 "
			"fact.enter=42 fact.program_end=2");
	check_messages(m);
	check_ping_pong(m, rank0, ARRAY_LEN(rank0), 0, 2095197216);
	check_ping_pong(m, rank1, ARRAY_LEN(rank1), 1, 2095197216);
}

/* Counter at leave − at enter, exclusive: the values of a strictly synchronous class stand at the
 * same times as the calls. */
static int64_t counted(const struct model *m, const struct track *t, const char *counter,
		       const char *call)
{
	const struct series *s;
	int64_t sum = 0;
	size_t at = 0;

	while (at < m->series.nr && (&m->tracks.v[m->series.v[at].track] != t ||
				     strcmp(model_str(m, m->series.v[at].name), counter) != 0))
		at++;
	assert_true(at < m->series.nr);
	s = &m->series.v[at];
	assert_int_equal(s->t_ns.nr, 42);
	assert_true(s->exclusive_sync);
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		int64_t in[2] = { 0, 0 };

		for (size_t k = 0; k < s->t_ns.nr; k++) {
			if (s->t_ns.v[k] == m->spans.start_ns[i])
				in[0] = (int64_t)s->value.v[k];
			if (s->t_ns.v[k] == m->spans.end_ns[i])
				in[1] = (int64_t)s->value.v[k];
		}
		if (strncmp(span_name(m, i), call, strlen(call)) == 0)
			sum += in[1] - in[0];
		if (span_parent(&m->spans, i) != SPAN_NONE &&
		    strncmp(span_name(m, span_parent(&m->spans, i)), call, strlen(call)) == 0)
			sum -= in[1] - in[0];
	}
	return sum;
}

TEST(test_real_papi)
{
	static const struct {
		int32_t rank;
		const char *call;
		int64_t cycles, misses, mispredicted;
	} answers[] = LIST(
		{ 0, "int main", 1198202, 11175, 798 }, { 0, "MPI_Init", 87875176, 464699, 179630 },
		{ 0, "MPI_Send", 6383893, 4815, 194 }, { 0, "MPI_Recv", 258976, 4422, 174 },
		{ 0, "MPI_Finalize", 258499, 1360, 147 }, { 0, "MPI_Comm_size", 6752, 72, 18 },
		{ 0, "MPI_Comm_rank", 4540, 37, 12 }, { 1, "int main", 1255991, 5729, 429 },
		{ 1, "MPI_Init", 52345908, 166390, 101904 }, { 1, "MPI_Send", 6068947, 3375, 167 },
		{ 1, "MPI_Recv", 349625, 6058, 200 }, { 1, "MPI_Finalize", 86916, 1250, 141 },
		{ 1, "MPI_Comm_size", 48175, 68, 22 }, { 1, "MPI_Comm_rank", 5753, 40, 12 });
	static const struct call_answer mains[] = { { "int main", 1, 451476474, 5274420 },
						    { "int main", 1, 451335198, 6775106 } };
	CLEANUP(model_freep) struct model *m = read_archive(kept(real("ping-pong-papi")), 0, false);

	expect_model(m, "warnings=0 fact.definitions=544 fact.events=204 fact.metric=84 "
			"input.samples=252");
	check_messages(m);
	for (int32_t rank = 0; rank < 2; rank++)
		check_calls(m, thread_of_rank(m, rank), &mains[rank], 2095191439);
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		const struct track *t = thread_of_rank(m, answers[i].rank);

		assert_int_equal(counted(m, t, "PAPI_TOT_CYC", answers[i].call), answers[i].cycles);
		assert_int_equal(counted(m, t, "PAPI_L2_TCM", answers[i].call), answers[i].misses);
		assert_int_equal(counted(m, t, "PAPI_BR_MSP", answers[i].call),
				 answers[i].mispredicted);
	}
}
