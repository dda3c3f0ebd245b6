/*
 * The rows of test_bad_input.c: for each reader how a small valid file of its format is made. Texts
 * have marks where an attack puts something else: \1 a time, \2 an end, a duration or a value, \3 a
 * name.
 */
#ifndef BAD_INPUT_H
#define BAD_INPUT_H

#include "nsys_fixture.h"
#include "rocpd_fixture.h"
#include "rpd_fixture.h"
#include "tests/fixtures/gen/otf2_gen.h"
#include "tests/fixtures/gen/perfetto_gen.h"
#include "xplane_fixture.h"

struct format {
	const char *reader, *about;
	const char *file; /* that is damaged */
	const char *open; /* that is read; NULL: the same */
	/* one of these */
	const char *text;
	const char *const *sql;
	void (*make)(const char *dir);
	/* what stands for the marks in the valid file */
	const char *time, *end;
	/* of a database: columns with times, "table.column" */
	const char *columns[6];
	bool json;
	bool end_is_value; /* of any size */
};

/* Two calls on a thread. */
static inline void make_otf2(const char *dir)
{
	CLEANUP(xfreep) char *archive = fs_join(dir, "a");
	struct otf2_gen *g = otf2_gen_open(archive, 1000000000, 0, OTF2_UNDEFINED_TIMESTAMP);
	OTF2_EvtWriter *w;

	otf2_gen_host(g, 0, "node1");
	otf2_gen_group(g, 0, "Process", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	w = otf2_gen_location(g, 0, "Master thread", OTF2_LOCATION_TYPE_CPU_THREAD, 0);
	otf2_gen_region(g, 0, "main", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
	otf2_gen_region(g, 1, "f", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
	OTF2_EvtWriter_Enter(w, NULL, 10, 0);
	otf2_gen_call(w, 20, 30, 1);
	OTF2_EvtWriter_Leave(w, NULL, 40, 0);
	otf2_gen_close(g);
}

static inline void make_xplane(const char *dir)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	CLEANUP(xfreep) char *path = fs_join(dir, "a.xplane.pb");

	xs_small(&b);
	assert_int_equal(fs_write_atomic(path, b.buf, b.len, NULL), 0);
}

/* A slice is open from the first event to the last one, so that every cut shows. */
static inline void make_perfetto(const char *dir)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	CLEANUP(xfreep) char *path = fs_join(dir, "a.pftrace");
	struct pg_event e;

	pg_thread(&b, 1, 7, 8, "main");
	pg_event(&b, PG_SEQ, 5, PG_BEGIN, 1, "all");
	pg_interned(&b);
	pg_basic(&b);
	pg_gpu(&b);
	pg_system(&b);
	pg_small_compressed(&b);
	e = pg_event_open(&b, PG_SEQ, 9000000, PG_END, 1, NULL);
	pg_arg_u64(&b, "last", 1);
	pg_event_close(&b, e);
	assert_int_equal(fs_write_atomic(path, b.buf, b.len, NULL), 0);
}

#define ROCPROF_DB \
	"CREATE TABLE KERN(\"Index\" INTEGER, KernelName TEXT, \"gpu-id\" INTEGER," \
	" \"queue-id\" INTEGER, pid INTEGER, tid INTEGER, BeginNs INTEGER, EndNs INTEGER);" \
	"CREATE TABLE HIP(BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT," \
	" args TEXT, \"Index\" INTEGER, Data TEXT, __section INTEGER, __lane INTEGER);" \
	"CREATE TABLE OPS(BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER," \
	" \"queue-id\" INTEGER, Name TEXT, pid INTEGER, tid INTEGER, \"stream-id\" INTEGER," \
	" \"Index\" INTEGER);" \
	"INSERT INTO KERN VALUES (0, '\"k\"', 0, 1, 7, 8, 150, 250);" \
	"INSERT INTO HIP VALUES (100, 200, 7, 8, 'hipLaunchKernel', '', 5, '', 2, 8);" \
	"INSERT INTO OPS VALUES (150, 250, 0, 1, '\"k\"', 7, 8, 1, 5), (260, 270, 0, 1, 'm', 7, " \
	"8," \
	" 1, 6);"

#define RPD_ROWS \
	"INSERT INTO rocpd_api(pid, tid, start, end, apiName_id, args_id) VALUES" \
	" (1, 1, 100, 150, 3, 1), (1, 1, 160, 170, 4, 1);" \
	"INSERT INTO rocpd_op(gpuId, queueId, sequenceId, start, end, description_id, opType_id)" \
	" VALUES (0, 0, 1, 200, 300, 7, 5), (0, 0, 2, 310, 320, 1, 6);" \
	"INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (1, 1), (2, 2);" \
	"INSERT INTO rocpd_monitor(deviceType, deviceId, monitorType, start, end, value) VALUES" \
	" ('gpu', 0, 'sclk', 100, 200, '800'), ('gpu', 0, 'sclk', 200, 300, '900');"

static const struct format formats[] = {
	ROW(.reader = "otf2", .about = "events", .file = "a/traces/0.evt", .open = "a/traces.otf2",
	    .make = make_otf2),
	ROW(.reader = "otf2", .about = "definitions", .file = "a/traces.def",
	    .open = "a/traces.otf2", .make = make_otf2),
	ROW(.reader = "tef", .about = "object", .file = "a.json",
	    .text = "{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":["
		    "{\"ph\":\"X\",\"name\":\"\3\",\"pid\":1,\"tid\":2,\"ts\":\1,\"dur\":\2,"
		    "\"args\":{\"a\":[1,{}]}},"
		    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5,"
		    "\"dur\":2,\"args\":{\"stream\":7,\"correlation\":3}},"
		    "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":6,\"args\":{\"v\":1.5}}]}",
	    .time = "1.5", .end = "10", .json = true),
	ROW(.reader = "tef", .about = "array", .file = "a.json",
	    .text = "[{\"ph\":\"B\",\"name\":\"\3\",\"pid\":1,\"tid\":2,\"ts\":\1},\n"
		    "{\"ph\":\"E\",\"name\":\"\3\",\"pid\":1,\"tid\":2,\"ts\":\2},\n"
		    "{\"ph\":\"b\",\"cat\":\"c\",\"name\":\"r\",\"id\":1,\"pid\":1,\"ts\":\1},\n"
		    "{\"ph\":\"e\",\"cat\":\"c\",\"name\":\"r\",\"id\":1,\"pid\":1,\"ts\":\2}]\n",
	    .time = "1.5", .end = "10", .json = true),
	ROW(.reader = "tef", .about = "rocprofv3", .file = "a_results.json",
	    .text = "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":7},\"agents\":[{\"id\":{"
		    "\"handle\":1},\"type\":2}],\"strings\":{\"buffer_records\":[{\"kind\":\"API\","
		    "\"operations\":[\"\3\"]}]},\"kernel_symbols\":[{\"kernel_id\":5,"
		    "\"formatted_kernel_name\":\"k\"}],\"buffer_records\":{\"kernel_dispatch\":[{"
		    "\"correlation_id\":{\"internal\":3},\"start_timestamp\":\1,\"end_timestamp\":"
		    "\2,"
		    "\"dispatch_info\":{\"agent_id\":{\"handle\":1},\"queue_id\":{\"handle\":1},"
		    "\"kernel_id\":5,\"dispatch_id\":1}}],\"hip_api\":[{\"kind\":0,\"operation\":0,"
		    "\"correlation_id\":{\"internal\":3},\"start_timestamp\":5,\"end_timestamp\":9,"
		    "\"thread_id\":7}]}}]}",
	    .time = "10", .end = "20", .json = true),
	ROW(.reader = "samples", .about = "every", .file = "gpu.csv",
	    .text = "# profrig samples: 1\n# clock: CLOCK_MONOTONIC\n# host: \3\n"
		    "t_ns,power.gpu0[W],energy.gpu0[J]\n\1,\2,1\n6000000000,80,2\n",
	    .time = "5000000000", .end = "75", .end_is_value = true),
	ROW(.reader = "metrics_csv", .about = "two counters", .file = "m.csv",
	    .text = "Group,Metric Name,Time,Value\nMPI Rank 0,\3,\1,\2\nMPI Rank 0,\3,2.5,3\n"
		    "MPI Rank 0,other,2.5,4\n",
	    .time = "0.5", .end = "1000", .end_is_value = true),
	ROW(.reader = "rpd", .about = "schema 2", .file = "a.rpd", .sql = SQL(RPD_2, RPD_ROWS),
	    .columns = { "rocpd_api.start", "rocpd_api.end", "rocpd_op.start", "rocpd_op.end",
			 "rocpd_monitor.start", "rocpd_monitor.value" }),
	ROW(.reader = "rocprof_db", .about = "a trace", .file = "results.db",
	    .sql = SQL(ROCPROF_DB),
	    .columns = { "KERN.BeginNs", "KERN.EndNs", "HIP.BeginNs", "HIP.EndNs", "OPS.BeginNs",
			 "OPS.EndNs" }),
	ROW(.reader = "nsys", .about = "two processes", .file = "a.sqlite", .sql = SQL(NSYS_SMALL),
	    .columns = { "CUPTI_ACTIVITY_KIND_KERNEL.start", "CUPTI_ACTIVITY_KIND_KERNEL.end",
			 "CUPTI_ACTIVITY_KIND_RUNTIME.start", "CUPTI_ACTIVITY_KIND_RUNTIME.end" }),
	ROW(.reader = "rocpd", .about = "one process", .file = "a.db", .sql = SQL(ROCPD(U1)),
	    .columns = { "rocpd_region" U1 ".start", "rocpd_region" U1 ".end",
			 "rocpd_kernel_dispatch" U1 ".start", "rocpd_kernel_dispatch" U1 ".end",
			 "rocpd_memory_copy" U1 ".start", "rocpd_memory_copy" U1 ".end" }),
	ROW(.reader = "rocprof_csv", .about = "kernels", .file = "1_kernel_trace.csv",
	    .text = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_"
		    "Id\","
		    "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
		    "\"End_Timestamp\"\n"
		    "\"KERNEL_DISPATCH\",\"Agent 4\",1,1,9,1,5,\"\3\",1,\1,\2\n"
		    "\"KERNEL_DISPATCH\",\"Agent 4\",1,1,9,2,5,\"k\",2,400,500\n",
	    .time = "100", .end = "300"),
	ROW(.reader = "ncu_csv", .about = "raw", .file = "ncu.csv",
	    .text = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
		    "Name\",\"Stream\","
		    "\"Device\",\"gpu__time_duration.sum\",\"sm__inst.sum\"\n"
		    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"inst\"\n"
		    "\"0\",\"7\",\"app\",\"h\",\"\3\",\"1\",\"0\",\"\1\",\"\2\"\n"
		    "\"1\",\"7\",\"app\",\"h\",\"k\",\"1\",\"0\",\"2.5\",\"5\"\n",
	    .time = "1.5", .end = "10", .end_is_value = true),
	ROW(.reader = "ncu_csv", .about = "details", .file = "ncu.csv",
	    .text = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
		    "Name\",\"Device\","
		    "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
		    "\"0\",\"7\",\"app\",\"h\",\"\3\",\"0\",\"s\",\"gpu__time_duration.sum\","
		    "\"us\",\"\1\"\n"
		    "\"0\",\"7\",\"app\",\"h\",\"\3\",\"0\",\"s\",\"a\",\"\",\"\2\"\n",
	    .time = "1.5", .end = "10", .end_is_value = true),
	ROW(.reader = "perf", .about = "call stacks", .file = "a.perf",
	    .text = "app 100/100 [000] \1:     \2 cpu-clock: \n"
		    "\t    7f00000010 \3+0x10 (/usr/bin/app)\n"
		    "\t    7f00000030 main+0x20 (/usr/bin/app)\n\n"
		    "app 100/100 [000] 10.010100:     250000 cpu-clock: \n"
		    "\t    7f00000011 other+0x1 (/usr/bin/app)\n\n",
	    .time = "10.000000", .end = "250000"),
	ROW(.reader = "folded", .about = "counts", .file = "a.folded",
	    .text = "main;\3 \1\nmain;other \2\nidle 4\n", .time = "2", .end = "3"),
	ROW(.reader = "speedscope", .about = "both kinds", .file = "a.speedscope.json",
	    .text = "{\"$schema\":\"https://www.speedscope.app/"
		    "file-format-schema.json\",\"shared\":"
		    "{\"frames\":[{\"name\":\"\3\"},{\"name\":\"b\"}]},\"profiles\":[{\"type\":"
		    "\"evented\",\"name\":\"one\",\"unit\":\"microseconds\",\"startValue\":0,"
		    "\"endValue\":9,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":\1},{\"type\":"
		    "\"C\","
		    "\"frame\":0,\"at\":\2}]},{\"type\":\"sampled\",\"name\":\"two\",\"unit\":"
		    "\"none\","
		    "\"startValue\":0,\"endValue\":9,\"samples\":[[0,1],[0]],\"weights\":[1,2]}]}",
	    .time = "0.5", .end = "7", .json = true),
	ROW(.reader = "xplane", .about = "one plane", .file = "a.xplane.pb", .make = make_xplane),
	ROW(.reader = "perfetto", .about = "packets", .file = "a.pftrace", .make = make_perfetto),
	ROW(.reader = "library_log", .about = "two libraries", .file = "a.log",
	    .text = "onednn_verbose,\1,exec,cpu,matmul,\3,undef,src_f32::blocked:ab:f0 "
		    "wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,8x4:4x2:8x2,\2\n"
		    "epoch 1: \3\n"
		    "./rocblas-bench -f gemm -r s --transposeA N --transposeB N -m 8 -n 4 -k 2 "
		    "--alpha 1 --lda 8 --ldb 2 --beta 0 --ldc 8\n",
	    .time = "1700000000000.5", .end = "0.25", .end_is_value = true),
};

#endif
