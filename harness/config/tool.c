#include "profrig/tool.h"
#include "tool_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/fs.h"
#include "profrig/xalloc.h"

const char *tool_class_name(enum tool_class c)
{
	static const char *const names[] = { "wrap", "preload", "env", "sampler", "script" };

	return names[c];
}

const struct tool *tool_find(const struct tool_set *ts, const char *name)
{
	for (size_t i = 0; i < ts->tools.nr; i++)
		if (!strcmp(ts->tools.v[i]->name, name))
			return ts->tools.v[i];
	return NULL;
}

const struct tool_option *tool_option_find(const struct tool *t, const char *name)
{
	for (size_t i = 0; i < t->options.nr; i++)
		if (!strcmp(t->options.v[i].name, name))
			return &t->options.v[i];
	return NULL;
}

/* The file as it is found from one folder or its parent. */
static char *beside(const char *dir, const char *path)
{
	CLEANUP(xfreep) char *parent = fs_dir(dir);
	char *found = fs_join(dir, path);

	if (fs_is_file(found))
		return found;
	free(found);
	found = fs_join(parent, path);
	if (fs_is_file(found))
		return found;
	free(found);
	return NULL;
}

char *tool_find_script(const char *file, const char *path, const struct strvec *dirs)
{
	CLEANUP(xfreep) char *own = fs_dir(file);
	CLEANUP(xfreep) char *found = beside(own, path);

	for (size_t i = 0; !found && i < dirs->nr; i++) {
		CLEANUP(xfreep) char *dir = fs_abs(dirs->v[i]);

		found = beside(dir, path);
	}
	return found ? fs_abs(found) : NULL;
}

static void free_scripts(struct tool_script *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(v[i].path);
		strvec_release(&v[i].args);
	}
	free(v);
}

static void free_options(struct tool *t)
{
	for (size_t i = 0; i < t->options.nr; i++) {
		struct tool_option *o = &t->options.v[i];

		free(o->name);
		free(o->type);
		free(o->def);
		free(o->choices);
		free(o->about);
		free(o->where);
	}
	VEC_RELEASE(&t->options);
}

void tool_free(struct tool *t)
{
	if (!t)
		return;
	free(t->name);
	free(t->about);
	free(t->vendor);
	free(t->file);
	strvec_release(&t->wrap);
	strvec_release(&t->needs);
	strvec_release(&t->caps);
	strvec_release(&t->preload);
	strvec_release(&t->provides);
	strvec_release(&t->conflicts);
	for (size_t i = 0; i < t->env.nr; i++) {
		free(t->env.v[i].name);
		free(t->env.v[i].value);
		free(t->env.v[i].where);
	}
	VEC_RELEASE(&t->env);
	free_scripts(t->pre.v, t->pre.nr);
	free_scripts(t->post.v, t->post.nr);
	for (size_t i = 0; i < t->outputs.nr; i++) {
		free(t->outputs.v[i].glob);
		free(t->outputs.v[i].reader);
	}
	VEC_RELEASE(&t->outputs);
	free_options(t);
	free(t->sampler_kind);
	free(t->sampler_device);
	free(t->sampler_where);
	tool_control_release(&t->control);
	strvec_release(&t->notes);
	problems_release(&t->problems);
	free(t);
}

void tool_set_release(struct tool_set *ts)
{
	for (size_t i = 0; i < ts->tools.nr; i++)
		tool_free(ts->tools.v[i]);
	VEC_RELEASE(&ts->tools);
	strvec_release(&ts->dirs);
}

static void add_dir(struct tool_set *ts, const char *dir)
{
	if (fs_is_dir(dir) && !strvec_has(&ts->dirs, dir))
		strvec_push(&ts->dirs, dir);
}

static void add_known_dirs(struct tool_set *ts)
{
	CLEANUP(strvec_release) struct strvec env = STRVEC_INIT;
	const char *path = getenv("PROFRIG_TOOLS_PATH");
	CLEANUP(xfreep) char *self = fs_self_dir();

	if (path)
		strvec_split(&env, path, ":");
	for (size_t i = 0; i < env.nr; i++)
		add_dir(ts, env.v[i]);
	add_dir(ts, "tools.d");
	CLEANUP(xfreep) char *above = fs_dir(self);
	CLEANUP(xfreep) char *beside_it = fs_join(self, "tools.d");
	CLEANUP(xfreep) char *above_it = fs_join(above, "tools.d");
	CLEANUP(xfreep) char *installed = fs_join(above, "share/profrig/tools.d");

	add_dir(ts, beside_it);
	add_dir(ts, above_it);
	add_dir(ts, installed);
}

static int by_name(const void *a, const void *b)
{
	const struct tool *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int load_dir(struct tool_set *ts, const char *dir, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r = fs_list(dir, &names, err);

	if (r < 0)
		return err_wrap(err, r, "tools");
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		size_t len = strlen(names.v[i]);
		struct tool *t;

		if (len < 6 || strcmp(names.v[i] + len - 5, ".yaml") != 0 || !fs_is_file(path))
			continue;
		t = tool_read(path, &ts->dirs);
		if (tool_find(ts, t->name)) {
			tool_free(t);
			continue;
		}
		VEC_PUSH(&ts->tools, t);
	}
	return 0;
}

int tool_set_load(struct tool_set *ts, const struct strvec *extra_dirs, struct err *err)
{
	int r = 0;

	*ts = (struct tool_set){ .dirs = STRVEC_INIT };
	for (size_t i = 0; extra_dirs && i < extra_dirs->nr && r == 0; i++) {
		if (!fs_is_dir(extra_dirs->v[i]))
			r = err_set(err, ENOENT, "tools folder '%s' is not there",
				    extra_dirs->v[i]);
		else
			add_dir(ts, extra_dirs->v[i]);
	}
	if (r == 0)
		add_known_dirs(ts);
	for (size_t i = 0; i < ts->dirs.nr && r == 0; i++)
		r = load_dir(ts, ts->dirs.v[i], err);
	if (r < 0) {
		tool_set_release(ts);
		return r;
	}
	if (ts->tools.nr)
		qsort(ts->tools.v, ts->tools.nr, sizeof(*ts->tools.v), by_name);
	return 0;
}
