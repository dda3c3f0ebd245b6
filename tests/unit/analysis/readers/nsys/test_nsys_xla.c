/*
 * Exports of Nsight Systems of JAX programs: ranges of XLA in the layouts that it has had, threads
 * that launch for a device, executions of modules and operations.
 */
#include "nsys_fixture.h"

#define T11 TID(10, 11)
#define T12 TID(10, 12)
#define T13 TID(10, 13)
#define T14 TID(10, 14)
#define LAUNCHERS \
	"INSERT INTO StringIds VALUES (20, 'XlaLauncher:#global=4,local=0,process=2,slice=0#')," \
	" (21, 'XlaLauncher:#global=5,local=1,process=2,partition=0#');" \
	"INSERT INTO ThreadNames VALUES (20, 20, " T12 "), (21, 20, " T13 ");"
#define RANGE \
	"INSERT INTO NVTX_EVENTS(start, \"end\", eventType, text, globalTid, domainId) VALUES "

/* Nothing but the span where none starts then. */
static struct program_facts program_at(const struct model *m, int64_t start)
{
	for (size_t i = 0; i < m->facts.programs.nr; i++)
		if (m->spans.start_ns[m->facts.programs.v[i].span] == start)
			return m->facts.programs.v[i];
	return PROGRAM_FACTS_NONE;
}

static void expect_program(const struct model *m, int64_t start, enum program_kind kind,
			   const char *want)
{
	struct program_facts f = program_at(m, start);
	char text[128];

	snprintf(text, sizeof(text), "%s %s id %lld device %lld, %d %d",
		 f.module == STR_NONE ? "-" : model_str(m, f.module),
		 f.op == STR_NONE ? "-" : model_str(m, f.op),
		 f.program_id == FACT_ABSENT ? -1LL : (long long)f.program_id,
		 f.device == FACT_ABSENT ? -1LL : (long long)f.device, (int)f.execution,
		 (int)f.ordinal);
	assert_string_equal(text, want);
	assert_int_equal(f.kind, kind);
}

/* The three layouts: a domain in front, a domain beside, none; all have the same facts. */
TEST(layouts)
{
	static const char *const ranges[] = {
		RANGE
		"(100, 200, 59, 'TSL:XlaModule:#prefix=a,hlo_module=jit_f,program_id=7#', " T12
		", 0), (110, 120, 59, 'TSL:Thunk:#name=a/b,hlo_op=dot.1#', " T12
		", 0), (130, 140, 59, 'TSL:Thunk:#hlo_op=dot.1#', " T12 ", 0);",
		RANGE
		"(0, NULL, 75, 'TSL', " T11
		", 3), (100, 200, 59, 'XlaModule:#prefix=a,hlo_module=jit_f,program_id=7#', " T12
		", 3), (110, 120, 59, 'Thunk:#name=a/b,hlo_op=dot.1#', " T12
		", 3), (130, 140, 59, 'Thunk:#hlo_op=dot.1#', " T12 ", 3);",
		RANGE "(100, 200, 59, 'XlaModule:#hlo_module=jit_f,program_id=7#', " T12
		      ", NULL), (110, 120, 59, 'Thunk:#hlo_op=dot.1#', " T12
		      ", NULL), (130, 140, 59, 'Thunk:#hlo_op=dot.1#', " T12 ", NULL);",
	};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		READING rd = read_sql("nsys", false, SQL(NSYS_BASE LAUNCHERS, ranges[i]));

		assert_int_equal(rd.r, 0);
		assert_int_equal(rd.m->facts.programs.nr, 3);
		expect_program(rd.m, 100, PROGRAM_MODULE, "jit_f - id 7 device 4, 0 -1");
		expect_program(rd.m, 110, PROGRAM_OP, "jit_f dot.1 id 7 device 4, 0 0");
		expect_program(rd.m, 130, PROGRAM_OP, "jit_f dot.1 id 7 device 4, 0 1");
		assert_int_equal(warned(rd.m, W_OP_WITHOUT_MODULE), 0);
	}
}

TEST(devices_are_ranks)
{
	READING rd = read_sql(
		"nsys", false,
		SQL(NSYS_BASE LAUNCHERS,
		    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 400, 0, 1, 7, 1, " PID_10
		    ", 2, 1, NULL), (300, 400, 1, 1, 7, 2, " PID_10
		    ", 2, 1, NULL), (300, 400, 2, 1, 7, 3, " PID_10
		    ", 2, 1, NULL), (310, 410, 0, 1, 7, 1, " PID_20
		    ", 2, 1, NULL);INSERT INTO StringIds VALUES (22, "
		    "'XlaLauncher:#global=9,local=0,process=3#');INSERT INTO ThreadNames VALUES "
		    "(22, 20, " TID_20_21 ");"));
	static const int32_t want[] = { 4, 5, RANK_NONE, 9 };
	size_t seen = 0;

	assert_int_equal(rd.r, 0);
	for (size_t i = 0; i < rd.m->spans.nr; i++) {
		const struct track *t = &rd.m->tracks.v[rd.m->spans.track[i]];
		const char *device = model_str(rd.m, t->device);
		size_t at = t->rank == 9 ? 3 : (size_t)(device[strlen(device) - 1] - '0');

		assert_int_equal(t->rank, want[at]);
		seen |= (size_t)1 << at;
	}
	assert_int_equal(seen, 15);
}

/* MPI's number of a process stands before that of its only device. */
TEST(ranks_of_mpi_come_first)
{
	READING rd = read_sql(
		"nsys", false,
		SQL(NSYS_BASE,
		    "CREATE TABLE MPI_RANKS(globalPid, rank);INSERT INTO MPI_RANKS VALUES (" PID_10
		    ", 3);INSERT INTO StringIds VALUES (20, "
		    "'XlaLauncher:#global=7,local=0,process=7,slice=0#');INSERT INTO ThreadNames "
		    "VALUES (20, 20, " T12 ");" RANGE "(5, 6, 59, 'r', " T12 ", 0);"));

	assert_int_equal(rd.r, 0);
	assert_int_equal(rd.m->tracks.v[rd.m->spans.track[0]].rank, 3);
}

TEST(bad_names)
{
	READING rd = read_sql(
		"nsys", false,
		SQL(NSYS_BASE
		    "INSERT INTO StringIds VALUES (20, 'XlaLauncher:#global=4294967295,local=0#'), "
		    "(21, 'XlaLauncher:#global=-1#'), (22, 'XlaLauncher:#');INSERT INTO "
		    "ThreadNames VALUES (20, 20, " T12 "), (21, 20, " T13 "), (22, 20, " T14 ");",
		    RANGE "(100, 200, 59, 'XlaModule:#hlo_module=jit_f,program_id=7', " T12
			  ", 0), (110, 120, 59, 'Thunk:#hlo_op=#', " T13
			  ", 0), (130, 140, 59, 'Thunk:#hlo_op=a#', " T14 ", 0);"));

	assert_int_equal(rd.r, 0);
	assert_int_equal(rd.m->facts.programs.nr, 1);
	expect_program(rd.m, 130, PROGRAM_OP, "- a id -1 device -1, -1 -1");
	assert_int_equal(warned(rd.m, W_OP_WITHOUT_MODULE), 1);
}

/* tests/fixtures/gen/nsys_xla.sql */
TEST(executions_of_a_job)
{
	READING rd = read_path("nsys", "tests/fixtures/nsys/xla.sqlite", false);
	size_t kinds[PROGRAM_COMPILE + 1] = { 0 };

	assert_int_equal(rd.r, 0);
	for (size_t i = 0; i < rd.m->facts.programs.nr; i++)
		kinds[rd.m->facts.programs.v[i].kind]++;
	assert_int_equal(kinds[PROGRAM_MODULE], 9);
	assert_int_equal(kinds[PROGRAM_OP], 28);
	assert_int_equal(kinds[PROGRAM_COMPILE], 6);
	expect_program(rd.m, 220000, PROGRAM_MODULE, "jit_step - id 7 device 4, 2 -1");
	expect_program(rd.m, 220050, PROGRAM_MODULE, "jit_step - id 7 device 5, 2 -1");
	expect_program(rd.m, 220450, PROGRAM_OP, "jit_step fusion.1 id 7 device 5, 2 1");
	expect_program(rd.m, 230100, PROGRAM_OP, "jit_step fusion.1 id 7 device 4, 3 0");
	expect_program(rd.m, 110100, PROGRAM_OP, "jit_init wrapped_add id -1 device 4, 0 0");
	expect_program(rd.m, 80000, PROGRAM_COMPILE, "jit_step fusion id 7 device -1, -1 -1");
	assert_int_equal(warned(rd.m, W_OP_WITHOUT_MODULE), 1);
	assert_int_equal(warned(rd.m, W_OPEN_SPAN), 2);
}

/*
 * What ends nsys-jax: a synchronous collective, several collectives in one operation, ids twice, a
 * thread that names no device, an operation of another program between. All is read.
 */
TEST(programs_that_are_odd)
{
	READING rd = read_sql(
		"nsys", false,
		SQL(NSYS_BASE LAUNCHERS
		    "INSERT INTO StringIds VALUES (30, 'Thunk:#hlo_op=all-reduce.1#'), (31, "
		    "'ncclDevKernel_AllReduce'), (32, 'ncclDevKernel_AllGather');",
		    RANGE "(100, 300, 59, 'XlaModule:#hlo_module=jit_f,program_id=7#', " T12
			  ", 0), (100, 300, 59, 'XlaModule:#hlo_module=jit_f,program_id=7#', " T14
			  ", 0), (150, 200, 59, 'XlaModule:#hlo_module=jit_g,program_id=7#', " T12
			  ", 0), (160, 170, 59, 'Thunk:#hlo_op=add.1#', " T12 ", 0);",
		    "INSERT INTO NVTX_EVENTS(start, \"end\", eventType, textId, globalTid, "
		    "domainId) VALUES (210, 260, 59, 30, " T12
		    ", 0);INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (220, 230, 0, " T12
		    ", 1, 3, 0), (240, 250, 0, " T12
		    ", 2, 3, 0);INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (400, 500, 0, 1, 7, "
		    "1, " PID_10 ", 31, 31, NULL), (500, 600, 0, 1, 7, 2, " PID_10
		    ", 32, 32, NULL);"));

	assert_int_equal(rd.r, 0);
	expect_model(rd.m, "links=2");
	assert_int_equal(rd.m->facts.programs.nr, 5);
	expect_program(rd.m, 150, PROGRAM_MODULE, "jit_g - id 7 device 4, 0 -1");
	expect_program(rd.m, 160, PROGRAM_OP, "jit_g add.1 id 7 device 4, 0 0");
	expect_program(rd.m, 210, PROGRAM_OP, "jit_f all-reduce.1 id 7 device 4, 0 0");
}
