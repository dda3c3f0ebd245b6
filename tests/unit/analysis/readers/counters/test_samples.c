#include "readers_test.h"

#include <math.h>

#define FIX "tests/fixtures/samples/"

TEST(devices)
{
	READING rd = read_path("samples", FIX "gpu.csv", false);
	const struct model *m = rd.m;
	const struct series *power = series_named(m, "power.gpu0");

	expect_read(&rd, 0, "series=5 clock=monotonic");
	assert_true(m->inputs.v[0].has_realtime_anchor);
	assert_int_equal(m->inputs.v[0].anchor_own_ns, 5000000000);
	assert_int_equal(m->inputs.v[0].anchor_realtime_ns, 1700000000000000000);
	expect_model(m, "~power.gpu0: kind=gauge unit=W device=gpu0 host=node3 "
			"~energy.gpu0: kind=cumulative unit=J "
			"~power.node3:gpu1: device=node3:gpu1");
	assert_int_equal(power->track, TRACK_NONE);
	/* empty is not read, NA is a failed read */
	expect_model(m, "~power.gpu0: samples=2 failed=1 v[1]=90.125 t[1]=5100000000 "
			"~energy.gpu0: samples=3 v[2]=1017.5 ~power.node3:gpu1: samples=1 "
			"t[0]=5000000400 ~vram_used.gpu0: samples=2");
	assert_false(power->change_points || power->estimated);
	expect_model(m, "fact.rows=5 W_READ_FAILED=2 only");
}

TEST(marks)
{
	READING rd = read_path("samples", FIX "gpu.csv", false);

	expect_model(rd.m, "spans=1 'warm up': at=5150000000");
	assert_int_equal(rd.m->spans.kind[0], SPAN_INSTANT);
	assert_int_equal(track_of(rd.m, 0)->kind, TRACK_COUNTER);
}

/* A mark without a time, and one that a killed writer left with half of its digits. */
TEST(damaged_marks)
{
	expect_text("samples",
		    "t_ns,power.gpu0[W]\n"
		    "5000,1\n"
		    "# mark: soon warm up\n"
		    "# mark: 6000 step\n"
		    "# mark: 70",
		    0, "spans=1 W_BAD_EVENT=1 W_UNTERMINATED=1 step: at=6000");
}

TEST(headers)
{
	READING rd = read_path("samples", FIX "change.csv", false);
	const struct model *m = rd.m;
	const struct series *power = series_named(m, "power.cpu0"),
			    *cpu = series_named(m, "cpu.proc");

	assert_int_equal(m->inputs.v[0].clock, TRACE_CLOCK_BOOTTIME);
	assert_true(power->change_points && power->estimated && cpu->estimated);
	assert_string_equal(model_str(m, power->device), "cpu0");
	assert_string_equal(model_str(m, cpu->device), ""); /* a process is no device */
	expect_model(m, "only ~energy.pkg0: device=pkg0 v[1]=0.0025 ~temp: unit='' "
			"~power.cpu0: samples=2 ~cpu.proc: samples=2");
}

/* Where a device sits, in the words of each sampler; other facts and broken addresses are left. */
TEST(addresses)
{
	static const struct {
		const char *line, *pci;
	} cases[] = {
		{ "# device: gpu0: AMD Instinct MI210, pci 0000:c1:00.0, hwmon", "0:c1:0" },
		{ "# device: gpu0: NVIDIA H100, pci 00000001:1B:00.0, GPU-4e1f, driver 1",
		  "1:1b:0" },
		{ "# device: gpu0: replayed: X, pci ffff:ff:1f", "ffff:ff:1f" },
		{ "# device: gpu1: X, pci 0000:c1:00.0", "" },
		{ "# device: gpu0: X, pci 0000:c1:20.0", "" },
		{ "# device: gpu0: X, pci 0000:c1", "" },
		{ "# device: gpu0: X, pci 0000:c1:00.0x", "" },
		{ "# device: gpu0: X, pci 123456789:c1:00.0", "" },
		{ "# device: gpu0: X, pci ", "" },
		{ "# device: gpu0 pci 0000:c1:00.0", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf("%s\nt_ns,power.gpu0[W]\n5000,1\n", cases[i].line);
		READING rd = read_text("samples", text);

		assert_string_equal(model_str(rd.m, series_named(rd.m, "power.gpu0")->pci),
				    cases[i].pci);
	}
}

TEST(bad_rows)
{
	READING rd = read_path("samples", FIX "bad-rows.csv", false);
	const struct series *s = series_named(rd.m, "power.gpu0");

	assert_int_equal(rd.r, 0);
	assert_int_equal(s->value.nr, 3); /* the cut last row would be 1 instead of 1x.x */
	expect_model(rd.m, "W_BAD_EVENT=3 W_BAD_NUMBER=1 W_UNTERMINATED=1 ~power.gpu0: v[2]=12 "
			   "t[2]=6");
	assert_has(warning_text(rd.m, W_BAD_EVENT), "line 5");
}

TEST(nothing_to_read)
{
	static const struct refused cases[] = {
		{ "", -ENODATA, "no header line" },
		{ "# clock: CLOCK_MONOTONIC\n", -ENODATA, "no header line" },
		{ "time,power\n1,2\n", -EINVAL, "line 1: the first column is not 't_ns'" },
		{ "# a\n\nt_ns\n1\n", -EINVAL, "line 3: no series" },
		{ "t_ns,\"power\n1,2\n", -EINVAL, "line 1" },
	};

	expect_refused("samples", cases, ARRAY_LEN(cases));
	expect_text("samples", "t_ns,power.gpu0[W]\n", 0, "W_EMPTY_INPUT only");
}

/* CRLF, quotes in the header, blanks, a mapped file's tail. */
TEST(tolerance)
{
	static const char text[] =
		"\xef\xbb\xbf# clock:CLOCK_REALTIME\r\nt_ns,\"power.gpu0[W]\",x[]\r\n 1 , 5 "
		",7\r\n2,6,8\r\n\0\0\0\0";
	READING rd = read_bytes("samples", text, sizeof(text) - 1);

	expect_read(&rd, 0, "clock=realtime only ~power.gpu0: samples=2 ~x: v[1]=8");
}

TEST(device_words)
{
	static const struct {
		const char *column, *device;
	} cases[] = {
		{ "a.gpu12[W]", "gpu12" },   { "a.b.socket0[J]", "socket0" },
		{ "a.n:pkg1[J]", "n:pkg1" }, { "a.gpu[W]", "" },
		{ "a.gpu1x[W]", "" },        { "a.xgpu1[W]", "" },
		{ "gpu1[W]", "" },           { "a.gpu1", "gpu1" },
		{ "a.gpu1[W", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *text = xasprintf("t_ns,%s\n1,2\n", cases[i].column);
		READING rd = read_text("samples", text);

		assert_int_equal(rd.r, 0);
		assert_string_equal(model_str(rd.m, rd.m->series.v[0].device), cases[i].device);
	}
}

TEST(cut_everywhere)
{
	static const char *const files[] = { FIX "gpu.csv", FIX "change.csv", FIX "bad-rows.csv" };

	for (size_t k = 0; k < ARRAY_LEN(files); k++) {
		CLEANUP(xfreep) char *text = NULL;
		size_t n = 0, seen = 0;

		assert_int_equal(fs_read(files[k], 65536, &text, &n, NULL), 0);
		for (size_t i = 0; i < n; i++) {
			READING rd = read_bytes("samples", text, i);
			size_t samples = rd.m->inputs.nr ? rd.m->inputs.v[0].samples : 0;

			assert_true(samples >=
				    seen); /* a cut row adds nothing wrong and takes nothing away */
			seen = samples;
		}
	}
}

/* Times and values beyond what can be held. */
TEST(out_of_range)
{
	struct reading rd =
		read_text("samples", "t_ns,energy.gpu0[J]\n9223372036854775807,0.1\n-5,1e400\n");

	expect_read(&rd, READ_PARTIAL, "W_TIME_RANGE=1");
	assert_int_equal(warned(rd.m, W_BAD_NUMBER), 1); /* a value that does not fit */
	reading_release(&rd);
}
