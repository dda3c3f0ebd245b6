#include "otf2_names.h"
#include "otf2_support.h"
#include "tests/fixtures/gen/otf2_gen.c"

/* ---- pure parts ---- */

TEST(test_ticks)
{
	static const struct {
		uint64_t ticks, resolution;
		int64_t ns;
	} cases[] = {
		{ 0, 1, 0 },
		{ 17, 1000000000, 17 },
		{ 1, 3, 333333333 },
		{ 2, 3, 666666667 },
		{ 1, 2000000000, 1 }, /* half a ns goes up */
		{ 3, 2000000000, 2 },
		{ 5, 4000000000, 1 },
		{ 17520723958, 3699958577, 4735383814 },
		{ 6127384835033798, 3699958577, 1656068495772729 },
		{ 30000000001, 20000000000, 1500000000 },
		{ UINT64_C(17999999999999999999), 18000000000, 1000000000000000000 },
		{ UINT64_C(17999999999999999999), 40000000000, 450000000000000000 },
		{ UINT64_MAX, 1, INT64_MAX },
		{ UINT64_MAX, 1000000000, INT64_MAX },
		{ UINT64_C(9000000000), 1, INT64_C(9000000000000000000) },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(otf2_ns(cases[i].ticks, cases[i].resolution), cases[i].ns);
}

/* Forwards, backwards, over seconds and around halves of a ns: what the plain formula says. */
TEST(test_clock_ns)
{
	static const uint64_t clocks[] = { 1,           2,          3,          1000000,
					   999999937,   1000000000, 3699958577, 2399987654,
					   17999999999, 18000000000 };
	uint64_t seed = 4;

	for (size_t i = 0; i < ARRAY_LEN(clocks); i++) {
		struct otf2_clock c;
		uint64_t t = rnd(&seed) >> 8;
		int64_t base = i % 2 ? -(int64_t)(rnd(&seed) >> 3) : 0;

		/* one far beyond the times that fit, and counted from there */
		uint64_t far = i % 3 ? 0 : UINT64_MAX - (UINT64_C(1) << 62);

		otf2_clock_init(&c, clocks[i], far, base);
		for (int k = 0; k < 20000; k++) {
			uint64_t step = rnd(&seed) >> (rnd(&seed) % 64);

			t = k % 5 == 0 ? rnd(&seed) >> (rnd(&seed) % 60)
				       : t + step % (clocks[i] * 2);
			if (far)
				t %= UINT64_C(1) << 62;
			if (otf2_clock_ns(&c, far + t) != otf2_ns(t, clocks[i]) + base)
				fail_msg("%" PRIu64 " ticks of %" PRIu64, t, clocks[i]);
		}
	}
}

/* A call of 3 s on each of two threads, 158 and 159 years behind the zero of the clock. */
static void far_archive(const char *dir, uint64_t offset)
{
	struct otf2_gen *g = otf2_gen_open(dir, 1000000, offset, OTF2_UNDEFINED_TIMESTAMP);

	otf2_gen_host(g, 0, "node1");
	otf2_gen_group(g, 0, "Process", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	otf2_gen_region(g, 0, "main", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t at = UINT64_C(5000000000000000) + i * UINT64_C(31536000000000);
		OTF2_EvtWriter *w =
			otf2_gen_location(g, i, "Master thread", OTF2_LOCATION_TYPE_CPU_THREAD, 0);

		otf2_gen_call(w, at, at + 3000000, 0);
	}
	otf2_gen_close(g);
}

/* Whether the archive says where it begins, or only its events do. */
IN_PLACE(test_far_times)
{
	for (uint64_t offset = 0; offset < 2; offset++) {
		CLEANUP(xfreep) char *dir = xasprintf("%s%" PRIu64, p->archive, offset);

		far_archive(dir, offset * UINT64_C(5000000000000000));
		CLEANUP(model_freep) struct model *m = read_archive(dir, 0, false);
		assert_int_equal(m->spans.nr, 2);
		assert_int_equal(m->spans.end_ns[0] - m->spans.start_ns[0], 3000000000);
		assert_int_equal(m->spans.end_ns[1] - m->spans.start_ns[1], 3000000000);
		assert_int_equal(m->spans.start_ns[1] - m->spans.start_ns[0],
				 INT64_C(31536000000000000));
		assert_int_equal(warned(m, W_TIME_RANGE), 0);
	}
}

TEST(test_names)
{
	static const struct {
		const char *name;
		int64_t device, stream, counter_device;
		int copy, fill;
	} cases[] = LIST({ "HIP[1:0]", 1, 0, -1, 0, 0 }, { "CUDA[0:7]", 0, 7, -1, 0, 0 },
			 { "HIP Context 3", 3, 3, -1, 0, 0 },
			 { "A2rocm_smi:::energy_count:device=3", 3, 3, 3, 0, 0 },
			 { "device=12:sensor=4", 12, 4, 12, 0, 0 },
			 { "hwmon5:power1_input", -1, -1, -1, 0, 0 }, { "2", 2, 2, -1, 0, 0 },
			 { "", -1, -1, -1, 0, 0 }, { "CUDA[:]", -1, -1, -1, 0, 0 },
			 { "stream 99999999999999999999", -1, -1, -1, 0, 0 },
			 { "hipMemcpyAsync", -1, -1, -1, 1, 0 },
			 { "cudaMemsetAsync", -1, -1, -1, 0, 1 },
			 { "__amd_rocclr_fillBufferAligned", -1, -1, -1, 0, 1 },
			 { "copy_kernel(float*)", -1, -1, -1, 0, 0 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		print_message("# '%s'\n", cases[i].name);
		assert_int_equal(otf2_name_device(cases[i].name), cases[i].device);
		assert_int_equal(otf2_name_stream(cases[i].name), cases[i].stream);
		assert_int_equal(otf2_name_counter_device(cases[i].name), cases[i].counter_device);
		assert_int_equal(otf2_name_is_copy(cases[i].name), cases[i].copy);
		assert_int_equal(otf2_name_is_fill(cases[i].name), cases[i].fill);
	}
}

/* ---- regions, clock, parameters ---- */

IN_PLACE(test_regions)
{
	const struct track *t;
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1500000000);

	OTF2_EvtWriter_ProgramBegin(w, NULL, 3, otf2_gen_string(g, "a.out"), 0, NULL);
	OTF2_EvtWriter_Enter(w, NULL, 10, 0);
	otf2_gen_call(w, 20, 50, 1);
	otf2_gen_call(w, 50, 50, 1);
	OTF2_EvtWriter_Leave(w, NULL, 100, 0);
	OTF2_EvtWriter_ProgramEnd(w, NULL, 140, 0);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	expect_model(m, "warnings=0 spans=3");
	assert_string_equal(span_name(m, 0), "main");
	assert_string_equal(model_str(m, m->spans.category[0]), "COMPILER");
	assert_int_equal(m->spans.start_ns[0], 7);  /* 6.67 */
	assert_int_equal(m->spans.end_ns[0], 67);   /* 66.67 */
	assert_int_equal(m->spans.start_ns[1], 13); /* 13.33 */
	assert_int_equal(m->spans.end_ns[1], 33);
	assert_int_equal(span_parent(&m->spans, 1), 0);
	assert_int_equal(m->spans.end_ns[2], m->spans.start_ns[2]);
	assert_int_equal(span_parent(&m->spans, 2), 0);
	/* the range counts every record */
	assert_int_equal(m->inputs.v[0].first_ns, 2);
	assert_int_equal(m->inputs.v[0].last_ns, 93);
	assert_int_equal(m->first_ns, 2);
	assert_true(m->inputs.v[0].resolution_hz == 1.5e9);
	assert_int_equal(m->inputs.v[0].clock, TRACE_CLOCK_OWN);
	assert_false(m->inputs.v[0].has_realtime_anchor);
	expect_model(m, "fact.events=8 fact.enter=3 fact.program_begin=1 fact.regions=2");
	t = track_named(m, "Master thread");
	assert_int_equal(t->kind, TRACK_THREAD);
	assert_string_equal(model_str(m, t->host), "node1");
	assert_string_equal(model_str(m, m->tracks.v[t->parent].name), "Process");
}

IN_PLACE(test_clock)
{
	const struct input *in;
	struct otf2_gen *g = otf2_gen_open(p->archive, 2000000000, 1000, 1700000000000000000);
	OTF2_EvtWriter *w;

	otf2_gen_group(g, 0, "P", OTF2_LOCATION_GROUP_TYPE_PROCESS,
		       OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	otf2_gen_region(g, 0, "f", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
	w = otf2_gen_location(g, 0, "T", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_call(w, 2000, 3000, 0);
	otf2_gen_clock_offset(g, 0, 400);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	in = &m->inputs.v[0];
	assert_true(in->has_realtime_anchor);
	assert_int_equal(in->anchor_own_ns, 500);
	assert_int_equal(in->anchor_realtime_ns, 1700000000000000000);
	/* the location's clock was 400 ticks behind */
	assert_int_equal(m->spans.start_ns[0], 1200);
	assert_int_equal(m->spans.end_ns[0], 1700);
}

IN_ARCHIVE(test_unbalanced)
{
	OTF2_EvtWriter_Leave(w, NULL, 5, 1);
	OTF2_EvtWriter_Enter(w, NULL, 10, 0);
	OTF2_EvtWriter_Enter(w, NULL, 20, 1);
	OTF2_EvtWriter_Leave(w, NULL, 25, 0);
	OTF2_EvtWriter_Enter(w, NULL, 30, 99);
	otf2_gen_call(w, 31, 32, OTF2_UNDEFINED_REGION);
	OTF2_EvtWriter_BufferFlush(w, NULL, 70, 80);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	expect_model(m, "W_STRAY_LEAVE=1 W_LEAVE_MISMATCH=1 W_UNKNOWN_REFERENCE=3 W_OPEN_SPAN=2 "
			"spans=4");
	/* open to the last record of the location, though that is only counted */
	assert_int_equal(m->spans.end_ns[span_at(m, "main")], 70);
	assert_int_equal(m->spans.end_ns[span_at(m, "region 99")], 70);
	assert_int_equal(m->spans.end_ns[span_at(m, "work")], 25);
	assert_int_equal(fact(m, "buffer_flush"), 1);
}

IN_ARCHIVE(test_parameters_and_contexts)
{
	uint32_t text = otf2_gen_string(g, "a \"b\"\n\xff\xc3");

	OTF2_GlobalDefWriter_WriteParameter(otf2_gen_defs(g), 0, otf2_gen_string(g, "grid"),
					    OTF2_PARAMETER_TYPE_UINT64);
	OTF2_GlobalDefWriter_WriteParameter(otf2_gen_defs(g), 1, otf2_gen_string(g, "shift"),
					    OTF2_PARAMETER_TYPE_INT64);
	OTF2_GlobalDefWriter_WriteParameter(otf2_gen_defs(g), 2, otf2_gen_string(g, "file"),
					    OTF2_PARAMETER_TYPE_STRING);
	OTF2_GlobalDefWriter_WriteCallingContext(otf2_gen_defs(g), 4, 1,
						 OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
						 OTF2_UNDEFINED_CALLING_CONTEXT);
	OTF2_EvtWriter_Enter(w, NULL, 10, 0);
	OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, 11, 0, UINT64_MAX);
	OTF2_EvtWriter_CallingContextEnter(w, NULL, 12, 4, 1);
	OTF2_EvtWriter_ParameterString(w, NULL, 12, 2, text);
	OTF2_EvtWriter_CallingContextLeave(w, NULL, 14, 4);
	OTF2_EvtWriter_ParameterInt(w, NULL, 15, 1, -3);
	OTF2_EvtWriter_Leave(w, NULL, 20, 0);
	OTF2_EvtWriter_ParameterInt(w, NULL, 25, 1, 7);
	otf2_gen_close(g);

	for (int args = 0; args < 2; args++) {
		CLEANUP(model_freep) struct model *m = read_archive(p->archive, 0, args);

		expect_model(m, "spans=2 fact.parameter=4 fact.calling_context_enter=1");
		assert_string_equal(span_name(m, 1), "work");
		assert_int_equal(span_parent(&m->spans, 1), 0);
		assert_int_equal(m->warnings.nr, 0);
		if (!args) {
			assert_int_equal(span_args(&m->spans, 0), STR_NONE);
			continue;
		}
		assert_string_equal(model_str(m, span_args(&m->spans, 0)),
				    "{\"grid\":18446744073709551615,\"shift\":-3}");
		assert_string_equal(model_str(m, span_args(&m->spans, 1)),
				    "{\"file\":\"a \\\"b\\\"\\n\ufffd\ufffd\"}");
	}
}

/* ---- devices ---- */

static void stream_fill(OTF2_EvtWriter *w, uint64_t callsite)
{
	for (uint32_t region = 10; region < 14; region++) {
		OTF2_EvtWriter_Enter(w, NULL, region * 100, region);
		if (region == 10)
			OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, region * 100, 0, callsite);
		OTF2_EvtWriter_Leave(w, NULL, region * 100 + 50, region);
	}
}

static void pci_put(struct otf2_gen *g, uint32_t node, const char *name, const char *value)
{
	OTF2_AttributeValue v = { .stringRef = otf2_gen_string(g, value) };

	OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
		otf2_gen_defs(g), node, otf2_gen_string(g, name), OTF2_TYPE_STRING, v);
}

/* A context's group tells which process made it, its node where the device sits. */
IN_ARCHIVE(test_queue_owners)
{
	otf2_gen_group(g, 1, "Other", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	otf2_gen_device(g, 5, "0", 0);
	pci_put(g, 5, "PCI Domain ID", "0");
	pci_put(g, 5, "PCI Bus ID", "65");
	pci_put(g, 5, "PCI Device ID", "0");
	otf2_gen_device(g, 6, "1", 0);
	pci_put(g, 6, "PCI Bus ID", "999");
	OTF2_GlobalDefWriter_WriteLocationGroup(otf2_gen_defs(g), 2, otf2_gen_string(g, "HIP 0"),
						OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 5, 1);
	otf2_gen_group(g, 3, "HIP 1", OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 6);
	otf2_gen_call(w, 10, 20, 0);
	otf2_gen_location(g, 8, "HIP[0:0]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 2);
	otf2_gen_location(g, 9, "HIP[1:0]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 3);
	otf2_gen_location(g, 10, "CUDA[2:1]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 0);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	assert_ptr_equal(&m->tracks.v[track_named(m, "HIP[0:0]")->owner], track_named(m, "Other"));
	assert_string_equal(model_str(m, track_named(m, "HIP[0:0]")->pci), "0:41:0");
	assert_int_equal(track_named(m, "HIP[1:0]")->owner, TRACK_NONE);
	assert_string_equal(model_str(m, track_named(m, "HIP[1:0]")->pci), "");
	assert_ptr_equal(&m->tracks.v[track_named(m, "CUDA[2:1]")->owner],
			 track_named(m, "Process"));
}

IN_PLACE(test_streams)
{
	const struct track *q, *old;
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000), *s;

	otf2_gen_device(g, 5, "2", 0);
	otf2_gen_group(g, 1, "HIP Context 0", OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 5);
	otf2_gen_region(g, 10, "gemm", OTF2_REGION_ROLE_UNKNOWN, OTF2_PARADIGM_HIP);
	otf2_gen_region(g, 11, "hipMemcpyAsync", OTF2_REGION_ROLE_UNKNOWN, OTF2_PARADIGM_HIP);
	otf2_gen_region(g, 12, "hipMemset", OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_PARADIGM_HIP);
	otf2_gen_region(g, 13, "COMPUTE IDLE", OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_HIP);
	OTF2_GlobalDefWriter_WriteParameter(otf2_gen_defs(g), 0, otf2_gen_string(g, "callsite id"),
					    OTF2_PARAMETER_TYPE_UINT64);
	OTF2_EvtWriter_Enter(w, NULL, 10, 0);
	OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, 12, 0, 77);
	OTF2_EvtWriter_Enter(w, NULL, 20, 1);
	OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, 22, 0, 78);
	OTF2_EvtWriter_Leave(w, NULL, 30, 1);
	OTF2_EvtWriter_Leave(w, NULL, 5000, 0);
	s = otf2_gen_location(g, 8, "HIP[0:3]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 1);
	stream_fill(s, 78);
	/* an archive of the time before accelerator contexts: the stream lies in its process */
	s = otf2_gen_location(g, 9, "CUDA[2:1]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 0);
	stream_fill(s, 99);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	q = track_named(m, "HIP[0:3]");
	assert_int_equal(q->kind, TRACK_QUEUE);
	assert_string_equal(model_str(m, q->device), "gpu2");
	assert_int_equal(q->tid, 3);
	assert_int_equal(m->tracks.v[q->parent].kind, TRACK_DEVICE);
	assert_string_equal(model_str(m, m->tracks.v[q->parent].device), "gpu2");
	assert_string_equal(model_str(m, q->host), "node1");
	old = track_named(m, "CUDA[2:1]");
	assert_string_equal(model_str(m, old->device), "gpu2");
	assert_int_equal(old->parent, q->parent);
	assert_int_equal(q->spans, 4);
	for (size_t i = 0; i < 4; i++) {
		static const enum span_kind kinds[] = { SPAN_KERNEL, SPAN_COPY, SPAN_FILL,
							SPAN_ANNOTATION };

		assert_int_equal(m->spans.kind[q->first_span + i], kinds[i]);
		assert_int_equal(span_is_work(m, q->first_span + i), i < 3);
	}
	/* the launch with its number, in the innermost call; the other one is not in the trace */
	assert_int_equal(m->links.nr, 1);
	assert_int_equal(m->links.kind[0], LINK_LAUNCH);
	assert_string_equal(span_name(m, m->links.from[0]), "work");
	assert_int_equal(m->links.to[0], q->first_span);
	assert_int_equal(warned(m, W_UNLINKED_WORK), 1);
}

IN_PLACE(test_devices_of_two_hosts)
{
	struct otf2_gen *g = otf2_gen_open(p->archive, 1000000000, 0, OTF2_UNDEFINED_TIMESTAMP);
	static const char *const hosts[] = { "n1", "n2" }, *const streams[] = { "HIP[0:1]",
										"HIP[0:2]" };

	otf2_gen_region(g, 10, "k", OTF2_REGION_ROLE_UNKNOWN, OTF2_PARADIGM_HIP);
	otf2_gen_member(g, 0, "energy_count:device=0", OTF2_METRIC_ACCUMULATED_START,
			OTF2_TYPE_UINT64, 0, "#");
	OTF2_GlobalDefWriter_WriteMetricClass(otf2_gen_defs(g), 0, 1, (uint32_t[]){ 0 },
					      OTF2_METRIC_ASYNCHRONOUS,
					      OTF2_RECORDER_KIND_ABSTRACT);
	for (uint32_t i = 0; i < 2; i++) {
		OTF2_EvtWriter *w;

		otf2_gen_host(g, i, hosts[i]);
		otf2_gen_group(g, i, "P", OTF2_LOCATION_GROUP_TYPE_PROCESS, i);
		w = otf2_gen_location(g, i, streams[i], OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, i);
		otf2_gen_call(w, 1, 2, 10);
		w = otf2_gen_location(g, 10 + i, "", OTF2_LOCATION_TYPE_METRIC, i);
		OTF2_GlobalDefWriter_WriteMetricInstance(otf2_gen_defs(g), 1 + i, 0, 10 + i,
							 OTF2_SCOPE_SYSTEM_TREE_NODE, i);
		otf2_gen_values(w, 5, 1 + i, 1, (uint64_t[]){ 100 + i });
	}
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	assert_string_equal(model_str(m, track_named(m, "HIP[0:1]")->device), "n1:gpu0");
	assert_string_equal(model_str(m, track_named(m, "HIP[0:2]")->device), "n2:gpu0");
	assert_int_equal(m->series.nr, 2);
	assert_string_equal(model_str(m, m->series.v[0].device), "n1:gpu0");
	assert_string_equal(model_str(m, m->series.v[1].device), "n2:gpu0");
	assert_string_equal(model_str(m, m->series.v[1].host), "n2");
	assert_string_equal(model_str(m, m->tracks.v[m->series.v[0].track].name),
			    "energy_count:device=0");
}

/* ---- metrics ---- */

IN_PLACE(test_strict_class)
{
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000), *second;
	static const char *const names[] = { "CYC", "MISS", "MSP" };

	for (uint32_t i = 0; i < 3; i++)
		otf2_gen_member(g, i, names[i], OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, 0,
				"#");
	OTF2_GlobalDefWriter_WriteMetricClass(otf2_gen_defs(g), 4, 3, (uint32_t[]){ 0, 1, 2 },
					      OTF2_METRIC_SYNCHRONOUS_STRICT,
					      OTF2_RECORDER_KIND_CPU);
	second = otf2_gen_location(g, 8, "Worker", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	for (uint64_t i = 0; i < 4; i++) {
		otf2_gen_values(w, 10 * i, 4, 3, (uint64_t[]){ 100 * i, 10 * i, i });
		if (i % 2 == 0)
			OTF2_EvtWriter_Enter(w, NULL, 10 * i, 0);
		else
			OTF2_EvtWriter_Leave(w, NULL, 10 * i, 0);
	}
	otf2_gen_values(second, 5, 4, 3, (uint64_t[]){ 7, 8, UINT64_C(1) << 53 });
	otf2_gen_values(second, 6, 99, 1, (uint64_t[]){ 1 });   /* undefined */
	otf2_gen_values(second, 7, 4, 2, (uint64_t[]){ 9, 9 }); /* one value short */
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	expect_model(m, "series=6 fact.metric=7");
	assert_int_equal(m->inputs.v[0].samples, 4 * 3 + 3 + 2);
	expect_model(m, "W_UNKNOWN_REFERENCE=1 W_BAD_EVENT=1");
	for (size_t i = 0; i < 3; i++) {
		const struct series *s = series_on(m, names[i], "Master thread");
		static const double last[] = { 300, 30, 3 };

		assert_true(s->exclusive_sync);
		assert_int_equal(s->kind, SERIES_CUMULATIVE);
		assert_int_equal(s->t_ns.nr, 4);
		assert_int_equal(s->t_ns.v[3], 30);
		assert_true(s->value.v[3] == last[i]);
	}
	assert_int_equal(series_on(m, "CYC", "Worker")->t_ns.nr, 2);
	assert_int_equal(series_on(m, "MSP", "Worker")->t_ns.nr, 1);
	assert_true(series_on(m, "MSP", "Worker")->value.v[0] == 9007199254740992.0);
}

IN_PLACE(test_async_metrics)
{
	const struct series *s;
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000);
	OTF2_MetricValue v[2];

	(void)w;
	otf2_gen_group(g, 1, "Other process", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	otf2_gen_member(g, 0, "memory", OTF2_METRIC_ABSOLUTE_NEXT, OTF2_TYPE_INT64, 0, "bytes");
	otf2_gen_member(g, 1, "power", OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, -3, "W");
	OTF2_GlobalDefWriter_WriteMetricClass(otf2_gen_defs(g), 0, 2, (uint32_t[]){ 0, 1 },
					      OTF2_METRIC_ASYNCHRONOUS,
					      OTF2_RECORDER_KIND_ABSTRACT);
	/* three instances of one class on one recorder: two scopes, and one scope again */
	for (uint32_t i = 0; i < 3; i++)
		OTF2_GlobalDefWriter_WriteMetricInstance(otf2_gen_defs(g), 1 + i, 0, 20,
							 OTF2_SCOPE_LOCATION_GROUP, i ? 1 : 0);
	w = otf2_gen_location(g, 20, "sampler", OTF2_LOCATION_TYPE_METRIC, 0);
	for (uint32_t i = 0; i < 6; i++) {
		v[0].signed_int = -(int64_t)i;
		v[1].floating_point = 0.5 * i;
		OTF2_EvtWriter_Metric(w, NULL, 100 * i, 1 + i % 3, 2,
				      (OTF2_Type[]){ OTF2_TYPE_INT64, OTF2_TYPE_DOUBLE }, v);
	}
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	expect_model(m, "series=6 input.samples=12");
	s = series_on(m, "memory", "sampler");
	assert_int_equal(s->kind, SERIES_GAUGE);
	assert_true(s->change_points);
	assert_false(s->exclusive_sync);
	assert_string_equal(model_str(m, s->unit), "bytes");
	assert_string_equal(model_str(m, s->host), "node1");
	assert_int_equal(s->t_ns.nr, 2);
	assert_true(s->value.v[1] == -3);
	s = series_on(m, "power [Other process]", "sampler");
	assert_string_equal(model_str(m, s->unit), "10^-3 W");
	assert_true(s->value.v[0] == 0.5 && s->value.v[1] == 2.0);
	s = series_on(m, "power [3.1]", "sampler");
	assert_true(s->value.v[0] == 1.0 && s->value.v[1] == 2.5);
	assert_int_equal(track_named(m, "sampler")->kind, TRACK_COUNTER);
}

/* ---- messages ---- */

IN_PLACE(test_messages)
{
	struct otf2_gen *g = otf2_gen_open(p->archive, 1000000000, 0, OTF2_UNDEFINED_TIMESTAMP);
	static const char *const calls[] = { "first", "second", "wait", "recv", "self" };
	OTF2_EvtWriter *w[2];
	size_t flows = 0;

	otf2_gen_host(g, 0, "n");
	for (uint32_t i = 0; i < ARRAY_LEN(calls); i++)
		otf2_gen_region(g, i, calls[i], OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI);
	for (uint32_t i = 0; i < 2; i++) {
		otf2_gen_group(g, i, i ? "Rank 1" : "Rank 0", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
		w[i] = otf2_gen_location(g, 10 + i, i ? "T1" : "T0", OTF2_LOCATION_TYPE_CPU_THREAD,
					 i);
	}
	otf2_gen_world(g, (uint64_t[]){ 10, 11 }, 2);
	/* rank 0 sends two messages of one tag; then one that is never received */
	OTF2_EvtWriter_Enter(w[0], NULL, 10, 0);
	OTF2_EvtWriter_MpiSend(w[0], NULL, 11, 1, 0, 5, 100);
	OTF2_EvtWriter_Leave(w[0], NULL, 20, 0);
	OTF2_EvtWriter_Enter(w[0], NULL, 30, 1);
	OTF2_EvtWriter_MpiIsend(w[0], NULL, 31, 1, 0, 5, 200, 77);
	OTF2_EvtWriter_Leave(w[0], NULL, 40, 1);
	OTF2_EvtWriter_MpiIsendComplete(w[0], NULL, 45, 77);
	OTF2_EvtWriter_MpiSend(w[0], NULL, 50, 1, 0, 6, 1);
	/* a receive whose sender does not exist */
	OTF2_EvtWriter_MpiRecv(w[0], NULL, 60, 9, 0, 5, 1);
	/* rank 1 posts a receive, takes a second one, then the first completes: order is that of
	 * posting */
	OTF2_EvtWriter_MpiIrecvRequest(w[1], NULL, 5, 1);
	OTF2_EvtWriter_Enter(w[1], NULL, 35, 3);
	OTF2_EvtWriter_MpiRecv(w[1], NULL, 36, 0, 0, 5, 200);
	OTF2_EvtWriter_Leave(w[1], NULL, 37, 3);
	OTF2_EvtWriter_Enter(w[1], NULL, 60, 2);
	OTF2_EvtWriter_MpiIrecv(w[1], NULL, 61, 0, 0, 5, 100, 1);
	OTF2_EvtWriter_Leave(w[1], NULL, 62, 2);
	/* to itself, outside of any call */
	OTF2_EvtWriter_MpiSend(w[1], NULL, 70, 1, 0, 1, 1);
	OTF2_EvtWriter_MpiRecv(w[1], NULL, 71, 1, 0, 1, 1);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	assert_int_equal(m->links.nr, 3);
	for (size_t i = 0; i < m->links.nr; i++) {
		const char *from = span_name(m, m->links.from[i]),
			   *to = span_name(m, m->links.to[i]);

		assert_int_equal(m->links.kind[i], LINK_FLOW);
		flows += strcmp(from, "first") == 0 && strcmp(to, "wait") == 0;
		flows += strcmp(from, "second") == 0 && strcmp(to, "recv") == 0;
		flows += strcmp(from, "send") == 0 && strcmp(to, "receive") == 0;
	}
	assert_int_equal(flows, 3);
	assert_int_equal(m->inputs.v[0].instants, 4);
	assert_int_equal(m->inputs.v[0].spans, 4 + 4);
	assert_int_equal(m->spans.kind[span_at(m, "unmatched send")], SPAN_INSTANT);
	assert_int_equal(m->spans.start_ns[span_at(m, "unmatched send")], 50);
	assert_int_equal(m->spans.start_ns[span_at(m, "unmatched receive")], 60);
	expect_model(m, "fact.messages=3 fact.mpi_send=3 fact.mpi_isend=1 fact.mpi_request=2 "
			"fact.mpi_send_bytes=302");
	assert_int_equal(track_named(m, "T1")->rank, 1);
	assert_int_equal(track_named(m, "Rank 0")->rank, 0);
}
