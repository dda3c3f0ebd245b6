#include "model_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"

/*
 * "gpu0" names a device of one machine. Where inputs come from several hosts it becomes
 * "node3:gpu0". Where no host is known, as with traces of ranks that ran in containers, and several
 * ranks have a device of one id, each rank has devices of its own, "rank3:gpu0", and so have the
 * counters in its file. Otherwise the work of different devices would be added up as that of one,
 * and a counter would be shared by all ranks. Ranks whose devices have different ids are on one
 * machine as far as the ids tell.
 */
static bool is_plain(const struct model *m, str_id device)
{
	return device && !strchr(model_str(m, device), ':');
}

/* Whether this host differs from the one seen before. An unknown host does not. */
static bool is_another(str_id host, str_id *seen)
{
	if (!host)
		return false;
	if (!*seen)
		*seen = host;
	return host != *seen;
}

static bool several_hosts(const struct model *m)
{
	str_id seen = 0;

	for (size_t i = 0; i < m->tracks.nr; i++)
		if (m->tracks.v[i].device && is_another(m->tracks.v[i].host, &seen))
			return true;
	for (size_t i = 0; i < m->series.nr; i++)
		if (is_another(m->series.v[i].host, &seen))
			return true;
	return false;
}

/* ---- ranks of unknown hosts ---- */

static str_id rank_node(struct model *m, int32_t rank)
{
	CLEANUP(xfreep) char *name = xasprintf("rank%d", (int)rank);

	return intern_puts(m->strings, name);
}

/* "gpu0", also of "rank3:gpu0" as a track of rank 3 has it that is settled again; 0: none. */
static str_id own_id(struct model *m, const struct track *t)
{
	CLEANUP(xfreep) char *before = xasprintf("rank%d:", (int)t->rank);
	const char *id = model_str(m, t->device);
	size_t n = strlen(before);

	if (strncmp(id, before, n) == 0)
		id += n;
	return *id && !strchr(id, ':') ? intern_puts(m->strings, id) : 0;
}

/* Whether another rank was seen with this key. */
static bool is_another_rank(struct u64map *rank_of, uint64_t key, int32_t rank)
{
	uint32_t *seen = u64map_at(rank_of, key);

	if (*seen == U64MAP_NONE)
		*seen = (uint32_t)rank;
	return *seen != (uint32_t)rank;
}

/* *ret_any: some rank has a device. */
static bool ranks_share_ids(struct model *m, bool *ret_any)
{
	CLEANUP(u64map_release) struct u64map rank_of = U64MAP_INIT;
	bool shared = false;

	*ret_any = false;
	for (size_t i = 0; i < m->tracks.nr && !shared; i++) {
		const struct track *t = &m->tracks.v[i];
		str_id id = t->host || t->rank < 0 ? 0 : own_id(m, t);

		*ret_any |= id != 0;
		shared = id && is_another_rank(&rank_of, id, t->rank);
	}
	return shared;
}

/* By input: the rank of all its tracks that have one and no host, RANK_NONE. */
static int32_t *ranks_of_inputs(const struct model *m)
{
	int32_t *ret = xcalloc(m->inputs.nr + 1, sizeof(*ret));
	CLEANUP(xfreep) bool *several = xcalloc(m->inputs.nr + 1, sizeof(*several));

	for (size_t i = 0; i < m->inputs.nr; i++)
		ret[i] = RANK_NONE;
	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];

		if (t->rank < 0 || t->host)
			continue;
		several[t->input] |= ret[t->input] != RANK_NONE && ret[t->input] != t->rank;
		ret[t->input] = several[t->input] ? RANK_NONE : t->rank;
	}
	return ret;
}

/* The rank whose file has the counter, where its host is not known; RANK_NONE. */
static int32_t rank_of_series(const struct model *m, const struct series *se,
			      const int32_t *rank_of_input)
{
	const struct track *t = se->track < m->tracks.nr ? &m->tracks.v[se->track] : NULL;

	if (se->host || (t && t->host))
		return RANK_NONE;
	return t && t->rank >= 0 ? t->rank : rank_of_input[se->input];
}

/* Where no rank has a device on which it works, counters alone tell. */
static bool ranks_share_counters(const struct model *m, const int32_t *rank_of_input)
{
	CLEANUP(u64map_release) struct u64map rank_of = U64MAP_INIT;

	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series *se = &m->series.v[i];
		int32_t rank = rank_of_series(m, se, rank_of_input);

		if (rank >= 0 && is_another_rank(&rank_of, u64map_pair(se->name, se->device), rank))
			return true;
	}
	return false;
}

static void nodes_set(struct model *m)
{
	CLEANUP(xfreep) int32_t *rank_of_input = ranks_of_inputs(m);
	bool any, apart = ranks_share_ids(m, &any);

	/* a model that is settled again has names that no longer tell */
	apart = apart || m->ranks_apart || (!any && ranks_share_counters(m, rank_of_input));
	m->ranks_apart = apart;
	for (size_t i = 0; i < m->tracks.nr; i++) {
		struct track *t = &m->tracks.v[i];

		t->node = t->host || !apart || t->rank < 0 ? t->host : rank_node(m, t->rank);
	}
	for (size_t i = 0; i < m->series.nr; i++) {
		struct series *se = &m->series.v[i];
		int32_t rank = apart ? rank_of_series(m, se, rank_of_input) : RANK_NONE;

		se->node = rank < 0 ? se->host : rank_node(m, rank);
	}
}

/* ---- names ---- */

/* A node is put in front where it is one of several. */
static str_id behind_node(struct model *m, str_id host, str_id node, str_id device)
{
	CLEANUP(xfreep) char *id = NULL;

	if (!node || (host && !m->several_hosts) || !is_plain(m, device))
		return device;
	id = xasprintf("%s:%s", model_str(m, node), model_str(m, device));
	return intern_puts(m->strings, id);
}

void device_ids_qualify(struct model *m)
{
	m->several_hosts = several_hosts(m);
	nodes_set(m);
	for (size_t i = 0; i < m->tracks.nr; i++) {
		struct track *t = &m->tracks.v[i];

		t->device = behind_node(m, t->host, t->node, t->device);
	}
	for (size_t i = 0; i < m->series.nr; i++) {
		struct series *se = &m->series.v[i];

		se->device = behind_node(m, se->host, se->node, se->device);
	}
}
