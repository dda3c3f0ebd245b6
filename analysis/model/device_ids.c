#include "model_private.h"

#include <string.h>

#include "profrig/base/u64map.h"

/*
 * "gpu0" names a device of one machine. Where inputs come from several hosts it becomes
 * "node3:gpu0"; where the hosts are not known, as with traces of ranks that ran in containers, and
 * several ranks have a device of that id, "rank3:gpu0". Otherwise the work of different devices
 * would be added up as that of one.
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

#define SEVERAL_RANKS (UINT32_MAX - 1)

/* By device id: the rank that has it on a host that is not known, SEVERAL_RANKS. */
static void ranks_collect(const struct model *m, struct u64map *rank_of)
{
	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];
		uint32_t *rank;

		if (t->host || t->rank < 0 || !is_plain(m, t->device))
			continue;
		rank = u64map_at(rank_of, t->device);
		if (*rank == U64MAP_NONE)
			*rank = (uint32_t)t->rank;
		else if (*rank != (uint32_t)t->rank)
			*rank = SEVERAL_RANKS;
	}
}

static str_id behind_host(struct model *m, str_id host, str_id device)
{
	CLEANUP(xfreep) char *id = NULL;

	if (!host || !is_plain(m, device))
		return device;
	id = xasprintf("%s:%s", model_str(m, host), model_str(m, device));
	return intern_puts(m->strings, id);
}

static str_id behind_rank(struct model *m, int32_t rank, str_id device)
{
	CLEANUP(xfreep) char *id = xasprintf("rank%d:%s", (int)rank, model_str(m, device));

	return intern_puts(m->strings, id);
}

void device_ids_qualify(struct model *m)
{
	CLEANUP(u64map_release) struct u64map rank_of = U64MAP_INIT;

	m->several_hosts = several_hosts(m);
	ranks_collect(m, &rank_of);
	for (size_t i = 0; i < m->tracks.nr; i++) {
		struct track *t = &m->tracks.v[i];

		if (m->several_hosts)
			t->device = behind_host(m, t->host, t->device);
		if (!t->host && t->rank >= 0 && is_plain(m, t->device) &&
		    u64map_get(&rank_of, t->device) == SEVERAL_RANKS)
			t->device = behind_rank(m, t->rank, t->device);
	}
	for (size_t i = 0; m->several_hosts && i < m->series.nr; i++)
		m->series.v[i].device = behind_host(m, m->series.v[i].host, m->series.v[i].device);
}
