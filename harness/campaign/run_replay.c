#include "run_replay.h"
#include "prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/text.h"
#include "profrig/image/image.h"

#define MAX_RUN_JSON ((size_t)16 << 20)
#define MAX_PLAN_JSON ((size_t)4 << 20) /* what cfg reads */
#define MAX_LEFT_OUT 256
#define MAX_ID 200

/* --- reading --- */

/* Who may have written it. */
static int check_owner(const char *path, const struct stat *st, bool foreign, struct err *err)
{
	if (!foreign && st->st_uid != geteuid() && st->st_uid != 0)
		return err_set(err, EACCES,
			       "'%s' belongs to the user %u: a replay runs the commands in it "
			       "(--replay-foreign does it all the same)",
			       path, st->st_uid);
	if (!foreign && (st->st_mode & S_IWOTH))
		return err_set(err, EACCES,
			       "all users may write to '%s': a replay runs the commands in it "
			       "(--replay-foreign does it all the same)",
			       path);
	return 0;
}

static int read_whole(int fd, const char *path, size_t max, char **ret, size_t *ret_n,
		      struct err *err)
{
	CLEANUP(xfreep) char *text = xmalloc(max + 1);
	size_t n = 0;
	ssize_t got = 1;

	while (got > 0 && n < max) {
		got = read(fd, text + n, max - n);
		if (got < 0 && errno != EINTR)
			return err_sys(err, errno, "'%s'", path);
		n += got > 0 ? (size_t)got : 0;
		got = got < 0 ? 1 : got;
	}
	if (n == max)
		return err_set(err, EBADMSG, "'%s' is larger than %zu MiB", path, max >> 20);
	text[n] = '\0';
	*ret = xrealloc(STEAL(text), n + 1);
	*ret_n = n;
	return 0;
}

static int file_read(const struct replay *rp, const char *name, size_t max, bool foreign,
		     char **ret, size_t *ret_n, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(rp->dir, name);
	CLEANUP(xclosep) int fd = door_open(path, O_RDONLY, 0);
	struct stat st;
	int r;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ENOENT, "'%s' is no run directory: it has no %s", rp->dir,
			       name);
	if (fd < 0)
		return err_sys(err, errno, "'%s'", path);
	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "'%s'", path);
	r = check_owner(path, &st, foreign, err);
	return r < 0 ? r : read_whole(fd, path, max, ret, ret_n, err);
}

static int run_read(struct replay *rp, bool foreign, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	const char *id, *schema;
	json_error_t why;
	size_t n;
	int r = file_read(rp, "run.json", MAX_RUN_JSON, foreign, &text, &n, err);

	if (r < 0)
		return r;
	rp->run = json_loadb(text, n, 0, &why);
	if (!json_is_object(rp->run))
		return err_set(err, EBADMSG, "%s/run.json:%d: %s", rp->dir, why.line,
			       rp->run ? "no object" : why.text);
	schema = json_string_value(json_object_get(rp->run, "schema"));
	if (!schema || strcmp(schema, "profrig.run/1") != 0)
		return err_set(err, EBADMSG, "%s/run.json: want the schema profrig.run/1", rp->dir);
	id = json_string_value(json_object_get(rp->run, "id"));
	if (!id || !*id || strlen(id) > MAX_ID || strchr(id, '/'))
		return err_set(err, EBADMSG, "%s/run.json: 'id' is no run id", rp->dir);
	rp->id = xstrdup(id);
	text_no_controls(rp->id, '?');
	return 0;
}

static int plan_read(struct replay *rp, bool foreign, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(rp->dir, "plan.json");
	CLEANUP(xfreep) char *text = NULL;
	struct cfg_node *recorded, *tree, *left, *mad;
	size_t n;
	int r = file_read(rp, "plan.json", MAX_PLAN_JSON, foreign, &text, &n, err);

	if (r == 0 && cfg_parse_text(&rp->plan, text, n, path, true, LAYER_MODEL, err) < 0)
		r = -EBADMSG;
	if (r < 0)
		return r;
	recorded = cfg_get(rp->plan.root, "recorded");
	tree = cfg_get(recorded, "configuration");
	left = cfg_get(recorded, "left_out");
	mad = cfg_get(recorded, "mad_model");
	if (!tree || tree->kind != CFG_MAP)
		return err_set(err, EBADMSG,
			       "%s has no recorded configuration: it was written by an earlier "
			       "profrig, whose runs cannot be repeated",
			       path);
	if (left && left->nr > MAX_LEFT_OUT)
		return err_set(err, EBADMSG, "%s: left_out has more than %d keys", path,
			       MAX_LEFT_OUT);
	cfg_words(recorded, "left_out", &rp->left_out);
	rp->tree.root = tree;
	rp->conf = (struct runconf_replay){ .tree = &rp->tree,
					    .left_out = &rp->left_out,
					    .mad_model = mad && mad->kind == CFG_BOOL && mad->b };
	if (cfg_text(cfg_get(tree, "model"), "image"))
		rp->image_then = xstrdup(cfg_text(cfg_get(tree, "model"), "image"));
	return 0;
}

int replay_open(struct replay *rp, const char *dir, bool foreign, struct err *err)
{
	struct stat st;
	int r;

	*rp = (struct replay){ .dir = xrealpath(dir), .left_out = STRVEC_INIT };
	cfg_init(&rp->plan);
	cfg_init(&rp->tree);
	if (!rp->dir || !fs_is_dir(rp->dir))
		return err_set(err, ENOENT, "--replay: '%s' is no run directory", dir);
	r = door_hold(rp->dir, err);
	rp->held = r == 0;
	if (r == 0 && door_stat(rp->dir, &st) < 0)
		r = err_sys(err, errno, "'%s'", rp->dir);
	if (r == 0)
		r = check_owner(rp->dir, &st, foreign, err);
	if (r == 0)
		r = run_read(rp, foreign, err);
	if (r == 0)
		r = plan_read(rp, foreign, err);
	return r;
}

void replay_close(struct replay *rp)
{
	if (rp->held)
		door_let_go(rp->dir);
	json_decref(rp->run);
	cfg_release(&rp->plan);
	strvec_release(&rp->left_out);
	free(rp->dir);
	free(rp->id);
	free(rp->image_then);
	memset(rp, 0, sizeof(*rp));
}

/* --- the image --- */

static const char *run_text(const struct replay *rp, const char *key)
{
	const char *s = json_string_value(json_object_get(rp->run, key));

	return s && *s ? s : NULL;
}

static bool image_is_ours(const struct prepared *p)
{
	const struct cfg_node *n = cfg_path(p->conf.effective.root, "model.image");

	return n && n->layer == LAYER_MODEL;
}

/* Where the engine finds the recorded image: its id, or its name by digest; NULL. */
static const char *image_there(const struct replay *rp, const struct prepared *p, const char *then)
{
	const char *names[] = { then, run_text(rp, "image_repo_digest") };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep) char *id = NULL;
		CLEANUP(xfreep) char *digest = NULL;

		if (!names[i] || *names[i] == '-')
			continue;
		image_facts(p->engine, names[i], names[i], &id, &digest);
		if (id && !strcmp(id, then))
			return names[i];
	}
	return NULL;
}

static void image_take(struct prepared *p, const char *name)
{
	free(p->conf.image);
	p->conf.image = xstrdup(name);
	free(p->conf.container.pull);
	p->conf.container.pull = xstrdup("missing");
}

void replay_image(const struct replay *rp, struct prepared *p, struct said *said)
{
	const char *then = run_text(rp, "image_digest"), *there;
	CLEANUP(xfreep) char *digest = NULL;

	if (!p->engine->container || !p->engine->words[ENGINE_FACTS] || !p->conf.image ||
	    !image_is_ours(p))
		return;
	image_facts(p->engine, p->conf.image, p->conf.image, &p->image_named, &digest);
	if (!then || (p->image_named && !strcmp(p->image_named, then)))
		return;
	there = image_there(rp, p, then);
	if (there) {
		said_add(said, SAID_NOTICE,
			 "image '%s' %s today; the run takes the recorded one, which %s still has: "
			 "%s",
			 p->conf.image, p->image_named ? "is another one" : "is gone",
			 p->engine->name, there);
		image_take(p, there);
	} else {
		said_add(said, SAID_WARNING,
			 "image '%s': %s does not have the recorded one (%s), so the run takes "
			 "what has this name today",
			 p->conf.image, p->engine->name, then);
	}
}

/* --- messages --- */

void replay_explain(const struct replay *rp, const struct prepared *p, struct problems *problems)
{
	const char *host =
		json_string_value(json_object_get(json_object_get(rp->run, "host"), "hostname"));
	const json_t *tool;
	char here[256] = "";
	size_t i;

	json_array_foreach(json_object_get(rp->run, "tools"), i, tool)
	{
		const char *name = json_string_value(json_object_get(tool, "name"));
		const char *file = json_string_value(json_object_get(tool, "file"));

		if (name && file && !tool_find(&p->tools, name))
			cfg_problem(problems, NULL,
				    "tool '%.80s' was described by '%.200s' when the run was "
				    "recorded: name that folder with --tools-dir, or other tools "
				    "with --tools",
				    name, file);
	}
	gethostname(here, sizeof(here) - 1);
	if (host && strcmp(host, here) != 0)
		cfg_problem(problems, NULL,
			    "the run was recorded on '%.100s', and this is '%.100s': --set "
			    "KEY=VALUE replaces what differs, such as model.dir",
			    host, here);
	else
		cfg_problem(problems, NULL,
			    "%s: --set KEY=VALUE or --config replaces a recorded value, such as "
			    "model.dir",
			    rp->dir);
}
