/*
 * The facts of a recorded run beside those of today. Both are texts with a name, taken from two
 * documents of one form: the recorded run.json, and the one that a run would begin with now.
 */
#include "prepare.h"
#include "run_replay.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"

#define MAX_FACTS 4096

struct facts {
	VEC(struct fact { char *what, *value; }) v;
};

static void facts_release(struct facts *f)
{
	for (size_t i = 0; i < f->v.nr; i++) {
		free(f->v.v[i].what);
		free(f->v.v[i].value);
	}
	VEC_RELEASE(&f->v);
}

/* --- from a document --- */

/* Owned; NULL: there is none. */
static char *value_text(const json_t *v)
{
	char number[32];

	if (json_is_string(v))
		return *json_string_value(v) ? xstrdup(json_string_value(v)) : NULL;
	if (json_is_boolean(v))
		return xstrdup(json_is_true(v) ? "yes" : "no");
	if (json_is_integer(v))
		return xasprintf("%lld", (long long)json_integer_value(v));
	if (json_is_real(v)) {
		num_fmt_f64(number, json_real_value(v));
		return xstrdup(number);
	}
	return NULL;
}

static void fact_add(struct facts *f, const char *group, const char *name, char *value)
{
	if (value && f->v.nr < MAX_FACTS)
		VEC_PUSH(&f->v, ((struct fact){ xasprintf("%s %s", group, name), value }));
	else
		free(value);
}

static void add_members(struct facts *f, const char *group, const json_t *map,
			const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fact_add(f, group, names[i], value_text(json_object_get(map, names[i])));
}

static void add_device(struct facts *f, const json_t *d)
{
	static const char *const own[] = { "name",         "arch",   "pci",  "uuid",
					   "memory_bytes", "driver", "facts" };
	/* Of what a source reads when it begins, what does not change by itself. */
	static const char *const start[] = {
		"driver",
		"vbios",
		"power_cap_w",
		"power_cap_default_w",
		"power_cap_max_w",
		"clock_max_hz",
		"mem_clock_max_hz",
		"ecc",
		"mig",
		"compute_partition",
		"memory_partition",
		"performance_level",
	};
	const char *id = json_string_value(json_object_get(d, "id"));
	const char *source = json_string_value(json_object_get(d, "source"));
	CLEANUP(xfreep) char *group = xasprintf("%s (%s)", id ? id : "", source ? source : "");

	add_members(f, group, d, own, ARRAY_LEN(own));
	add_members(f, group, json_object_get(d, "start"), start, ARRAY_LEN(start));
}

static char *words_text(const json_t *list)
{
	struct strbuf sb = STRBUF_INIT;
	const json_t *w;
	size_t i;

	json_array_foreach(list, i, w)
	{
		strbuf_addstr(&sb, i ? " " : "");
		strbuf_add_shell(&sb, json_is_string(w) ? json_string_value(w) : "");
	}
	return sb.len ? strbuf_steal(&sb) : NULL;
}

static void add_tool(struct facts *f, const json_t *t)
{
	static const char *const names[] = { "version", "file", "sha256" };
	const char *name = json_string_value(json_object_get(t, "name"));
	CLEANUP(xfreep) char *group = xasprintf("tool %s", name ? name : "");

	add_members(f, group, t, names, ARRAY_LEN(names));
	fact_add(f, group, "argv", words_text(json_object_get(t, "argv")));
}

static void facts_of(struct facts *f, const json_t *run)
{
	static const char *const host[] = { "hostname", "kernel",   "arch",  "os",
					    "cpu",      "governor", "cores", "memory_bytes" };
	static const char *const versions[] = { "profrig", "engine" };
	static const char *const git[] = { "commit", "dirty" };
	const json_t *x;
	size_t i;

	*f = (struct facts){ .v = VEC_INIT };
	fact_add(f, "run", "engine", value_text(json_object_get(run, "engine")));
	add_members(f, "host", json_object_get(run, "host"), host, ARRAY_LEN(host));
	add_members(f, "version", json_object_get(run, "versions"), versions, ARRAY_LEN(versions));
	add_members(f, "git", json_object_get(run, "git"), git, ARRAY_LEN(git));
	json_array_foreach(json_object_get(run, "devices"), i, x) add_device(f, x);
	json_array_foreach(json_object_get(run, "tools"), i, x) add_tool(f, x);
}

/* --- two of them --- */

static const char *fact_find(const struct facts *f, const char *what)
{
	const struct fact *x = VEC_FIND(&f->v, y, !strcmp(y->what, what));

	return x ? x->value : NULL;
}

static void compare(struct plan_replay *r, const char *what, const char *then, const char *now)
{
	r->compared++;
	if (then && now && !strcmp(then, now))
		return;
	VEC_PUSH(&r->differences, ((struct plan_difference){ xstrdup(what), xstrdup_null(then),
							     xstrdup_null(now) }));
}

static void compare_facts(struct plan_replay *r, const struct facts *then, const struct facts *now)
{
	for (size_t i = 0; i < then->v.nr; i++)
		compare(r, then->v.v[i].what, then->v.v[i].value,
			fact_find(now, then->v.v[i].what));
	for (size_t i = 0; i < now->v.nr; i++)
		if (!fact_find(then, now->v.v[i].what))
			compare(r, now->v.v[i].what, NULL, now->v.v[i].value);
}

static void compare_image(struct plan_replay *r, const struct replay *rp, const struct prepared *p)
{
	const char *then = json_string_value(json_object_get(rp->run, "image_digest"));
	CLEANUP(xfreep) char *what = xasprintf("image %s", rp->image_then ? rp->image_then : "");

	if (p->engine->container && p->engine->words[ENGINE_FACTS] && rp->image_then &&
	    (then || p->image_named))
		compare(r, what, then, p->image_named);
}

/* Scripts were copied into the run directory, so their text of then is known. */
static void compare_scripts(struct plan_replay *r, const struct replay *rp,
			    const struct prepared *p)
{
	for (size_t i = 0; i < p->plan.copies.nr; i++) {
		const char *rel = fs_below(p->run_dir, p->plan.copies.v[i].to);
		CLEANUP(xfreep) char *then = fs_join(rp->dir, rel ? rel : "");
		CLEANUP(xfreep) char *what = xasprintf("file %s", p->plan.copies.v[i].from);
		char a[65], b[65];

		if (!rel || !*rel || fs_sha256(then, NULL, a, NULL) < 0)
			continue;
		compare(r, what, a,
			fs_sha256(p->plan.copies.v[i].from, NULL, b, NULL) == 0 ? b : NULL);
	}
}

void replay_compare(const struct replay *rp, struct prepared *p)
{
	CLEANUP(xfreep) char *text = run_today_json(&p->plan, PROFRIG_VERSION);
	json_t *today = json_loads(text, 0, NULL);
	struct plan_replay *r = &p->replay;
	struct facts then, now;

	facts_of(&then, rp->run);
	facts_of(&now, today);
	compare_facts(r, &then, &now);
	compare_image(r, rp, p);
	compare_scripts(r, rp, p);
	facts_release(&then);
	facts_release(&now);
	json_decref(today);
}
