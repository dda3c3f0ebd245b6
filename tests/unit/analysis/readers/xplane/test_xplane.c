/* What XSpace files hold, and what may be wrong with them. */
#include "readers_test.h"
#include "xplane_fixture.h"

static struct reading read_space(const struct strbuf *b, bool keep_args)
{
	char *path = temp_file(b->buf, b->len);
	struct reading rd = read_path("xplane", path, keep_args);

	unlink(path);
	free(path);
	return rd;
}

static struct reading read_small(bool keep_args)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;

	xs_small(&b);
	return read_space(&b, keep_args);
}

TEST(device_work)
{
	READING rd = read_small(true);
	const struct model *m = rd.m;
	const struct kernel_facts *k;
	const struct copy_facts *c;
	const struct program_facts *p;

	expect_read(&rd, 0,
		    "spans=2 only W_UNLINKED_WORK=2 format='XSpace (JAX, TensorFlow)' clock=own "
		    "fact.kernels=1 "
		    "gemm: kind=kernel work=1 at=1002..1007 correlation=11 device=gpu0 tid=7 "
		    "on=queue cat=kernel host=node1 MemcpyH2D: kind=copy at=1008..1010 "
		    "cat=gpu_memcpy correlation=12");
	k = facts_kernel(m, span_at(m, "gemm"));
	assert_non_null(k);
	assert_int_equal(k->grid[0], 4);
	assert_int_equal(k->grid[1], 2);
	assert_int_equal(k->block[0], 256);
	assert_int_equal(k->registers, 32);
	assert_int_equal(k->shared_bytes, 116);
	c = facts_copy(m, span_at(m, "MemcpyH2D"));
	assert_non_null(c);
	assert_int_equal(c->bytes, 4096);
	assert_int_equal(c->direction, COPY_H2D);
	assert_int_equal(c->from, MEMORY_PINNED);
	assert_int_equal(c->to, MEMORY_DEVICE);
	p = facts_program(m, span_at(m, "gemm"));
	assert_non_null(p);
	assert_int_equal(p->kind, PROGRAM_WORK);
	assert_string_equal(model_str(m, p->module), "jit_f");
	assert_string_equal(model_str(m, p->op), "fusion.1");
	assert_null(facts_program(m, span_at(m, "MemcpyH2D")));
	assert_string_equal(model_str(m, span_args(&m->spans, span_at(m, "MemcpyH2D"))),
			    "{\"correlation_id\":12,\"memcpy_details\":\"kind_src:pinned "
			    "kind_dst:device size:4096 dest:0 async:1\"}");
}

/* Half a nanosecond is rounded away from zero; what touches in ps touches in ns. */
TEST(picoseconds)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t plane = xs_plane(&b, "/host:CPU"), line = xs_line(&b, 5, "main", 10);

	xs_plain(&b, 1, 1499, 1);
	xs_plain(&b, 2, 2499, 2);
	xs_plain(&b, 3, -1500, 1001);
	xs_plain(&b, 4, 0, INT64_C(3600000000000000)); /* an hour */
	pb_close(&b, line);
	for (uint64_t i = 1; i <= 4; i++)
		xs_row(&b, XS_EVENTS, i, (const char *[]){ "a", "b", "c", "d" }[i - 1]);
	pb_close(&b, plane);
	READING rd = read_space(&b, false);
	expect_read(&rd, 0,
		    "only a: at=11..12 b: at=12..13 c: at=8..10 d: at=10..3600000000010 kind=host "
		    "on=thread tid=5 track=main a: in=d");
}

/* Launches on the host, and lines that show the work again. */
TEST(launches_and_derived_lines)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t plane, line, event;
	const struct program_facts *p;
	const struct model *m;

	xs_small(&b);
	plane = xs_plane(&b, "/host:CPU");
	line = xs_line(&b, 77, "python", 900);
	event = xs_event(&b, 1, 0, 50000);
	xs_number(&b, 1, 11);
	pb_close(&b, event);
	pb_close(&b, line);
	xs_row(&b, XS_EVENTS, 1, "cuLaunchKernel");
	xs_row(&b, XS_STATS, 1, "correlation_id");
	pb_close(&b, plane);
	plane = xs_plane(&b, "/device:GPU:1");
	line = xs_line(&b, 8, "Stream #8(Compute)", 0);
	event = xs_event(&b, 4, 1000000, 4000000);
	xs_text(&b, 6, "dot.3");
	xs_number(&b, 7, 9);
	pb_close(&b, event);
	pb_close(&b, line);
	line = xs_line(&b, 0xdeadbef0, "XLA Modules", 0);
	event = xs_event(&b, 1, 1000000, 5000000);
	xs_number(&b, 7, 9);
	pb_close(&b, event);
	pb_close(&b, line);
	line = xs_line(&b, 0xdeadbef1, "XLA Ops", 0);
	xs_plain(&b, 2, 1000000, 4000000);
	pb_close(&b, line);
	line = xs_line(&b, 0xdeadbef2, "Steps", 0);
	xs_plain(&b, 3, 1000000, 5000000);
	pb_close(&b, line);
	xs_row(&b, XS_EVENTS, 1, "jit_step(1234)");
	xs_row(&b, XS_EVENTS, 2, "dot.3");
	xs_row(&b, XS_EVENTS, 3, "12");
	xs_row(&b, XS_EVENTS, 4, "sgemm");
	xs_row(&b, XS_STATS, 6, "hlo_op");
	xs_row(&b, XS_STATS, 7, "run_id");
	pb_close(&b, plane);
	READING rd = read_space(&b, false);
	m = rd.m;
	expect_read(&rd, 0,
		    "links=1 only W_UNLINKED_WORK=1 spans=7 fact.derived=3 cuLaunchKernel: "
		    "at=900..950 on=thread "
		    "jit_step(1234): kind=annotation work=0 cat='XLA Modules' device=gpu1 "
		    "'track=XLA Modules' on=queue dot.3: kind=annotation work=0 12: "
		    "kind=annotation sgemm: work=1 device=gpu1");
	assert_string_equal(span_name(m, m->links.to[0]), "gemm");
	p = facts_program(m, span_at(m, "jit_step(1234)"));
	assert_non_null(p);
	assert_int_equal(p->kind, PROGRAM_MODULE);
	assert_string_equal(model_str(m, p->module), "jit_step");
	assert_int_equal(p->program_id, 1234);
	/* work that states no module is of the execution around it */
	p = facts_program(m, span_at(m, "sgemm"));
	assert_non_null(p);
	assert_string_equal(model_str(m, p->module), "jit_step");
	assert_int_equal(p->execution, 0);
	assert_null(facts_program(m, span_at(m, "12")));
}

/* Cores without streams: what holds other operations is no work, its last part neither. */
TEST(operations_of_a_core)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t plane = xs_plane(&b, "/device:TPU:3"), line = xs_line(&b, 3, "XLA Ops", 0);
	struct xs_row row;

	xs_plain(&b, 1, 0, 100000);
	xs_plain(&b, 2, 0, 40000);
	xs_plain(&b, 2, 40000, 60000);
	xs_plain(&b, 2, 100000, 5000);
	pb_close(&b, line);
	row = xs_row_open(&b, XS_EVENTS, 1, "%while.1 = (s32[]) while(%tuple)");
	pb_put_str(&b, 4, "while.1");
	xs_row_close(&b, row);
	row = xs_row_open(&b, XS_EVENTS, 2, "%fusion.2 = f32[] fusion(%a)");
	pb_put_str(&b, 4, "fusion.2");
	xs_stat(&b, 5, 1, 5, 0, "jit_g");
	xs_row_close(&b, row);
	xs_row(&b, XS_STATS, 1, "hlo_module");
	pb_close(&b, plane);
	READING rd = read_space(&b, false);
	expect_read(&rd, 0,
		    "spans=4 only W_OP_WITHOUT_MODULE=1 while.1: kind=annotation work=0 "
		    "device=tpu3 fusion.2: work=1 "
		    "at=0..40 fusion.2#1: work=1 at=40..100 fusion.2#2: work=1 at=100..105");
	assert_string_equal(model_str(rd.m, facts_program(rd.m, span_at(rd.m, "fusion.2"))->module),
			    "jit_g");
}

TEST(devices_counters_and_the_clock)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t plane = xs_plane(&b, "/device:GPU:2"), line, event;
	const struct device_facts *d;
	const struct input *in;

	/* tables before and between */
	xs_row(&b, XS_STATS, 1, "core_count");
	xs_row(&b, XS_STATS, 2, "clock_rate");
	xs_row(&b, XS_STATS, 3, "gpu_device_name");
	xs_row(&b, XS_STATS, 4, "peak_hbm_bw_gigabytes_per_second");
	xs_stat(&b, 6, 1, 4, 132, NULL);
	xs_stat(&b, 6, 2, 3, 1980000, NULL);
	xs_stat(&b, 6, 3, 5, 0, "Made Up");
	xs_real(&b, 6, 4, 3352.5);
	line = xs_line(&b, 1, "_counters_", 100);
	event = xs_event(&b, 9, 5000, 0);
	xs_real(&b, 4, 8, 71.5);
	pb_close(&b, event);
	pb_close(&b, line);
	xs_row(&b, XS_EVENTS, 9, "gpu_temp_c");
	pb_close(&b, plane);
	plane = xs_plane(&b, "Task Environment");
	xs_row(&b, XS_STATS, 1, "profile_start_time");
	xs_stat(&b, 6, 1, 3, UINT64_C(1712195495505582988), NULL);
	pb_close(&b, plane);
	READING rd = read_space(&b, false);
	expect_read(&rd, 0, "spans=0 only ~gpu_temp_c: v[0]=71.5 t[0]=105 device=gpu2 kind=gauge");
	d = facts_device(rd.m, 0, 2);
	assert_non_null(d);
	assert_int_equal(d->units, 132);
	assert_int_equal(d->clock_hz, 1980000000);
	assert_int_equal(d->bandwidth, 3352500000000);
	assert_string_equal(model_str(rd.m, d->name), "Made Up");
	in = &rd.m->inputs.v[0];
	assert_true(in->has_realtime_anchor);
	assert_int_equal(in->anchor_own_ns, 0);
	assert_int_equal(in->anchor_realtime_ns, 1712195495505582988);
}

TEST(odd_events)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t plane, line, event;

	pb_put_str(&b, 3, "dropped 17 events");
	plane = xs_plane(&b, "/host:CPU");
	line = xs_line(&b, 5, "main", 0);
	xs_plain(&b, 99, 1000, 1000);     /* no such row */
	xs_plain(&b, 1, INT64_MAX, 1000); /* no such time */
	xs_plain(&b, 1, 9000, -2000);     /* ends before it starts */
	event = pb_open(&b, 4);           /* counts only */
	pb_put_u64(&b, 1, 1);
	pb_put_u64(&b, 5, 100);
	pb_close(&b, event);
	event = pb_open(&b, 4); /* a name where a number is wanted */
	pb_put_str(&b, 1, "a");
	pb_close(&b, event);
	event = xs_event(&b, 1, 3000, 1000); /* a stat that is cut */
	pb_put_bytes(&b, 4, "\x08", 1);
	pb_close(&b, event);
	pb_close(&b, line);
	xs_row(&b, XS_EVENTS, 1, "f");
	pb_close(&b, plane);
	READING rd = read_space(&b, true);
	expect_read(&rd, 0,
		    "spans=3 only W_UNKNOWN_REFERENCE=1 W_BAD_EVENT=3 W_IGNORED_RECORD=1 "
		    "W_NEGATIVE_DURATION=1 W_LOST_EVENTS=1 'event 99': at=1..2 f: at=3..4");
}

/* Of a file that is cut, all whole events that come before are there. */
TEST(cut_files)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t plane = xs_plane(&b, "/host:CPU"), line, at[3];

	xs_row(&b, XS_EVENTS, 1, "f");
	line = xs_line(&b, 5, "main", 0);
	for (int i = 0; i < 3; i++) {
		xs_plain(&b, 1, 1000 * i, 1000);
		at[i] = b.len;
	}
	pb_close(&b, line);
	pb_close(&b, plane);
	for (size_t n = at[0]; n < at[2]; n++) {
		READING rd = read_bytes("xplane", b.buf, n);

		assert_int_equal(rd.r, READ_PARTIAL);
		assert_true(warned(rd.m, W_TRUNCATED) >= 1);
		if (rd.m->spans.nr != (n < at[1] ? 1u : 2u))
			fail_msg("cut at %zu: %zu spans", n, rd.m->spans.nr);
	}
}

/* A length that is wrong hurts what it is the length of, and nothing behind that. */
TEST(a_damaged_plane)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t plane = xs_plane(&b, "/host:CPU"), line = xs_line(&b, 5, "main", 0), broken;

	broken = b.len;
	xs_plain(&b, 1, 0, 1000);
	pb_close(&b, line);
	pb_close(&b, plane);
	xs_small(&b);
	b.buf[broken + 2] = 0x7f; /* of the event's length */
	READING rd = read_space(&b, false);
	expect_read(&rd, READ_PARTIAL, "spans=2 W_TRUNCATED=1 gemm: at=1002..1007");
}

TEST(refused)
{
	static const struct refused cases[] = {
		{ "", -ENODATA, "no planes" },
		{ "nothing of that kind", -EINVAL, "damaged" },
		{ "\x22\x01x", -ENODATA, "no planes" },
	};

	expect_refused("xplane", cases, ARRAY_LEN(cases));
}

TEST(recognised)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	const struct reader *found = NULL;
	char *path;

	xs_small(&b);
	path = temp_file(b.buf, b.len);
	assert_int_equal(reader_detect(path, &found, NULL), 0);
	assert_string_equal(found->name, "xplane");
	unlink(path);
	free(path);
}
