#include "facts_support.h"
#include "nsys_fixture.h"

static void expect_row(const struct model *m, size_t span, enum facts_kind kind, const char *want)
{
	const void *row = kind == FACTS_KERNEL ? (const void *)facts_kernel(m, span)
			  : kind == FACTS_COPY ? (const void *)facts_copy(m, span)
					       : (const void *)facts_sync(m, span);
	CLEANUP(xfreep) char *text = row ? fact_row_text(m, kind, row) : xstrdup("none");

	assert_string_equal(text, want);
}

TEST(work_waits_devices)
{
	READING rd = read_sql(
		"nsys", false,
		SQL(NSYS_STRINGS,
		    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, streamId,"
		    " correlationId, demangledName, registersPerThread, staticSharedMemory,"
		    " dynamicSharedMemory, gridX, gridY, gridZ, blockX, blockY, blockZ,"
		    " localMemoryPerThread, graphId, graphNodeId);"
		    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
		    " (10, 20, 0, 7, 1, 1, 32, 16, 100, 4, 2, 1, 256, 1, 1, 8, 5, 9),"
		    " (30, 40, 0, 7, 2, 2, NULL, NULL, 5, -1, 2, 1, 256, 1, 1, NULL, NULL, NULL);",
		    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, \"end\", deviceId, streamId,"
		    " correlationId, bytes, copyKind, srcKind, dstKind, graphNodeId);"
		    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
		    " (50, 60, 0, 7, 3, 4096, 1, 0, 2, NULL), (70, 80, 0, 7, 4, NULL, 10, 2, 4, 6),"
		    " (90, 95, 0, 7, 5, 7, 99, 77, NULL, NULL);",
		    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, \"end\", deviceId, streamId,"
		    " correlationId, bytes, memKind);"
		    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (100, 110, 0, 7, 6, 0, 1);",
		    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, \"end\", deviceId,"
		    " streamId, syncType, eventId);"
		    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
		    " (120, 130, 0, 7, 2, 7197), (140, 150, 0, 7, 4, 4294967295);",
		    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, \"end\", deviceId, "
		    "streamId,"
		    " correlationId, graphId, graphExecId);"
		    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (160, 170, 0, 7, 8, 3, 4);",
		    "CREATE TABLE TARGET_INFO_GPU(id, name, totalMemory, memoryBandwidth, "
		    "clockRate,"
		    " smCount, threadsPerWarp, computeMajor, computeMinor);"
		    "INSERT INTO TARGET_INFO_GPU VALUES (0, 'Made Up', 10736893952, 760080000000,"
		    " 1710000000, 68, 32, 8, 6), (1, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
		    " NULL);"));
	const struct model *m = rd.m;
	const struct device_facts *d = facts_device(m, 0, 0);

	assert_int_equal(rd.r, 0);
	expect_row(m, span_at(m, "k"), FACTS_KERNEL, "4 2 1 256 1 1 0 32 116 8 5 9 - ");
	expect_row(m, span_at(m, "void k<int>(int)"), FACTS_KERNEL, "- 2 1 256 1 1 0 - - - - - - ");
	assert_int_equal(warned(m, W_BAD_FACT), 1);
	expect_row(m, span_at(m, "[CUDA memcpy Host-to-Device]"), FACTS_COPY, "4096 1 1 3 - - ");
	expect_row(m, span_at(m, "[CUDA memcpy Peer-to-Peer]"), FACTS_COPY, "- 5 3 4 - 6 ");
	expect_row(m, span_at(m, "[CUDA memcpy Unknown]"), FACTS_COPY, "7 0 0 0 - - ");
	expect_row(m, span_at(m, "[CUDA memset]"), FACTS_COPY, "0 0 0 2 - - ");
	expect_row(m, span_at(m, "Stream wait sync"), FACTS_SYNC, "4 7 7197 - - - ");
	expect_row(m, span_at(m, "Context sync"), FACTS_SYNC, "5 7 - - - - ");
	expect_row(m, span_at(m, "[CUDA graph 3]"), FACTS_KERNEL, "- - - - - - 0 - - - 3 - 4 ");
	assert_string_equal(model_str(m, d->name), "Made Up");
	assert_int_equal(d->units, 68);
	assert_int_equal(d->warp, 32);
	assert_int_equal(d->clock_hz, 1710000000);
	assert_int_equal(d->bandwidth, INT64_C(760080000000));
	assert_int_equal(d->memory, INT64_C(10736893952));
	assert_int_equal(facts_device(m, 0, 1)->units, FACT_ABSENT);
}

/* Records of events by their number, by the last one before the wait; odd rows name no record. */
TEST(records_of_events)
{
	READING rd = read_path("nsys", "tests/fixtures/nsys/events.sqlite", false);
	const struct facts *f = &rd.m->facts;
	/* kind, stream, event, stream of the record, call, record; calls by process << 40 */
	static const struct {
		int64_t start_ns;
		const char *want;
	} waits[] = {
		{ 171, "3 7 3 8 1099511627782 1099511627781 " },
		{ 700, "4 7 77 - 1099511627875 - " },
		{ 131, "4 8 3 7 1099511627779 1099511627778 " },
		{ 710, "0 7 - - - - " },
		{ 730, "4 4294967295 - - 1099511627782 - " },
	};

	assert_int_equal(rd.r, 0);
	assert_int_equal(f->syncs.nr, ARRAY_LEN(waits));
	for (size_t i = 0; i < f->syncs.nr; i++) {
		CLEANUP(xfreep) char *text = fact_row_text(rd.m, FACTS_SYNC, &f->syncs.v[i]);

		assert_int_equal(rd.m->spans.start_ns[f->syncs.v[i].span], waits[i].start_ns);
		assert_string_equal(text, waits[i].want);
	}
	assert_int_equal(warned(rd.m, W_NEGATIVE_DURATION), 1);
	assert_int_equal(warned(rd.m, W_BAD_NUMBER), 5);
}

TEST(recording_of_two_gpus)
{
	READING rd = read_recording("nsys", "nsys/h100-2gpu/h100_2gpu_1s.sqlite", false);
	const struct facts *f = &rd.m->facts;
	int64_t bytes[COPY_P2P + 1] = { 0 };

	assert_int_equal(f->kernels.nr, 3442);
	assert_int_equal(f->copies.nr, 904 + 22);
	assert_int_equal(f->syncs.nr, 244);
	for (size_t i = 0; i < f->copies.nr; i++)
		bytes[f->copies.v[i].direction] += f->copies.v[i].bytes;
	assert_int_equal(bytes[COPY_H2D], INT64_C(50950507584));
	assert_int_equal(bytes[COPY_D2H], 18);
	assert_int_equal(bytes[COPY_D2D], INT64_C(59368472576));
}
