/*
 * Files that are made to take as much memory as they can for their size: no reader takes more than
 * twice the file and 64 MiB, and a file that is cut for it says so.
 */
#include "sqlite_fixture.h"
#include "tests/fixtures/gen/perfetto_gen.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define TEXT_BYTES (8 << 20)
#define ROWS "120000"
#define FREE_KB 65536

/* A file: what stands first, record i as often as it takes, what stands last. */
struct text_case {
	const char *reader, *what;
	const char *head, *tail;
	void (*put)(FILE *f, uint64_t i);
};

struct sql_case {
	const char *reader, *what;
	const char *const *sql;
};

static int letter(uint64_t i, int k)
{
	return 'a' + (int)((i >> k % 16 ^ (uint64_t)k) % 7);
}

static void folded_deep(FILE *f, uint64_t i)
{
	fprintf(f, "r%" PRIu64, i % 9973);
	for (int k = 0; k < 2000; k++)
		fprintf(f, ";%c", letter(i, k));
	fputs(" 1\n", f);
}

static void folded_short(FILE *f, uint64_t i)
{
	fprintf(f, "%c;%c 1\n", 'a' + (int)(i * 7 % 11), 'a' + (int)(i % 13));
}

static void folded_names(FILE *f, uint64_t i)
{
	fprintf(f, "%" PRIx64 " 1\n", i);
}

static void perf_deep(FILE *f, uint64_t i)
{
	fprintf(f, "c 1/1 %" PRIu64 ".000000: 1000000 cpu-clock: \n", i);
	for (int k = 0; k < 2000; k++)
		fprintf(f, "\t 1 %c (x)\n", letter(i, k));
	fprintf(f, "\t 1 r%" PRIu64 " (x)\n\n", i);
}

static void perf_names(FILE *f, uint64_t i)
{
	fprintf(f, "c 1/1 %" PRIu64 ".0: 1 cpu-clock:\n\t 1 %" PRIx64 " (x)\n\n", i, i);
}

static void perf_threads(FILE *f, uint64_t i)
{
	fprintf(f, "c 1/%" PRIu64 " 1.0: 1 cpu-clock:\n\t 1 f\n\n", i % 4000000 + 2);
}

static void speed_deep(FILE *f, uint64_t i)
{
	fprintf(f, "%s{\"type\":\"sampled\",\"unit\":\"none\",\"weights\":[1,1],\"samples\":[[0",
		i ? "," : "");
	for (int k = 0; k < 2000; k++)
		fprintf(f, k == 1000 ? "],[%d" : ",%d", (int)((i + (uint64_t)k) % 7));
	fputs("]]}", f);
}

static void speed_frames(FILE *f, uint64_t i)
{
	fputs(i ? ",{}" : "{}", f);
}

static void speed_profiles(FILE *f, uint64_t i)
{
	fprintf(f, "%s{\"type\":\"sampled\"}", i ? "," : "");
}

static void speed_events(FILE *f, uint64_t i)
{
	fprintf(f, "%s{\"type\":\"%c\",\"frame\":%d,\"at\":%" PRIu64 "}", i ? "," : "",
		i % 2 ? 'C' : 'O', (int)(i / 2 % 9), i);
}

static void csv_calls(FILE *f, uint64_t i)
{
	fprintf(f, "H,f,1,1,%d\n", (int)(i % 7 + 1));
}

static void csv_names(FILE *f, uint64_t i)
{
	fprintf(f, "H,%" PRIx64 ",1,1,2\n", i);
}

static void csv_threads(FILE *f, uint64_t i)
{
	fprintf(f, "H,f,%" PRIu64 ",1,2\n", i);
}

static void csv_queues(FILE *f, uint64_t i)
{
	fprintf(f, "K,1,%" PRIu64 ",f,1,2\n", i);
}

static void csv_counters(FILE *f, uint64_t i)
{
	fprintf(f, "%" PRIu64 ",1,1,f,%" PRIx64 ",1,1,2\n", i, i);
}

static void csv_allocations(FILE *f, uint64_t i)
{
	fprintf(f, "A,1,%" PRIx64 ",1,1,2\n", i);
}

static void ncu_kernels(FILE *f, uint64_t i)
{
	fprintf(f, "%" PRIu64 ",1,a,h,%" PRIx64 ",1\n", i, i);
}

static void ncu_values(FILE *f, uint64_t i)
{
	fprintf(f, i % 64 ? ",%d" : "\n1,1,a,h,k,%d", (int)(i % 10));
}

static void ncu_names(FILE *f, uint64_t i)
{
	fprintf(f, "1,1,a,h,k,s,%" PRIx64 ",,1\n", i);
}

static void metrics_rows(FILE *f, uint64_t i)
{
	fprintf(f, "g,m,%" PRIu64 ",%d\n", i, (int)(i % 10));
}

static void metrics_names(FILE *f, uint64_t i)
{
	fprintf(f, "g,%" PRIx64 ",1,2\n", i);
}

static void library_configurations(FILE *f, uint64_t i)
{
	fprintf(f,
		"./rocblas-bench -f gemm -r s --transposeA N --transposeB N -m %" PRIu64
		" -n 1 -k 1 --lda %" PRIu64 " --ldb 1 --ldc %" PRIu64 "\n",
		i + 1, i + 1, i + 1);
}

/* A number in four bytes, and what stands in front of it and behind. */
static void xplane_put(FILE *f, const char *before, uint64_t i, const char *behind)
{
	fputs(before, f);
	for (int k = 0; k < 4; k++)
		fputc((int)(i >> 7 * k & 0x7f) | (k < 3 ? 0x80 : 0), f);
	fputs(behind, f);
}

static void xplane_events(FILE *f, uint64_t i)
{
	(void)i;
	fputs("\x22\x02\x08\x01", f);
}

static void xplane_rows(FILE *f, uint64_t i)
{
	xplane_put(f, "\x22\x08\x08", i, "\x12\x01\x12");
}

static void xplane_lines(FILE *f, uint64_t i)
{
	xplane_put(f, "\x1a\x09\x08", i, "\x22\x02\x08\x01");
}

static void xplane_planes(FILE *f, uint64_t i)
{
	(void)i;
	fputs("\x0a\x03\x12\x01p", f);
}

static void samples_rows(FILE *f, uint64_t i)
{
	fprintf(f, "%" PRIu64 ",%d\n", i, (int)(i % 10));
}

static void samples_columns(FILE *f, uint64_t i)
{
	fprintf(f, ",c%" PRIx64, i);
}

static void perfetto_out(FILE *f, struct strbuf *b)
{
	fwrite(b->buf, 1, b->len, f);
	strbuf_release(b);
}

/* A packet with an event in as few bytes as it can have: below 128, so lengths take one. */
static void perfetto_event(FILE *f, uint64_t t, int type, const char *more, size_t n)
{
	struct strbuf b = STRBUF_INIT, event = STRBUF_INIT, packet = STRBUF_INIT;

	pb_put_u64(&event, 9, (uint64_t)type);
	strbuf_add(&event, more, n);
	pb_put_u64(&packet, 8, t);
	pb_put_bytes(&packet, 11, event.buf, event.len);
	pb_put_bytes(&b, 1, packet.buf, packet.len);
	perfetto_out(f, &b);
	strbuf_release(&event);
	strbuf_release(&packet);
}

static void perfetto_slices(FILE *f, uint64_t i)
{
	perfetto_event(f, i, i % 2 ? PG_END : PG_BEGIN, NULL, 0);
}

static void perfetto_instants(FILE *f, uint64_t i)
{
	perfetto_event(f, i % 100, PG_INSTANT, NULL, 0);
}

static void perfetto_open(FILE *f, uint64_t i)
{
	perfetto_event(f, i / 1000, PG_BEGIN, NULL, 0);
}

static void perfetto_held(FILE *f, uint64_t i)
{
	perfetto_event(f, 5, i % 1000 < 500 ? PG_BEGIN : PG_END, NULL, 0);
}

static void perfetto_swapped(FILE *f, uint64_t i)
{
	perfetto_event(f, 1000000 - i, i % 2 ? PG_END : PG_BEGIN, NULL, 0);
}

static void perfetto_with(FILE *f, uint64_t i, uint32_t field, bool fixed)
{
	struct strbuf more = STRBUF_INIT;

	if (fixed)
		pb_put_i64(&more, field, i);
	else
		pb_put_u64(&more, field, i + 1);
	perfetto_event(f, i, PG_INSTANT, more.buf, more.len);
	strbuf_release(&more);
}

static void perfetto_tracks(FILE *f, uint64_t i)
{
	perfetto_with(f, i, 11, false);
}

static void perfetto_flows(FILE *f, uint64_t i)
{
	perfetto_with(f, i, 47, true);
}

static void perfetto_iids(FILE *f, uint64_t i)
{
	struct strbuf b = STRBUF_INIT;
	size_t packet = pg_open(&b, 0, -1), at = pb_open(&b, 12);

	for (uint64_t k = 0; k < 50; k++)
		pg_intern(&b, 2, (50 * i + k) * 7 + 1, "a");
	pb_close(&b, at);
	pg_close(&b, packet);
	perfetto_out(f, &b);
}

static void perfetto_names(FILE *f, uint64_t i)
{
	struct strbuf more = STRBUF_INIT;
	char name[32];

	snprintf(name, sizeof(name), "%" PRIx64, i);
	pb_put_str(&more, 23, name);
	perfetto_event(f, i, PG_INSTANT, more.buf, more.len);
	strbuf_release(&more);
}

static void perfetto_sequences(FILE *f, uint64_t i)
{
	struct strbuf b = STRBUF_INIT, packet = STRBUF_INIT;

	pb_put_u64(&packet, 10, i);
	pb_put_bytes(&b, 1, packet.buf, packet.len);
	perfetto_out(f, &b);
	strbuf_release(&packet);
}

static void perfetto_snapshots(FILE *f, uint64_t i)
{
	struct strbuf b = STRBUF_INIT;
	size_t packet = pg_open(&b, 0, -1), at = pb_open(&b, 6);

	for (uint32_t k = 0; k < 60; k++)
		pg_clock(&b, k + 1, i * 60 + k, false, 0);
	pb_close(&b, at);
	pg_close(&b, packet);
	perfetto_out(f, &b);
}

static void perfetto_values(FILE *f, uint64_t i)
{
	struct strbuf more = STRBUF_INIT;

	pb_put_u64(&more, 30, i % 100);
	perfetto_event(f, i, PG_COUNTER, more.buf, more.len);
	strbuf_release(&more);
}

static void perfetto_descriptions(FILE *f, uint64_t i)
{
	struct strbuf b = STRBUF_INIT;

	pg_thread(&b, i + 1, 1, (int64_t)i + 1, "t");
	perfetto_out(f, &b);
}

#define SPEED "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
#define SPEED_FRAMES \
	"\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":" \
	"\"d\"}," \
	"{\"name\":\"e\"},{\"name\":\"f\"},{\"name\":\"g\"}]},"

static const struct text_case texts[] = {
	{ "folded", "deep stacks without a common root", "", "", folded_deep },
	{ "folded", "short stacks", "", "", folded_short },
	{ "folded", "names", "", "", folded_names },
	{ "perf", "deep stacks without a common root", "", "", perf_deep },
	{ "perf", "names", "", "", perf_names },
	{ "perf", "threads", "", "", perf_threads },
	{ "speedscope", "deep stacks without a common root", SPEED SPEED_FRAMES "\"profiles\":[",
	  "]}", speed_deep },
	{ "speedscope", "frames", SPEED "\"profiles\":[],\"shared\":{\"frames\":[", "]}}",
	  speed_frames },
	{ "speedscope", "profiles", SPEED "\"profiles\":[", "]}", speed_profiles },
	{ "speedscope", "events",
	  SPEED SPEED_FRAMES "\"profiles\":[{\"type\":\"evented\",\"unit\":\"none\",\"events\":[",
	  "]}]}", speed_events },
	{ "rocprof_csv", "calls", "Domain,Function,Thread_Id,Start_Timestamp,End_Timestamp\n", "",
	  csv_calls },
	{ "rocprof_csv", "names", "Domain,Function,Thread_Id,Start_Timestamp,End_Timestamp\n", "",
	  csv_names },
	{ "rocprof_csv", "threads", "Domain,Function,Thread_Id,Start_Timestamp,End_Timestamp\n", "",
	  csv_threads },
	{ "rocprof_csv", "queues",
	  "Kind,Agent_Id,Queue_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n", "", csv_queues },
	{ "rocprof_csv", "counters",
	  "Dispatch_Id,Agent_Id,Queue_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,"
	  "End_Timestamp\n",
	  "", csv_counters },
	{ "rocprof_csv", "allocations",
	  "Operation,Agent_Id,Address,Allocation_Size,Start_Timestamp,End_Timestamp\n", "",
	  csv_allocations },
	{ "ncu_csv", "kernels", "ID,Process ID,Process Name,Host Name,Kernel Name,m__a\n", "",
	  ncu_kernels },
	{ "ncu_csv", "values",
	  "ID,Process ID,Process Name,Host Name,Kernel Name,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,"
	  "t,u,v,w,x,y,z,A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q,R,S,T,U,V,W,X,Y,Z,0,1,2,3,4,5,6,7,8,9,+,"
	  "-",
	  "\n", ncu_values },
	{ "ncu_csv", "names",
	  "ID,Process ID,Process Name,Host Name,Kernel Name,Section Name,Metric Name,Metric Unit,"
	  "Metric Value\n",
	  "", ncu_names },
	{ "metrics_csv", "rows", "Group,Metric Name,Time,Value\n", "", metrics_rows },
	{ "metrics_csv", "names", "Group,Metric Name,Time,Value\n", "", metrics_names },
	{ "samples", "rows", "# profrig samples: 1\n# clock: CLOCK_MONOTONIC\nt_ns,a\n", "",
	  samples_rows },
	/* the lengths lead behind the end, which is a cut file */
	{ "xplane", "events", "\x0a\xff\xff\xff\x7f\x12\x09/host:CPU\x1a\xff\xff\xff\x7f", "",
	  xplane_events },
	{ "xplane", "rows of a table",
	  "\x0a\xff\xff\xff\x7f\x12\x09/host:CPU\x1a\x04\x22\x02\x08\x01", "", xplane_rows },
	{ "xplane", "lines", "\x0a\xff\xff\xff\x7f\x12\x09/host:CPU", "", xplane_lines },
	{ "xplane", "planes", "", "", xplane_planes },
	{ "library_log", "configurations", "", "", library_configurations },
	{ "perfetto", "slices", "", "", perfetto_slices },
	{ "perfetto", "instants", "", "", perfetto_instants },
	{ "perfetto", "slices that are open", "", "", perfetto_open },
	{ "perfetto", "slices that begin together", "", "", perfetto_held },
	{ "perfetto", "slices out of order", "", "", perfetto_swapped },
	{ "perfetto", "tracks", "", "", perfetto_tracks },
	{ "perfetto", "flows", "", "", perfetto_flows },
	{ "perfetto", "interned texts", "", "", perfetto_iids },
	{ "perfetto", "names", "", "", perfetto_names },
	{ "perfetto", "sequences", "", "", perfetto_sequences },
	{ "perfetto", "clock snapshots", "", "", perfetto_snapshots },
	{ "perfetto", "values", "", "", perfetto_values },
	{ "perfetto", "descriptions", "", "", perfetto_descriptions },
	{ "samples", "columns", "# profrig samples: 1\n# clock: CLOCK_MONOTONIC\nt_ns", "\n1,2\n",
	  samples_columns },
};

#define N "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<" ROWS ") "
#define U "_01900000_0000_7000_8000_000000000001"

#define KERN "CREATE TABLE KERN(KernelName, \"gpu-id\", \"queue-id\", pid, BeginNs, EndNs)"
#define HIP "CREATE TABLE HIP(BeginNs, EndNs, pid, tid, Name)"
#define RPD_STRING "CREATE TABLE rocpd_string(id integer PRIMARY KEY, string text)"
#define RPD_API \
	"CREATE TABLE rocpd_api(id integer PRIMARY KEY, pid, tid, start, end, apiName_id, " \
	"args_id)"
#define RPD_OP \
	"CREATE TABLE rocpd_op(id integer PRIMARY KEY, gpuId, queueId, start, end, " \
	"description_id, opType_id)"
#define RPD_API_OPS "CREATE TABLE rocpd_api_ops(id integer PRIMARY KEY, api_id, op_id)"
#define NSYS_KERNEL \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, streamId, " \
	"correlationId, globalPid, shortName)"
#define NSYS_RUNTIME \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", globalTid, correlationId, " \
	"nameId)"
#define NSYS_RANGES \
	"CREATE TABLE NVTX_EVENTS(start, \"end\", eventType, text, textId, globalTid, domainId)"
#define NSYS_STRINGS "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)"
#define ROCPD_STRING "CREATE TABLE rocpd_string" U "(id INTEGER PRIMARY KEY, string TEXT)"
#define ROCPD_REGION \
	"CREATE TABLE rocpd_region" U "(id INTEGER PRIMARY KEY, nid, pid, tid, start, end, " \
	"name_id, event_id)"
#define ROCPD_EVENT \
	"CREATE TABLE rocpd_event" U "(id INTEGER PRIMARY KEY, category_id, stack_id, " \
	"parent_stack_id)"
#define ROCPD_PROCESS "CREATE TABLE rocpd_info_process" U "(id INTEGER PRIMARY KEY, nid, pid)"
#define ROCPD_THREAD "CREATE TABLE rocpd_info_thread" U "(id INTEGER PRIMARY KEY, nid, pid, tid)"

static const struct sql_case databases[] = {
	{ "rocprof_db", "dispatches",
	  SQL(KERN, N "INSERT INTO KERN SELECT 'f',0,0,1,i,i+1 FROM n") },
	{ "rocprof_db", "queues", SQL(KERN, N "INSERT INTO KERN SELECT 'f',0,i,1,1,2 FROM n") },
	{ "rocprof_db", "threads", SQL(HIP, N "INSERT INTO HIP SELECT 1,2,1,i,'f' FROM n") },
	{ "rocprof_db", "names", SQL(HIP, N "INSERT INTO HIP SELECT 1,2,1,1,i FROM n") },
	{ "rpd", "calls",
	  SQL(RPD_STRING, RPD_API, RPD_OP, RPD_API_OPS, "INSERT INTO rocpd_string VALUES(1,'f')",
	      N "INSERT INTO rocpd_api SELECT i,1,1,i,i+1,1,1 FROM n") },
	{ "rpd", "threads",
	  SQL(RPD_STRING, RPD_API, RPD_OP, RPD_API_OPS, "INSERT INTO rocpd_string VALUES(1,'f')",
	      N "INSERT INTO rocpd_api SELECT i,1,i,1,2,1,1 FROM n") },
	{ "rpd", "queues",
	  SQL(RPD_STRING, RPD_API, RPD_OP, RPD_API_OPS, "INSERT INTO rocpd_string VALUES(1,'f')",
	      N "INSERT INTO rocpd_op SELECT i,0,i,1,2,1,1 FROM n") },
	{ "rpd", "strings",
	  SQL(RPD_STRING, RPD_API, RPD_OP, RPD_API_OPS,
	      N "INSERT INTO rocpd_string SELECT i,i FROM n",
	      N "INSERT INTO rocpd_api SELECT i,1,1,1,2,i,i FROM n") },
	{ "rpd", "links",
	  SQL(RPD_STRING, RPD_API, RPD_OP, RPD_API_OPS, "INSERT INTO rocpd_string VALUES(1,'f')",
	      N "INSERT INTO rocpd_api SELECT i,1,1,i,i+1,1,1 FROM n",
	      N "INSERT INTO rocpd_op SELECT i,0,0,i,i+1,1,1 FROM n",
	      N "INSERT INTO rocpd_api_ops SELECT i,i,i FROM n") },
	{ "nsys", "kernels and calls",
	  SQL(NSYS_STRINGS, NSYS_KERNEL, NSYS_RUNTIME, "INSERT INTO StringIds VALUES(1,'f')",
	      N "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i,i+1,0,1,i,1<<24,1 FROM n",
	      N "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i,i+1,1<<24,i,1 FROM n") },
	{ "nsys", "threads",
	  SQL(NSYS_STRINGS, NSYS_KERNEL, NSYS_RUNTIME, "INSERT INTO StringIds VALUES(1,'f')",
	      N "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 1,2,i,i,1 FROM n") },
	{ "nsys", "streams",
	  SQL(NSYS_STRINGS, NSYS_KERNEL, NSYS_RUNTIME, "INSERT INTO StringIds VALUES(1,'f')",
	      N "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1,2,0,i,i,1<<24,1 FROM n") },
	{ "nsys", "strings",
	  SQL(NSYS_STRINGS, NSYS_KERNEL, NSYS_RUNTIME, N "INSERT INTO StringIds SELECT i,i FROM n",
	      N "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1,2,0,1,i,1<<24,i FROM n") },
	{ "nsys", "ranges of XLA",
	  SQL(NSYS_STRINGS, NSYS_KERNEL, NSYS_RANGES,
	      "INSERT INTO StringIds VALUES(1,'TSL:XlaModule:#hlo_module=f,program_id=7#'),"
	      "(2,'TSL:Thunk:#hlo_op=a.1#'),(3,'TSL:Thunk:#hlo_op=b.2#')",
	      N "INSERT INTO NVTX_EVENTS SELECT i/4*10,i/4*10+CASE i/4%9 WHEN 0 THEN 90 ELSE 8 END,"
		"59,NULL,CASE i/4%9 WHEN 0 THEN 1 ELSE 2+i/4%2 END,1<<24|70+i%4,0 FROM n") },
	{ "rocpd", "calls",
	  SQL(ROCPD_STRING, ROCPD_PROCESS, ROCPD_THREAD, ROCPD_EVENT, ROCPD_REGION,
	      "INSERT INTO rocpd_string" U " VALUES(1,'f')",
	      "INSERT INTO rocpd_info_process" U " VALUES(1,1,1)",
	      "INSERT INTO rocpd_info_thread" U " VALUES(1,1,1,1)",
	      N "INSERT INTO rocpd_event" U " SELECT i,1,i,i FROM n",
	      N "INSERT INTO rocpd_region" U " SELECT i,1,1,1,i,i+1,1,i FROM n") },
	{ "rocpd", "events",
	  SQL(ROCPD_PROCESS, ROCPD_EVENT, ROCPD_REGION,
	      N "INSERT INTO rocpd_event" U " SELECT i,1,i,i FROM n") },
	{ "rocpd", "threads",
	  SQL(ROCPD_STRING, ROCPD_PROCESS, ROCPD_THREAD, ROCPD_EVENT, ROCPD_REGION,
	      "INSERT INTO rocpd_string" U " VALUES(1,'f')",
	      "INSERT INTO rocpd_info_process" U " VALUES(1,1,1)",
	      N "INSERT INTO rocpd_info_thread" U " SELECT i,1,1,i FROM n",
	      N "INSERT INTO rocpd_region" U " SELECT i,1,1,i,1,2,1,NULL FROM n") },
	{ "rocpd", "strings",
	  SQL(ROCPD_STRING, ROCPD_PROCESS, ROCPD_THREAD, ROCPD_EVENT, ROCPD_REGION,
	      N "INSERT INTO rocpd_string" U " SELECT i,i FROM n",
	      "INSERT INTO rocpd_info_process" U " VALUES(1,1,1)",
	      "INSERT INTO rocpd_info_thread" U " VALUES(1,1,1,1)",
	      N "INSERT INTO rocpd_region" U " SELECT i,1,1,1,1,2,i,NULL FROM n") },
};

static _Noreturn void child(const char *path, const char *reader)
{
	struct model *m = model_new();
	struct read_opts o = { .keep_shapes = true };
	int r = reader_find(reader)->read(path, model_sink(m), &o, NULL);

	model_finish(m);
	if (r < 0)
		_exit(r == -EFBIG ? 0 : 2);
	_exit(r == READ_PARTIAL && !warned(m, W_MEMORY_LIMIT) ? 3 : 0);
}

static void memory_check(const char *path, const char *reader, const char *what)
{
	struct rusage use;
	struct stat st;
	int status;
	long most;
	pid_t pid = fork();

	if (pid == 0)
		child(path, reader);
	assert_int_equal(wait4(pid, &status, 0, &use), pid);
	assert_int_equal(stat(path, &st), 0);
	most = FREE_KB + 2 * (long)(st.st_size >> 10);
	if (getenv("PROFRIG_SHOW"))
		print_message("%-12s %-34s %6ld KB, %6ld of %6ld KB, %3.0f %%\n", reader, what,
			      (long)(st.st_size >> 10), use.ru_maxrss, most,
			      100.0 * (double)use.ru_maxrss / (double)most);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("%s, %s: status %d", reader, what, status);
	if (use.ru_maxrss > most && !getenv("PROFRIG_SHOW"))
		fail_msg("%s, %s: %ld KB for a file of %ld KB", reader, what, use.ru_maxrss,
			 (long)(st.st_size >> 10));
}

static void needs_plain_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	test_lacks("memory", "a sanitizer takes memory of its own");
#endif
}

/* Those of OTF2 and of Trace Event Format take memory in proportion (test_big_input.c). */
TEST(every_reader_has_a_row)
{
	for (const struct reader *const *r = readers; *r; r++) {
		size_t rows = strcmp((*r)->name, "otf2") == 0 || strcmp((*r)->name, "tef") == 0;

		for (size_t i = 0; i < ARRAY_LEN(texts); i++)
			rows += strcmp(texts[i].reader, (*r)->name) == 0;
		for (size_t i = 0; i < ARRAY_LEN(databases); i++)
			rows += strcmp(databases[i].reader, (*r)->name) == 0;
		if (rows == 0)
			fail_msg("test_memory.c: no row for the reader '%s'", (*r)->name);
	}
}

TEST_IN(text_files, dir)
{
	needs_plain_memory();
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const struct text_case *c = &texts[i];
		FILE *f = fopen(in_dir(dir, "text"), "we");

		assert_non_null(f);
		fputs(c->head, f);
		for (uint64_t k = 0; ftell(f) < TEXT_BYTES; k++)
			c->put(f, k);
		fputs(c->tail, f);
		fclose(f);
		memory_check(in_dir(dir, "text"), c->reader, c->what);
	}
}

TEST_IN(database_files, dir)
{
	needs_plain_memory();
	for (size_t i = 0; i < ARRAY_LEN(databases); i++) {
		const struct sql_case *c = &databases[i];
		CLEANUP(xfreep) char *path = db_make(dir, "made.db", c->sql);

		memory_check(path, c->reader, c->what);
		unlink(path);
	}
}
