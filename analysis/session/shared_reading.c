#include "shared_reading.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/serial.h"
#include "profrig/base/workers.h"
#include "profrig/model/sink_log.h"

#define DAMAGED "what rank %d sent of '%s' does not end as it should"

enum order { ORDER_STREAM, ORDER_LANES, ORDER_READ, ORDER_END };

/* ---- which rank reads which file ---- */

/* An archive's events lie beside its anchor file. */
static uint64_t task_bytes(const char *path, const struct reader *reader)
{
	CLEANUP(xfreep) char *dir = fs_is_dir(path) ? xstrdup(path) : fs_dir(path);
	int64_t bytes = reader->claims ? fs_usage(dir, NULL) : fs_size(path);

	return bytes > 0 ? (uint64_t)bytes : 0;
}

void share_add(struct shared_reading *sh, const char *path, const struct reader *reader,
	       const struct rundir *run)
{
	struct share_task t = { .path = xstrdup(path),
				.reader = reader,
				.bytes = task_bytes(path, reader),
				.body = STRBUF_INIT };

	if (run) {
		t.run_dir = xstrdup(run->path);
		t.host = xstrdup_null(run->host);
		t.everywhere = run->container;
	}
	VEC_PUSH(&sh->tasks, t);
}

struct portion {
	uint64_t bytes;
	size_t task;
};

static int larger_first(const void *pa, const void *pb)
{
	const struct portion *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->task < b->task ? -1 : a->task > b->task;
}

void share_deal(struct shared_reading *sh, int size, bool even)
{
	size_t n = sh->tasks.nr;
	CLEANUP(xfreep) struct portion *v = xcalloc(n + 1, sizeof(*v));
	CLEANUP(xfreep) uint64_t *load = xcalloc((size_t)size, sizeof(*load));

	for (size_t i = 0; i < n; i++) {
		v[i] = (struct portion){ sh->tasks.v[i].bytes, i };
		load[0] += even ? 0 : sh->tasks.v[i].bytes / 4;
	}
	load[0] += n ? sh->tasks.v[0].bytes : 0;
	qsort(v, n, sizeof(*v), larger_first);
	for (size_t i = 0; i < n; i++) {
		int least = 0;

		if (v[i].task == 0)
			continue;
		for (int r = 1; r < size; r++)
			least = load[r] < load[least] ? r : least;
		/* empty files weigh something, too */
		load[least] += v[i].bytes + 1;
		sh->tasks.v[v[i].task].rank = least;
	}
}

/* ---- orders ---- */

static void order_give(struct comm *comm, const struct strbuf *text)
{
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };

	comm_begin(comm, true, 0, NULL);
	comm_gather(comm, text->buf, text->len, &all);
}

static void order_along(struct comm *comm, enum order order, const char *only)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (comm_alone(comm))
		return;
	SERIAL_PUT(&sb, order);
	serial_put_text(&sb, only);
	order_give(comm, &sb);
}

void session_ranks_stream(struct comm *comm, const char *only)
{
	order_along(comm, ORDER_STREAM, only);
}

void session_ranks_lanes(struct comm *comm, const char *only)
{
	order_along(comm, ORDER_LANES, only);
}

void session_ranks_dismiss(struct comm *comm)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	enum order order = ORDER_END;

	if (comm_alone(comm) || !comm->begun)
		return;
	SERIAL_PUT(&sb, order);
	order_give(comm, &sb);
}

bool share_begin(struct shared_reading *sh, struct comm *comm)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	enum order order = ORDER_READ;

	if (sh->tasks.nr < 2)
		return false;
	sh->comm = comm;
	share_deal(sh, comm->size, false);
	SERIAL_PUT(&sb, order);
	SERIAL_PUT(&sb, sh->tasks.nr);
	for (size_t i = 0; i < sh->tasks.nr; i++) {
		const struct share_task *t = &sh->tasks.v[i];

		SERIAL_PUT(&sb, t->rank);
		SERIAL_PUT(&sb, t->everywhere);
		serial_put_text(&sb, t->path);
		serial_put_text(&sb, t->run_dir);
		serial_put_text(&sb, t->host);
		serial_put_text(&sb, t->reader->name);
	}
	order_give(comm, &sb);
	return true;
}

/* ---- rank 0 ---- */

/* In front of a log. */
struct share_head {
	size_t task;
	uint64_t bytes; /* of the file, as that rank saw it */
	int read;
	bool told; /* the log follows */
};

static void message_receive(struct shared_reading *sh, int rank)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct serial_in in;
	struct share_head h;
	struct share_task *t;

	sh->comm->ops->receive(sh->comm, rank, &sb);
	in = (struct serial_in){ sb.buf, sb.buf + sb.len, false };
	SERIAL_TAKE(&in, h);
	if (in.bad || h.task >= sh->tasks.nr || sh->tasks.v[h.task].received)
		comm_stop(sh->comm, 1, DAMAGED, rank, "?");
	t = &sh->tasks.v[h.task];
	t->received = true;
	t->read = h.read;
	t->told = h.told && h.bytes == t->bytes;
	if (!h.told)
		return;
	sh->comm->ops->receive(sh->comm, rank, &t->body);
	if (!t->told)
		strbuf_release(&t->body);
}

static struct share_task *task_find(struct shared_reading *sh, const char *path,
				    const struct reader *reader)
{
	size_t n = sh->tasks.nr;

	for (size_t k = 0; k < n; k++) {
		size_t i = (sh->next + k) % n;
		struct share_task *t = &sh->tasks.v[i];

		if (t->reader == reader && !strcmp(t->path, path)) {
			sh->next = (i + 1) % n;
			return t;
		}
	}
	return NULL;
}

/* The calls of a file go into the model of one rank. */
static void task_play(struct shared_reading *sh, struct share_task *t, struct model *m)
{
	bool own = t->owner == comm_rank(sh->comm);

	t->first = (input_id)m->inputs.nr;
	if (sink_log_play(own ? t->body.buf : t->defs, own ? t->body.len : t->defs_n, m, NULL) < 0)
		comm_stop(sh->comm, 1, DAMAGED, t->rank, t->path);
	t->end = (input_id)m->inputs.nr;
	t->taken = true;
	strbuf_release(&t->body);
}

bool share_take(struct shared_reading *sh, const char *path, const struct reader *reader,
		struct model *m, int *ret_r, struct err *err)
{
	struct share_task *t = sh->comm && sh->tasks.nr ? task_find(sh, path, reader) : NULL;

	if (sh->lanes && (!t || t->taken))
		comm_stop(sh->comm, 5, "%s was not among the files that ranks share", path);
	if (sh->lanes) {
		task_play(sh, t, m);
		sh->played += t->rank > 0;
		*ret_r = t->read < 0 ? err_set(err, -t->read, "%s", t->why ? t->why : "") : t->read;
		return true;
	}
	if (!t || t->rank == 0)
		return false;
	/* a rank sends its files in their order */
	while (!t->received)
		message_receive(sh, t->rank);
	if (!t->told)
		return false;
	if (sink_log_play(t->body.buf, t->body.len, m, NULL) < 0)
		comm_stop(sh->comm, 1, DAMAGED, t->rank, path);
	strbuf_release(&t->body);
	t->told = false; /* once */
	sh->played++;
	*ret_r = t->read;
	return true;
}

void share_end(struct shared_reading *sh)
{
	for (size_t i = 0; i < sh->tasks.nr; i++) {
		struct share_task *t = &sh->tasks.v[i];

		while (sh->comm && !sh->lanes && t->rank > 0 && !t->received)
			message_receive(sh, t->rank);
		strbuf_release(&t->body);
		free(t->path);
		free(t->run_dir);
		free(t->host);
		free(t->why);
		VEC_RELEASE(&t->calls.v);
	}
	VEC_RELEASE(&sh->tasks);
	if (sh->all.at)
		comm_parts_release(&sh->all);
	*sh = (struct shared_reading){ .comm = NULL };
}

/* ---- the others ---- */

struct sink_log *share_read(struct session *s, const struct share_task *t, struct workers *w,
			    int *ret_r, struct err *err)
{
	const struct session_opts *o = s->o;
	struct sink_log *log = sink_log_new(t->host, t->everywhere);
	const struct read_opts ro = { .keep_args = o->keep_args,
				      .keep_shapes = session_wants_shapes(s),
				      .facts = session_wants_facts(s),
				      .file_facts = s->lanes, /* single calls are not kept */
				      .soc_mhz = o->analysis.soc_mhz,
				      .workers = w,
				      .dialect = t->reader == o->reader ? o->dialect : NULL };

	if (t->run_dir)
		run_dir_held(t->run_dir);
	*ret_r = reader_read(t->reader, t->path, sink_log_sink(log), &ro, err);
	return log;
}

static void task_read(struct session *s, const struct share_task *t, size_t nr, struct workers *w)
{
	const struct session_opts *o = s->o;
	CLEANUP(sink_log_freep) struct sink_log *log = NULL;
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct share_head h = { .task = nr, .bytes = task_bytes(t->path, t->reader) };
	const char *bytes;
	size_t n;

	log = share_read(s, t, w, &h.read, NULL);
	bytes = sink_log_bytes(log, &n);
	h.told = h.read >= 0 && bytes;
	SERIAL_PUT(&sb, h);
	o->comm->ops->send(o->comm, 0, sb.buf, sb.len);
	if (h.told)
		o->comm->ops->send(o->comm, 0, bytes, n);
}

static void tasks_serve(struct session *s, struct serial_in *in)
{
	struct workers *w = workers_new(s->o->threads ? (unsigned)s->o->threads : 1);
	size_t nr;

	SERIAL_TAKE(in, nr);
	for (size_t i = 0; i < nr && !in->bad; i++) {
		struct share_task t = { .bytes = 0 };
		CLEANUP(xfreep) char *reader = NULL;

		SERIAL_TAKE(in, t.rank);
		SERIAL_TAKE(in, t.everywhere);
		t.path = serial_take_text(in);
		t.run_dir = serial_take_text(in);
		t.host = serial_take_text(in);
		reader = serial_take_text(in);
		t.reader = reader ? reader_find(reader) : NULL;
		in->bad |= !t.path || !t.reader;
		if (!in->bad && t.rank == comm_rank(s->o->comm))
			task_read(s, &t, i, w);
		free(t.path);
		free(t.run_dir);
		free(t.host);
	}
	workers_free(w);
}

void session_ranks_serve(struct session *s, const struct strvec *inputs,
			 void (*along)(struct session *s, const struct strvec *inputs, bool lanes))
{
	enum order order = ORDER_STREAM;

	while (order != ORDER_END) {
		CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };
		CLEANUP(strvec_release) struct strvec one = STRVEC_INIT;
		CLEANUP(xfreep) char *only = NULL;
		struct session now;
		struct serial_in in;

		comm_gather(s->o->comm, "", 0, &all);
		in = (struct serial_in){ all.bytes.buf, all.bytes.buf + all.at[1], false };
		SERIAL_TAKE(&in, order);
		if (!in.bad && order == ORDER_READ) {
			tasks_serve(s, &in);
		} else if (!in.bad && (order == ORDER_STREAM || order == ORDER_LANES)) {
			only = serial_take_text(&in);
			if (only)
				strvec_push(&one, only);
			/* each order is a session of its own */
			now = *s;
			*s->out = (struct session_outcome){ .end = SESSION_WHOLE };
			along(&now, only ? &one : inputs, order == ORDER_LANES);
		}
		if (in.bad)
			comm_stop(s->o->comm, 1, "what rank 0 ordered does not end as it should");
	}
}
