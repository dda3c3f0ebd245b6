/* Archives through both sinks: real ones, damaged ones, and made ones. */
#include "ranks_support.h"
#include "tests/fixtures/gen/otf2_gen.c"

#define PERCENT 0.01

static struct outcome outcome_read(const char *path, const struct profile_opts *po, int want)
{
	struct outcome o = outcome_begin(po);
	struct read_opts ro = { .keep_args = false };
	struct err err = ERR_INIT;
	int r;

	r = reader_find("otf2")->read(path, model_sink(o.m), &ro, &err);
	if (r != want)
		fail_msg("%s: %d (%s), not %d", path, r, err.msg, want);
	outcome_analyse(&o);
	return o;
}

/* By ranks, each with threads of its own: not a bit is different. */
static void by_ranks(const char *path, int want, const struct outcome *alone, const struct model *m)
{
	static const int sizes[] = { 2, 3, 8 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct profile_opts po = { .threads = 1 + (unsigned)i % 2,
					   .buffer_bytes = i == 1 ? 1 : 0 };
		CLEANUP(outcome_release)
		struct outcome ranks = outcome_by_ranks(path, &po, sizes[i], want);

		identical_tables(alone, &ranks);
		same_warnings(alone->m, ranks.m);
		same_inputs(m, ranks.m);
	}
}

/* Everything equal, for several pools; whether some of it could not be read is equal too. */
static void both(const char *path, int want)
{
	CLEANUP(outcome_release) struct outcome model = outcome_read(path, NULL, want);

	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		struct profile_opts po = { .threads = threads,
					   .buffer_bytes = threads == 2 ? 1 : 0 };
		CLEANUP(outcome_release) struct outcome profile = outcome_read(path, &po, want);

		print_message("# %zu cells\n", same_tables(&model, &profile, PERCENT));
		same_warnings(model.m, profile.m);
		same_inputs(model.m, profile.m);
		if (threads == 1)
			by_ranks(path, want, &profile, model.m);
	}
}

TEST(test_real)
{
	static const char *const archives[] = { "mi300a-two-kernels", "ping-pong",
						"ping-pong-papi" };

	for (size_t i = 0; i < ARRAY_LEN(archives); i++) {
		print_message("# %s\n", archives[i]);
		both(kept(test_trace(textf("otf2/%s", archives[i]))), 0);
	}
}

/* ---- made ---- */

#define REGIONS 12

static void definitions(struct otf2_gen *g)
{
	static const uint64_t locations[] = { 0, 1 };

	otf2_gen_host(g, 0, "node1");
	otf2_gen_device(g, 1, "0", 0);
	otf2_gen_device(g, 2, "1", 0);
	for (uint32_t rank = 0; rank < 2; rank++)
		otf2_gen_group(g, rank, "MPI Rank", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	for (uint32_t d = 0; d < 2; d++)
		otf2_gen_group(g, 2 + d, d ? "HIP Context 1" : "HIP Context 0",
			       OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 1 + d);
	for (uint32_t i = 0; i < REGIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "region_%u", i % (REGIONS - 1));
		otf2_gen_region(g, i, name,
				i == 3   ? OTF2_REGION_ROLE_DATA_TRANSFER
				: i == 4 ? OTF2_REGION_ROLE_BARRIER
					 : OTF2_REGION_ROLE_FUNCTION,
				i % 2 ? OTF2_PARADIGM_USER : OTF2_PARADIGM_COMPILER);
	}
	otf2_gen_member(g, 0, "PAPI_TOT_CYC", OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, 0,
			"#");
	otf2_gen_member(g, 1, "rocm_smi:::power_average:device=0", OTF2_METRIC_ABSOLUTE_POINT,
			OTF2_TYPE_UINT64, 0, "uW");
	OTF2_GlobalDefWriter_WriteMetricClass(g->defs, 0, 1, (const uint32_t[]){ 0 },
					      OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
	OTF2_GlobalDefWriter_WriteMetricClass(g->defs, 1, 1, (const uint32_t[]){ 1 },
					      OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
	OTF2_GlobalDefWriter_WriteParameter(g->defs, 0, otf2_gen_string(g, "callsite id"),
					    OTF2_PARAMETER_TYPE_UINT64);
	otf2_gen_world(g, locations, 2);
}

/* Region 77 is nowhere defined. */
static void fill(OTF2_EvtWriter *w, uint64_t *seed, OTF2_LocationType type, size_t records,
		 uint64_t grain)
{
	uint32_t open[32], depth = 0;
	uint64_t t = 1000 + rnd(seed) % 100;

	for (size_t i = 0; i < records; i++) {
		uint64_t what = rnd(seed) % 100;

		t += rnd(seed) % 50 / grain * grain;
		if (type == OTF2_LOCATION_TYPE_METRIC || what < 5) {
			otf2_gen_values(w, t, type == OTF2_LOCATION_TYPE_METRIC, 1, &t);
		} else if (what < 7 && type == OTF2_LOCATION_TYPE_CPU_THREAD) {
			OTF2_EvtWriter_MpiSend(w, NULL, t, (uint32_t)(rnd(seed) % 2), 0, 3, 64);
		} else if (what < 9) {
			OTF2_EvtWriter_BufferFlush(w, NULL, t, t);
		} else if (depth < 32 && (depth == 0 || what < 55)) {
			open[depth] = what == 54 ? 77 : (uint32_t)(rnd(seed) % REGIONS);
			OTF2_EvtWriter_Enter(w, NULL, t, open[depth++]);
			/* launches are fewer than work, so that some of it has none */
			if (rnd(seed) % (type == OTF2_LOCATION_TYPE_CPU_THREAD ? 4 : 2) == 0)
				OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, t, 0, rnd(seed) % 9);
		} else if (what == 99) {
			OTF2_EvtWriter_Leave(w, NULL, t, (uint32_t)(rnd(seed) % REGIONS));
			depth--;
		} else {
			OTF2_EvtWriter_Leave(w, NULL, t, open[--depth]);
		}
	}
	if (rnd(seed) % 2)
		while (depth > 0)
			OTF2_EvtWriter_Leave(w, NULL, ++t, open[--depth]);
}

static void archive_make(const char *dir, uint64_t seed)
{
	static const struct {
		const char *name;
		OTF2_LocationType type;
		uint32_t group;
	} locations[] = {
		{ "Master thread", OTF2_LOCATION_TYPE_CPU_THREAD, 0 },
		{ "Master thread", OTF2_LOCATION_TYPE_CPU_THREAD, 1 },
		{ "HIP[0:0]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 2 },
		{ "HIP[0:1]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 2 },
		{ "HIP[1:0]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 3 },
		{ "power", OTF2_LOCATION_TYPE_METRIC, 0 },
		{ "OMP thread", OTF2_LOCATION_TYPE_CPU_THREAD, 1 },
	};
	uint64_t resolution = seed % 2 ? 1000000000 : 2399987654;
	struct otf2_gen *g = otf2_gen_open(dir, resolution, 0, OTF2_UNDEFINED_TIMESTAMP);

	definitions(g);
	for (size_t i = 0; i < ARRAY_LEN(locations); i++) {
		OTF2_EvtWriter *w = otf2_gen_location(g, i, locations[i].name, locations[i].type,
						      locations[i].group);

		fill(w, &seed, locations[i].type, 200 + rnd(&seed) % 4000, seed % 3 ? 1 : 20);
	}
	otf2_gen_close(g);
}

TEST_IN(test_made, dir)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		archive_make(textf("%s/%" PRIu64, dir, seed), seed);
		both(textf("%s/%" PRIu64, dir, seed), 0);
	}
}

/* ---- who shares what, and who launched what ---- */

#define S UINT64_C(1000000000)

/* How a queue's process can be known. */
struct ownership {
	bool creators; /* contexts name their process */
	enum { NO_SITES, OWN_SITES, EQUAL_SITES } sites;
};

/* One GPU and its counter per rank, 100 W times rank + 1 over 0..20 s. */
static void rank_gpu(struct otf2_gen *g, uint32_t rank)
{
	CLEANUP(xfreep) char *name = xasprintf("A2rocm_smi:::energy_count:device=%u", rank);
	OTF2_EvtWriter *w = otf2_gen_location(g, 200 + rank, "", OTF2_LOCATION_TYPE_METRIC, 100);

	otf2_gen_member(g, rank, name, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, 0, "#");
	OTF2_GlobalDefWriter_WriteMetricClass(g->defs, rank, 1, (const uint32_t[]){ rank },
					      OTF2_METRIC_ASYNCHRONOUS,
					      OTF2_RECORDER_KIND_ABSTRACT);
	for (uint64_t i = 0; i <= 200; i++) {
		uint64_t uj = i * (rank + 1) * 10000000;

		otf2_gen_values(w, i * S / 10, rank, 1, &uj);
	}
}

/* Launches on two threads, their work in order on two queues. */
static void rank_calls(struct otf2_gen *g, uint32_t rank, const struct ownership *how,
		       uint64_t *seed)
{
	uint64_t base = how->sites == OWN_SITES ? 100 * rank : 0;
	OTF2_EvtWriter *threads[2], *queues[2];
	uint64_t t = S / 10;

	otf2_gen_group(g, 100 + rank, "MPI Rank", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	OTF2_GlobalDefWriter_WriteLocationGroup(
		g->defs, 300 + rank, otf2_gen_string(g, "HIP Context"),
		OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 1 + rank,
		how->creators ? 100 + rank : OTF2_UNDEFINED_LOCATION_GROUP);
	for (uint32_t i = 0; i < 2; i++) {
		threads[i] = otf2_gen_location(g, 10 * rank + i, "thread",
					       OTF2_LOCATION_TYPE_CPU_THREAD, 100 + rank);
		queues[i] = otf2_gen_location(g, 10 * rank + 2 + i, i ? "HIP[1]" : "HIP[0]",
					      OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 300 + rank);
		OTF2_EvtWriter_Enter(threads[i], NULL, 0, 30 + rank);
	}
	for (size_t i = 0; i < 60; i++) {
		uint64_t id = base + rnd(seed) % 4, at = t + rnd(seed) % 1000;
		OTF2_EvtWriter *by = threads[rnd(seed) % 2], *on = queues[rnd(seed) % 2];

		OTF2_EvtWriter_Enter(by, NULL, t, 20 + rank);
		if (how->sites != NO_SITES)
			OTF2_EvtWriter_ParameterUnsignedInt(by, NULL, t, 0, id);
		OTF2_EvtWriter_Leave(by, NULL, t + 500, 20 + rank);
		OTF2_EvtWriter_Enter(on, NULL, at, 10 + rank);
		if (how->sites != NO_SITES)
			OTF2_EvtWriter_ParameterUnsignedInt(on, NULL, at, 0, id);
		t = at + 2000 + rnd(seed) % (S / 4);
		OTF2_EvtWriter_Leave(on, NULL, t - 1000, 10 + rank);
	}
	for (uint32_t i = 0; i < 2; i++)
		OTF2_EvtWriter_Leave(threads[i], NULL, 20 * S, 30 + rank);
}

static void ranks_make(const char *dir, uint32_t ranks, const struct ownership *how, uint64_t seed)
{
	struct otf2_gen *g = otf2_gen_open(dir, S, 0, OTF2_UNDEFINED_TIMESTAMP);

	otf2_gen_host(g, 0, "node1");
	OTF2_GlobalDefWriter_WriteParameter(g->defs, 0, otf2_gen_string(g, "callsite id"),
					    OTF2_PARAMETER_TYPE_UINT64);
	for (uint32_t r = 0; r < ranks; r++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", r);
		otf2_gen_device(g, 1 + r, name, 0);
		for (uint32_t k = 0; k < 3; k++) {
			static const char *const kinds[] = { "kernel", "launch", "main" };

			snprintf(name, sizeof(name), "%s%u", kinds[k], r);
			otf2_gen_region(g, 10 * (k + 1) + r, name, OTF2_REGION_ROLE_FUNCTION,
					OTF2_PARADIGM_HIP);
		}
	}
	for (uint32_t r = 0; r < ranks; r++)
		rank_calls(g, r, how, &seed);
	for (uint32_t r = 0; r < ranks; r++)
		rank_gpu(g, r);
	otf2_gen_close(g);
}

/* Joules that functions of a rank, which its number ends, got of a counter. */
static double rank_joules(const struct outcome *o, uint32_t counter, uint32_t rank)
{
	CLEANUP(xfreep) char *want = xasprintf("A2rocm_smi:::energy_count:device=%u", counter);
	const struct table *t = table_set_find(&o->ts, "energy");
	size_t counters = (size_t)table_find_col(t, "counter"),
	       views = (size_t)table_find_col(t, "view"),
	       names_at = (size_t)table_find_col(t, "name"),
	       joules = (size_t)table_find_col(t, "exclusive_j");
	double j = 0;

	for (size_t i = 0; i < table_rows(t); i++) {
		const char *name = table_get_str(t, i, names_at);

		if (strcmp(table_get_str(t, i, counters), want) == 0 &&
		    strcmp(table_get_str(t, i, views), "host") == 0 &&
		    name[strlen(name) - 1] == (char)('0' + rank))
			j += table_get_f64(t, i, joules);
	}
	return j;
}

/* A queue that could be of any rank is of none, and all share all devices. */
static void one_ownership(const char *path, uint32_t ranks, const struct ownership *how)
{
	bool known = how->creators || how->sites == OWN_SITES;
	struct outcome o = outcome_read(path, NULL, 0);

	assert_int_equal(o.m->links.nr, how->sites == NO_SITES || !known ? 0 : 60 * ranks);
	for (size_t i = 0; i < o.m->links.nr; i++) {
		const char *from = model_str(o.m, o.m->spans.name[o.m->links.from[i]]);
		const char *to = model_str(o.m, o.m->spans.name[o.m->links.to[i]]);

		assert_int_equal(from[strlen(from) - 1], to[strlen(to) - 1]);
		assert_true(o.m->spans.start_ns[o.m->links.to[i]] -
				    o.m->spans.start_ns[o.m->links.from[i]] <
			    1000);
	}
	for (uint32_t gpu = 0; gpu < ranks; gpu++)
		for (uint32_t r = 0; r < ranks; r++)
			assert_true(
				fabs(rank_joules(&o, gpu, r) - (!known ? 2000.0 * (gpu + 1) / ranks
								: gpu == r ? 2000.0 * (gpu + 1)
									   : 0)) < 1e-6);
	outcome_release(&o);
	both(path, 0);
}

TEST_IN(test_ownership, dir)
{
	for (uint32_t i = 0; i < 18; i++) {
		struct ownership how = { .creators = i / 3 % 2, .sites = i % 3 };
		uint32_t ranks = 2 + i / 6;

		print_message("# %u ranks, creators %d, sites %d\n", ranks, how.creators,
			      how.sites);
		ranks_make(textf("%s/%" PRIu32, dir, i), ranks, &how, 77 + i);
		one_ownership(textf("%s/%" PRIu32, dir, i), ranks, &how);
	}
}

/* Locations that are cut, gone or not what they say: named alike, and partial for both. */
TEST_IN(test_damaged, dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "a");

	archive_make(path, 5);
	assert_int_equal(truncate(in_dir(dir, "a/traces/1.evt"), 3000), 0);
	both(path, READ_PARTIAL);
	assert_int_equal(unlink(in_dir(dir, "a/traces/3.evt")), 0);
	assert_int_equal(truncate(in_dir(dir, "a/traces/6.evt"), 10), 0);
	both(path, READ_PARTIAL);
}
