/* Who shares a device in an OTF2 archive: contexts name the process that made them. */
#include "energy_spans.h"
#include "otf2_support.h"
#include "tests/fixtures/gen/otf2_gen.c"

#include "profrig/topology/topology.h"

#define S UINT64_C(1000000000)
#define JOULES(device) "A2rocm_smi:::energy_count:device=" #device

/* main over 10 s on the thread, a kernel from 1 to 9 s on a context of its own. */
static void tp_freep(struct topology **tp)
{
	topology_free(*tp);
}

static void rank(struct otf2_gen *g, uint32_t group, uint32_t context, uint32_t node,
		 uint64_t thread)
{
	OTF2_EvtWriter *w;

	otf2_gen_group(g, group, "MPI Rank", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	OTF2_GlobalDefWriter_WriteLocationGroup(otf2_gen_defs(g), context,
						otf2_gen_string(g, "HIP Context"),
						OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, node, group);
	w = otf2_gen_location(g, thread, "Master thread", OTF2_LOCATION_TYPE_CPU_THREAD, group);
	otf2_gen_call(w, 0, 10 * S, 0);
	w = otf2_gen_location(g, thread + 1, "HIP", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, context);
	otf2_gen_call(w, 1 * S, 9 * S, 1);
}

/* A counter of 100 W on a location of its own. */
static void sampled(struct otf2_gen *g, uint32_t ref, const char *name)
{
	uint64_t location = 100 + ref;
	OTF2_MetricMemberRef member = ref;
	OTF2_EvtWriter *w = otf2_gen_location(g, location, "", OTF2_LOCATION_TYPE_METRIC, 0);

	otf2_gen_member(g, ref, name, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, 0, "#");
	OTF2_GlobalDefWriter_WriteMetricClass(otf2_gen_defs(g), ref, 1, &member,
					      OTF2_METRIC_ASYNCHRONOUS,
					      OTF2_RECORDER_KIND_ABSTRACT);
	otf2_gen_values(w, 0, ref, 1, &(uint64_t){ 0 });
	otf2_gen_values(w, 10 * S, ref, 1, &(uint64_t){ 1000000000 });
}

static struct model *archive(const char *dir, bool idle_process)
{
	struct otf2_gen *g = otf2_gen_open(dir, S, 0, OTF2_UNDEFINED_TIMESTAMP);

	otf2_gen_host(g, 0, "node1");
	otf2_gen_device(g, 5, "0", 0);
	otf2_gen_device(g, 6, "1", 0);
	otf2_gen_region(g, 0, "main", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER);
	otf2_gen_region(g, 1, "gemm", OTF2_REGION_ROLE_UNKNOWN, OTF2_PARADIGM_HIP);
	rank(g, 0, 10, 5, 20);
	rank(g, 1, 11, 6, 30);
	rank(g, 2, 12, 6, 40);
	if (idle_process) {
		otf2_gen_group(g, 3, "launcher", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
		OTF2_EvtWriter *w =
			otf2_gen_location(g, 50, "Master thread", OTF2_LOCATION_TYPE_CPU_THREAD, 3);
		otf2_gen_call(w, 0, 10 * S, 0);
	}
	otf2_gen_world(g, (const uint64_t[]){ 20, 30, 40 }, 3);
	sampled(g, 0, JOULES(0));
	sampled(g, 1, JOULES(1));
	sampled(g, 2, JOULES(2));
	otf2_gen_close(g);
	return read_archive(dir, 0, false);
}

/* What main of each rank gets of a counter. */
static void assert_shares(struct model *m, const struct topology *tp, const char *counter,
			  const double *want, size_t ranks)
{
	struct energy_opts o = { .integration = INTEGRATE_LINEAR, .topology = tp };
	series_id s = (series_id)(series_named(m, counter) - m->series.v);
	CLEANUP(energy_result_release) struct energy_result r;

	assert_int_equal(energy_attribute(m, s, VIEW_HOST, &o, &r, NULL), 0);
	for (size_t i = 0, n = 0; i < m->spans.nr; i++) {
		double j = isnan(r.exclusive_j[i]) ? 0 : r.exclusive_j[i];

		if (strcmp(span_name(m, i), "main") != 0)
			continue;
		assert_true(n < ranks);
		assert_true(fabs(j - want[n]) < 1e-9);
		n++;
	}
	assert_true(r.error_rel <= 1e-9);
}

IN_PLACE(test_contexts)
{
	CLEANUP(model_freep) struct model *m = archive(p->archive, false);
	CLEANUP(tp_freep) struct topology *tp = topology_new();

	topology_resolve(tp, m);
	assert_shares(m, tp, JOULES(0), (const double[]){ 1000, 0, 0 }, 3);
	assert_shares(m, tp, JOULES(1), (const double[]){ 0, 500, 500 }, 3);
	assert_shares(m, tp, JOULES(2), (const double[]){ 1000 / 3.0, 1000 / 3.0, 1000 / 3.0 }, 3);
	assert_shares(m, NULL, JOULES(0), (const double[]){ 1000 / 3.0, 1000 / 3.0, 1000 / 3.0 },
		      3);
}

/* A process that has opened nothing may be the one that waits for any of them. */
IN_PLACE(test_a_process_without_contexts)
{
	CLEANUP(model_freep) struct model *m = archive(p->archive, true);
	CLEANUP(tp_freep) struct topology *tp = topology_new();

	topology_resolve(tp, m);
	assert_shares(m, tp, JOULES(0), (const double[]){ 250, 250, 250, 250 }, 4);
}
