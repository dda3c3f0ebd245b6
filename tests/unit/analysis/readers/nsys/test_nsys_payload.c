#include "nsys_fixture.h"
#include "readers_test.h"

#define FIX "tests/fixtures/nsys/nccl.sqlite"

/* The n-th span of a name on the threads of a process. */
static const struct collective_facts *facts_at(const struct model *m, int64_t pid, const char *name,
					       size_t n)
{
	for (size_t i = 0; i < m->spans.nr; i++)
		if (m->tracks.v[m->spans.track[i]].pid == pid &&
		    strcmp(model_str(m, m->spans.name[i]), name) == 0 && n-- == 0)
			return facts_collective(m, i);
	fail_msg("no %s of process %d", name, (int)pid);
	return NULL;
}

TEST(facts_of_payloads)
{
	READING rd = read_path("nsys", FIX, false);
	const struct model *m = rd.m;

	expect_read(&rd, 0, "");
	for (int64_t pid = 10; pid <= 20; pid += 10) {
		const struct collective_facts *f = facts_at(m, pid, "ncclAllReduce", 0);

		assert_string_equal(model_str(m, f->name), "ncclAllReduce");
		assert_string_equal(model_str(m, f->group), "0x1234abcd");
		assert_int_equal(f->group_size, 2);
		assert_int_equal(f->bytes, 4096);
		assert_int_equal(f->dtype, STR_NONE);
		assert_int_equal(f->in_elements, FACT_ABSENT);
		assert_int_equal(f->sequence, FACT_ABSENT);
		/* one rank's part, twice */
		assert_int_equal(facts_at(m, pid, "ncclAllGather", 0)->bytes, 2048);
		f = facts_at(m, pid, "ncclReduceScatter", 0);
		assert_string_equal(model_str(m, f->dtype), "bf16");
		assert_int_equal(f->in_elements, 256);
		assert_int_equal(f->out_elements, 128);
		assert_int_equal(f->bytes, 512);
		assert_int_equal(facts_at(m, pid, "ncclBroadcast", 0)->root, 1);
		f = facts_at(m, pid, "ncclSend", 0);
		assert_int_equal(f->to, pid == 10 ? 1 : 0);
		assert_int_equal(f->from, FACT_ABSENT);
		/* the end of a group of one has its facts, that of a group of two none */
		assert_int_equal(facts_at(m, pid, "ncclGroupEnd", 0)->bytes, 512);
		assert_null(facts_at(m, pid, "ncclGroupEnd", 1));
		assert_null(facts_at(m, pid, "ncclCommInitRank", 0));
	}
}

TEST(ranks_of_communicators)
{
	READING rd = read_path("nsys", FIX, false);

	for (size_t i = 0; i < rd.m->tracks.nr; i++)
		if (rd.m->tracks.v[i].kind == TRACK_PROCESS)
			assert_int_equal(rd.m->tracks.v[i].rank, rd.m->tracks.v[i].pid == 20);
}

TEST(payloads_that_are_not_read)
{
	READING rd = read_path("nsys", FIX, false);

	assert_int_equal(warned(rd.m, W_IGNORED_RECORD), 1); /* its schema is not there */
	assert_int_equal(warned(rd.m, W_BAD_EVENT), 1);      /* it is too short */
	assert_null(facts_at(rd.m, 20, "ncclAllReduce", 3));
	assert_null(facts_at(rd.m, 20, "ncclAllReduce", 4));
	assert_null(facts_at(rd.m, 20, "ncclAllReduce", 5));
}

#define PAYLOADS \
	NSYS_STRINGS \
	"CREATE TABLE NVTX_EVENTS(start, \"end\", eventType, text, globalTid, domainId, " \
	"binaryData);" \
	"CREATE TABLE NVTX_PAYLOAD_SCHEMAS(domainId, schemaId, payloadSize);" \
	"CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, type, name, offset);"
#define EVENT(name, blob) \
	"INSERT INTO NVTX_EVENTS VALUES (10, 20, 59, '" name "', " TID_10_11 ", 1, x'" blob "');"
#define HEAD(schema, size, all) \
	"0100000000000000" schema "00000000000000" size "00000000000000" all "00000000000000"

/* No schema can make the reader look beyond a payload, or take a size that cannot be. */
TEST(hostile_schemas)
{
	READING rd = read_sql(
		"nsys", false,
		SQL(PAYLOADS
		    "INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (1, 2, 8), (1, 3, -1), (1, NULL, 8),"
		    " (1, 4, 9223372036854775807), ('x', 5, 8);"
		    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
		    " (1, 2, 22, 'Message size [bytes]', 1000), (1, 3, 22, 'Message size [bytes]', "
		    "0),"
		    " (1, 3, 18, 'NCCL communicator ID', -8), (1, 3, 99, 'Root', 0),"
		    " (1, 3, 5, NULL, 0), (1, 77, 5, 'Root', 0), (1, 4, 22, 'Bytes', 0);",
		    EVENT("ncclAllReduce", HEAD("02", "08", "28") "0100000000000000") EVENT(
			    "ncclAllReduce", HEAD("03", "08", "28") "ffffffffffffffff")
			    EVENT("ncclAllReduce", HEAD("03", "08", "28") "0000000000000080") EVENT(
				    "ncclAllReduce", HEAD("04", "08", "28") "0100000000000000")
				    EVENT("ncclAllReduce",
					  HEAD("03", "ff", "28") "0100000000000000")
					    EVENT("ncclGroupEnd",
						  HEAD("03", "08", "28") "0100000000000000")
						    EVENT("other",
							  HEAD("03", "08", "28") "0100000000000000")
							    EVENT("ncclAllGather",
								  HEAD("03", "08",
								       "28") "0500000000000000")));
	const struct facts *f = &rd.m->facts;

	assert_true(rd.r >= 0);
	/* ncclGroupEnd's own size; the all-gather's ranks are not known */
	assert_int_equal(f->collectives.nr, 2);
	assert_int_equal(f->collectives.v[0].bytes, 1);
	assert_int_equal(f->collectives.v[1].bytes, FACT_ABSENT);
	assert_int_equal(f->collectives.v[1].group, STR_NONE);
}

/* Two processes claim one rank: then none has it. */
TEST(contradicting_ranks)
{
#define INIT(tid) \
	"INSERT INTO NVTX_EVENTS VALUES (10, 20, 59, 'ncclCommInitRank', " tid \
	", 1, x'" HEAD("02", "10", "30") "07000000000000000200000001000000');"
	READING rd = read_sql("nsys", false,
			      SQL(PAYLOADS "INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (1, 2, 16);"
					   "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
					   " (1, 2, 18, 'NCCL communicator ID', 0),"
					   " (1, 2, 5, 'No. of ranks', 8), (1, 2, 5, 'Rank', 12);",
				  INIT(TID_10_11) INIT(TID_20_21)));

	for (size_t i = 0; i < rd.m->tracks.nr; i++)
		assert_int_equal(rd.m->tracks.v[i].rank, RANK_NONE);
}
