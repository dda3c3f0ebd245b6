/* One run of a program: its environment, its end, what its output means (vendor.h). */
#include "bench_machine.h"
#include "vendor.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/num.h"
#include "profrig/base/proc.h"
#include "profrig/base/xalloc.h"

#define SAID 160
#define TIMEOUT_MAX_S 86400.0

/* Beginnings of names: logs, tuning, the tests' own choices of devices. */
static const char *const dropped[] = { "ROCBLAS_LAYER",
				       "ROCBLAS_LOG_",
				       "ROCBLAS_BENCH_",
				       "ROCBLAS_CLIENT_",
				       "HIPBLASLT_LOG_",
				       "HIPBLASLT_TUNING_",
				       "HIPBLASLT_BENCH_",
				       "TENSILE_DB",
				       "MIOPEN_ENABLE_LOGGING",
				       "MIOPEN_LOG_LEVEL",
				       "MIOPEN_CHECK_NUMERICS",
				       "MIOPEN_DRIVER_",
				       "NCCL_DEBUG",
				       "NCCL_TESTS_",
				       "RCCL_TESTS_",
				       "ONEDNN_VERBOSE",
				       "DNNL_VERBOSE",
				       "MKLDNN_VERBOSE",
				       "ONEDNN_JIT_DUMP",
				       "DNNL_JIT_DUMP",
				       "CUBLAS_LOG",
				       "CUBLASLT_LOG",
				       "CUDNN_LOG",
				       "AMD_LOG_LEVEL",
				       "HIP_LAUNCH_BLOCKING",
				       "AMD_SERIALIZE_",
				       "CUDA_LAUNCH_BLOCKING",
				       "LC_ALL=",
				       "LANG=",
				       "LC_NUMERIC=" };
static const char *const threads_of[] = { "OMP_NUM_THREADS" };

static bool begins_with(const char *e, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(e, list[i], strlen(list[i])))
			return true;
	return false;
}

void vendor_environment(const struct bench_program *p, unsigned threads, char *const *from,
			struct strvec *to)
{
	for (; *from; from++)
		if (!begins_with(*from, dropped, ARRAY_LEN(dropped)) &&
		    (!p->pinned || !begins_with(*from, threads_of, ARRAY_LEN(threads_of))))
			strvec_push(to, *from);
	strvec_push(to, "LC_ALL=C");
	for (size_t i = 0; p->pinned && i < ARRAY_LEN(threads_of); i++)
		strvec_pushf(to, "%s=%u", threads_of[i], threads);
}

/* ---- processors ---- */

/* A child inherits them; false: they stay as they are. */
static bool pin(unsigned threads, cpu_set_t *before)
{
	CLEANUP(strbuf_release) struct strbuf cpus = STRBUF_INIT;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(*before), before) < 0 ||
	    machine_cpus(threads, &cpus, NULL) < 0)
		return false;
	CPU_ZERO(&set);
	for (const char *at = cpus.buf; *at;) {
		size_t n = strcspn(at, ",");
		uint64_t cpu;

		if (num_u64(at, n, &cpu) == 0 && cpu < CPU_SETSIZE)
			CPU_SET((int)cpu, &set);
		at += n + (at[n] == ',');
	}
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* ---- a run ---- */

struct run {
	struct strbuf out, errs;
	struct proc_exit how;
};

static void run_release(struct run *run)
{
	strbuf_release(&run->out);
	strbuf_release(&run->errs);
}

static int capture(const struct vendor_request *r, const struct bench_opts *o,
		   const struct strvec *argv, double limit_s, struct run *run, struct err *err)
{
	CLEANUP(strvec_release) struct strvec env = STRVEC_INIT;
	const struct bench_program *p = r->end->program;
	struct proc_opts po = PROC_OPTS_INIT;
	cpu_set_t before;
	bool pinned;
	int e;

	vendor_environment(p, o->threads, environ, &env);
	po.argv = argv->v;
	po.env = env.v;
	po.die_with_parent = true;
	pinned = p->pinned && pin(o->threads, &before);
	e = proc_capture_opts(&po, (int)(limit_s * 1e3), BENCH_VENDOR_OUTPUT_MAX, &run->out,
			      &run->errs, &run->how, err);
	if (pinned)
		sched_setaffinity(0, sizeof(before), &before);
	return e;
}

/* A text with a NUL byte ends there: what stands behind it is no text. */
static struct vendor_output output_of(const struct run *run)
{
	return (struct vendor_output){ run->out.buf, run->errs.buf };
}

__attribute__((format(printf, 4, 5))) static void say(char *reason, size_t size,
						      const struct vendor_output *o,
						      const char *fmt, ...)
{
	char words[200], said[SAID] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	if (o)
		vendor_said(o, said, sizeof(said));
	snprintf(reason, size, "%s%s%s", words, *said ? "; it said: " : "", said);
}

static enum bench_status signalled(const struct run *run, const struct vendor_output *o,
				   char *reason, size_t size)
{
	const char *name = proc_signal_name(run->how.signal);

	say(reason, size, o, "%s", name ? name : "a signal");
	return BENCH_CRASHED;
}

static enum bench_status ended(const struct vendor_request *r, const struct run *run,
			       struct vendor_result *ret, char *reason, size_t size)
{
	struct vendor_output o = output_of(run);
	struct err err = ERR_INIT;
	int e;

	if (run->how.signal)
		return signalled(run, &o, reason, size);
	if (run->out.overflow || run->out.len >= BENCH_VENDOR_OUTPUT_MAX) {
		say(reason, size, NULL, "it printed more than %zu bytes", BENCH_VENDOR_OUTPUT_MAX);
		return BENCH_FAILED;
	}
	e = r->end->program->read(r, &o, ret, &err);
	if (e == -ENOTSUP || e == -EDOM) {
		say(reason, size, NULL, "%s", err.msg);
		return e == -EDOM ? BENCH_WRONG : BENCH_UNSUPPORTED;
	}
	if (run->how.code > 128 && run->how.code < 128 + 65) { /* mpirun's child, by a signal */
		say(reason, size, &o, "the process ended with status %d", run->how.code);
		return BENCH_CRASHED;
	}
	if (run->how.code != 0)
		say(reason, size, &o, "the process ended with status %d", run->how.code);
	else if (e < 0)
		say(reason, size, e == -EPROTO ? NULL : &o, "%s", err.msg);
	return run->how.code != 0 || e < 0 ? BENCH_FAILED : BENCH_OK;
}

enum bench_status vendor_run(struct vendor_request *r, const struct bench_opts *o,
			     double expected_s, struct vendor_result *ret, char *reason,
			     size_t size)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(run_release) struct run run = { STRBUF_INIT, STRBUF_INIT, { 0 } };
	double limit_s = o->timeout_s * r->end->program->patience + expected_s;
	struct err err = ERR_INIT;
	int e;

	*ret = (struct vendor_result){ .solution = BENCH_SOLUTION_NONE };
	limit_s = limit_s < TIMEOUT_MAX_S ? limit_s : TIMEOUT_MAX_S;
	strvec_push(&argv, r->end->path);
	e = r->end->program->argv(r, &argv, &err);
	if (e < 0) {
		say(reason, size, NULL, "%s", err.msg);
		return e == -ENOTSUP ? BENCH_UNSUPPORTED : BENCH_SKIPPED;
	}
	e = capture(r, o, &argv, limit_s, &run, &err);
	if (e == -ETIMEDOUT) {
		say(reason, size, NULL, "no result within %.3g s", limit_s);
		return BENCH_TIMEOUT;
	}
	if (e < 0) {
		say(reason, size, NULL, "%s", err.msg);
		return BENCH_FAILED;
	}
	return ended(r, &run, ret, reason, size);
}
