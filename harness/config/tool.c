#include "profrig/config/tool.h"
#include "tool_int.h"

#include <errno.h>
#include <math.h>
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
	return VEC_FIND(&t->options, x, !strcmp(x->name, name));
}

/* The file in a folder or in the folder's parent. */
static char *path_beside(const char *dir, const char *path)
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
	CLEANUP(xfreep) char *found = path_beside(own, path);

	for (size_t i = 0; !found && i < dirs->nr; i++) {
		CLEANUP(xfreep) char *dir = fs_abs(dirs->v[i]);

		found = path_beside(dir, path);
	}
	return found ? fs_abs(found) : NULL;
}

char *tool_option_path(const struct tool_set *ts, const struct tool *t, const char *value)
{
	return tool_find_script(t->file, value, &ts->dirs);
}

FIELD_TABLE(env_fields, TEXT_FIELDS(struct tool_env, name, value, where));
FIELD_TABLE(unset_fields, TEXT_FIELDS(struct tool_unset, name, where));
FIELD_TABLE(script_fields, TEXT_FIELDS(struct tool_script, path),
	    WORDS_FIELDS(struct tool_script, args));
const struct field tool_output_fields[] = {
	TEXT_FIELDS(struct tool_output, glob, reader, group, when_option, when_value),
	WORDS_FIELDS(struct tool_output, match),
	BOOL_FIELDS(struct tool_output, if_any),
	FIELDS_END,
};
const struct field tool_option_fields[] = {
	TEXT_FIELDS(struct tool_option, type, about, env),
	FIELD_AS(struct tool_option, def, TEXT, "default"),
	FIELDS_END,
};
FIELD_TABLE(own_option_fields,
	    TEXT_FIELDS(struct tool_option, name, choices, where, type, about, env, def));
const struct field tool_fields[] = {
	TEXT_FIELDS(struct tool, about, vendor, because, conflicts_because),
	TEXT_FIELDS(struct tool, passes.option, passes.lines, passes.about),
	WORDS_FIELDS(struct tool, wrap, needs, preload, provides, conflicts, caps, security,
		     instead),
	WORDS_FIELDS(struct tool, control.wrap, control.paused, control.preload, control.start,
		     control.stop),
	FIELD_AS(struct tool, sampler_kind, TEXT, "sampler.kind"),
	FIELD_AS(struct tool, sampler_device, TEXT, "sampler.device"),
	FIELD_AS(struct tool, sampler_period_option, TEXT, "sampler.period_option"),
	FIELDS_END,
};
FIELD_TABLE(own_fields, TEXT_FIELDS(struct tool, name, file, sampler_where),
	    TEXT_FIELDS(struct tool, control.fifo, control.ack, control.script.path),
	    WORDS_FIELDS(struct tool, control.script.args, notes, problems.lines),
	    FIELD_VEC(struct tool, env, env_fields), FIELD_VEC(struct tool, install, env_fields),
	    FIELD_VEC(struct tool, unset, unset_fields), FIELD_VEC(struct tool, pre, script_fields),
	    FIELD_VEC(struct tool, post, script_fields),
	    FIELD_VEC(struct tool, outputs, tool_output_fields),
	    FIELD_VEC(struct tool, options, own_option_fields),
	    FIELD_VEC(struct tool, control.env, env_fields),
	    FIELD_VEC(struct tool, control.paused_env, env_fields));

struct tool *tool_new(void)
{
	struct tool *t = xcalloc(1, sizeof(*t));

	fields_init(t, tool_fields);
	fields_init(t, own_fields);
	t->budget = NAN;
	return t;
}

void tool_free(struct tool *t)
{
	if (!t)
		return;
	fields_release(t, tool_fields);
	fields_release(t, own_fields);
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

		/* An unreadable file is listed as broken, with the reason. */
		if (text_suffix(names.v[i], ".yaml") && !fs_is_dir(path))
			strvec_push(&ts->files, path);
	}
	return 0;
}

static const struct tool *tool_known(const struct tool_set *ts, const char *name)
{
	for (size_t i = 0; i < ts->tools.nr; i++)
		if (!strcmp(ts->tools.v[i]->name, name))
			return ts->tools.v[i];
	return NULL;
}

static void read_file(struct tool_set *ts, const char *path)
{
	struct tool *t = tool_read(path, &ts->dirs);

	if (tool_known(ts, t->name))
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

/* Whether this file may hold a tool of that name: its text or the file's own name has it. */
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
	const struct tool *t = tool_known(own, name);

	for (size_t i = 0; !t && i < own->files.nr;) {
		if (!may_hold(own->files.v[i], name)) {
			i++;
			continue;
		}
		read_file(own, own->files.v[i]);
		strvec_remove(&own->files, i);
		t = tool_known(own, name);
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
