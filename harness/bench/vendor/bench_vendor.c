#include "profrig/bench/bench_vendor.h"
#include "vendor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/devices/devices.h"

#define RUN_S 0.5 /* that the calls of a process take, where the time allows it */
#define RUN_S_MIN 0.02
#define ITERATIONS_MIN 10
#define ITERATIONS_MAX 100000
#define WARMUP_MIN 2
#define WARMUP_MAX 1000
#define SLOWER 20.0 /* times the probe's time that a run may take */

/* clang-format off */
#define ROW(id, name) &bench_program_##id,
const struct bench_program *const bench_programs[] = { BENCH_PROGRAMS(ROW) NULL };
#define NAME(id, name) name,
const char *const bench_vendor_names[] = { BENCH_PROGRAMS(NAME) NULL };
/* clang-format on */

/* ---- finding ---- */

static char *folder_find(const struct bench_program *p, const char *executable)
{
	for (size_t i = 0; p->folders[i]; i++) {
		CLEANUP(xfreep) char *path = fs_join(p->folders[i], executable);
		char *found = fs_which(path, NULL);

		if (found)
			return found;
	}
	return NULL;
}

static char *program_find(const struct bench_program *p)
{
	char *path = NULL;

	for (size_t i = 0; !path && p->executables[i]; i++)
		path = fs_which(p->executables[i], NULL);
	for (size_t i = 0; !path && p->executables[i]; i++)
		path = folder_find(p, p->executables[i]);
	return path;
}

/* "0,2": two of them; "": none. Which they are is for the runtime. */
static size_t listed(const char *name, size_t most)
{
	CLEANUP(strvec_release) struct strvec parts = STRVEC_INIT;
	const char *v = getenv(name);

	if (!v)
		return most;
	strvec_split(&parts, v, ",");
	return parts.nr < most ? parts.nr : most;
}

/* ret_name: of the first one, owned; NULL: not wanted. */
static unsigned gpus_visible(const struct bench_program *p, char **ret_name)
{
	static const char *const amd[] = { "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
					   "CUDA_VISIBLE_DEVICES" };
	enum gpu_vendor vendor = p->amd ? GPU_AMD : p->nvidia ? GPU_NVIDIA : GPU_NONE;
	const struct gpu *gpu;
	struct devices d;
	size_t nr = 0;

	devices_find(&d, devices_root());
	if (p->amd) {
		nr = devices_count(&d, GPU_AMD);
		for (size_t i = 0; i < ARRAY_LEN(amd); i++)
			nr = listed(amd[i], nr);
	} else if (p->nvidia) {
		nr = listed("CUDA_VISIBLE_DEVICES", devices_count(&d, GPU_NVIDIA));
	}
	gpu = devices_gpu(&d, vendor, 0);
	if (ret_name)
		*ret_name = xstrdup_null(gpu ? gpu->name : NULL);
	devices_release(&d);
	return (unsigned)nr;
}

static void end_fill(const struct bench_program *p, char *path, struct bench_vendor_end *ret)
{
	*ret = (struct bench_vendor_end){ .program = p, .path = path };
	if (!path)
		return;
	ret->real = xrealpath(path);
	ret->launch = p->launched ? fs_which("mpirun", NULL) : NULL;
	ret->gpus = gpus_visible(p, &ret->device);
}

static bool is_executable_of(const struct bench_program *p, const char *name)
{
	for (size_t i = 0; p->executables[i]; i++)
		if (!strcmp(p->executables[i], name))
			return true;
	return false;
}

/* Both kinds of tests have the same names: those of NVIDIA's where only its GPUs are here. */
static const struct bench_program *program_of_path(const char *path)
{
	const struct bench_program *first = NULL;

	for (size_t i = 0; bench_programs[i]; i++) {
		const struct bench_program *p = bench_programs[i];

		if (!is_executable_of(p, fs_base(path)))
			continue;
		if (!first || (!gpus_visible(first, NULL) && gpus_visible(p, NULL)))
			first = p;
	}
	return first;
}

bool bench_vendor_find(const char *name, struct bench_vendor_end *ret)
{
	for (size_t i = 0; bench_programs[i]; i++)
		if (!strcmp(bench_programs[i]->name, name)) {
			end_fill(bench_programs[i], program_find(bench_programs[i]), ret);
			return true;
		}
	if (*name == '/') {
		const struct bench_program *p = program_of_path(name);

		if (p)
			end_fill(p, fs_which(name, NULL), ret);
		return p != NULL;
	}
	return false;
}

void bench_vendor_end_release(struct bench_vendor_end *e)
{
	free(STEAL(e->path));
	free(STEAL(e->real));
	free(STEAL(e->launch));
	free(STEAL(e->device));
}

const char *bench_vendor_name(const struct bench_vendor_end *e)
{
	return e->program->name;
}

char *bench_vendor_missing(const struct bench_vendor_end *e)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "not installed: %s is not in PATH", e->program->executables[0]);
	for (size_t i = 0; e->program->folders[i]; i++)
		strbuf_addf(&sb, ", %s", e->program->folders[i]);
	return strbuf_steal(&sb);
}

/* ---- measuring ---- */

struct measuring {
	struct vendor_request request;
	const struct bench_opts *o;
	int64_t begin_ns;
	double seconds;
	VEC(struct bench_block) blocks;
	struct bench_vendor_row *row;
};

static enum bench_status measured_not(struct bench_vendor_row *row, enum bench_status s,
				      const char *reason)
{
	snprintf(row->reason, sizeof(row->reason), "%s", reason);
	return row->status = s;
}

/* Calls, and those in front of them, of a process that takes its part of the time. */
static void iterations_choose(struct measuring *m, double us)
{
	double run_s = m->seconds / (BENCH_ROUNDS_MIN + 1) / 2, n;

	run_s = fmax(fmin(run_s, RUN_S), RUN_S_MIN);
	n = fmin(fmax(run_s * 1e6 / us, ITERATIONS_MIN), ITERATIONS_MAX);
	m->request.iterations = (uint64_t)n;
	m->request.warmup = (uint64_t)fmin(fmax(n / 5, WARMUP_MIN), WARMUP_MAX);
}

static double expected_s(const struct measuring *m, double us)
{
	return (double)(m->request.iterations + m->request.warmup) * us / 1e6 * SLOWER;
}

static enum bench_status probe(struct measuring *m, double *ret_us)
{
	struct vendor_result result;

	m->request.probe = true;
	m->row->status =
		vendor_run(&m->request, m->o, 0, &result, m->row->reason, sizeof(m->row->reason));
	m->request.probe = false;
	if (m->row->status != BENCH_OK)
		return m->row->status;
	memcpy(m->request.kernel, result.kernel, sizeof(m->request.kernel));
	*ret_us = result.us;
	iterations_choose(m, result.us);
	return BENCH_OK;
}

static bool is_enough(const struct measuring *m)
{
	double spent = (double)(clock_monotonic_ns() - m->begin_ns) / 1e9;
	struct bench_figures f;

	if (m->blocks.nr < BENCH_ROUNDS_MIN)
		return false;
	if (m->blocks.nr >= BENCH_ROUNDS_MEANS || spent >= m->seconds)
		return true;
	bench_stats(m->blocks.v, m->blocks.nr, &f);
	return f.error <= m->o->precision * f.mean;
}

static enum bench_status rounds(struct measuring *m, double us)
{
	while (!is_enough(m)) {
		struct vendor_result result;

		m->row->status = vendor_run(&m->request, m->o, expected_s(m, us), &result,
					    m->row->reason, sizeof(m->row->reason));
		if (m->row->status != BENCH_OK)
			return m->row->status;
		memcpy(m->row->version, result.version, sizeof(m->row->version));
		/* another one in a later process: there is no such number */
		if (!m->blocks.nr)
			m->row->solution = result.solution;
		else if (m->row->solution != result.solution)
			m->row->solution = BENCH_SOLUTION_NONE;
		m->row->repeats += m->request.iterations;
		VEC_PUSH(&m->blocks, ((struct bench_block){ .us = result.us,
							    .process = (unsigned)m->blocks.nr }));
	}
	return BENCH_OK;
}

static void notes(const struct measuring *m)
{
	const struct bench_figures *f = &m->row->figures;
	char text[80] = "";

	if (!(f->error <= m->o->precision * f->mean))
		snprintf(text, sizeof(text), "the standard error stays at %.1f %%",
			 f->error / f->mean * 100);
	snprintf(m->row->reason, sizeof(m->row->reason), "%s%s%s", text,
		 *text && !m->request.end->program->checks ? "; " : "",
		 m->request.end->program->checks ? "" : "its result is not checked");
}

static void figures(struct measuring *m)
{
	struct bench_vendor_row *row = m->row;
	const struct vendor_request *r = &m->request;

	bench_stats(m->blocks.v, m->blocks.nr, &row->figures);
	row->gflops = r->flops > 0 ? r->flops / row->figures.mean / 1e3 : NAN;
	row->gbps = r->bytes > 0 ? r->bytes / row->figures.mean / 1e3 : NAN;
	notes(m);
}

static const char *init_of(const struct vendor_request *r)
{
	bool ints = r->family == FAMILY_GEMM && r->gemm.compute && r->gemm.compute->integer;

	return ints && !strcmp(r->end->program->init, "trig_float") ? "rand_int"
								    : r->end->program->init;
}

enum bench_status bench_vendor_measure(const struct bench_vendor_end *e, const char *key,
				       enum bench_cache cache, const struct bench_opts *o,
				       double seconds, struct bench_vendor_row *ret)
{
	struct measuring m = { .o = o,
			       .begin_ns = clock_monotonic_ns(),
			       .seconds = seconds,
			       .blocks = VEC_INIT,
			       .row = ret };
	struct err err = ERR_INIT;
	double us;
	int r;

	*ret = (struct bench_vendor_row){ .timer = e->program->timer,
					  .init = e->program->init,
					  .gflops = NAN,
					  .gbps = NAN,
					  .solution = BENCH_SOLUTION_NONE };
	bench_stats(NULL, 0, &ret->figures);
	if (!e->path) {
		CLEANUP(xfreep) char *missing = bench_vendor_missing(e);

		return measured_not(ret, BENCH_SKIPPED, missing);
	}
	r = vendor_request_read(key, &m.request, &err);
	if (r < 0)
		return measured_not(ret, r == -ENOTSUP ? BENCH_UNSUPPORTED : BENCH_SKIPPED,
				    err.msg);
	m.request.end = e;
	m.request.cache = cache;
	ret->init = init_of(&m.request);
	if (probe(&m, &us) == BENCH_OK && rounds(&m, us) == BENCH_OK)
		figures(&m);
	VEC_RELEASE(&m.blocks);
	return ret->status;
}
