/*
 * Rows found ahead of who reads them: where their fields are, and the numbers that every row has.
 * That is about a third of the work of reading, so for files of some size a thread of its own does
 * it. Rows come in batches through a ring; a batch is filled, handed over, used and given back. The
 * thread touches the scan and the batch it fills and nothing else, and rows come in the order of
 * the file, so what is read does not depend on it.
 */
#include "rocprof_csv.h"

#include <pthread.h>
#include <stdlib.h>

#include "profrig/digits.h"
#include "profrig/num.h"

#define BATCHES 8
#define BATCH_ROWS 2048
#define BATCH_ENDS 65536
/* Below it a thread costs more than it saves. */
#define THREAD_BYTES ((size_t)1 << 20)

struct batch {
	struct rocprof_row *rows; /* BATCH_ROWS */
	size_t nr;
	uint32_t *ends; /* BATCH_ENDS, and those of one row more */
	size_t ends_nr;
	bool last;
};

struct rocprof_ahead {
	struct csv_scan *scan;
	const struct rocprof_header *head;
	struct batch ring[BATCHES];
	size_t at; /* the row of the batch in use */
	size_t used;
	bool holds; /* a batch is in use */
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filling, emptying;
	/* under the lock: batches filled and given back, ever */
	size_t filled, done;
	bool stop;
};

/* Behind the header line, so there is text enough before it. */
static inline bool number_at(const struct rocprof_ahead *a, const struct csv_record *r,
			     enum rocprof_column c, int64_t *ret)
{
	int at = a->head->at[c];
	struct csv_text t;

	if (at < 0)
		return false;
	t = csv_field(r, (size_t)at);
	return digits_before(t.p + t.n, t.n, ret) || num_i64(t.p, t.n, ret) == 0;
}

static void add_row(struct rocprof_ahead *a, struct batch *b, struct rocprof_row *row)
{
	struct csv_record *r = &row->record;

	row->timed = row->correlated = false;
	row->whole = r->nr == a->head->nr && !r->broken;
	if (row->whole) {
		uint32_t *ends = b->ends + b->ends_nr;

		memcpy(ends, r->ends, r->nr * sizeof(*ends));
		r->ends = ends;
		b->ends_nr += r->nr;
		row->timed = number_at(a, r, COL_START, &row->start_ns) &&
			     number_at(a, r, COL_END, &row->end_ns);
		row->correlated = number_at(a, r, COL_CORRELATION, &row->correlation);
	} else {
		row->line = csv_scan_line(a->scan, r, &row->line_ended);
		r->nr = 0;
		r->ends = NULL;
	}
}

static void fill(struct rocprof_ahead *a, struct batch *b)
{
	if (!b->rows) {
		b->rows = xreallocarray(NULL, BATCH_ROWS, sizeof(*b->rows));
		b->ends = xreallocarray(NULL, BATCH_ENDS + a->head->nr, sizeof(*b->ends));
	}
	b->ends_nr = 0;
	for (b->nr = 0; b->nr < BATCH_ROWS && b->ends_nr < BATCH_ENDS; b->nr++) {
		struct rocprof_row *row = &b->rows[b->nr];

		if (csv_scan_next(a->scan, &row->record) == 0) {
			b->last = true;
			return;
		}
		add_row(a, b, row);
	}
}

static void *run(void *ctx)
{
	struct rocprof_ahead *a = ctx;
	bool last = false;

	while (!last) {
		struct batch *b;
		bool stop;

		pthread_mutex_lock(&a->lock);
		while (a->filled - a->done == BATCHES && !a->stop)
			pthread_cond_wait(&a->emptying, &a->lock);
		stop = a->stop;
		b = &a->ring[a->filled % BATCHES];
		pthread_mutex_unlock(&a->lock);
		if (stop)
			break;
		fill(a, b);
		last = b->last;
		pthread_mutex_lock(&a->lock);
		a->filled++;
		pthread_mutex_unlock(&a->lock);
		pthread_cond_signal(&a->filling);
	}
	return NULL;
}

struct rocprof_ahead *rocprof_ahead_new(struct csv_scan *scan, const struct rocprof_header *head,
					bool threads)
{
	struct rocprof_ahead *a = xcalloc(1, sizeof(*a));

	a->scan = scan;
	a->head = head;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->filling, NULL);
	pthread_cond_init(&a->emptying, NULL);
	a->threaded =
		threads && scan->n >= THREAD_BYTES && pthread_create(&a->thread, NULL, run, a) == 0;
	return a;
}

void rocprof_ahead_free(struct rocprof_ahead *a)
{
	if (!a)
		return;
	if (a->threaded) {
		pthread_mutex_lock(&a->lock);
		a->stop = true;
		pthread_cond_signal(&a->emptying);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->filling);
	pthread_cond_destroy(&a->emptying);
	for (size_t i = 0; i < BATCHES; i++) {
		free(a->ring[i].rows);
		free(a->ring[i].ends);
	}
	free(a);
}

/* To wake a thread costs more than to fill a batch: one that waits for room is woken when there is
 * room for several. */
static void give_back(struct rocprof_ahead *a)
{
	bool room;

	pthread_mutex_lock(&a->lock);
	a->done++;
	room = a->filled - a->done == BATCHES / 2;
	pthread_mutex_unlock(&a->lock);
	if (room)
		pthread_cond_signal(&a->emptying);
}

/* Gives back the batch in use and takes the next one. */
static void turn(struct rocprof_ahead *a)
{
	if (!a->threaded) {
		fill(a, &a->ring[0]);
	} else {
		if (a->holds)
			give_back(a);
		pthread_mutex_lock(&a->lock);
		while (a->filled == a->done)
			pthread_cond_wait(&a->filling, &a->lock);
		a->used = a->done % BATCHES;
		pthread_mutex_unlock(&a->lock);
	}
	a->holds = true;
	a->at = 0;
}

const struct rocprof_row *rocprof_ahead_next(struct rocprof_ahead *a)
{
	struct batch *b = &a->ring[a->used];

	while (!a->holds || a->at == b->nr) {
		if (a->holds && b->last)
			return NULL;
		turn(a);
		b = &a->ring[a->used];
	}
	return &b->rows[a->at++];
}
