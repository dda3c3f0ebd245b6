/* madengine's views of samples files, byte by byte. */
#include "sampler_gpu_test.h"

#define HEAD \
	"# profrig samples: 1\n" \
	"# anchor: monotonic_ns=1000000000 realtime_ns=1700000000000000000 boottime_ns=1\n" \
	"# period_s: 0.1\n"
#define POWER "gpu_info_power_profiler_output.csv"
#define VRAM "gpu_info_vram_profiler_output.csv"

static int compat_convert(const char *text, struct strvec *written, struct err *err)
{
	setenv("TZ", "UTC", 1);
	tzset();
	unlink(in_dir(root, POWER));
	unlink(in_dir(root, VRAM));
	machine_write(in_dir(root, "s.csv"), text, strlen(text));
	return sampler_compat_write(in_dir(root, "s.csv"), root, written, err);
}

/* NULL: the view is not to be there. */
static void view_is(const char *name, const char *want)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	int r = fs_read(in_dir(root, name), 65536, &text, &n, NULL);

	if (!want) {
		assert_int_equal(r, -ENOENT);
		return;
	}
	assert_int_equal(r, 0);
	assert_string_equal(text, want);
}

GPU_TEST(both_views)
{
	CLEANUP(strvec_release) struct strvec written = STRVEC_INIT;

	/* 750 W is 750, and memory is what is occupied: 16 of 64 GiB while the GPU is 99 % busy */
	assert_int_equal(
		compat_convert(HEAD
			       "# storage: every\n"
			       "t_ns,power.gpu0[W],vram_used.gpu0[bytes],vram_total.gpu0[bytes],"
			       "busy.gpu0[%],power.gpu1[W],vram_used.gpu1[bytes],"
			       "vram_total.gpu1[bytes]\n"
			       "2000000000,750,17179869184,68719476736,99,,,\n"
			       "2000400000,,,,,100.126,1,3\n"
			       "2100000000,NA,NA,68719476736,99,,,\n"
			       "2100400000,,,,,0,0,3\n"
			       "# mark: 2150000000 x\n"
			       "2200400000,,,,,5,NA,NA\n",
			       &written, NULL),
		0);
	assert_int_equal(written.nr, 2);
	view_is(POWER, "time,Power(Watt) GPU0,Power(Watt) GPU1\r\n"
		       "2023-11-14 22:13:21.000000,750,100.13\r\n"
		       "2023-11-14 22:13:21.100000,,0\r\n"
		       "2023-11-14 22:13:21.200400,,5\r\n");
	view_is(VRAM, "time,vram(%) GPU0,vram(%) GPU1\r\n"
		      "2023-11-14 22:13:21.000000,25,33.33\r\n"
		      "2023-11-14 22:13:21.100000,,0\r\n"
		      "2023-11-14 22:13:21.200400,,\r\n");
}

GPU_TEST(one_of_them)
{
	CLEANUP(strvec_release) struct strvec written = STRVEC_INIT;

	assert_int_equal(compat_convert(HEAD "t_ns,power_instant.gpu3[W],power.cpu0[W]\n"
					     "2000000000,1.5,\n2000000001,,80\n",
					&written, NULL),
			 0);
	view_is(POWER, "time,Power(Watt) GPU3\r\n2023-11-14 22:13:21.000000,1.5\r\n");
	view_is(VRAM, NULL);
	assert_int_equal(written.nr, 1);
	assert_int_equal(compat_convert(HEAD "t_ns,vram_used.gpu0[bytes],vram_total.gpu0[bytes]\n"
					     "2000000000,50,100\n2100000000,60,\n",
					&written, NULL),
			 0);
	view_is(POWER, NULL);
	view_is(VRAM, "time,vram(%) GPU0\r\n2023-11-14 22:13:21.000000,50\r\n"
		      "2023-11-14 22:13:21.100000,60\r\n");
}

/* An empty field is the value before; a failure is none. */
GPU_TEST(of_change_points)
{
	CLEANUP(strvec_release) struct strvec written = STRVEC_INIT;

	assert_int_equal(compat_convert(HEAD "# storage: change\n"
					     "t_ns,power.gpu0[W],power.gpu1[W]\n"
					     "2000000000,10,\n2000000100,,20\n"
					     "2300000000,11,\n"
					     "2400000000,,NA\n"
					     "2500000000,,21\n",
					&written, NULL),
			 0);
	view_is(POWER, "time,Power(Watt) GPU0,Power(Watt) GPU1\r\n"
		       "2023-11-14 22:13:21.000000,10,20\r\n"
		       "2023-11-14 22:13:21.300000,11,20\r\n"
		       "2023-11-14 22:13:21.400000,11,\r\n"
		       "2023-11-14 22:13:21.500000,11,21\r\n");
}

GPU_TEST(nothing_to_show)
{
	static const struct {
		const char *text;
		int code;
		const char *words;
	} rows[] = {
		{ HEAD "t_ns,busy.gpu0[%]\n1,2\n", -ENODATA, "neither the power of a GPU" },
		{ HEAD "t_ns,vram_used.gpu0[bytes]\n1,2\n", -ENODATA, "neither" },
		{ "t_ns,power.gpu0[W]\n1,2\n", -EINVAL, "no time of day" },
		{ HEAD "a,b\n1,2\n", -EINVAL, "no samples file" },
		{ HEAD, -EINVAL, "no samples file" },
		{ HEAD "t_ns,power.gpu0[W]\nx,2\n", -EINVAL, "'x' is no time" },
	};
	CLEANUP(strvec_release) struct strvec written = STRVEC_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		int r = compat_convert(rows[i].text, &written, &err);

		if (r != rows[i].code || !strstr(err.msg, rows[i].words))
			ROW_FAIL(i, "%d: %s", r, err.msg);
		/* half a view is none */
		view_is(POWER, NULL);
		view_is(VRAM, NULL);
	}
	assert_int_equal(written.nr, 0);
	assert_int_equal(sampler_compat_write("/nonexistent.csv", root, &written, NULL), -ENOENT);
}

GPU_TEST(unwritable)
{
	CLEANUP(strvec_release) struct strvec written = STRVEC_INIT;
	struct err err = ERR_INIT;

	machine_text(root, HEAD "t_ns,power.gpu0[W]\n1,2\n", "s.csv");
	CLEANUP(xfreep) char *path = fs_join(root, "s.csv");
	assert_int_equal(sampler_compat_write(path, in_dir(root, "none"), &written, &err), -ENOENT);
	assert_has(err.msg, "cannot write");
	/* a disk that is full */
	assert_int_equal(symlink("/dev/full", in_dir(root, POWER)), 0);
	assert_int_equal(sampler_compat_write(path, root, &written, &err), -ENOSPC);
	assert_int_equal(written.nr, 0);
}
