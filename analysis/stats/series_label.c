#include "series_label.h"
#include "track_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/natural.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

static const char *path_of(const struct model *m, const struct series_label *l)
{
	return m->inputs.v[m->series.v[l->series].input].path;
}

static track_id track_of(const struct model *m, const struct series_label *l)
{
	return m->series.v[l->series].track;
}

/* The order in which the inputs were named decides last, before it that of the tracks: a track's
 * series may be met late. */
static int cmp_labels(const void *pa, const void *pb, void *ctx)
{
	const struct series_label *a = pa, *b = pb;
	int r = natural_cmp(a->name, b->name);

	if (r == 0)
		r = natural_cmp(a->device, b->device);
	if (r == 0)
		r = strcmp(path_of(ctx, a), path_of(ctx, b));
	if (r == 0)
		r = (track_of(ctx, a) > track_of(ctx, b)) - (track_of(ctx, a) < track_of(ctx, b));
	if (r == 0)
		r = a->series < b->series ? -1 : a->series > b->series;
	return r;
}

static bool same_row(const struct series_label *a, const struct series_label *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->device, b->device) == 0;
}

/* Counts of a thread, such as PAPI's, are distinguished by their track. */
static bool is_told_apart(const struct series_label *l)
{
	return l->info.kind == SERIES_GAUGE || l->info.quantity != QUANTITY_OTHER;
}

/* Distinguishes series of one name: by the first of these that differs between two. */
enum difference { BY_FILE, BY_TRACK, BY_PATH, BY_NUMBER };

static const char *file_of(const struct model *m, const struct series_label *l)
{
	return fs_base(path_of(m, l));
}

static enum difference difference_of(const struct model *m, const struct series_label *all,
				     size_t n)
{
	bool by_file = true, by_track = true, by_path = true;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			by_file &= strcmp(file_of(m, &all[i]), file_of(m, &all[k])) != 0;
			by_track &= track_of(m, &all[i]) != track_of(m, &all[k]);
			by_path &= strcmp(path_of(m, &all[i]), path_of(m, &all[k])) != 0;
		}
	return by_file ? BY_FILE : by_track ? BY_TRACK : by_path ? BY_PATH : BY_NUMBER;
}

/* More than a page could show by name are numbered. */
#define MAX_NAMED 64

static void labels_distinguish(const struct model *m, struct series_label *all, size_t n,
			       const struct strvec *tracks)
{
	enum difference by = n <= MAX_NAMED ? difference_of(m, all, n) : BY_NUMBER;

	for (size_t i = 0; i < n; i++) {
		struct series_label *l = &all[i];
		track_id t = track_of(m, l);

		if (by == BY_FILE)
			l->own = xasprintf("%s (%s)", l->name, file_of(m, l));
		else if (by == BY_TRACK && t != TRACK_NONE)
			l->own = xasprintf("%s (%s)", l->name, tracks->v[t]);
		else if (by == BY_PATH)
			l->own = xasprintf("%s (%s)", l->name, path_of(m, l));
		else
			l->own = xasprintf("%s (%zu)", l->name, i + 1);
	}
	/* only now, as they were compared by it */
	for (size_t i = 0; i < n; i++)
		all[i].name = all[i].own;
}

static void labels_distinguish_all(const struct model *m, struct series_label *all)
{
	CLEANUP(strvec_release) struct strvec tracks = STRVEC_INIT;

	for (size_t i = 0, n; i < m->series.nr; i += n) {
		for (n = 1; i + n < m->series.nr && same_row(&all[i], &all[i + n]); n++)
			;
		if (n == 1 || !is_told_apart(&all[i]))
			continue;
		if (!tracks.nr)
			track_names(m, &tracks);
		labels_distinguish(m, &all[i], n, &tracks);
	}
}

void series_labels_freep(struct series_label **labels)
{
	for (size_t i = 0; *labels && (*labels)[i].name; i++)
		free((*labels)[i].own);
	free(*labels);
}

struct series_label *series_labels(const struct model *m)
{
	struct series_label *all = xcalloc(m->series.nr + 1, sizeof(*all));

	for (size_t i = 0; i < m->series.nr; i++) {
		struct series_label *l = &all[i];
		const struct series *se = &m->series.v[i];
		const char *node = model_str(m, se->host && !m->several_hosts ? 0 : se->node);

		l->series = (series_id)i;
		l->name = model_str(m, se->name);
		l->info = counter_info(m, (series_id)i);
		if (*node && !strchr(l->info.device, ':'))
			snprintf(l->device, sizeof(l->device), "%.90s%s%s", node,
				 l->info.device[0] ? ":" : "", l->info.device);
		else
			snprintf(l->device, sizeof(l->device), "%s", l->info.device);
	}
	qsort_r(all, m->series.nr, sizeof(*all), cmp_labels, (void *)m);
	labels_distinguish_all(m, all);
	/* by the names that the tables show */
	qsort_r(all, m->series.nr, sizeof(*all), cmp_labels, (void *)m);
	return all;
}
