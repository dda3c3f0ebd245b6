/*
 * MIOpenDriver, of MIOpen: convolutions. Source: ROCm/MIOpen, driver/README.md,
 * driver/conv_driver.hpp; ROCm/MIOpen#3854 has what it prints.
 *
 *	MIOpen Forward Conv. Algorithm: 1, Solution: 137/ConvBinWinogradRxSf2x3g1
 *	GPU Kernel Time Forward Conv. Elapsed: 0.056871 ms (average)
 *	stats: name, n, c, ho, wo, x, y, k, flopCnt, …
 *	stats: fwd-conv3x3u1, 1, 3, 224, 224, 3, 3, 64, …
 *
 * One such part for each direction of -F; a key of several directions is their sum. Times are those
 * of the kernels, by the device. The order of `stats` differs from release to release, and so do
 * its sizes, so it is not read.
 *
 * Traps: -V 1 is the default and means a check by the CPU, which takes minutes. The first start
 * compiles kernels, which takes minutes, too. The average leaves out the first iteration.
 */
#include "vendor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

static int verb_of(const struct vendor_request *r, const char **ret, struct err *err)
{
	const struct vendor_conv *c = &r->conv;
	bool int8 = !strcmp(c->x->name, "i8");

	*ret = c->x->miopen;
	if (!*ret || c->w != c->x || (c->y != c->x && !(int8 && !strcmp(c->y->name, "i32"))))
		return vendor_lacks(r, err, "no convolution of %s, %s to %s", c->x->name,
				    c->w->name, c->y->name);
	return 0;
}

/* "NHWC", or "NHWC,NCHW,NCHW" for x, w and y, of layouts that the driver knows. */
static int layouts_push(const struct vendor_request *r, struct strvec *to, struct err *err)
{
	static const char *const known[][2] = { { "NCHW", "NHWC" }, { "NCDHW", "NDHWC" } };
	static const char *const options[] = { "--in_layout", "--fil_layout", "--out_layout" };
	const struct vendor_conv *c = &r->conv;
	const char *const *two = known[c->dims == VENDOR_DIMS], *at = c->layout;
	bool one = !strchr(c->layout, ',');

	if (!*at)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		size_t n = strcspn(at, ",");
		const char *layout = NULL;

		for (int k = 0; k < 2; k++)
			if (n == strlen(two[k]) && !memcmp(at, two[k], n))
				layout = two[k];
		if (!layout || (i == 2 && at[n]))
			return vendor_lacks(r, err, "no layout '%.40s'", c->layout);
		if (one && layout == two[0])
			return 0; /* as it is */
		strvec_pushl(to, options[i], layout, NULL);
		if (!one && i < 2 && !at[n])
			return vendor_lacks(r, err, "no layout '%.40s'", c->layout);
		at += one ? 0 : n + (at[n] == ',');
	}
	return 0;
}

static void int_push(struct strvec *to, const char *option, int64_t v)
{
	strvec_push(to, option);
	strvec_pushf(to, "%" PRId64, v);
}

static void spatial_push(const struct vendor_conv *c, struct strvec *to)
{
	const struct {
		const char *option[VENDOR_DIMS];
		const int64_t *v;
	} lists[] = { { { "--in_d", "-H", "-W" }, c->in },
		      { { "--fil_d", "-y", "-x" }, c->filter },
		      { { "--pad_d", "-p", "-q" }, c->pad },
		      { { "--conv_stride_d", "-u", "-v" }, c->stride },
		      { { "--dilation_d", "-l", "-j" }, c->dilation } };

	if (c->dims == VENDOR_DIMS)
		int_push(to, "--spatial_dim", VENDOR_DIMS);
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (int i = VENDOR_DIMS - c->dims; i < VENDOR_DIMS; i++)
			int_push(to, lists[l].option[i], lists[l].v[i]);
	if (c->transposed && c->out_pad[1])
		int_push(to, "-Y", c->out_pad[1]);
	if (c->transposed && c->out_pad[2])
		int_push(to, "-X", c->out_pad[2]);
}

static int expressible(const struct vendor_request *r, struct err *err)
{
	const struct vendor_conv *c = &r->conv;

	if (r->family != FAMILY_CONV)
		return vendor_lacks(r, err, "options for convolutions here, not for '%.40s'",
				    bench_key_operation(&r->key));
	if (r->cache != BENCH_WARM)
		return vendor_lacks(r, err, "no cache mode but warm");
	if (c->dims < 2)
		return vendor_lacks(r, err, "no convolution of one dimension");
	if (c->out_pad[0])
		return vendor_lacks(r, err, "no padding of the output's depth");
	if (c->strange[0] || c->bias_type || c->algorithm || c->inference)
		return vendor_lacks(r, err, "no option for '%.40s'",
				    c->strange[0] ? c->strange : "with");
	return 0;
}

static int argv(struct vendor_request *r, struct strvec *ret, struct err *err)
{
	const struct vendor_conv *c = &r->conv;
	const char *verb = NULL;
	int e = expressible(r, err);

	if (e == 0)
		e = verb_of(r, &verb, err);
	if (e < 0)
		return e;
	strvec_push(ret, verb);
	int_push(ret, "-n", c->n);
	int_push(ret, "-c", c->c);
	int_push(ret, "-k", c->k);
	spatial_push(c, ret);
	e = layouts_push(r, ret, err);
	if (e < 0)
		return e;
	int_push(ret, "-g", c->groups);
	strvec_pushl(ret, "-m", c->transposed ? "trans" : "conv", NULL);
	if (c->bias)
		strvec_pushl(ret, "-b", "1", NULL);
	int_push(ret, "-F", c->directions);
	strvec_pushl(ret, "-t", "1", "-V", "0", "-w", "0", NULL);
	int_push(ret, "-i", (int64_t)(r->iterations < 2 ? 2 : r->iterations));
	return 0;
}

/* ---- output ---- */

static void version_read(const struct vendor_output *o, struct vendor_result *ret)
{
	char version[48] = "", solution[96] = "";

	vendor_after(o->out, "MIOpen Driver: ", ";", version, sizeof(version));
	vendor_after(o->out, "Solution: ", "", solution, sizeof(solution));
	snprintf(ret->version, sizeof(ret->version), "%s%s%s", version,
		 *version && *solution ? ", " : "", solution);
}

static int read_output(const struct vendor_request *r, const struct vendor_output *o,
		       struct vendor_result *ret, struct err *err)
{
	static const char *const names[] = { "Forward Conv.", "Backward Data Conv.",
					     "Backward Weights Conv." };
	double sum = 0;

	if (vendor_says(o, "not applicable to the current problem") ||
	    vendor_says(o, "no suitable algorithm was found"))
		return err_set(err, ENOTSUP, "MIOpen has no algorithm for it");
	if (strstr(o->out, ") FAILED, rc"))
		return err_set(err, EIO, "it failed");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char prefix[80], text[32];
		double ms;
		int e;

		if (!(r->conv.directions >> i & 1))
			continue;
		snprintf(prefix, sizeof(prefix), "GPU Kernel Time %s Elapsed: ", names[i]);
		if (!vendor_after(o->out, prefix, " ", text, sizeof(text)))
			return err_set(err, ENODATA, "it prints no time of '%s'", names[i]);
		e = vendor_positive((struct vendor_cell){ text, strlen(text) }, "time", &ms, err);
		if (e < 0)
			return e;
		sum += ms;
	}
	ret->us = sum * 1e3;
	version_read(o, ret);
	return 0;
}

static const char *const executables[] = { "MIOpenDriver", NULL };
static const char *const folders[] = { "/opt/rocm/bin", "/opt/rocm/miopen/bin", NULL };

const struct bench_program bench_program_miopen_driver = { .name = "miopen-driver",
							   .executables = executables,
							   .folders = folders,
							   .amd = true,
							   .timer = "device",
							   .init = "random",
							   .patience = 30,
							   .argv = argv,
							   .read = read_output };
