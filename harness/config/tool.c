#include "profrig/config/tool.h"
#include "tool_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

const char *tool_class_name(enum tool_class c)
{
	static const char *const names[] = { "wrap", "preload", "env", "sampler", "script" };

	return names[c];
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

char *tool_option_path(const struct tool_set *ts, const struct tool *t, const char *value)
{
	return tool_find_script(t->file, value, &ts->dirs);
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
		free(o->env);
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
	strvec_release(&t->security);
	strvec_release(&t->instead);
	free(t->because);
	free(t->passes.option);
	free(t->passes.lines);
	free(t->passes.about);
	strvec_release(&t->preload);
	strvec_release(&t->provides);
	strvec_release(&t->conflicts);
	free(t->conflicts_because);
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
		free(t->outputs.v[i].when_option);
		free(t->outputs.v[i].when_value);
		free(t->outputs.v[i].group);
		strvec_release(&t->outputs.v[i].match);
	}
	VEC_RELEASE(&t->outputs);
	free_options(t);
	free(t->sampler_kind);
	free(t->sampler_device);
	free(t->sampler_period_option);
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
	strvec_release(&ts->files);
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

static int list_dir(struct tool_set *ts, const char *dir, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r = fs_list(dir, &names, err);

	if (r < 0)
		return err_wrap(err, r, "tools");
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);

		/* One that cannot be looked at is listed as broken, with the reason. */
		if (text_suffix(names.v[i], ".yaml") && !fs_is_dir(path))
			strvec_push(&ts->files, path);
	}
	return 0;
}

static const struct tool *known(const struct tool_set *ts, const char *name)
{
	for (size_t i = 0; i < ts->tools.nr; i++)
		if (!strcmp(ts->tools.v[i]->name, name))
			return ts->tools.v[i];
	return NULL;
}

static void read_file(struct tool_set *ts, const char *path)
{
	struct tool *t = tool_read(path, &ts->dirs);

	if (known(ts, t->name))
		tool_free(t);
	else
		VEC_PUSH(&ts->tools, t);
}

void tool_set_all(const struct tool_set *ts)
{
	struct tool_set *own = (struct tool_set *)ts;

	if (!own->files.nr)
		return;
	for (size_t i = 0; i < own->files.nr; i++)
		read_file(own, own->files.v[i]);
	strvec_clear(&own->files);
	if (own->tools.nr)
		qsort(own->tools.v, own->tools.nr, sizeof(*own->tools.v), by_name);
}

/* Can this file hold a tool of that name? It stands in its text, or is the file's own. */
static bool may_hold(const char *path, const char *name)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = strlen(name);

	if (!strncmp(fs_base(path), name, n) && !strcmp(fs_base(path) + n, ".yaml"))
		return true;
	return fs_read(path, (size_t)4 << 20, &text, NULL, NULL) < 0 || strstr(text, name);
}

const struct tool *tool_find(const struct tool_set *ts, const char *name)
{
	struct tool_set *own = (struct tool_set *)ts;
	const struct tool *t = known(own, name);

	for (size_t i = 0; !t && i < own->files.nr;) {
		if (!may_hold(own->files.v[i], name)) {
			i++;
			continue;
		}
		read_file(own, own->files.v[i]);
		strvec_remove(&own->files, i);
		t = known(own, name);
	}
	return t;
}

int tool_set_open(struct tool_set *ts, const struct strvec *extra_dirs, struct err *err)
{
	int r = 0;

	*ts = (struct tool_set){ .dirs = STRVEC_INIT, .files = STRVEC_INIT };
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
		r = list_dir(ts, ts->dirs.v[i], err);
	if (r < 0)
		tool_set_release(ts);
	return r;
}

int tool_set_load(struct tool_set *ts, const struct strvec *extra_dirs, struct err *err)
{
	int r = tool_set_open(ts, extra_dirs, err);

	if (r == 0)
		tool_set_all(ts);
	return r;
}
