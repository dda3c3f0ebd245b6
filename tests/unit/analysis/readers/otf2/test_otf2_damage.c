#include "otf2_support.h"
#include "tests/fixtures/gen/otf2_gen.c"

static void file_cut(const char *dir, const char *name, int64_t bytes)
{
	assert_int_equal(truncate(in_dir(dir, name), bytes), 0);
}

static void file_remove(const char *dir, const char *name)
{
	assert_int_equal(unlink(in_dir(dir, name)), 0);
}

static void file_write(const char *dir, const char *name, const void *data, size_t n)
{
	assert_int_equal(fs_write_atomic(in_dir(dir, name), data, n, NULL), 0);
}

IN_ARCHIVE(test_missing_events)
{
	otf2_gen_call(w, 1, 2, 0);
	w = otf2_gen_location(g, 8, "Lost worker", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_location(g, 9, "Idle worker", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	w = otf2_gen_location(g, 11, "Empty file", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_close(g);
	file_remove(p->archive, "traces/8.evt");
	file_remove(p->archive, "traces/8.def");
	file_cut(p->archive, "traces/11.evt", 0);

	CLEANUP(model_freep) struct model *m = read_archive(p->archive, READ_PARTIAL, false);
	expect_model(m, "spans=1 W_MISSING_LOCATION=2");
	assert_has(warning_text(m, W_MISSING_LOCATION), "location 8 'Lost worker'",
		   "; location 11 'Empty file'");
	expect_model(m, "fact.events=2 fact.locations=4");

	/* all gone */
	file_remove(p->archive, "traces/7.evt");
	model_free(m);
	m = read_archive(p->archive, READ_PARTIAL, false);
	expect_model(m, "W_MISSING_LOCATION=3 spans=0");
}

IN_ARCHIVE(test_missing_local_definitions)
{
	otf2_gen_call(w, 1, 2, 0);
	w = otf2_gen_location(g, 8, "Worker", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_call(w, 3, 4, 0);
	otf2_gen_close(g);
	file_remove(p->archive, "traces/8.def");

	/* the others are there, so this one was lost */
	CLEANUP(model_freep) struct model *m = read_archive(p->archive, READ_PARTIAL, false);
	expect_model(m, "spans=2 W_TRUNCATED=1");
	assert_has(warning_text(m, W_TRUNCATED), "location 8 'Worker': no local definitions: ");

	/* an archive without any was made so */
	file_remove(p->archive, "traces/7.def");
	model_free(m);
	m = read_archive(p->archive, 0, false);
	expect_model(m, "spans=2 W_TRUNCATED=0 W_MISSING_DEFINITIONS=2");
	assert_has(warning_text(m, W_MISSING_DEFINITIONS), "location 7 ");
}

/* Cut or overwritten local definitions are no complete archive either. */
IN_ARCHIVE(test_damaged_local_definitions)
{
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_close(g);
	/* the last byte says nothing */
	for (int64_t size = fs_size(in_dir(p->archive, "traces/7.def")) - 2; size >= 0; size -= 6) {
		assert_int_equal(truncate(in_dir(p->archive, "traces/7.def"), size), 0);
		CLEANUP(model_freep)
		struct model *m = read_archive(p->archive, READ_PARTIAL, false);
		expect_model(m, "spans=1 W_TRUNCATED=1");
	}
}

enum { PAIRS = 60000 };

static void big_archive(const char *dir)
{
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, dir, 1000000000);

	for (uint64_t i = 0; i < PAIRS; i++) {
		otf2_gen_call(w, 10 * i, 10 * i + 5, 0);
	}
	w = otf2_gen_location(g, 8, "Sound", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_close(g);
}

/* A file of several chunks, cut everywhere: in a later chunk libotf2 would read the one before it
 * again, for ever. */
IN_PLACE(test_truncated_events)
{
	int64_t size;
	static const int64_t cuts[] = { 1320143, 1000000, 786432, 600000, 524288, 524289,
					300000,  262150,  262144, 100,    19,     18 };
	uint64_t before = PAIRS + 1;

	big_archive(p->archive);
	size = fs_size(in_dir(p->archive, "traces/7.evt"));
	assert_int_equal(size, 1320145);
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		const struct track *t;

		assert_int_equal(truncate(in_dir(p->archive, "traces/7.evt"), cuts[i]), 0);
		CLEANUP(model_freep)
		struct model *m = read_archive(p->archive, READ_PARTIAL, false);
		assert_int_equal(warned(m, W_TRUNCATED), 1);
		assert_has(warning_text(m, W_TRUNCATED), "location 7 'Master thread'");
		assert_int_equal(track_named(m, "Sound")->spans, 1);
		t = track_named(m, "Master thread");
		/* 22 bytes a pair and up to 40 a chunk: nothing is lost before the cut, nothing is
		 * read twice */
		assert_true(t->spans <= before);
		assert_true(t->spans + 10 >= (uint64_t)cuts[i] / 22);
		before = t->spans;
		for (uint64_t k = 0; k < t->spans; k++)
			assert_int_equal(m->spans.start_ns[t->first_span + k], 10 * k);
	}
}

IN_PLACE(test_damaged_events)
{
	CLEANUP(xfreep) char *evt = NULL, *data = NULL;
	size_t n;

	big_archive(p->archive);
	evt = fs_join(p->archive, "traces/7.evt");
	assert_int_equal(fs_read(evt, 4 << 20, &data, &n, NULL), 0);
	/* the header of the second chunk, and a length that leads beyond its chunk */
	data[262144] = 0x77;
	assert_int_equal(fs_write_atomic(evt, data, n, NULL), 0);
	CLEANUP(model_freep) struct model *m = read_archive(p->archive, READ_PARTIAL, false);
	assert_int_equal(fact(m, "events"), 23829 + 2);
	assert_has(warning_text(m, W_TRUNCATED), "no chunk header at byte 262144");
	model_free(m);

	data[262144] = 3;
	memset(data + 262144 + 27, 0xff, 12);
	data[262144 + 27] = 31;
	assert_int_equal(fs_write_atomic(evt, data, n, NULL), 0);
	m = read_archive(p->archive, READ_PARTIAL, false);
	assert_has(warning_text(m, W_TRUNCATED), "a record goes beyond its chunk");
	assert_int_equal(fact(m, "events"), 23829 + 2);
}

IN_ARCHIVE(test_truncated_definitions)
{
	int64_t size;

	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_location(g, 8, "Last", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_close(g);
	size = fs_size(in_dir(p->archive, "traces.def"));
	for (int64_t cut = size - 2; cut >= 0; cut -= 3) {
		CLEANUP(model_freep) struct model *m = model_new();
		struct err err = ERR_INIT;
		int r;

		assert_int_equal(truncate(in_dir(p->archive, "traces.def"), cut), 0);
		r = reader_otf2.read(p->archive, model_sink(m), NULL, &err);
		model_finish(m);
		if (r < 0) {
			/* not even the clock */
			assert_true(cut < 60);
			assert_true(err.msg[0]);
			continue;
		}
		assert_int_equal(r, READ_PARTIAL);
		assert_int_equal(warned(m, W_TRUNCATED), 1);
	}
}

IN_PLACE(test_no_archive)
{
	static const unsigned char cut_anchor[] = { 3, 0x42, 'O', 'T', 'F', '2', 0, 3, 2, 3 };
	struct model *m;
	struct otf2_gen *g;
	CLEANUP(xfreep) char *data = NULL;
	size_t n;

	assert_int_equal(fs_mkdirs(p->archive, 0755, NULL), 0);
	model_free(read_archive("/nonexistent/traces.otf2", -ENOENT, false));
	model_free(read_archive(p->archive, -ENOENT, false)); /* a directory without an anchor */
	file_write(p->archive, "traces.otf2", "", 0);
	model_free(read_archive(p->archive, -EBADMSG, false));
	file_write(p->archive, "traces.otf2", "{\"traceEvents\":[]}", 18);
	model_free(read_archive(p->archive, -EBADMSG, false));
	file_write(p->archive, "traces.otf2", cut_anchor, sizeof(cut_anchor));
	model_free(read_archive(p->archive, -EBADMSG, false));
	file_write(p->archive, "other.otf2", cut_anchor, sizeof(cut_anchor));
	model_free(read_archive(p->archive, -EINVAL, false)); /* two anchors */
	file_remove(p->archive, "other.otf2");
	file_remove(p->archive, "traces.otf2");

	otf2_gen_simple(&g, p->archive, 1000000000);
	otf2_gen_close(g);
	file_write(p->archive, "plain.txt", "x", 1);
	m = read_archive(p->archive, 0, false);
	assert_int_equal(m->spans.nr, 0);
	model_free(m);
	{
		/* more properties than the file has bytes: libotf2 would look for all of them */
		CLEANUP(xfreep) char *anchor = fs_join(p->archive, "traces.otf2");

		assert_int_equal(fs_read(anchor, 4096, &data, &n, NULL), 0);
		data[49 + 3] = 0x7f;
		file_write(p->archive, "traces.otf2", data, n);
		model_free(read_archive(p->archive, -EBADMSG, false));
		data[49 + 3] = 0;
		assert_int_equal(data[n - 3], 2);
		data[n - 3] = 3; /* the file's end is not marked: libotf2 forgets memory then */
		file_write(p->archive, "traces.otf2", data, n);
		model_free(read_archive(p->archive, -EBADMSG, false));
		data[n - 3] = 2;
		memset(data + 12, 0xff, 8); /* chunks of 2^64 bytes */
		file_write(p->archive, "traces.otf2", data, n);
		model_free(read_archive(p->archive, -EBADMSG, false));
	}
}

IN_PLACE(test_no_definitions)
{
	struct otf2_gen *g;

	otf2_gen_simple(&g, p->archive, 1000000000);
	otf2_gen_close(g);
	file_cut(p->archive, "traces.def", 18);
	model_free(read_archive(p->archive, -EBADMSG, false));
	file_remove(p->archive, "traces.def");
	model_free(read_archive(p->archive, -ENOENT, false));
}

/* Events that are one compressed number: "undefined" looks like the mark of a long record and is
 * none. */
IN_ARCHIVE(test_scan_numbers)
{
	OTF2_Type types[255];
	OTF2_MetricValue values[255];

	OTF2_EvtWriter_MpiIsendComplete(w, NULL, 1, UINT64_MAX);
	OTF2_EvtWriter_MpiIrecvRequest(w, NULL, 2, UINT64_MAX);
	OTF2_EvtWriter_MpiRequestTest(w, NULL, 3, UINT64_MAX);
	OTF2_EvtWriter_MpiRequestCancelled(w, NULL, 4, UINT64_MAX);
	_Pragma("GCC diagnostic push")
		_Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
			OTF2_EvtWriter_OmpFork(w, NULL, 5, UINT32_MAX);
	OTF2_EvtWriter_OmpTaskCreate(w, NULL, 6, UINT64_MAX);
	OTF2_EvtWriter_OmpTaskSwitch(w, NULL, 7, UINT64_MAX);
	OTF2_EvtWriter_OmpTaskComplete(w, NULL, 8, UINT64_MAX);
	OTF2_EvtWriter_OmpJoin(w, NULL, 9);
	_Pragma("GCC diagnostic pop") OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, 10);
	OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, 11, OTF2_COLLECTIVE_OP_BARRIER, 0, 0, 1, 2);
	OTF2_EvtWriter_ThreadFork(w, NULL, 12, OTF2_PARADIGM_OPENMP, 4);
	OTF2_EvtWriter_RmaPut(w, NULL, 13, 0, 1, 100, 1);
	OTF2_EvtWriter_IoOperationBegin(w, NULL, 14, 0, OTF2_IO_OPERATION_MODE_READ,
					OTF2_IO_OPERATION_FLAG_NONE, 5, 6);
	/* and a really long one */
	for (size_t i = 0; i < 255; i++) {
		types[i] = OTF2_TYPE_UINT64;
		values[i].unsigned_int = UINT64_MAX - 1;
	}
	OTF2_EvtWriter_Metric(w, NULL, 15, 0, 255, types, values);
	otf2_gen_call(w, 16, 17, UINT32_MAX);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	expect_model(m, "fact.events=17 fact.thread=6 fact.mpi_request=4 fact.mpi_collective=2 "
			"fact.rma=1 fact.io=1 W_TRUNCATED=0");
}

IN_PLACE(test_probe)
{
	CLEANUP(xfreep) char *anchor = fs_join(p->archive, "traces.otf2"), *data = NULL;
	struct probe probe = { .path = p->archive, .name = "a", .is_dir = true };
	struct otf2_gen *g;
	size_t n;

	otf2_gen_simple(&g, p->archive, 1000000000);
	otf2_gen_close(g);
	assert_true(reader_otf2.probe(&probe) >= 90);
	probe.path = p->dir;
	assert_int_equal(reader_otf2.probe(&probe), 0);
	assert_int_equal(fs_read(anchor, 4096, &data, &n, NULL), 0);
	probe = (struct probe){
		.path = anchor, .name = "traces.otf2", .head = (unsigned char *)data, .head_len = n
	};
	assert_int_equal(reader_otf2.probe(&probe), 100);
	probe.head_len = 3;
	assert_true(reader_otf2.probe(&probe) > 0 && reader_otf2.probe(&probe) < 100);
	probe.name = "trace.json";
	assert_int_equal(reader_otf2.probe(&probe), 0);
	probe.head = NULL;
	probe.head_len = 0;
	assert_int_equal(reader_otf2.probe(&probe), 0);

	assert_true(reader_otf2.claims(p->archive, "traces.def"));
	assert_true(reader_otf2.claims(p->archive, "traces/7.evt"));
	assert_true(reader_otf2.claims(p->dir, "a/traces/7.def"));
	assert_true(reader_otf2.claims(p->dir, "a/traces.def"));
	assert_false(reader_otf2.claims(p->archive, "traces.otf2"));
	assert_false(reader_otf2.claims(p->archive, "other.def"));
	assert_false(reader_otf2.claims(p->archive, "scorep.cfg"));
	assert_false(reader_otf2.claims(p->dir, "b/x.json"));
}

IN_PLACE(test_two_archives)
{
	CLEANUP(model_freep) struct model *m = model_new();
	CLEANUP(xfreep) char *second = fs_join(p->dir, "b");
	struct otf2_gen *g;

	for (int i = 0; i < 2; i++) {
		OTF2_EvtWriter *w = otf2_gen_simple(&g, i ? second : p->archive, 1000000000);

		otf2_gen_call(w, 10, 20, 0);
		otf2_gen_member(g, 0, "x", OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, 0, "#");
		OTF2_GlobalDefWriter_WriteMetricClass(otf2_gen_defs(g), 0, 1, (uint32_t[]){ 0 },
						      OTF2_METRIC_SYNCHRONOUS,
						      OTF2_RECORDER_KIND_CPU);
		otf2_gen_values(w, 30, 0, 1, (uint64_t[]){ 5 });
		otf2_gen_close(g);
		assert_int_equal(
			reader_otf2.read(i ? second : p->archive, model_sink(m), NULL, NULL), 0);
	}
	model_finish(m);
	expect_model(m, "inputs=2 spans=2 series=2");
	/* no process ids: equal location numbers are not one thread */
	assert_int_not_equal(m->spans.track[0], m->spans.track[1]);
	assert_int_equal(m->series.v[1].t_ns.nr, 1);
	assert_int_equal(warned(m, W_NOT_ALIGNED), 2);
}

/* A record more than the header states: libotf2 would go on in whatever its memory holds. */
IN_PLACE(test_record_twice)
{
	CLEANUP(xfreep) char *evt = fs_join(p->archive, "traces/7.evt"), *data = NULL;
	enum { RECORD = 12, TAIL = 2 };
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000);
	char twice[256];
	size_t n;

	OTF2_EvtWriter_Enter(w, NULL, 1, 1);
	otf2_gen_call(w, 2, 3, 1);
	OTF2_EvtWriter_Leave(w, NULL, 4, 1);
	otf2_gen_close(g);
	assert_int_equal(fs_read(evt, sizeof(twice) - RECORD, &data, &n, NULL), 0);
	for (int more = -1; more <= 1; more += 2) {
		size_t keep = more > 0 ? n - TAIL : n - TAIL - RECORD;

		memcpy(twice, data, keep);
		memcpy(twice + keep, data + n - TAIL - (more > 0 ? RECORD : 0),
		       TAIL + (more > 0 ? RECORD : 0));
		file_write(p->archive, "traces/7.evt", twice, more > 0 ? n + RECORD : n - RECORD);
		CLEANUP(model_freep)
		struct model *m = read_archive(p->archive, READ_PARTIAL, false);
		assert_int_equal(warned(m, W_TRUNCATED), 1);
		assert_has(warning_text(m, W_TRUNCATED),
			   more > 0 ? "a chunk has more records than its header"
				    : "a chunk has fewer records than its header");
		assert_int_equal(fact(m, "events"), more > 0 ? 4 : 3);
	}
}

/* Attributes stand between the time and the event, and a time that did not change is left out. */
IN_PLACE(test_attributes)
{
	OTF2_AttributeList *list = OTF2_AttributeList_New();
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000);

	for (uint64_t i = 0; i < 4; i++) {
		OTF2_AttributeList_AddUint64(list, 0, i);
		OTF2_EvtWriter_Enter(w, list, i / 2, 1);
	}
	for (uint64_t i = 0; i < 4; i++) {
		OTF2_AttributeList_AddUint64(list, 0, i);
		OTF2_EvtWriter_Leave(w, i % 2 ? list : NULL, 10 + i / 2, 1);
	}
	OTF2_AttributeList_Delete(list);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	expect_model(m, "spans=4 warnings=0");
}

/* What the definitions state of a file and what is in it. */
IN_ARCHIVE(test_event_counts)
{
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_state_events(g, 7, 1);
	w = otf2_gen_location(g, 8, "Worker", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_state_events(g, 8, 0);
	/* more than stated: all is read, nothing is missing */
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	expect_model(m, "spans=2 W_EVENT_COUNT=2");
	assert_has(warning_text(m, W_EVENT_COUNT), "location 7 'Master thread': 2 ", "/7.evt, ",
		   "definitions state 1");
}

/* APEX: one number for all locations, which is none of any. */
IN_ARCHIVE(test_one_count_for_all)
{
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_state_events(g, 7, 1000);
	w = otf2_gen_location(g, 8, "Worker", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_state_events(g, 8, 1000);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	expect_model(m, "spans=2 warnings=0");
}

/* A whole file of another recording, or of an earlier moment of this one. */
IN_ARCHIVE(test_too_few_events)
{
	otf2_gen_call(w, 1, 2, 0);
	otf2_gen_state_events(g, 7, 1000);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, READ_PARTIAL);
	expect_model(m, "spans=1 W_TRUNCATED=1 W_EVENT_COUNT=0");
	assert_has(warning_text(m, W_TRUNCATED), "location 7 'Master thread': 2 ", "/7.evt, ",
		   "definitions state 1000");
}

/* libotf2 takes offsets in ascending order alone: those before the first that is not are used. */
IN_PLACE(test_clock_offsets_out_of_order)
{
	static const uint64_t times[][3] = { { 1000, 3000, 2000 }, { 1000, 1000, 2000 } };

	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		struct otf2_gen *g;
		OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000);

		otf2_gen_call(w, 1500, 2500, 0);
		for (size_t k = 0; k < 3; k++)
			otf2_gen_clock_offset_at(g, 7, times[i][k], (int64_t)k * 100);
		otf2_gen_close(g);
		CLEANUP(model_freep)
		struct model *m = read_archive(p->archive, READ_PARTIAL, false);
		assert_int_equal(warned(m, W_TRUNCATED), 1);
		assert_has(warning_text(m, W_TRUNCATED), "location 7 'Master thread'", "/7.def: ");
		assert_int_equal(m->spans.nr, 1);
		assert_int_equal(m->spans.start_ns[0], i ? 1500 : 1525);
		assert_int_equal(m->spans.end_ns[0], i ? 2500 : 2575);
		assert_int_equal(fs_remove_tree(p->archive, NULL), 0);
	}
}

/* Offsets in order that turn the clock back: times are as they come out, and reported. */
IN_ARCHIVE(test_clock_turned_back)
{
	otf2_gen_call(w, 5100, 5900, 0);
	otf2_gen_clock_offset_at(g, 7, 5000, 0);
	otf2_gen_clock_offset_at(g, 7, 6000, -3000);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	assert_int_equal(warned(m, W_TIME_ORDER), 1);
	assert_has(warning_text(m, W_TIME_ORDER), "'Master thread'");
	assert_int_equal(m->spans.nr, 1);
	assert_true(m->spans.end_ns[0] >= m->spans.start_ns[0]);
}

/* Names need not be unique, references must: of one that is defined twice, one is taken. */
IN_ARCHIVE(test_equal_names)
{
	otf2_gen_call(w, 1, 2, 0);
	w = otf2_gen_location(g, 8, "Master thread", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_call(w, 1, 9, 1);
	OTF2_GlobalDefWriter_WriteLocation(otf2_gen_defs(g), 8, otf2_gen_string(g, "Twice"),
					   OTF2_LOCATION_TYPE_CPU_THREAD, 2, 0);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	assert_int_equal(warned(m, W_UNKNOWN_REFERENCE), 1);
	assert_has(warning_text(m, W_UNKNOWN_REFERENCE), ".def: 1 references are ");
	assert_int_equal(m->spans.nr, 2);
	assert_int_not_equal(m->spans.track[0], m->spans.track[1]);
}

/* Every level has its call, its time and its leave. */
IN_PLACE(test_deep_recursion)
{
	enum { DEPTH = 100000 };
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000);

	for (uint64_t i = 0; i < DEPTH; i++)
		OTF2_EvtWriter_Enter(w, NULL, i, 0);
	for (uint64_t i = 0; i < DEPTH; i++)
		OTF2_EvtWriter_Leave(w, NULL, DEPTH + i, 0);
	CLEANUP(model_freep) struct model *m = close_and_read(p, g, 0);
	assert_int_equal(m->warnings.nr, 0);
	assert_int_equal(m->spans.nr, DEPTH);
	CLEANUP(xfreep) uint32_t *depths = model_depths(m);
	for (size_t i = 0; i < DEPTH; i++) {
		assert_int_equal(depths[i], i);
		assert_int_equal(m->spans.end_ns[i] - m->spans.start_ns[i],
				 2 * (int64_t)(DEPTH - i) - 1);
		assert_int_equal(m->spans.exclusive_ns[i], i + 1 < DEPTH ? 2 : 1);
	}
}
