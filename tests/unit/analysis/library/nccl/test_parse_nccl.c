#include "library_test.h"

#define AT "mew0:100:101 [0] NCCL INFO "
#define INIT AT "comm 0x55 rank 1 nranks 4 cudaDev 1 busId 17000 - Init COMPLETE\n"
#define BUFFERS " opCount 1f sendbuff 0x720000000 recvbuff 0x920000000"
#define ALL_REDUCE(comm, nranks) \
	"AllReduce:" BUFFERS " count 8 datatype 7 op 0 root 0 comm " comm " [nranks=" nranks \
	"] stream 0x55d5f4d50b60"
#define ALL_REDUCE_KEY "AllReduce count=8 dtype=f32 op=sum nranks=4"
#define NO INT64_C(-1)

/* A line of each version and form; the last column is the rank by INIT lines or globalrank. */
static const struct {
	const char *text, *key, *library;
	uint64_t bytes;
	int64_t pid;
	int rank;
} forms[] = {
	/* 2.3: no name; only Broadcast and Reduce have a root */
	{ AT "opCount 3 sendbuff 0x1 recvbuff 0x2 count 8 size 32 datatype 7 op 0 comm 0x55 "
	     "[nranks=4] stream 0x9",
	  "collective count=8 dtype=f32 op=sum nranks=4", "nccl", LIBRARY_UNKNOWN, 100, -1 },
	{ AT "opCount 3 sendbuff 0x1 recvbuff 0x2 count 8 size 32 datatype 7 root 2 comm 0x55 "
	     "[nranks=4] stream 0x9",
	  "collective count=8 dtype=f32 root=2 nranks=4", "nccl", 32, 100, -1 },
	{ INIT AT ALL_REDUCE("0x55", "4"), ALL_REDUCE_KEY, "nccl", 32, 100, 1 },
	/* the communicator says how many ranks there are, where the line does not */
	{ INIT AT "AllReduce:" BUFFERS " count 8 datatype 7 op 0 root 0 comm 0x55 stream 0x1",
	  ALL_REDUCE_KEY, "nccl", 32, 100, 1 },
	{ AT "AllReduce:" BUFFERS " count 8 datatype 7 op 0 root 0 comm 0x55 stream 0x1",
	  "AllReduce count=8 dtype=f32 op=sum", "nccl", 32, 100, -1 },
	{ AT "ReduceScatter:" BUFFERS " count 8 datatype 7 op 0 root 0 comm 0x55 stream 0x1",
	  "ReduceScatter count=8 dtype=f32 op=sum", "nccl", LIBRARY_UNKNOWN, 100, -1 },
	/* 2.4-2.21 tell these two in bytes */
	{ AT "NCCL version 2.4.8+cuda10.1\n" AT "AllGather:" BUFFERS
	     " count 64 datatype 0 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AllGather count=64 dtype=bytes nranks=4", "nccl", 256, 100, -1 },
	{ "NCCL version 2.21.5+cuda12.4\n" AT "Broadcast:" BUFFERS
	  " count 64 datatype 0 op 0 root 3 comm 0x55 [nranks=4] stream 0x1",
	  "Broadcast count=64 dtype=bytes root=3 nranks=4", "nccl", 64, 100, -1 },
	{ AT "Broadcast:" BUFFERS
	     " count 64 datatype 0 op 0 root 3 comm 0x55 [nranks=4] stream 0x1",
	  "Broadcast count=64 dtype=bytes root=3 nranks=4", "nccl", 64, 100, -1 },
	{ AT "NCCL version 2.22.3+cuda12.5\n" AT "Broadcast:" BUFFERS
	     " count 64 datatype 0 op 0 root 3 comm 0x55 [nranks=4] stream 0x1",
	  "Broadcast count=64 dtype=i8 root=3 nranks=4", "nccl", 64, 100, -1 },
	{ AT "RCCL version : 2.22.3-develop:5ee5c4f\n" AT "AllGather:" BUFFERS
	     " count 64 datatype 0 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AllGather count=64 dtype=i8 nranks=4", "rccl", 256, 100, -1 },
	/* without a version, what only later ones write shows that types are those told */
	{ AT "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..1}\n" AT
	     "AllGather:" BUFFERS
	     " count 64 datatype 0 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AllGather count=64 dtype=i8 nranks=4", "nccl", 256, 100, -1 },
	{ AT "[Rank 3] NCCL_DEBUG set to INFO\n" AT "[Rank 3] AllGather:" BUFFERS
	     " count 64 datatype 0 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AllGather count=64 dtype=i8 nranks=4", "nccl", 256, 100, -1 },
	/* 2.22 and later */
	{ AT "AllGather:" BUFFERS
	     " count 64 datatype 9 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AllGather count=64 dtype=bf16 nranks=4", "nccl", 512, 100, -1 },
	{ AT "Reduce:" BUFFERS " count 5 datatype 8 op 2 root 1 comm 0x55 [nranks=4] stream 0x1",
	  "Reduce count=5 dtype=f64 op=max root=1 nranks=4", "nccl", 40, 100, -1 },
	{ AT "ReduceScatter:" BUFFERS
	     " count 6 datatype 6 op 4 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "ReduceScatter count=6 dtype=f16 op=avg nranks=4", "nccl", 48, 100, -1 },
	{ AT "AllReduce:" BUFFERS
	     " count 6 datatype 10 op 734582 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AllReduce count=6 dtype=f8 op=premulsum nranks=4", "nccl", 6, 100, -1 },
	{ AT "AllReduce:" BUFFERS
	     " count 6 datatype 13 op 1 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AllReduce count=6 dtype=13 op=prod nranks=4", "nccl", LIBRARY_UNKNOWN, 100, -1 },
	{ INIT AT "Send: opCount 2 sendbuff 0x72 recvbuff (nil) count 10 datatype 9 op 0 root 3 "
		  "comm 0x55 [nranks=4] stream 0x1",
	  "Send count=10 dtype=bf16 peer=3 nranks=4", "nccl", 20, 100, 1 },
	{ INIT AT "Recv: opCount 2 sendbuff (nil) recvbuff 0x72 count 10 datatype 9 op 0 root 0 "
		  "comm 0x55 [nranks=4] stream 0x1",
	  "Recv count=10 dtype=bf16 peer=0 nranks=4", "nccl", 20, 100, 1 },
	/* 2.28 and later */
	{ AT "AlltoAll:" BUFFERS " count 64 datatype 7 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AlltoAll count=64 dtype=f32 nranks=4", "nccl", 1024, 100, -1 },
	{ AT "Gather:" BUFFERS " count 64 datatype 7 op 0 root 2 comm 0x55 [nranks=4] stream 0x1",
	  "Gather count=64 dtype=f32 root=2 nranks=4", "nccl", 1024, 100, -1 },
	{ AT "Scatter:" BUFFERS
	     " count 64 datatype 7 op 0 root 2 comm 0x55 [nranks=4] stream 0x1 graphMode 1",
	  "Scatter count=64 dtype=f32 root=2 nranks=4", "nccl", 1024, 100, -1 },
	{ AT "[Rank 1] ncclCommInitRankConfig comm 0x55 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId "
	     "d000 commId 0xcde2ea451c75c2ba - Init COMPLETE\n" AT
	     "[Rank 1] " ALL_REDUCE("0x55", "4"),
	  ALL_REDUCE_KEY, "nccl", 32, 100, 1 },
	/* RCCL */
	{ INIT AT "AllReduce:" BUFFERS " acc (nil) count 8 datatype 7 op 0 root 0 comm 0x55 "
		  "[nranks=4] stream (nil) task 0 globalrank 3",
	  ALL_REDUCE_KEY, "rccl", 32, 100, 3 },
	{ AT "AllReduce:" BUFFERS " acc 0x77 count 8 datatype 7 op 0 root 0 comm 0x55 [nranks=4] "
	     "stream (nil) task 1 globalrank 0",
	  ALL_REDUCE_KEY " acc=1", "rccl", 32, 100, 0 },
	{ AT "mscclFuncAllToAll:" BUFFERS
	     " count 4 datatype 7 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AlltoAll count=4 dtype=f32 nranks=4", "rccl", 64, 100, -1 },
	{ AT "mscclpp_ncclAllReduce:" BUFFERS
	     " count 8 datatype 7 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  ALL_REDUCE_KEY, "rccl", 32, 100, -1 },
	{ AT "RCCL Unroll Factor (pre-set): 4\n" AT ALL_REDUCE("0x55", "4"), ALL_REDUCE_KEY, "rccl",
	  32, 100, -1 },
	/* an operation and members of versions to come */
	{ AT "AllToAllv:" BUFFERS " count 4 datatype 7 op 0 root 0 comm 0x55 [nranks=4] stream 0x1",
	  "AllToAllv count=4 dtype=f32 op=sum root=0 nranks=4", "nccl", LIBRARY_UNKNOWN, 100, -1 },
	{ AT ALL_REDUCE("0x55", "4") " window 3", ALL_REDUCE_KEY " window=3", "nccl", 32, 100, -1 },
	{ AT "AllReduce: count 8 comm 0x55 opCount 1\n" AT
	     "AllReduce: opCount 0 comm 0x55 stream 0x1 op 0 [nranks=4] datatype 7 count 8",
	  ALL_REDUCE_KEY, "nccl", 32, 100, -1 },
	/* CALL */
	{ INIT "mew0:100:101 NCCL CALL ncclAllReduce(720000000,7f00,8,7,0,0,0x55,0x66)",
	  ALL_REDUCE_KEY, "nccl", 32, 100, 1 },
	{ INIT "mew0:100:101 NCCL CALL ncclSend(720000000,0,8,7,0,2,0x55,(nil))",
	  "Send count=8 dtype=f32 peer=2 nranks=4", "nccl", 32, 100, 1 },
	/* what stands in front */
	{ ALL_REDUCE("0x55", "4") " NCCL INFO " ALL_REDUCE("0x55", "4"), ALL_REDUCE_KEY, "nccl", 32,
	  NO, -1 },
	{ "[1,0]<stdout>:mew0:100:101 [0] NCCL INFO " ALL_REDUCE("0x55", "4"), ALL_REDUCE_KEY,
	  "nccl", 32, 100, -1 },
};

TEST(versions_and_forms)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		char text[1000];
		struct library_row row;

		snprintf(text, sizeof(text), "%s\n", forms[i].text);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		if (l.n.records != 1 || l.n.torn != 0 || l.n.bad != 0 || l.calls->rows.nr != 1)
			ROW_FAIL(i, "%d records, %d torn, %d bad", (int)l.n.records, (int)l.n.torn,
				 (int)l.n.bad);
		row = row_with(&l, forms[i].key);
		if (strcmp(row.library, forms[i].library) != 0 || row.bytes != forms[i].bytes ||
		    row.pid != forms[i].pid || row.flops != 0 ||
		    (row.ranks.nr > 0 ? row.ranks.v[0] : -1) != forms[i].rank)
			ROW_FAIL(i, "%s, %" PRIu64 " bytes, pid %d, %d ranks", row.library,
				 row.bytes, (int)row.pid, (int)row.ranks.nr);
	}
}

/* Addresses are used again after Destroy, and by other processes and hosts. */
TEST(ranks)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"a:1:2 [0] NCCL INFO comm 0x55 rank 1 nranks 4 cudaDev 1 nvmlDev 0 - Init START\n"
		"a:9:2 [0] NCCL INFO comm 0x55 rank 2 nranks 4 cudaDev 1 nvmlDev 0 - Init START\n"
		"b:1:2 [0] NCCL INFO comm 0x55 rank 3 nranks 4 cudaDev 1 nvmlDev 0 - Init START\n"
		"a:1:3 [7] NCCL INFO " ALL_REDUCE(
			"0x55",
			"4") "\r\n"
			     "b:1:3 [7] NCCL INFO " ALL_REDUCE(
				     "0x55",
				     "4") "\r\n"
					  "a:1:2 [0] NCCL INFO comm 0x55 rank 1 nranks 4 cudaDev 1 "
					  "busId 3 - Destroy COMPLETE\n"
					  "a:1:2 [0] NCCL INFO " ALL_REDUCE(
						  "0x55",
						  "5") "\n"
						       "a:1:2 [0] NCCL INFO ncclCommSplit comm "
						       "0x55 rank 0 nranks 2 cudaDev 1 nvmlDev 1 "
						       "busId 3 parent 0x77 splitCount 1 color 0 "
						       "key 1 commId 0x1 - Init COMPLETE\n"
						       "a:1:2 [0] NCCL INFO " ALL_REDUCE(
							       "0x55",
							       "2") "\n"
								    "a:1:2 [0] NCCL INFO comm 0x55 "
								    "rank 0 nranks 2 cudaDev 1 "
								    "busId 3 - Abort COMPLETE\n"
								    "a:1:2 [0] NCCL "
								    "INFO " ALL_REDUCE(
									    "0x55",
									    "6") "\n"
										 "a:9:2 [0] NCCL "
										 "INFO " ALL_REDUCE(
											 "0x55",
											 "7") "\n"
											      "a:9:"
											      "2 "
											      "[0] "
											      "NCCL"
											      " INF"
											      "O "
											      "comm"
											      " 0x6"
											      "6 "
											      "rank"
											      " 1 "
											      "nran"
											      "ks "
											      "1");
	static const struct {
		const char *key;
		size_t ranks;
		int first, last, pid;
	} rows[] = {
		{ ALL_REDUCE_KEY, 2, 1, 3, 1 },
		{ "AllReduce count=8 dtype=f32 op=sum nranks=5", 0, 0, 0, 1 },
		{ "AllReduce count=8 dtype=f32 op=sum nranks=2", 1, 0, 0, 1 },
		{ "AllReduce count=8 dtype=f32 op=sum nranks=6", 0, 0, 0, 1 },
		{ "AllReduce count=8 dtype=f32 op=sum nranks=7", 1, 2, 2, 9 },
	};

	assert_counts(&l, 6, 0, 7, 0, 0, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct library_row r = row_with(&l, rows[i].key);

		assert_int_equal(r.ranks.nr, rows[i].ranks);
		assert_int_equal(r.pid, rows[i].pid);
		if (r.ranks.nr > 0) {
			assert_int_equal(r.ranks.v[0], rows[i].first);
			assert_int_equal(r.ranks.v[r.ranks.nr - 1], rows[i].last);
		}
	}
}

TEST(times)
{
	static const struct {
		const char *stamp;
		int64_t t_ns;
	} cases[] = {
		{ "[2026-11-26 10:00:00.123456] ", INT64_C(1795687200123456000) },
		{ "[2026-11-26 10:00:00] ", INT64_C(1795687200000000000) },
		{ "2026-11-26 10:00:00.5 ", INT64_C(1795687200500000000) },
		{ "[2026-11-26_10:00:00.5] ", INT64_C(1795687200500000000) },
		{ "2026-11-26T10:00:00 ", INT64_C(1795687200000000000) },
		{ "sum   -1[2026-11-26 10:00:00] ", INT64_C(1795687200000000000) },
		{ "[2000-02-29 00:00:00] ", INT64_C(951782400000000000) },
		{ "[2100-03-01 00:00:00] ", INT64_C(4107542400000000000) },
		{ "[1970-01-01 00:00:00] ", 0 },
		{ "[2026-02-29 10:00:00] ", LIBRARY_NO_TIME },
		{ "[2026-13-01 10:00:00] ", LIBRARY_NO_TIME },
		{ "[9999-12-01 10:00:00] ", LIBRARY_NO_TIME },
		{ "[2026-11-26 24:00:00] ", LIBRARY_NO_TIME },
		{ "[2026-11-26 10:00:00,5] ", LIBRARY_NO_TIME },
		{ "[2026-11-26 10:00] ", LIBRARY_NO_TIME },
		{ "10:00:00 ", LIBRARY_NO_TIME },
		{ "] ", LIBRARY_NO_TIME },
		{ "[] ", LIBRARY_NO_TIME },
		{ "", LIBRARY_NO_TIME },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[400];

		snprintf(text, sizeof(text), "%s" AT ALL_REDUCE("0x55", "4") "\n", cases[i].stamp);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		assert_counts(&l, 1, 0, 0, 0, 0, 0);
		if (l.calls->rows.v[0].first_ns != cases[i].t_ns || l.calls->rows.v[0].pid != 100)
			ROW_FAIL(i, "%s: %" PRId64, cases[i].stamp, l.calls->rows.v[0].first_ns);
		assert_int_equal(l.n.prefixed,
				 i == 5 || (cases[i].t_ns == LIBRARY_NO_TIME && cases[i].stamp[0]));
	}
}

/* A table without line end, another rank's line, a launcher's tag. */
TEST(text_in_front)
{
	CLEANUP(logged_release)
	struct logged l =
		logged_of(INIT "     8388608       2097152     float     sum      -1" AT ALL_REDUCE(
			"0x55", "4") "\n"
				     "    314.7   26.66      0" AT ALL_REDUCE("0x55", "4") "\n" AT
					     ALL_REDUCE("0x55", "4") "\n"
								     "[1,0]<stdout>:" AT ALL_REDUCE(
									     "0x55", "4") "\n");

	assert_counts(&l, 4, 0, 1, 0, 0, 0);
	assert_int_equal(l.n.prefixed, 3);
	assert_int_equal(l.calls->rows.nr, 1);
	assert_int_equal(l.calls->rows.v[0].ranks.nr, 1);
	assert_int_equal(l.calls->rows.v[0].ranks.v[0], 1);
	assert_int_equal(l.calls->rows.v[0].pid, 100);
	assert_memory_equal(l.calls->rows.v[0].config, "NCCL INFO AllReduce: opCount 1f", 31);
}

/* The first record ends where the second one's prefix begins, with or without a blank. */
TEST(records_in_one_line)
{
	static const struct {
		const char *first;
		int calls, torn;
	} cases[] = {
		{ ALL_REDUCE("0x55", "4") " ", 2, 0 },
		{ ALL_REDUCE("0x55", "4"), 2, 0 },
		{ "AllReduce:" BUFFERS " count 8 datatype 7 op 0 root 0 comm 0x55 [nranks=4] ", 2,
		  0 },
		{ "AllReduce:" BUFFERS " count 8 datatype 7 op 0 root 0 comm 0x55 [nrank", 1, 1 },
		{ "AllReduce:" BUFFERS " count 8 datatype 7 op 0 root 0 comm 0x5", 1, 1 },
		{ "AllReduce:" BUFFERS " count 8 datatype ", 1, 1 },
		{ "AllReduce:" BUFFERS " count ", 1, 1 },
		{ "AllReduce:" BUFFERS " count 8", 1, 1 },
		{ "AllReduce:" BUFFERS " cou", 1, 1 },
		{ "AllReduce: opC", 1, 1 },
		{ "AllReduce:", 1, 0 },
		{ "AllRed", 1, 0 },
		{ "Connected all rings ", 1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[1000];

		snprintf(text, sizeof(text), INIT AT "%s" AT ALL_REDUCE("0x55", "4") "\n",
			 cases[i].first);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		if ((int)l.n.records != cases[i].calls || (int)l.n.torn != cases[i].torn ||
		    l.calls->rows.nr != 1 || l.calls->rows.v[0].ranks.nr != 1)
			ROW_FAIL(i, "%d records, %d torn", (int)l.n.records, (int)l.n.torn);
		row_with(&l, ALL_REDUCE_KEY);
	}
}

TEST(no_calls)
{
	static const struct {
		const char *text;
		int info, torn, bad;
		const char *words;
	} cases[] = {
		{ AT "AllReduce | 8.0/ 7.2 | 0.0/ 0.0 |\n", 1, 0, 0, "" },
		{ AT "  AllReduce |  14.0/  5.0 |\n", 1, 0, 0, "" },
		{ AT "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE\n", 1, 0, 0, "" },
		{ AT "8388608 Bytes -> Algo 1 proto 2 time 31.400000\n", 1, 0, 0, "" },
		{ AT "Init timings - ncclCommInitRankConfig: rank 0 nranks 2 total 4.66\n", 1, 0, 0,
		  "" },
		{ "mew0:100:101 [0] init.cc:12 NCCL WARN Cuda failure 'out of memory'\n", 1, 0, 0,
		  "" },
		{ "mew0:100:101 [0] 1.2 f:3 NCCL TRACE AllReduce: opCount 1\n", 1, 0, 0, "" },
		{ "mew0:100:101 NCCL CALL ncclGroupStart()\n", 1, 0, 0, "" },
		{ "mew0:100:101 NCCL CALL ncclCommInitRank(0x1,4,0x2,1,0)\n", 1, 0, 0, "" },
		{ "NCCL version 2.10.3+cuda11.3\n", 1, 0, 0, "" },
		{ "mew0:100:101 NCCL CALL ncclAllReduce(7f,7f,8,7,0,0,0x55\n", 0, 1, 0, "line 1:" },
		{ "mew0:100:101 NCCL CALL ncclAllReduce(7f,7f,8,7,0,0,0x55)\n", 0, 1, 0, "" },
		{ "mew0:100:101 NCCL CALL ncclAllReduce(7f,7f,a0,7,0,0,0x55,0x1)\n", 0, 1, 0, "" },
		{ AT "AllReduce: opCount 0 count 8 datatype 7 op 0 root 0 comm 0x55\n", 0, 1, 0,
		  "" },
		{ AT "AllReduce: opCount 0 count 2,097,152 datatype 7 comm 0x55 stream 0x1\n", 0, 1,
		  0, "2,097,152" },
		{ AT "AllReduce: opCount 0 count 8 count 8 datatype 7 comm 0x55 stream 0x1\n", 0, 1,
		  0, "" },
		{ AT "AllReduce: opCount 0 count 8 datatype 7 op 0 root 0 stream 0x1\n", 0, 1, 0,
		  "" },
		{ AT "AllReduce: opCount 0 count 99999999999999999999 datatype 7 comm 0x55 s 1\n",
		  0, 1, 0, "" },
		{ AT "opCount 3\n", 0, 1, 0, "" },
		{ AT "AllReduce: opCount 0 count -8 datatype 7 comm 0x55 stream 0x1\n", 0, 0, 1,
		  "count=-8 is no size" },
		{ AT "AllReduce: opCount 0 count 8 datatype -1 comm 0x55 stream 0x1\n", 0, 0, 1,
		  "datatype=-1 is no type" },
		{ AT "AllReduce: opCount 0 count 8 datatype 7 op -3 comm 0x55 stream 0x1\n", 0, 0,
		  1, "op=-3" },
		{ AT "AllReduce: opCount 0 count 8 datatype 7 comm 0x55 [nranks=0] stream 0x1\n", 0,
		  0, 1, "nranks=0" },
		{ AT "Send: opCount 0 count 8 datatype 7 root 4 comm 0x55 [nranks=4] s 0x1\n", 0, 0,
		  1, "root=4 of 4 ranks" },
		{ AT "AllGather: opCount 0 count 200000000000000 datatype 8 comm 0x55 "
		     "[nranks=2000000000] stream 0x1\n",
		  0, 0, 1, "more than 2^63" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if (l.n.records != 0 || (int)l.n.info != cases[i].info ||
		    (int)l.n.torn != cases[i].torn || (int)l.n.bad != cases[i].bad ||
		    l.n.foreign != 0 || l.calls->rows.nr != 0)
			ROW_FAIL(i, "%d records, %d info, %d torn, %d bad", (int)l.n.records,
				 (int)l.n.info, (int)l.n.torn, (int)l.n.bad);
		assert_has(cases[i].bad ? l.n.bad_text : l.n.torn_text, cases[i].words);
	}
}

/* COLL and CALL lines tell one call, whichever are there; a call twice is two calls. */
TEST(levels_tell_one_call)
{
	static const char info[] =
		AT "AllGather:" BUFFERS " count 64 datatype 0 op 0 root 0 comm 0x55 [nranks=4] "
		   "stream 0x1\n";
	static const char call[] =
		"mew0:100:101 NCCL CALL ncclAllGather(720000000,7f00,64,0,0,0,0x55,0x66)\n";

	for (unsigned bits = 1; bits < 4; bits++) {
		char text[2000];

		snprintf(text, sizeof(text), "%s%s%s%s", bits & 1 ? info : "", bits & 2 ? call : "",
			 bits & 1 ? info : "", bits & 2 ? call : "");
		CLEANUP(logged_release) struct logged l = logged_of(text);

		assert_counts(&l, 2, bits == 3 ? 2 : 0, 0, 0, 0, 0);
		assert_int_equal(l.calls->rows.nr, 1);
		assert_string_equal(l.calls->rows.v[0].operation, "AllGather");
	}
}

/* ---- any text ---- */

static const char robust[] =
	"NCCL version 2.27.7+cuda13.0\n"
	"[2026-11-26 10:00:00.123456] mew0:100:101 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 1 "
	"nranks 4 cudaDev 1 - Init COMPLETE\n"
	"  12.5  -1mew0:100:101 [0] NCCL INFO [Rank 1] AllReduce: opCount 1f sendbuff 0x72 "
	"recvbuff "
	"0x92 acc (nil) count 8 datatype 7 op 0 root 0 comm 0x55 [nranks=4] stream (nil) task 0 "
	"globalrank 1 more 3mew0:100:101 [0] NCCL INFO AllReduce: opCount 0 count 8 datatype 7 op "
	"0 "
	"root 0 comm 0x55 [nranks=4] stream 0x1\r\n"
	"mew0:100:101 NCCL CALL ncclAllReduce(72,92,8,7,0,0,0x55,(nil))\n"
	"mew0:100:101 [0] NCCL INFO comm 0x55 rank 1 nranks 4 - Destroy COMPLETE";

static void counts_hold(const char *text, size_t n)
{
	struct logged l = { .calls = library_calls_new() };
	struct library_log *log = library_log_new(NULL, l.calls);
	uint64_t calls = 0;

	library_log_text(log, text, n);
	library_log_end(log, &l.n);
	library_log_free(log);
	for (size_t i = 0; i < l.calls->rows.nr; i++)
		calls += l.calls->rows.v[i].calls;
	assert_int_equal(calls, l.n.records);
	assert_true(l.n.lines <=
		    l.n.records + l.n.doubled + l.n.info + l.n.torn + l.n.bad + l.n.foreign);
	logged_release(&l);
}

TEST(prefixes_and_single_bytes)
{
	static const char bytes[] = { 0, '\n', '\r', ' ', '[', ']', ':', '(', ')', '9', 'x', -1 };
	size_t n = sizeof(robust) - 1;
	char *text = xmalloc(n);

	for (size_t i = 0; i <= n; i++) {
		char *prefix = xmalloc(i + 1); /* exactly so large: reads behind it are seen */

		prefix = xrealloc(prefix, i ? i : 1);
		memcpy(prefix, robust, i);
		counts_hold(prefix, i);
		free(prefix);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t b = 0; b < sizeof(bytes); b++) {
			memcpy(text, robust, n);
			text[i] = bytes[b];
			counts_hold(text, n);
		}
	free(text);
}

/* ---- recordings ---- */

static void recording(const char *name, struct logged *ret)
{
	CLEANUP(xfreep) char *path = test_trace(name);
	struct err err = ERR_INIT;

	*ret = (struct logged){ .calls = library_calls_new() };
	if (library_log_read(path, ret->calls, &ret->n, &err) != 0)
		fail_msg("%s", err.msg);
}

TEST(nccl_tests_a100)
{
	CLEANUP(logged_release) struct logged l = { 0 };
	struct library_totals t;

	recording("liblog/nccl-tests-a100/nccl-fault.log", &l);
	assert_int_equal(l.n.lines, 1811);
	assert_counts(&l, 990, 0, 795, 0, 0, 26);
	assert_int_equal(l.n.prefixed, 22);
	assert_int_equal(l.calls->rows.nr, 11);
	assert_int_equal(l.calls->distinct, 11);
	t = library_calls_totals(l.calls);
	assert_int_equal(t.calls, 990);
	assert_true(t.bytes == INT64_C(1545433251840));
	for (size_t i = 0; i < 11; i++) {
		const struct library_row *r = &l.calls->rows.v[i];
		char key[100];

		snprintf(key, sizeof(key), "AllReduce count=%llu dtype=f32 op=sum nranks=2",
			 2097152ULL << i);
		assert_string_equal(r->key, key);
		assert_string_equal(r->library, "nccl");
		assert_int_equal(r->calls, 90);
		assert_int_equal(r->ranks.nr, 2);
		assert_int_equal(r->pid, 65704);
	}
}

TEST(rccl_two_ranks)
{
	CLEANUP(logged_release) struct logged l = { 0 };
	const struct library_row *r;

	recording("liblog/rccl-2rank-gfx1100/rccl.log", &l);
	assert_int_equal(l.n.lines, 105);
	assert_counts(&l, 16, 0, 71, 0, 0, 18);
	assert_int_equal(l.n.prefixed, 0);
	assert_int_equal(l.calls->rows.nr, 1);
	r = &l.calls->rows.v[0];
	assert_string_equal(r->key, "AllReduce count=1 dtype=f32 op=sum nranks=2");
	assert_string_equal(r->library, "rccl");
	assert_int_equal(r->bytes, 4);
	assert_int_equal(r->ranks.nr, 2);
	assert_true(r->several_pids);
}
