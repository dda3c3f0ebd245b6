/* Merging: everything is read and planned first (merge_plan.h), then copied input by input. */
#include "bundle_out.h"
#include "merge_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/progress.h"
#include "profrig/base/xalloc.h"

struct merge {
	struct merge_plan plan;
	struct bundle_out b;
	struct pack_result *said;
};

/* ---- one member ---- */

struct copying {
	struct bundle_member m;
	struct bundle_out *b;
	const char *path;
	int64_t mtime_s;
	bool begun, stored;
};

static int copy_take(void *ctx, const void *data, size_t n, struct err *err)
{
	struct copying *c = ctx;

	(void)err;
	if (c->begun)
		bundle_put(&c->m, data, n);
	else
		bundle_begin(&c->m, c->b, c->path, c->mtime_s, data, n, c->stored);
	c->begun = true;
	return 0;
}

/* The row of the output's manifest; what the input's manifest said stays. */
static struct bundle_row row_of(const struct merge *mg, size_t input, const struct merge_group *g,
				const struct merge_entry *e, const char *path)
{
	const struct bundle_row *was =
		bundle_manifest_find(&mg->plan.inputs.v[input].facts, e->path);
	const struct strvec *bundles = &mg->plan.variants.v[g->variant].bundles;
	struct bundle_row row = { .path = xstrdup(path),
				  .origin = xstrdup(was ? was->origin : ""),
				  .rank = was ? was->rank : bundle_manifest_rank_of(e->path),
				  .bundles = STRVEC_INIT };

	strvec_pushv(&row.bundles, bundles->v);
	return row;
}

static void row_release(struct bundle_row *row)
{
	free(row->path);
	free(row->origin);
	strvec_release(&row->bundles);
}

/* 1: it must be stored. */
static int member_copy(struct merge *mg, struct bundle_in *in, const struct zip_entry *e,
		       struct bundle_row *row, const char *sha256, bool stored, struct err *err)
{
	struct copying c = {
		.b = &mg->b, .path = row->path, .mtime_s = e->mtime_s, .stored = stored
	};
	char now[65];
	int r = bundle_in_read(in, e, copy_take, &c, now, err);

	if (r == 0 && strcmp(now, sha256) != 0)
		r = err_set(err, EBUSY, "%s: it changed while it was merged", in->zip.name);
	if (r < 0) {
		if (c.begun)
			bundle_undo(&c.m);
		return r;
	}
	if (!c.begun)
		copy_take(&c, "", 0, NULL);
	return bundle_end(&c.m, row);
}

static int entry_copy(struct merge *mg, struct bundle_in *in, size_t input,
		      const struct merge_group *g, const struct merge_entry *me, struct err *err)
{
	CLEANUP(xfreep) char *path = merge_entry_path(&mg->plan, g, me);
	const struct zip_entry *e = zip_find(&in->zip, me->path);
	struct bundle_row row = row_of(mg, input, g, me, path);
	int r = e ? 0 : err_set(err, EBUSY, "%s: it changed while it was merged", in->zip.name);

	if (r == 0)
		r = member_copy(mg, in, e, &row, me->sha256, false, err);
	if (r > 0)
		r = member_copy(mg, in, e, &row, me->sha256, true, err);
	if (r != 0) {
		row_release(&row);
		return r;
	}
	mg->said->bytes += me->bytes;
	return 0;
}

/* ---- facts ---- */

/* Runs and named inputs of a bundle, at their places in the output. */
static void facts_copy(struct merge *mg, size_t input)
{
	const struct merge_input *in = &mg->plan.inputs.v[input];
	CLEANUP(xfreep) char *origin = fs_abs(in->path);
	const json_t *row;
	size_t i;

	bundle_manifest_add(mg->b.manifest.bundles, in->label, "origin", origin, NULL);
	json_array_foreach(in->facts.runs, i, row)
	{
		const char *was = json_string_value(json_object_get(row, "path"));
		CLEANUP(xfreep) char *path = was ? merge_plan_path(&mg->plan, input, was) : NULL;
		json_t *copy = path ? json_copy((json_t *)(uintptr_t)row) : NULL;

		if (!copy)
			continue;
		json_object_set_new(copy, "path", json_string(path));
		json_array_append_new(mg->b.manifest.runs, copy);
	}
	json_array_foreach(in->facts.inputs, i, row)
	{
		json_t *copy = json_copy((json_t *)(uintptr_t)row);

		json_object_set_new(copy, "bundle", json_string(in->label));
		json_array_append_new(mg->b.manifest.inputs, copy);
	}
	json_array_extend(mg->b.manifest.left_out, in->facts.left_out);
}

/* ---- all of them ---- */

static int input_copy(struct merge *mg, size_t input, struct err *err)
{
	struct merge_input *in = &mg->plan.inputs.v[input];
	struct bundle_in from;
	int r = bundle_in_open(in->path, &from, err);

	if (r < 0)
		return r;
	progress_phase("copy %s", fs_base(in->path));
	facts_copy(mg, input);
	for (size_t i = 0; r == 0 && i < in->groups.nr; i++) {
		const struct merge_group *g = &in->groups.v[i];

		if (mg->plan.variants.v[g->variant].input != input)
			continue;
		for (size_t k = g->first; r == 0 && k < g->first + g->nr; k++)
			r = entry_copy(mg, &from, input, g, &in->entries.v[k], err);
	}
	bundle_in_release(&from);
	return r;
}

static void differing_note(struct merge *mg)
{
	for (size_t i = 0; i < mg->plan.of_key.nr; i++)
		if (mg->plan.of_key.v[i].nr > 1)
			strvec_push(&mg->said->differing, intern_str(mg->plan.keys, (str_id)i));
	strvec_sort(&mg->said->differing);
}

static int merge_write(struct merge *mg, const char *output, struct err *err)
{
	int r = bundle_open(&mg->b, output, err);

	for (size_t i = 0; r == 0 && i < mg->plan.inputs.nr; i++)
		r = input_copy(mg, i, err);
	if (r == 0 && !mg->b.manifest.members.nr)
		r = err_set(err, ENODATA, "there is no member to merge");
	mg->said->members = mg->b.manifest.members.nr;
	return r < 0 ? r : bundle_commit(&mg->b, &mg->said->packed, err);
}

int pack_merge(const struct strvec *inputs, const char *output, const struct pack_opts *o,
	       struct pack_result *ret, struct err *err)
{
	struct merge mg = { .b = BUNDLE_OUT_INIT, .said = ret };
	int r = pack_output_check(output, o->force, err);

	*ret = (struct pack_result){ .left_out = STRVEC_INIT,
				     .lost = STRVEC_INIT,
				     .differing = STRVEC_INIT };
	if (r < 0)
		return r;
	r = merge_plan_make(inputs, &mg.plan, err);
	if (r == 0) {
		differing_note(&mg);
		r = merge_write(&mg, output, err);
	}
	bundle_drop(&mg.b);
	merge_plan_release(&mg.plan);
	return r;
}
