/*
 * Ranks that share a model (session_private.h: lanes). Each rank reads some of the files into logs.
 * Definitions and samples of all files go to all ranks, which then have the same tracks and series;
 * the calls of a file are on one rank alone. Files whose calls must be on one rank, because they
 * have tracks, processes, devices or correlations in common, are brought together before.
 */
#include "shared_reading.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/serial.h"
#include "profrig/base/u64map.h"
#include "profrig/base/workers.h"
#include "profrig/model/warnings.h"

#define DAMAGED "what rank %d sent of its files does not end as it should"

static struct serial_in part_of(const struct comm_parts *all, int rank)
{
	return (struct serial_in){ all->bytes.buf + all->at[rank],
				   all->bytes.buf + all->at[rank + 1], false };
}

/* ---- reading ---- */

struct file_head {
	size_t task;
	uint64_t bytes; /* of the file; fewer tell that ranks see other files */
	int read;
	bool told;
};

static void file_read(struct shared_reading *sh, struct session *s, size_t i, struct workers *w,
		      struct strbuf *mine)
{
	struct share_task *t = &sh->tasks.v[i];
	CLEANUP(sink_log_freep) struct sink_log *log = NULL;
	CLEANUP(strbuf_release) struct strbuf defs = STRBUF_INIT;
	struct sink_log_tracks tracks = { VEC_INIT };
	struct err err = ERR_INIT;
	struct file_head h = { .task = i, .bytes = t->bytes };
	const char *bytes;
	size_t n;

	log = share_read(s, t, w, &h.read, &err);
	if (h.read < 0)
		sink_log_failed(log);
	bytes = sink_log_bytes(log, &n);
	h.told = bytes && sink_log_definitions(bytes, n, &defs, &tracks, NULL) == 0;
	if (h.told)
		strbuf_add(&t->body, bytes, n);
	SERIAL_PUT(mine, h);
	serial_put_text(mine, h.read < 0 ? err.msg : NULL);
	SERIAL_PUT_VEC(mine, &tracks.v);
	SERIAL_PUT(mine, defs.len);
	strbuf_add(mine, defs.buf, defs.len);
	VEC_RELEASE(&tracks.v);
}

/* Defs stay in what was gathered. */
static void file_take(struct shared_reading *sh, struct serial_in *in, int rank)
{
	struct file_head h;
	struct share_task *t;
	size_t n;

	SERIAL_TAKE(in, h);
	in->bad |= h.task >= sh->tasks.nr || sh->tasks.v[h.task].rank != rank;
	if (in->bad)
		return;
	t = &sh->tasks.v[h.task];
	if (h.bytes != t->bytes)
		comm_stop(sh->comm, 5, "rank %d does not see the file that rank %d sees: %s", rank,
			  comm_rank(sh->comm), t->path);
	t->read = h.read;
	t->told = h.told;
	t->why = serial_take_text(in);
	SERIAL_TAKE_VEC(in, &t->calls.v);
	n = serial_take_count(in, 1);
	t->defs = in->at;
	t->defs_n = n;
	in->at += n;
}

static void files_read(struct shared_reading *sh, struct session *s)
{
	struct workers *w = workers_new(s->o->threads ? (unsigned)s->o->threads : 1);
	CLEANUP(strbuf_release) struct strbuf mine = STRBUF_INIT;

	for (size_t i = 0; i < sh->tasks.nr; i++)
		if (sh->tasks.v[i].rank == comm_rank(sh->comm))
			file_read(sh, s, i, w, &mine);
	workers_free(w);
	comm_gather(sh->comm, mine.buf, mine.len, &sh->all);
	for (int r = 0; r < sh->comm->size; r++) {
		struct serial_in in = part_of(&sh->all, r);

		while (in.at < in.end && !in.bad)
			file_take(sh, &in, r);
		if (in.bad)
			comm_stop(sh->comm, 1, DAMAGED, r);
	}
	for (size_t i = 0; i < sh->tasks.nr; i++)
		if (!sh->tasks.v[i].told)
			comm_stop(sh->comm, 5, "%s cannot be shared by ranks: one process reads it",
				  sh->tasks.v[i].path);
}

/* ---- files that belong together ---- */

struct together {
	struct shared_reading *sh;
	struct model *m;      /* of the definitions */
	struct u64map by_key; /* the first file of a key */
	uint32_t *parent;     /* by file */
};

static uint32_t root_of(struct together *tg, uint32_t i)
{
	while (tg->parent[i] != i)
		i = tg->parent[i] = tg->parent[tg->parent[i]];
	return i;
}

/* The smaller number is the root. */
static void join(struct together *tg, uint32_t file, uint32_t kind, uint64_t what)
{
	uint32_t *first = u64map_at(&tg->by_key, mix64(what) + kind);
	uint32_t a, b;

	if (*first == U64MAP_NONE)
		*first = file;
	a = root_of(tg, *first);
	b = root_of(tg, file);
	tg->parent[a > b ? a : b] = a > b ? b : a;
}

enum { TOGETHER_TRACK, TOGETHER_PROCESS, TOGETHER_DEVICE, TOGETHER_GROUP };

static void file_join(struct together *tg, uint32_t file, const struct share_task *t)
{
	const struct model *m = tg->m;

	for (size_t k = 0; k < t->calls.v.nr; k++) {
		track_id id = t->calls.v.v[k], process;

		if (id >= m->tracks.nr)
			continue;
		process = model_process_of(m, id);
		join(tg, file, TOGETHER_TRACK, id);
		if (process != TRACK_NONE)
			join(tg, file, TOGETHER_PROCESS, process);
		if (m->tracks.v[id].kind == TRACK_QUEUE)
			join(tg, file, TOGETHER_DEVICE, m->tracks.v[id].device);
	}
	for (input_id i = t->first; i < t->end; i++)
		if (m->inputs.v[i].group)
			join(tg, file, TOGETHER_GROUP, m->inputs.v[i].group);
}

/* The model of the definitions; t->calls then has its tracks. */
static void definitions_play(struct shared_reading *sh, struct model *m)
{
	for (size_t i = 0; i < sh->tasks.nr; i++) {
		struct share_task *t = &sh->tasks.v[i];
		struct sink_log_tracks map = { VEC_INIT };

		model_set_default_host(m, t->host, t->everywhere);
		t->first = (input_id)m->inputs.nr;
		if (sink_log_play_tracks(t->defs, t->defs_n, m, &map, NULL) < 0)
			comm_stop(sh->comm, 1, DAMAGED, t->rank);
		t->end = (input_id)m->inputs.nr;
		for (size_t k = 0; k < t->calls.v.nr; k++) {
			uint32_t own = t->calls.v.v[k];

			t->calls.v.v[k] = own < map.v.nr ? map.v.v[own] : TRACK_NONE;
		}
		VEC_RELEASE(&map.v);
	}
	model_finish_flat(m);
}

/* Of the files of a root: the rank that has read most of them. */
static void owners_choose(struct together *tg)
{
	struct shared_reading *sh = tg->sh;
	size_t n = sh->tasks.nr, size = (size_t)sh->comm->size;
	CLEANUP(u64map_release) struct u64map ids = U64MAP_INIT;
	VEC(uint64_t) bytes = VEC_INIT;
	CLEANUP(xfreep) uint64_t *most = xcalloc(n + 1, sizeof(*most));

	for (size_t i = 0; i < n; i++) {
		uint32_t root = root_of(tg, (uint32_t)i), rank = (uint32_t)sh->tasks.v[i].rank;
		uint32_t *at = u64map_at(&ids, root * size + rank);

		if (*at == U64MAP_NONE) {
			*at = (uint32_t)bytes.nr;
			VEC_PUSH(&bytes, 0);
		}
		bytes.v[*at] += sh->tasks.v[i].bytes + 1;
		if (bytes.v[*at] > most[root]) {
			most[root] = bytes.v[*at];
			sh->tasks.v[root].owner = (int)rank;
		}
	}
	for (size_t i = 0; i < n; i++)
		sh->tasks.v[i].owner = sh->tasks.v[root_of(tg, (uint32_t)i)].owner;
	VEC_RELEASE(&bytes);
}

/* Every rank goes through the files in one order, so each message has its partner. */
static void files_move(struct shared_reading *sh)
{
	struct comm *c = sh->comm;

	for (size_t i = 0; i < sh->tasks.nr; i++) {
		struct share_task *t = &sh->tasks.v[i];

		if (t->owner == t->rank)
			continue;
		if (t->rank == c->rank) {
			c->ops->send(c, t->owner, t->body.buf, t->body.len);
			strbuf_release(&t->body);
		} else if (t->owner == c->rank) {
			c->ops->receive(c, t->rank, &t->body);
		}
	}
}

static void files_bring_together(struct shared_reading *sh)
{
	CLEANUP(model_freep) struct model *m = model_new();
	CLEANUP(xfreep) uint32_t *parent = xcalloc(sh->tasks.nr + 1, sizeof(*parent));
	struct together tg = { sh, m, U64MAP_INIT, parent };

	definitions_play(sh, m);
	for (uint32_t i = 0; i < sh->tasks.nr; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < sh->tasks.nr; i++)
		file_join(&tg, i, &sh->tasks.v[i]);
	owners_choose(&tg);
	files_move(sh);
	u64map_release(&tg.by_key);
}

static uint64_t tasks_fingerprint(const struct shared_reading *sh)
{
	uint64_t h = sh->tasks.nr;

	for (size_t i = 0; i < sh->tasks.nr; i++)
		for (const char *s = sh->tasks.v[i].path; *s; s++)
			h = mix64(h ^ (unsigned char)*s);
	return h;
}

static void tasks_compare(const struct shared_reading *sh)
{
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };
	uint64_t mine = tasks_fingerprint(sh), other;

	comm_gather(sh->comm, &mine, sizeof(mine), &all);
	for (int r = 0; r < sh->comm->size; r++) {
		struct serial_in in = part_of(&all, r);

		SERIAL_TAKE(&in, other);
		if (other != mine)
			comm_stop(sh->comm, 5, "rank %d does not see the files that rank %d sees",
				  r, comm_rank(sh->comm));
	}
}

/* Its calls are looked for among the single calls of the traces. */
static const char *first_library_log(const struct shared_reading *sh)
{
	const struct share_task *t =
		VEC_FIND(&sh->tasks, x, !strcmp(x->reader->name, "library_log"));

	return t ? t->path : NULL;
}

bool share_lanes(struct shared_reading *sh, struct session *s)
{
	const char *log;

	sh->comm = s->o->comm;
	tasks_compare(sh);
	log = first_library_log(sh);
	if (log) {
		sh->comm = NULL;
		free(s->alone);
		s->alone = xasprintf("%s is the log of a library, whose calls are looked for among "
				     "all those of the traces",
				     log);
		return false;
	}
	sh->lanes = true;
	if (!sh->tasks.nr)
		return true;
	share_deal(sh, sh->comm->size, true);
	files_read(sh, s);
	files_bring_together(sh);
	return true;
}

/* ---- what follows from calls ---- */

static void input_put(const struct model *m, input_id i, struct strbuf *to)
{
	const struct input *in = &m->inputs.v[i];
	size_t nr = 0;

	SERIAL_PUT(to, i);
	SERIAL_PUT(to, in->spans);
	SERIAL_PUT(to, in->instants);
	SERIAL_PUT(to, in->links);
	SERIAL_PUT(to, in->partial);
	for (size_t k = 0; k < m->warnings.nr; k++)
		nr += m->warnings.v[k].input == i;
	SERIAL_PUT(to, nr);
	for (size_t k = 0; k < m->warnings.nr; k++) {
		const struct warning *w = &m->warnings.v[k];

		if (w->input != i)
			continue;
		serial_put_text(to, w->code);
		serial_put_text(to, w->text);
		SERIAL_PUT(to, w->count);
		SERIAL_PUT(to, w->cut);
	}
}

static void input_take(struct model *m, struct serial_in *from)
{
	struct input *in;
	input_id i;
	size_t nr;

	SERIAL_TAKE(from, i);
	from->bad |= i >= m->inputs.nr;
	if (from->bad)
		return;
	in = &m->inputs.v[i];
	SERIAL_TAKE(from, in->spans);
	SERIAL_TAKE(from, in->instants);
	SERIAL_TAKE(from, in->links);
	SERIAL_TAKE(from, in->partial);
	nr = serial_take_count(from, 1);
	model_warnings_drop(m, i);
	for (size_t k = 0; k < nr && !from->bad; k++) {
		CLEANUP(xfreep) char *code = serial_take_text(from);
		CLEANUP(xfreep) char *text = serial_take_text(from);
		const struct warning_info *known = warning_find(code ? code : "");
		uint64_t count;
		bool cut;

		SERIAL_TAKE(from, count);
		SERIAL_TAKE(from, cut);
		from->bad |= !known || !text;
		if (!from->bad)
			model_warning_put(m, i, known->code, count, text, cut);
	}
}

/* Which tracks have spans, or are beside those that do; a byte each. */
enum { TRACK_HAS = 1, TRACK_BESIDE = 2 };

static void tracks_put(const struct model *m, struct strbuf *to)
{
	SERIAL_PUT(to, m->tracks.nr);
	for (size_t i = 0; i < m->tracks.nr; i++)
		strbuf_addch(to, (m->tracks.v[i].spans > 0 ? TRACK_HAS : 0) |
					 (m->tracks.v[i].beside ? TRACK_BESIDE : 0));
}

static void tracks_take(struct model *m, struct serial_in *from)
{
	size_t nr = serial_take_count(from, 1);
	char flags;

	from->bad |= nr != m->tracks.nr;
	for (size_t i = 0; i < nr && !from->bad; i++) {
		SERIAL_TAKE(from, flags);
		m->tracks.v[i].calls |= (flags & TRACK_HAS) != 0;
		m->tracks.v[i].beside |= (flags & TRACK_BESIDE) != 0;
	}
}

/* Pairs of a thread and a queue: that thread launched work on that queue. */
static void launched_put(const struct model *m, struct strbuf *to)
{
	CLEANUP(u64map_release) struct u64map seen = U64MAP_INIT;
	VEC(struct launched_tracks) v = VEC_INIT;

	for (size_t i = 0; i < m->links.nr; i++) {
		struct launched_tracks l = { m->spans.track[m->links.from[i]],
					     m->spans.track[m->links.to[i]] };
		uint32_t *at = m->links.kind[i] == LINK_LAUNCH
				       ? u64map_at(&seen, u64map_pair(l.from, l.to))
				       : NULL;

		if (at && *at == U64MAP_NONE) {
			*at = 0;
			VEC_PUSH(&v, l);
		}
	}
	SERIAL_PUT_VEC(to, &v);
	VEC_RELEASE(&v);
}

static void launched_take(struct model *m, struct serial_in *from)
{
	size_t before = m->launched.nr;

	SERIAL_TAKE_VEC(from, &m->launched);
	for (size_t i = before; i < m->launched.nr; i++)
		from->bad |= m->launched.v[i].from >= m->tracks.nr ||
			     m->launched.v[i].to >= m->tracks.nr;
}

void share_lanes_finished(struct shared_reading *sh, struct model *m)
{
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };
	CLEANUP(strbuf_release) struct strbuf mine = STRBUF_INIT;
	size_t nr = 0;

	tracks_put(m, &mine);
	launched_put(m, &mine);
	for (size_t i = 0; i < sh->tasks.nr; i++)
		if (sh->tasks.v[i].taken && sh->tasks.v[i].owner == comm_rank(sh->comm))
			nr += sh->tasks.v[i].end - sh->tasks.v[i].first;
	SERIAL_PUT(&mine, nr);
	for (size_t i = 0; i < sh->tasks.nr; i++) {
		const struct share_task *t = &sh->tasks.v[i];

		for (input_id k = t->first;
		     t->taken && t->owner == comm_rank(sh->comm) && k < t->end; k++)
			input_put(m, k, &mine);
	}
	comm_gather(sh->comm, mine.buf, mine.len, &all);
	for (int r = 0; r < sh->comm->size; r++) {
		struct serial_in in = part_of(&all, r);

		tracks_take(m, &in);
		launched_take(m, &in);
		nr = serial_take_count(&in, 1);
		for (size_t i = 0; i < nr && !in.bad; i++)
			input_take(m, &in);
		if (in.bad || in.at != in.end)
			comm_stop(sh->comm, 1, DAMAGED, r);
	}
	model_warnings_sort(m);
}
