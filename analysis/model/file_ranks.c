/*
 * Files that name neither a host nor a rank. A device of one number in several of them is one
 * device, unless their names tell ranks: "rank-0.json", "step_rank3.pt.trace.json". Names count
 * where all such files with device work have a number behind "rank", no two the same one, and no
 * other file has that rank: what a trace says comes first, and the order of files never counts.
 */
#include "model_private.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "profrig/base/u64map.h"
#include "profrig/model/warnings.h"

#define RANK_DIGITS_MAX 6

int32_t file_rank_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int32_t rank = RANK_NONE;

	for (const char *p = name; *p; p++) {
		const char *s = p + 4;
		int32_t v = 0;
		int digits = 0;

		if (strncasecmp(p, "rank", 4) != 0)
			continue;
		s += *s == '-' || *s == '_' || *s == '.';
		for (; isdigit((unsigned char)*s) && digits < RANK_DIGITS_MAX; digits++)
			v = 10 * v + (*s++ - '0');
		if (digits && !isdigit((unsigned char)*s))
			rank = v;
	}
	return rank;
}

static bool is_nameless(const struct track *t)
{
	return t->rank == RANK_NONE && !t->host;
}

/* By input: it has a queue, and no track of it has a host or a rank. */
static uint8_t *nameless_inputs(const struct model *m)
{
	uint8_t *v = xcalloc(m->inputs.nr + 1, 1);

	for (size_t i = 0; i < m->tracks.nr; i++)
		if (m->tracks.v[i].kind == TRACK_QUEUE && m->tracks.v[i].input < m->inputs.nr)
			v[m->tracks.v[i].input] = 1;
	for (size_t i = 0; i < m->tracks.nr; i++)
		if (!is_nameless(&m->tracks.v[i]) && m->tracks.v[i].input < m->inputs.nr)
			v[m->tracks.v[i].input] = 0;
	return v;
}

/* Ranks that traces state. */
static void stated_add(const struct model *m, struct u64map *ranks)
{
	for (size_t i = 0; i < m->tracks.nr; i++)
		if (m->tracks.v[i].rank != RANK_NONE)
			*u64map_at(ranks, (uint64_t)m->tracks.v[i].rank) = 1;
}

void file_ranks_take(struct model *m)
{
	CLEANUP(xfreep) uint8_t *nameless = nameless_inputs(m);
	CLEANUP(xfreep) int32_t *rank = xcalloc(m->inputs.nr + 1, sizeof(*rank));
	CLEANUP(u64map_release) struct u64map taken = U64MAP_INIT;
	size_t nr = 0;

	stated_add(m, &taken);
	for (size_t i = 0; i < m->inputs.nr; i++) {
		rank[i] = nameless[i] ? file_rank_of(m->inputs.v[i].path) : RANK_NONE;
		if (!nameless[i])
			continue;
		if (rank[i] == RANK_NONE || u64map_get(&taken, (uint64_t)rank[i]) != U64MAP_NONE)
			return;
		*u64map_at(&taken, (uint64_t)rank[i]) = 1;
		nr++;
	}
	for (size_t i = 0; i < m->tracks.nr && nr > 1; i++) {
		struct track *t = &m->tracks.v[i];

		if (t->input < m->inputs.nr && nameless[t->input])
			t->rank = rank[t->input];
	}
}

/* Files of one recording number their correlations together, and share its devices. */
static uint64_t recording_of(const struct model *m, input_id input)
{
	uint64_t group = m->inputs.v[input].group;

	return group ? group : UINT64_MAX - input;
}

/* Devices by the recordings that have work on them and say of neither host nor rank. */
struct shared_device {
	str_id device;
	input_id first, other;
	uint64_t recordings;
};

struct shared_devices {
	VEC(struct shared_device) v;
	struct u64map at;   /* device → row */
	struct u64map seen; /* row, recording */
};

static uint64_t seen_key(uint32_t row, uint64_t recording)
{
	uint64_t x = recording * UINT64_C(0x9e3779b97f4a7c15) ^ row;

	return x ^ x >> 29;
}

static void shared_add(struct shared_devices *s, const struct model *m, const struct track *t)
{
	uint32_t *at = u64map_at(&s->at, t->device), *seen;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)s->v.nr;
		VEC_PUSH(&s->v, ((struct shared_device){ t->device, t->input, t->input, 0 }));
	}
	seen = u64map_at(&s->seen, seen_key(*at, recording_of(m, t->input)));
	if (*seen != U64MAP_NONE)
		return;
	*seen = 1;
	if (s->v.v[*at].recordings++ == 1)
		s->v.v[*at].other = t->input;
}

void shared_devices_warn(struct model *m)
{
	struct shared_devices s = { VEC_INIT, U64MAP_INIT, U64MAP_INIT };

	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];

		if (t->kind == TRACK_QUEUE && t->device && is_nameless(t) && t->spans &&
		    t->input < m->inputs.nr)
			shared_add(&s, m, t);
	}
	for (size_t i = 0; i < s.v.nr; i++) {
		const struct shared_device *d = &s.v.v[i];

		if (d->recordings > 1)
			model_warn(m, d->first, W_DEVICE_OF_SEVERAL, d->recordings,
				   "%s is one device here, and %" PRIu64 " inputs have work on it "
				   "without saying of which host or rank: %s, %s%s",
				   model_str(m, d->device), d->recordings,
				   m->inputs.v[d->first].path, m->inputs.v[d->other].path,
				   d->recordings > 2 ? " …" : "");
	}
	VEC_RELEASE(&s.v);
	u64map_release(&s.at);
	u64map_release(&s.seen);
}
