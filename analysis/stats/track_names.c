#include "track_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/strbuf.h"

static int cmp_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int cmp_track(const void *pa, const void *pb, void *ctx)
{
	const struct model *m = ctx;
	track_id ia = *(const track_id *)pa, ib = *(const track_id *)pb;
	const struct track *a = &m->tracks.v[ia], *b = &m->tracks.v[ib];
	int d = cmp_i64(a->rank, b->rank);
	if (!d)
		d = natural_cmp(model_str(m, a->host), model_str(m, b->host));
	if (!d)
		d = cmp_i64(a->pid, b->pid);
	if (!d)
		d = cmp_i64(a->tid, b->tid);
	if (!d)
		d = natural_cmp(model_str(m, a->name), model_str(m, b->name));
	return d ? d : cmp_i64(ia, ib);
}

track_id *track_order(const struct model *m)
{
	track_id *v = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*v));
	for (track_id t = 0; t < m->tracks.nr; t++)
		v[t] = t;
	qsort_r(v, m->tracks.nr, sizeof(*v), cmp_track, (void *)m);
	return v;
}

/* Ever more words in front of the plain name. */
enum level { PLAIN, BY_RANK, BY_PROCESS, BY_IDS, BY_NUMBER, LEVELS };

static bool name_decorate(const struct model *m, track_id t, enum level level, struct strbuf *out)
{
	const struct track *tr = &m->tracks.v[t];
	const char *name = model_str(m, tr->name);
	track_id process = model_process_of(m, t);
	strbuf_clear(out);
	switch (level) {
	case PLAIN:
		strbuf_addstr(out, *name ? name : "track");
		return true;
	case BY_RANK:
		strbuf_addf(out, "rank %d/%s", (int)tr->rank, name);
		return tr->rank != RANK_NONE;
	case BY_PROCESS:
		if (process == TRACK_NONE || process == t)
			return false;
		strbuf_addf(out, "%s/%s", model_str(m, m->tracks.v[process].name), name);
		return *model_str(m, m->tracks.v[process].name) != '\0';
	case BY_IDS:
		strbuf_addf(out, "%s:%" PRId64 ":%" PRId64 "/%s", model_str(m, tr->host), tr->pid,
			    tr->tid, name);
		return tr->pid != PID_NONE || tr->tid != PID_NONE;
	default:
		strbuf_addf(out, "%s #%u", name, (unsigned)t);
		return true;
	}
}

/* How many tracks with calls have each name: also calls outside of a window count, so that a track
 * is called the same in each part of a trace. */
static void count_names(const struct model *m, const struct strvec *names, struct intern *seen,
			uint32_t **ret_count, str_id *id_of)
{
	for (track_id t = 0; t < m->tracks.nr; t++)
		id_of[t] = intern_puts(seen, names->v[t]);
	*ret_count = xcalloc(intern_count(seen) + 1, sizeof(**ret_count));
	for (track_id t = 0; t < m->tracks.nr; t++)
		if (model_has_calls(&m->tracks.v[t]))
			(*ret_count)[id_of[t]]++;
}

void track_names(const struct model *m, struct strvec *ret)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	for (track_id t = 0; t < m->tracks.nr; t++) {
		name_decorate(m, t, PLAIN, &sb);
		strvec_push(ret, sb.buf);
	}
	CLEANUP(xfreep) str_id *id_of = xcalloc(m->tracks.nr + 1, sizeof(*id_of));
	for (enum level level = BY_RANK; level < LEVELS; level++) {
		struct intern *seen = intern_new();
		CLEANUP(xfreep) uint32_t *count = NULL;
		count_names(m, ret, seen, &count, id_of);
		for (track_id t = 0; t < m->tracks.nr; t++) {
			if (!model_has_calls(&m->tracks.v[t]) || count[id_of[t]] < 2)
				continue;
			if (!name_decorate(m, t, level, &sb))
				continue;
			free(ret->v[t]);
			ret->v[t] = xstrdup(sb.buf);
		}
		intern_free(seen);
	}
}
