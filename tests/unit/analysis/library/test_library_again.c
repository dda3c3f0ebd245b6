/*
 * What is remembered of records before (library_mask.h, library_log.c) changes nothing: random logs
 * of all libraries, whole and damaged, are read with it and without (library_log_forgets).
 * PROFRIG_PROPERTY_CASES says how many.
 */
#include "library_mangle.h"
#include "library_parser.h"
#include "library_test.h"
#include "tests/fixtures/gen/library_lines.c"

#define RECORDS 200
#define CONFIGS 3

static struct logged logged_so(const char *text, size_t n, bool forgets)
{
	struct logged l = { .calls = library_calls_new() };
	struct library_log *log = library_log_new("x.7.log", l.calls);

	if (forgets)
		library_log_forgets(log);
	library_log_text(log, text, n);
	library_log_end(log, &l.n);
	library_log_free(log);
	return l;
}

static void row_text(struct strbuf *to, const struct library_row *r)
{
	char flops[48], bytes[48];

	library_sum_fmt(flops, r->all_flops);
	library_sum_fmt(bytes, r->all_bytes);
	strbuf_addf(to, "%s|%s|%s|%s|", r->library, r->operation, r->key, r->config);
	strbuf_addf(to, "%" PRIu64 " nested %" PRIu64 " flops %s bytes %s|", r->calls, r->nested,
		    flops, bytes);
	strbuf_addf(to, "%" PRId64 "..%" PRId64 " ns, %" PRId64 " ns of %" PRIu64 ", pid %" PRId64,
		    r->first_ns, r->last_ns, r->total_ns, r->timed, r->pid);
	strbuf_addf(to, " %d caller %u level %d inexact %d ranks", r->several_pids, r->caller,
		    (int)r->level, r->inexact);
	for (size_t i = 0; i < r->ranks.nr; i++)
		strbuf_addf(to, " %d", r->ranks.v[i]);
	strbuf_addch(to, '\n');
}

static void logged_text(struct strbuf *to, const struct logged *l)
{
	char counts[200];

	logged_counts(l, counts);
	strbuf_addf(to, "%s, %" PRIu64 " joined, %" PRIu64 " prefixed, %" PRIu64 " odd times, %d\n",
		    counts, l->n.joined, l->n.prefixed, l->n.odd_times, l->n.cut);
	strbuf_addf(to, "%s\n%s\n", l->n.torn_text, l->n.bad_text);
	for (size_t i = 0; i < l->calls->rows.nr; i++)
		row_text(to, &l->calls->rows.v[i]);
}

static void assert_same(const char *text, size_t n, uint64_t seed)
{
	CLEANUP(logged_release) struct logged fast = logged_so(text, n, false);
	CLEANUP(logged_release) struct logged slow = logged_so(text, n, true);
	CLEANUP(strbuf_release) struct strbuf is = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT;

	logged_text(&is, &fast);
	logged_text(&want, &slow);
	for (const char *i = is.buf, *w = want.buf; *i || *w;) {
		size_t i_n = strcspn(i, "\n"), w_n = strcspn(w, "\n");

		if (i_n != w_n || memcmp(i, w, i_n) != 0)
			fail_msg("seed %" PRIu64 ":\n%.*s\nnot\n%.*s", seed, (int)i_n, i, (int)w_n,
				 w);
		i += i_n + (i[i_n] == '\n');
		w += w_n + (w[w_n] == '\n');
	}
}

/* ---- logs ---- */

/* Lines of other programs, and those by which a parser reads the lines behind them otherwise. */
static const char *const others[] = {
	"epoch 1, loss 0.3\n",
	"\n",
	" 10%|#   |\r 20%|##  |\r",
	"[\n",
	"mew0:65700:65710 [0] NCCL INFO NCCL version 2.18.3+cuda12.2\n",
	"mew0:65701:65711 [1] NCCL INFO RCCL version : 2.27.7-HEAD:1\n",
	"mew0:65700:65710 [0] NCCL INFO comm 0x55d5f5ac0000 rank 0 nranks 8 cudaDev 0 busId 17000 "
	"- Destroy COMPLETE\n",
	"mew0:65700:65710 [0] NCCL INFO ncclCommInitRank comm 0x55d5f5ac0000 rank 3 nranks 8 "
	"cudaDev 0 busId 17000 commId 0x1 - Init COMPLETE\n",
	"mew0:65701:65711 [1] NCCL INFO Broadcast: opCount 1f sendbuff 0x7f40 recvbuff 0x7f50 "
	"count 64 datatype 0 op 0 root 0 comm 0x55d5f5ac0100 [nranks=8] stream (nil)\n",
	"mew0:65701:65711 [1] NCCL INFO AllGather: opCount 2 sendbuff 0x0 recvbuff (nil) acc 0x7f "
	"count 64 datatype 9 op 0 root 0 comm 0x55d5f5ac0100 stream 0x5 task 1 globalrank 1\n",
	"[2026-11-26 10:00:00.123456] mew0:65701:65711 [1] NCCL INFO Send: opCount 2 sendbuff 0x7 "
	"recvbuff 0x7 count 64 datatype 7 op 0 root 1 comm 0x55d5f5ac0100 [nranks=8] stream 0x5\n",
	"mew0:65701:65711 [1] NCCL CALL ncclAllReduce(7f40,7f80,8,7,0,0,0x55d5f5ac0100,0x56)\n",
	"onednn_verbose,info,prim_template:operation,engine,primitive,implementation,prop_kind,"
	"memory_descriptors,attributes,auxiliary,problem_desc,exec_time\n",
	"onednn_verbose,1712195495505.582,exec,cpu,reorder,jit:blk,undef,src_f32::blocked:abcd:f0 "
	"dst_f32::blocked:aBcd16b:f0,,,4x64x24x24,0.25\n",
	"onednn_verbose,v1,1712195495505,582,primitive,exec,cpu,reorder,jit:blk,undef,"
	"src:f32::blocked:abcd::f0 dst:f32::blocked:aBcd16b::f0,,,4x64x24x24,0,25\n",
	"MKL_VERBOSE FFT(dcfi30x30x30,tLim:4,desc:0x5581) 21.43us CNR:OFF Dyn:1 TID:0  NThr:1\n",
	"MKL_VERBOSE F(0x1,(nil),g(0x2) 3ms) 5ms TID:0\nMKL_VERBOSE F(0x1) 5ms x(1) 5ms TID:0\n",
	"rocblas_sgemm,N,N,16,16,27,1,0x7f,16,0x0,27,0,(nil),16,atomics_allowed\n",
	"rocblas_saxpy,4,10x7f,0x7f,1,0x7f,1,a\nrocblas_saxpy,4,10x8f,0x7f,1,0x7f,1,a\n",
	"rocblas_strtri,U,N,8,0x7f,8\nrocblas_strtri,U,N,8,0x8f,8,atomics_not_allowed\n",
	"rocblas_zscal,4,(1,0),0x7f,1,atomics_allowedrocblas_zscal,4,(1,0),0x8f,1\n",
};

/* What a record is written behind, or torn by. */
static const char *const glue[] = {
	"12:00:01 ",
	"rank0: ",
	"[1,0]<stderr>:",
	"0x",
	"loss 0.3",
	"\r",
	"[2026-11-26 10:00:01] ",
	"mew0:65704:65704 [0] NCCL INFO ",
	"i! ",
	"e! ",
	",",
	" ",
	"(nil)",
	"mew0:",
	"\x01",
};

static size_t families(void)
{
	size_t n = 0;

	while (library_families[n].name)
		n++;
	return n;
}

/* Cuts, changes or prefixes a record, or runs it into the next one. */
static void record_damage(struct strbuf *text, size_t begin, uint64_t *seed)
{
	size_t n = text->len - begin, at = begin + rnd(seed) % n;

	switch (rnd(seed) % 5) {
	case 0:
		text->len = at;
		break;
	case 1:
		text->buf[at] = (char)(rnd(seed) % 2 ? '0' + rnd(seed) % 75 : rnd(seed));
		break;
	case 2:
		text->len = at;
		strbuf_addstr(text, glue[rnd(seed) % ARRAY_LEN(glue)]);
		break;
	case 3: /* the first byte twice in a word: "00x7f", "ss" */
		text->buf[at] = text->buf[at > begin ? at - 1 : at];
		break;
	default:
		text->len--; /* the line end */
	}
	if (rnd(seed) % 2)
		strbuf_addch(text, '\n');
}

/* Records of `of`, or of all families; one in `damaged` is changed, 0: none. */
static void log_random(struct strbuf *text, const struct library_family *of, uint64_t damaged,
		       uint64_t *seed)
{
	char record[LINES_RECORD_MAX];
	size_t nr = families();

	strbuf_addstr(text, of ? of->begin : "");
	for (int i = 0; i < RECORDS; i++) {
		const struct library_family *f = of ? of : &library_families[rnd(seed) % nr];
		size_t begin = text->len;

		if (rnd(seed) % 8 == 0)
			strbuf_addstr(text, others[rnd(seed) % ARRAY_LEN(others)]);
		if (damaged && rnd(seed) % damaged == 0)
			strbuf_addstr(text, glue[rnd(seed) % ARRAY_LEN(glue)]);
		begin = text->len > begin ? text->len : begin;
		strbuf_add(text, record,
			   f->record(record, sizeof(record), rnd(seed) % CONFIGS, seed));
		if (damaged && rnd(seed) % damaged == 0)
			record_damage(text, begin, seed);
	}
}

TEST(logs_of_one_library)
{
	for (uint64_t c = 1; c <= test_cases(4); c++)
		for (size_t i = 0; library_families[i].name; i++) {
			CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
			uint64_t seed = c * 1000 + i + 1;

			log_random(&text, &library_families[i], c % 2 ? 0 : 3, &seed);
			assert_same(text.buf, text.len, c * 1000 + i + 1);
		}
}

TEST(logs_of_all_libraries)
{
	for (uint64_t c = 1; c <= test_cases(30); c++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		uint64_t seed = c;

		log_random(&text, NULL, c % 3 ? c % 7 : 0, &seed);
		assert_same(text.buf, text.len, c);
	}
}

/* The generator says what is equal: each record of an undamaged log is a call. */
TEST(records_of_the_generator)
{
	for (size_t i = 0; library_families[i].name; i++) {
		const struct library_family *f = &library_families[i];
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		char record[LINES_RECORD_MAX];
		uint64_t seed = i + 1;

		strbuf_addstr(&text, f->begin);
		for (uint64_t k = 0; k < 30; k++)
			strbuf_add(&text, record, f->record(record, sizeof(record), k % 10, &seed));
		CLEANUP(logged_release) struct logged l = logged_bytes(text.buf, text.len);

		if (l.n.records != 30 || l.calls->distinct != 10 || l.n.torn || l.n.bad ||
		    l.n.foreign)
			ROW_FAIL(i, "%s: %d records, %d distinct", f->name, (int)l.n.records,
				 (int)l.calls->distinct);
	}
}

/* A record behind a CR is one, whatever is known of the one before it. */
TEST(known_records_before_a_cr)
{
	static const char a[] = "rocblas_saxpy,4,1,0x7f,1,0x7f,1,a",
			  b[] = "rocblas_sscal,4,1,0x7f,1,a",
			  c[] = "./rocblas-bench -f axpy -r s -n 4 --alpha 1 --incx 1 --incy 1";
	CLEANUP(xfreep)
	char *text = xasprintf("%s\n%s\n%s\r%s\r%s\n%s\n%s\r\n%s\r%s\n", a, a, a, b, a, c, c, c, b);
	CLEANUP(logged_release) struct logged l = logged_of(text);

	assert_int_equal(l.n.records + l.n.doubled, 9);
	assert_same(text, strlen(text), 0);
}

/* A CR between what belongs to a record and its marker. */
TEST(cr_before_a_marker)
{
	static const char text[] = "{\"ph\":\"X\",\r\"cat\":\"blas\",\"args\":{\"m\":1}},\n"
				   "[2025-02-28\r11:24:46][HIPBLASLT][1][Trace][f] A=0x1\n";

	assert_survives(text, 4);
	assert_same(text, strlen(text), 0);
}
