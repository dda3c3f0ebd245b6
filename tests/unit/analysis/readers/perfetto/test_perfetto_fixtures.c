/*
 * The fixtures of Perfetto's traces, made by their generator and read. PROFRIG_UPDATE=1 writes the
 * files.
 */
#include "readers_test.h"
#include "tests/fixtures/gen/perfetto_gen.h"

#define FIX "tests/fixtures/perfetto/"

TEST(files_are_what_the_generator_makes)
{
	for (size_t i = 0; i < ARRAY_LEN(pg_fixtures); i++) {
		CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
		CLEANUP(xfreep) char *path = xasprintf(FIX "%s", pg_fixtures[i].name), *kept = NULL;
		size_t n = 0;

		pg_fixtures[i].make(&b);
		if (getenv("PROFRIG_UPDATE")) {
			FILE *f = fopen(path, "wbe");

			assert_non_null(f);
			assert_int_equal(fwrite(b.buf, 1, b.len, f), b.len);
			assert_int_equal(fclose(f), 0);
		}
		assert_int_equal(fs_read(path, 1 << 20, &kept, &n, NULL), 0);
		if (n != b.len || memcmp(kept, b.buf, n) != 0)
			fail_msg("%s (PROFRIG_UPDATE=1 writes it)", path);
	}
}

TEST(found_by_content)
{
	for (size_t i = 0; i < ARRAY_LEN(pg_fixtures); i++) {
		CLEANUP(xfreep) char *path = xasprintf(FIX "%s", pg_fixtures[i].name);
		CLEANUP(xfreep) char *bytes = NULL, *plain = NULL;
		const struct reader *found = NULL;
		size_t n = 0;

		assert_int_equal(reader_detect(path, &found, NULL), 0);
		assert_string_equal(found->name, "perfetto");
		/* without its name */
		assert_int_equal(fs_read(path, 1 << 20, &bytes, &n, NULL), 0);
		plain = temp_file(bytes, n);
		assert_int_equal(reader_detect(plain, &found, NULL), 0);
		assert_string_equal(found->name, "perfetto");
		unlink(plain);
	}
}

#define BASIC \
	"format=Perfetto clock=boottime input.spans=5 input.instants=1 input.samples=2 links=1 " \
	"tracks=4 only " \
	"main: at=1000..2000 on=thread pid=7 tid=7 track=main kind=host " \
	"send: at=1100..1200 in=main cat=net " \
	"mark: at=1300..1300 in=main kind=instant " \
	"receive: at=1250..1400 on=thread tid=8 track=worker " \
	"request: at=1000..1500 track=requests kind=annotation pid=7 " \
	"~load: unit=count samples=2 v[0]=10 v[1]=30 t[1]=1500"

TEST(basic)
{
	READING rd = read_path("perfetto", FIX "basic.pftrace", true);

	expect_read(&rd, 0, BASIC " send: args='{\"bytes\":4096,\"to\":\"\\\"b\\\"\"}'");
	assert_int_equal(rd.m->links.from[0], span_at(rd.m, "send"));
	assert_int_equal(rd.m->links.to[0], span_at(rd.m, "receive"));
	assert_int_equal(rd.m->links.kind[0], LINK_FLOW);
	assert_string_equal(model_str(rd.m, track_named(rd.m, "app")->name), "app");
}

TEST(compressed)
{
	READING rd = read_path("perfetto", FIX "compressed.pftrace", false);

	expect_read(&rd, 0, BASIC);
}

/* Whole files, packed as users do. */
TEST(packed_files)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	struct gz_deflater *z = gz_deflater_new(GZ_SMALL, GZ_WRAPPED);
	CLEANUP(xfreep) char *path = NULL;
	const struct reader *found = NULL;
	char packed[4096];
	struct gz_io io = { .out = packed, .out_left = sizeof(packed) };

	pg_basic(&b);
	io.in = b.buf;
	io.in_left = b.len;
	assert_int_equal(gz_deflate(z, &io, true), GZ_END);
	gz_deflater_free(z);
	path = temp_file(packed, sizeof(packed) - io.out_left);
	assert_int_equal(reader_detect(path, &found, NULL), 0);
	assert_string_equal(found->name, "perfetto");
	expect_file("perfetto", path, false, 0, BASIC);
	unlink(path);
}

TEST(rocprofv3)
{
	READING rd = read_path("perfetto", FIX "rocprofv3.pftrace", false);
	const struct model *m = rd.m;
	size_t gemm = span_nth(m, "gemm(float*)", 0),
	       back = span_at(m, "MEMORY_COPY_DEVICE_TO_HOST");

	expect_read(&rd, 0,
		    "input.spans=8 input.samples=2 W_UNLINKED_WORK=1 only "
		    "hipMemcpyAsync: at=1000..1100 on=thread pid=4711 tid=4711 in=step cat=hip_api "
		    "correlation=1 kind=host "
		    "hipLaunchKernel#0: at=1200..1300 in=step correlation=2 tid=4711 "
		    "hipLaunchKernel#1: at=1250..1290 correlation=3 tid=4720 pid=4711 in=none "
		    "step: at=900..2000 kind=host correlation=0 tid=4711 "
		    "MEMORY_COPY_HOST_TO_DEVICE: at=1150..1350 kind=copy on=queue device=gpu4 "
		    "tid=1 correlation=1 work=1 "
		    "MEMORY_COPY_DEVICE_TO_HOST: at=1700..1800 kind=copy device=gpu4 tid=1 "
		    "'gemm(float*)': at=1400..1490 kind=kernel on=queue device=gpu4 tid=1 "
		    "correlation=2 work=1 'gemm(float*)#1': at=1500..1590 correlation=3 "
		    "'~COPY BYTES to AGENT [4] (GPU)': unit=bytes samples=2 v[0]=65536");
	assert_int_equal(facts_copy(m, span_at(m, "MEMORY_COPY_HOST_TO_DEVICE"))->bytes, 65536);
	assert_int_equal(facts_copy(m, span_at(m, "MEMORY_COPY_HOST_TO_DEVICE"))->direction,
			 COPY_H2D);
	assert_int_equal(facts_copy(m, back)->direction, COPY_D2H);
	assert_int_equal(facts_copy(m, back)->bytes, 128);
	assert_int_equal(facts_kernel(m, gemm)->shared_bytes, 1024);
	assert_int_equal(facts_kernel(m, gemm)->local_bytes, 16);
	assert_int_equal(facts_kernel(m, gemm)->grid[0], FACT_ABSENT);
	/* a launch that correlation finds is no flow beside it */
	for (size_t i = 0; i < m->links.nr; i++)
		assert_int_equal(m->links.kind[i], LINK_LAUNCH);
	assert_int_equal(m->links.nr, 3);
}

TEST(kernel_events)
{
	READING rd = read_path("perfetto", FIX "system.pftrace", false);

	expect_read(&rd, 0,
		    "input.spans=3 input.samples=1 only "
		    "app: at=1000..1500 on=counter 'track=CPU 0' kind=annotation "
		    "app#1: at=1700..1900 "
		    "worker: at=1000..1200 'track=CPU 1' "
		    "~vm_rss: unit=bytes kind=gauge v[0]=2097152 t[0]=1800");
	assert_string_equal(
		model_str(rd.m, rd.m->tracks.v[series_named(rd.m, "vm_rss")->track].name),
		"/usr/bin/app");
}

TEST(gpu)
{
	READING rd = read_path("perfetto", FIX "gpu.pftrace", false);
	const struct kernel_facts *k = facts_kernel(rd.m, span_at(rd.m, "gemm"));

	expect_read(&rd, 0,
		    "input.spans=2 input.samples=2 only "
		    "gemm: at=1000..1500 kind=kernel on=queue device=gpu1 'track=compute queue' "
		    "cat=Compute Compute: at=1600..1700 beside=gemm "
		    "'~Read bandwidth': unit=bytes/s device=gpu1 samples=2 v[1]=1000000001");
	assert_int_equal(k->grid[0], 64);
	assert_int_equal(k->grid[1], 2);
	assert_int_equal(k->block[0], 128);
	assert_int_equal(k->block[2], 1);
}

/* 2 ms, then deltas of 5, 6, 7, 8 µs. */
TEST(interned)
{
	READING rd = read_path("perfetto", FIX "interned.pftrace", true);

	expect_read(&rd, 0,
		    "input.spans=2 input.samples=4 only "
		    "outer: at=2005000..2026000 cat=cat tid=7 "
		    "inner: at=2011000..2018000 in=outer cat=cat,more "
		    "'args={\"key\":\"value\"}' "
		    "~thread_time: unit=ns kind=unknown v[0]=10000 v[3]=40000 t[0]=2005000");
	assert_true(rd.m->inputs.v[0].has_realtime_anchor);
	assert_int_equal(rd.m->inputs.v[0].anchor_own_ns, 1000000);
	assert_int_equal(rd.m->inputs.v[0].anchor_realtime_ns, 1700000000000000000);
}
