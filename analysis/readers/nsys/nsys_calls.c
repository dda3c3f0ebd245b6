/*
 * Calls of APIs: one table for each API, all with start, end, globalTid and a name. Calls of CUDA
 * carry the correlationId of their work; other APIs use numbers of their own. The profiler's own
 * work is not the application's: it has a track beside the threads.
 */
#include "nsys.h"

#include <string.h>

enum { A_START, A_END, A_THREAD, A_NAME, A_CORRELATION, A_CLASS, A_RESULT };

/* ENUM_NSYS_EVENT_CLASS */
#define CLASS_DRIVER 1

static str_id call_args(struct nsys *ns, struct sqlite_rows *q)
{
	db_args_begin(&ns->sc);
	db_args_column(&ns->sc, "correlation", q, A_CORRELATION);
	db_args_column(&ns->sc, "return value", q, A_RESULT);
	return db_args_end(&ns->sc);
}

static bool take_call(struct nsys *ns, struct sqlite_rows *q, bool launches)
{
	struct span_def d = { .kind = SPAN_HOST, .args = STR_NONE, .category = ns->sc.category };
	int64_t global = sqlite_rows_i64_or(q, A_THREAD, 0);
	struct nsys_thread *thread;
	nsys_slot slot;

	if (!db_scan_times(&ns->sc, q, A_START, A_END, &d))
		return false;
	d.name = nsys_string(ns, q, A_NAME, d.category);
	if (sqlite_rows_i64_or(q, A_CLASS, 0) == CLASS_DRIVER && launches)
		d.category = sink_puts(ns->sc.sink, "cuda_driver");
	if (launches)
		d.correlation =
			nsys_correlation(ns, global, sqlite_rows_i64_or(q, A_CORRELATION, 0));
	if (ns->sc.keep_args)
		d.args = call_args(ns, q);
	slot = nsys_thread(ns, global); /* may move all of them */
	thread = &ns->threads.v[slot];
	d.track = thread->id;
	if (d.end_ns > thread->last_ns)
		thread->last_ns = d.end_ns;
	ns->sc.sink->ops->span(ns->sc.sink, &d);
	return true;
}

static bool take_launching(void *ns, struct sqlite_rows *q)
{
	return take_call(ns, q, true);
}

static bool call_take_other(void *ns, struct sqlite_rows *q)
{
	return take_call(ns, q, false);
}

static bool take_overhead(void *vp, struct sqlite_rows *q)
{
	struct nsys *ns = vp;
	struct span_def d = { .kind = SPAN_ANNOTATION,
			      .category = ns->sc.category,
			      .args = STR_NONE };

	if (!db_scan_times(&ns->sc, q, A_START, A_END, &d))
		return false;
	d.name = nsys_string(ns, q, A_NAME, d.category);
	d.track = nsys_overhead(ns, sqlite_rows_i64_or(q, A_THREAD, 0));
	ns->sc.sink->ops->span(ns->sc.sink, &d);
	return true;
}

#define CALL "start end globalTid? nameId|textId? correlationId? eventClass? returnValue?"
#define LAUNCHING CALL, .take = take_launching, .fact = "api_calls", .category
#define OTHER CALL, .take = call_take_other, .fact = "api_calls", .category
#define OVERHEAD \
	"start end globalTid? nameId?", .take = take_overhead, .fact = "overhead", .category

static const struct db_table calls[] = {
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", LAUNCHING = "cuda_runtime" },
	{ "CUPTI_ACTIVITY_KIND_DRIVER", LAUNCHING = "cuda_driver" },
	{ "OSRT_API", OTHER = "osrt" },
	{ "CUDNN_EVENTS", OTHER = "cudnn" },
	{ "CUBLAS_EVENTS", OTHER = "cublas" },
	{ "CUSOLVER_EVENTS", OTHER = "cusolver" },
	{ "CUSPARSE_EVENTS", OTHER = "cusparse" },
	{ "MPI_P2P_EVENTS", OTHER = "mpi" },
	{ "MPI_COLLECTIVES_EVENTS", OTHER = "mpi" },
	{ "MPI_START_WAIT_EVENTS", OTHER = "mpi" },
	{ "MPI_OTHER_EVENTS", OTHER = "mpi" },
	{ "UCP_EVENTS", OTHER = "ucx" },
	{ "OPENGL_API", OTHER = "opengl" },
	{ "VULKAN_API", OTHER = "vulkan" },
	{ "OPENACC_LAUNCH_EVENTS", OTHER = "openacc" },
	{ "OPENACC_DATA_EVENTS", OTHER = "openacc" },
	{ "OPENACC_OTHER_EVENTS", OTHER = "openacc" },
	{ "SYSCALL", OTHER = "syscall" },
	{ "CUPTI_ACTIVITY_KIND_OVERHEAD", OVERHEAD = "overhead" },
	{ "PROFILER_OVERHEAD", OVERHEAD = "overhead" },
};

void nsys_read_calls(struct nsys *ns)
{
	db_scan_tables(&ns->sc, calls, ARRAY_LEN(calls), ns);
}
