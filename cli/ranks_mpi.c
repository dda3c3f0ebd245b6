/*
 * The ranks of profrig-mpi: comm.h by MPI.
 *
 * A waiting rank sleeps between two tests. MPI libraries spin, which takes a processor from the
 * others where there are more ranks than processors. So only non-blocking calls are used.
 *
 * When a rank dies the launcher ends all (mpirun by SIGTERM). Rank 0 then prints that nothing was
 * written.
 */
#include "cli.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/log.h"
#include "profrig/base/progress.h"

#define TAG_LENGTH 1
#define TAG_BYTES 2
#define LOOKS 200
#define SLEEP_NS 20000
/* Counts are ints: longer messages are sent in pieces. */
#define PIECE ((size_t)1 << 29)
/* Data that fits beside its length is sent with it: most rounds send little. */
#define SLOT 248
/*
 * Each round allocates and frees the messages of all ranks. Freed memory up to this size stays with
 * the process: else the kernel clears new pages in every round.
 */
#define KEPT_BYTES (64 << 20)

struct slot {
	size_t length;
	char bytes[SLOT];
};

struct mpi_comm {
	struct comm comm;
	struct slot *slots;
	int *counts, *places;
};

static void request_wait(MPI_Request *request)
{
	const struct timespec nap = { 0, SLEEP_NS };
	int done = 0;

	for (unsigned i = 0;; i++) {
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		if (i < LOOKS)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
}

/* ---- gather ---- */

static size_t piece_of(size_t length, size_t done, size_t most)
{
	size_t left = length > done ? length - done : 0;

	return left < most ? left : most;
}

/* Gathers the parts that do not fit their slots, the same range of all ranks at a time. */
static void gather_long(struct mpi_comm *m, const char *mine, const size_t *lengths,
			const size_t *starts, char *to)
{
	size_t most = PIECE / (size_t)m->comm.size, longest = 0;
	CLEANUP(strbuf_release) struct strbuf piece = STRBUF_INIT;

	for (int r = 0; r < m->comm.size; r++)
		longest = lengths[r] > longest ? lengths[r] : longest;
	for (size_t done = 0; done < longest; done += most) {
		size_t total = 0;
		MPI_Request request;

		for (int r = 0; r < m->comm.size; r++) {
			m->counts[r] = (int)piece_of(lengths[r], done, most);
			m->places[r] = (int)total;
			total += (size_t)m->counts[r];
		}
		strbuf_clear(&piece);
		strbuf_reserve(&piece, total);
		MPI_Iallgatherv(mine + done, m->counts[m->comm.rank], MPI_BYTE, piece.buf,
				m->counts, m->places, MPI_BYTE, MPI_COMM_WORLD, &request);
		request_wait(&request);
		for (int r = 0; r < m->comm.size; r++)
			memcpy(to + starts[r] + done, piece.buf + m->places[r],
			       (size_t)m->counts[r]);
	}
}

static void mpi_gather(struct comm *c, const void *mine, size_t n, size_t *lengths,
		       struct strbuf *ret)
{
	struct mpi_comm *m = (struct mpi_comm *)c;
	CLEANUP(xfreep) size_t *starts = xcalloc((size_t)c->size, sizeof(*starts));
	struct slot own = { .length = n };
	size_t total = 0;
	bool fits = true;
	MPI_Request request;

	if (n && n <= SLOT)
		memcpy(own.bytes, mine, n);
	MPI_Iallgather(&own, sizeof(own), MPI_BYTE, m->slots, sizeof(own), MPI_BYTE, MPI_COMM_WORLD,
		       &request);
	request_wait(&request);
	for (int r = 0; r < c->size; r++) {
		lengths[r] = m->slots[r].length;
		starts[r] = total;
		total += lengths[r];
		fits &= lengths[r] <= SLOT;
	}
	strbuf_reserve(ret, total);
	for (int r = 0; fits && r < c->size; r++)
		memcpy(ret->buf + starts[r], m->slots[r].bytes, lengths[r]);
	if (!fits)
		gather_long(m, mine, lengths, starts, ret->buf);
	ret->len = total;
}

/* ---- from one to another ---- */

static void mpi_send(struct comm *c, int to, const void *data, size_t n)
{
	uint64_t length = n;
	MPI_Request request;

	(void)c;
	MPI_Isend(&length, 1, MPI_UINT64_T, to, TAG_LENGTH, MPI_COMM_WORLD, &request);
	request_wait(&request);
	for (size_t done = 0; done < n; done += PIECE) {
		MPI_Isend((const char *)data + done, (int)piece_of(n, done, PIECE), MPI_BYTE, to,
			  TAG_BYTES, MPI_COMM_WORLD, &request);
		request_wait(&request);
	}
}

static void mpi_receive(struct comm *c, int from, struct strbuf *ret)
{
	uint64_t length;
	MPI_Request request;

	(void)c;
	MPI_Irecv(&length, 1, MPI_UINT64_T, from, TAG_LENGTH, MPI_COMM_WORLD, &request);
	request_wait(&request);
	strbuf_clear(ret);
	strbuf_reserve(ret, length);
	for (size_t done = 0; done < length; done += PIECE) {
		MPI_Irecv(ret->buf + done, (int)piece_of(length, done, PIECE), MPI_BYTE, from,
			  TAG_BYTES, MPI_COMM_WORLD, &request);
		request_wait(&request);
	}
	ret->len = length;
}

/* Mostly all ranks find the error at once: the others wait for rank 0, which prints it and ends
 * them. */
static void mpi_stop(struct comm *c, int code, const char *why) __attribute__((noreturn));

static void mpi_stop(struct comm *c, int code, const char *why)
{
	if (c->rank > 0)
		sleep(2);
	log_setup(0, isatty(2));
	progress_end();
	log_error("%s", why);
	MPI_Abort(MPI_COMM_WORLD, code);
	_exit(code);
}

static const struct comm_ops mpi_ops = { mpi_gather, mpi_send, mpi_receive, mpi_stop };

/* ---- the job ---- */

static void be_silent(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDOUT_FILENO);
}

struct comm *ranks_open(int *argc, char ***argv)
{
	static struct mpi_comm m;
	static char host[MPI_MAX_PROCESSOR_NAME + 1];
	int length = 0, given;

	MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &given);
	m.comm.ops = &mpi_ops;
	MPI_Comm_rank(MPI_COMM_WORLD, &m.comm.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &m.comm.size);
	MPI_Get_processor_name(host, &length);
	m.comm.host = host;
	m.slots = xcalloc((size_t)m.comm.size, sizeof(*m.slots));
	m.counts = xcalloc((size_t)m.comm.size, sizeof(*m.counts));
	m.places = xcalloc((size_t)m.comm.size, sizeof(*m.places));
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES / 2);
	prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
	if (m.comm.rank > 0)
		be_silent();
	if (m.comm.size > 1) {
		cli_catch_signals();
		cli_exit_at_signal(
			m.comm.rank > 0
				? ""
				: "profrig: error: stopped before the end, by a signal or because "
				  "another rank died (see below); the archive is as it was, run it "
				  "again\n");
	}
	return &m.comm;
}

int ranks_close(struct comm *c, int code)
{
	struct mpi_comm *m = (struct mpi_comm *)c;
	MPI_Request request;

	if (m->comm.rank == 0)
		cli_exit_at_signal(NULL);
	/* a rank that ended early must still take part, or the others wait for ever */
	comm_begin(c, false, code, log_last_error());
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	request_wait(&request);
	MPI_Finalize();
	free(m->slots);
	free(m->counts);
	free(m->places);
	/* the launcher then returns the code of rank 0 */
	return c->rank > 0 ? EXIT_DONE : code;
}
