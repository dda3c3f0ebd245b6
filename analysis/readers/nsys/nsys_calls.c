/*
 * Calls of APIs: one table for each API, all with start, end, globalTid and a name. Calls of CUDA
 * carry the correlationId of what they launch; other APIs use numbers of their own. The profiler's
 * own work is not the application's: it lies on a track beside the threads.
 */
#include "nsys.h"

#include <string.h>

#include "profrig/model/warnings.h"

enum { A_START, A_END, A_THREAD, A_NAME, A_CORRELATION, A_CLASS, A_RESULT, A_COLUMNS };

static const struct sqlite_column call_columns[] = {
	{ "start", false },        { "end", false },          { "globalTid", true },
	{ "nameId|textId", true }, { "correlationId", true }, { "eventClass", true },
	{ "returnValue", true },
};
_Static_assert(ARRAY_LEN(call_columns) == A_COLUMNS, "one name for each column");

struct api {
	const char *table, *category;
	bool launches;
};

static const struct api apis[] = {
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", "cuda_runtime", true },
	{ "CUPTI_ACTIVITY_KIND_DRIVER", "cuda_driver", true },
	{ "OSRT_API", "osrt", false },
	{ "CUDNN_EVENTS", "cudnn", false },
	{ "CUBLAS_EVENTS", "cublas", false },
	{ "CUSOLVER_EVENTS", "cusolver", false },
	{ "CUSPARSE_EVENTS", "cusparse", false },
	{ "MPI_P2P_EVENTS", "mpi", false },
	{ "MPI_COLLECTIVES_EVENTS", "mpi", false },
	{ "MPI_START_WAIT_EVENTS", "mpi", false },
	{ "MPI_OTHER_EVENTS", "mpi", false },
	{ "UCP_EVENTS", "ucx", false },
	{ "OPENGL_API", "opengl", false },
	{ "VULKAN_API", "vulkan", false },
	{ "OPENACC_LAUNCH_EVENTS", "openacc", false },
	{ "OPENACC_DATA_EVENTS", "openacc", false },
	{ "OPENACC_OTHER_EVENTS", "openacc", false },
	{ "SYSCALL", "syscall", false },
};

/* ENUM_NSYS_EVENT_CLASS */
#define CLASS_DRIVER 1

static str_id call_args(struct nsys *ns, struct sqlite_rows *q)
{
	db_args_begin(&ns->sc);
	db_args_column(&ns->sc, "correlation", q, A_CORRELATION);
	db_args_column(&ns->sc, "return value", q, A_RESULT);
	return db_args_end(&ns->sc);
}

static void read_api(struct nsys *ns, const struct api *api)
{
	str_id category, driver;
	struct sqlite_rows q;
	int64_t calls = 0;

	if (!db_scan_open(&ns->sc, api->table, call_columns, A_COLUMNS, &q))
		return;
	category = sink_puts(ns->sc.sink, api->category);
	driver = api->launches ? sink_puts(ns->sc.sink, "cuda_driver") : category;
	while (db_scan_next(&ns->sc, &q)) {
		struct span_def d = { .kind = SPAN_HOST, .args = STR_NONE };
		int64_t global = sqlite_rows_i64_or(&q, A_THREAD, 0);
		nsys_slot thread;

		if (!db_scan_times(&ns->sc, &q, A_START, A_END, &d))
			continue;
		d.name = nsys_string(ns, &q, A_NAME, api->category);
		d.category = sqlite_rows_i64_or(&q, A_CLASS, 0) == CLASS_DRIVER ? driver : category;
		if (api->launches)
			d.correlation = nsys_correlation(ns, global,
							 sqlite_rows_i64_or(&q, A_CORRELATION, 0));
		if (ns->sc.keep_args)
			d.args = call_args(ns, &q);
		thread = nsys_thread(ns, global);
		d.track = ns->threads.v[thread].id;
		if (d.end_ns > ns->threads.v[thread].last_ns)
			ns->threads.v[thread].last_ns = d.end_ns;
		ns->sc.sink->ops->span(ns->sc.sink, &d);
		calls++;
	}
	db_scan_close(&ns->sc, &q);
	sink_fact(ns->sc.sink, "api_calls", calls);
}

static void read_overhead(struct nsys *ns, const char *table)
{
	static const struct sqlite_column cols[] = {
		{ "start", false }, { "end", false }, { "globalTid", true }, { "nameId", true }
	};
	struct sqlite_rows q;
	int64_t rows = 0;
	str_id category;

	if (!db_scan_open(&ns->sc, table, cols, ARRAY_LEN(cols), &q))
		return;
	category = sink_puts(ns->sc.sink, "overhead");
	while (db_scan_next(&ns->sc, &q)) {
		struct span_def d = { .kind = SPAN_ANNOTATION,
				      .category = category,
				      .args = STR_NONE };

		if (!db_scan_times(&ns->sc, &q, 0, 1, &d))
			continue;
		d.name = nsys_string(ns, &q, 3, "overhead");
		d.track = nsys_overhead(ns, sqlite_rows_i64_or(&q, 2, 0));
		ns->sc.sink->ops->span(ns->sc.sink, &d);
		rows++;
	}
	db_scan_close(&ns->sc, &q);
	sink_fact(ns->sc.sink, "overhead", rows);
}

void nsys_read_calls(struct nsys *ns)
{
	for (size_t i = 0; i < ARRAY_LEN(apis); i++)
		read_api(ns, &apis[i]);
	read_overhead(ns, "CUPTI_ACTIVITY_KIND_OVERHEAD");
	read_overhead(ns, "PROFILER_OVERHEAD");
}
