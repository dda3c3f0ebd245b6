#include "run_priv.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/run/runs.h"

FIELD_TABLE(info_fields,
	    TEXT_FIELDS(struct run_info, id, dir, model, status, reason, engine, result,
			started_utc),
	    WORDS_FIELDS(struct run_info, tools, labels));
FIELD_TABLE(list_fields, FIELD_VEC(struct run_list, v, info_fields),
	    WORDS_FIELDS(struct run_list, odd));

void run_list_release(struct run_list *rl)
{
	fields_release(rl, list_fields);
}

/* Of a campaign: <12 hex>-<repeat>.<attempt> */
static bool is_attempt_id(const char *s)
{
	size_t hex = strspn(s, "0123456789abcdef"), n;

	if (hex != 12 || s[12] != '-')
		return false;
	s += 13;
	n = strspn(s, "0123456789");
	if (!n || s[n] != '.')
		return false;
	s += n + 1;
	n = strspn(s, "0123456789");
	return n && !s[n];
}

/* <8 digits>T<6 digits>Z-<model>-<6 hex> */
bool runs_is_id(const char *s)
{
	size_t n = strlen(s);

	if (is_attempt_id(s))
		return true;
	if (n < 24 || s[8] != 'T' || s[15] != 'Z' || s[16] != '-' || s[n - 7] != '-')
		return false;
	for (size_t i = 0; i < 15; i++)
		if (i != 8 && !isdigit((unsigned char)s[i]))
			return false;
	for (size_t i = n - 6; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

static int names_in(const char *dir, struct strvec *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec all = STRVEC_INIT;
	int r = fs_list(dir, &all, err);

	for (size_t i = 0; r >= 0 && i < all.nr; i++)
		if (runs_is_id(all.v[i]))
			strvec_push(ret, all.v[i]);
	return r;
}

int runs_names(const char *dir, struct strvec *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r = names_in(dir, &names, err);

	for (size_t i = names.nr; i-- > 0;)
		strvec_push(ret, names.v[i]);
	return r;
}

/* --- one run --- */

static const char *text_at(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	return s ? s : "";
}

bool run_is_live(const char *dir)
{
	CLEANUP(xfreep) char *lock = fs_join(dir, RUN_LOCK);
	CLEANUP(xclosep) int fd = -1;

	return access(lock, F_OK) == 0 && registry_lock(lock, false, &fd) == -EWOULDBLOCK;
}

static char *first_result(const json_t *doc)
{
	const json_t *m;
	size_t i;

	json_array_foreach(json_object_get(doc, "metrics"), i, m)
	{
		const json_t *v = json_object_get(m, "value");

		if (json_is_object(json_object_get(m, "detail")) && json_is_number(v))
			return xasprintf("%.6g %.60s", json_number_value(v), text_at(m, "unit"));
	}
	return xstrdup("");
}

static void fill_lists(struct run_info *r, const json_t *doc)
{
	json_t *labels = json_object_get(doc, "labels"), *v;
	const json_t *tool;
	const char *key;
	size_t i;

	json_array_foreach(json_object_get(doc, "tools"), i, tool)
		strvec_push(&r->tools, text_at(tool, "name"));
	json_object_foreach(labels, key, v)
	{
		const char *text = json_string_value(v);

		strvec_pushf(&r->labels, "%s=%s", key, text ? text : "");
		r->kept |= !strcmp(key, "keep") && text && strcmp(text, "false") != 0;
	}
}

static void fill_info(struct run_info *r, const json_t *doc)
{
	int64_t ended = clock_utc_parse(text_at(doc, "ended_utc"));
	const char *status = text_at(doc, "status");
	bool open = !strcmp(status, "running") || !strcmp(status, "planned");

	r->live = run_is_live(r->dir);
	r->started_utc = xstrdup(text_at(doc, "started_utc"));
	r->started_ns = clock_utc_parse(r->started_utc);
	r->model = xstrdup(text_at(doc, "model"));
	r->status = xstrdup(open && !r->live ? "interrupted" : status);
	r->reason = xstrdup(text_at(doc, "reason"));
	r->engine = xstrdup(text_at(doc, "engine"));
	r->result = first_result(doc);
	if (r->live)
		ended = clock_realtime_ns();
	/* The clock may have been set back since the run began. */
	r->duration_s = ended > 0 ? (double)(ended - r->started_ns) / 1e9 : NAN;
	r->duration_s = r->duration_s < 0 ? 0 : r->duration_s;
	fill_lists(r, doc);
}

static bool has_label(const struct run_info *r, const char *want)
{
	size_t n = strlen(want);
	bool any = !strchr(want, '=');

	return VEC_FIND(&r->labels, x,
			any ? !strncmp(*x, want, n) && (*x)[n] == '=' : !strcmp(*x, want));
}

static bool run_wanted(const struct run_info *r, const struct run_filter *f)
{
	if ((f->status && strcmp(f->status, r->status) != 0) ||
	    (f->model && strcmp(f->model, r->model) != 0) ||
	    (f->tool && !strvec_has(&r->tools, f->tool)))
		return false;
	for (size_t i = 0; i < f->labels.nr; i++)
		if (!has_label(r, f->labels.v[i]))
			return false;
	return true;
}

/* 1 for a directory, 0 for other files and for links, which lead out of the folder; -errno. */
static int is_plain_dir(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	return S_ISDIR(st.st_mode);
}

static void add_run(const char *dir, const char *name, const struct run_filter *f,
		    struct run_list *rl)
{
	struct run_info r = { .bytes = -1, .tools = STRVEC_INIT, .labels = STRVEC_INIT };
	CLEANUP(xfreep) char *path = fs_join(dir, name);
	struct err err = ERR_INIT;
	int plain = is_plain_dir(path);
	json_t *doc = NULL;

	if (plain == 0)
		return;
	if (plain < 0)
		err_sys(&err, -plain, "run.json");
	else
		doc = run_json_load(path, &err);
	if (!doc) {
		strvec_pushf(&rl->odd, "%s: %s", path, err.msg);
		return;
	}
	if (strcmp(text_at(doc, "schema"), RUN_SCHEMA) != 0 ||
	    strcmp(text_at(doc, "id"), name) != 0) {
		strvec_pushf(&rl->odd, "%s: its run.json is of another run", path);
	} else {
		r.id = xstrdup(name);
		r.dir = STEAL(path);
		fill_info(&r, doc);
		if (run_wanted(&r, f)) {
			r.bytes = f->sizes ? fs_usage(r.dir, &r.bytes_least) : -1;
			VEC_PUSH(&rl->v, r);
		} else {
			fields_release(&r, info_fields);
		}
	}
	json_decref(doc);
}

/* Ids have a resolution of one second. */
static int by_start(const void *pa, const void *pb)
{
	const struct run_info *a = pa, *b = pb;

	if (a->started_ns != b->started_ns)
		return a->started_ns < b->started_ns ? -1 : 1;
	return strcmp(a->id, b->id);
}

int runs_load(const char *dir, const struct run_filter *f, struct run_list *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r = names_in(dir, &names, err);

	for (size_t i = 0; r >= 0 && i < names.nr; i++)
		add_run(dir, names.v[i], f, ret);
	if (ret->v.nr)
		qsort(ret->v.v, ret->v.nr, sizeof(*ret->v.v), by_start);
	return r < 0 ? r : 0;
}

/* --- selection --- */

static int64_t size_of(const struct run_info *r)
{
	return r->bytes > 0 ? r->bytes : 0;
}

void runs_choose(struct run_list *rl, const struct prune_rule *rule, int64_t now_ns)
{
	size_t nr = rl->v.nr;
	size_t end = rule->keep > 0 && (uint64_t)rule->keep < nr ? nr - (size_t)rule->keep
		     : rule->keep > 0                            ? 0
								 : nr;
	bool by_age = rule->older_s >= 0, by_size = rule->larger_bytes >= 0;
	int64_t total = 0;

	for (size_t i = 0; i < nr; i++) {
		struct run_info *r = &rl->v.v[i];
		double age_s = (double)(now_ns - r->started_ns) / 1e9;
		bool may = i < end && !r->live && !r->kept;

		r->doomed = may && (by_age ? age_s > rule->older_s : !by_size);
		total += r->doomed ? 0 : size_of(r);
	}
	for (size_t i = 0; by_size && i < end && total > rule->larger_bytes; i++) {
		struct run_info *r = &rl->v.v[i];

		if (r->doomed || r->live || r->kept)
			continue;
		r->doomed = true;
		total -= size_of(r);
	}
}

/* --- removing --- */

#define GONE_SUFFIX ".removed"

static char *gone_name(const char *dir, const char *id)
{
	return xasprintf("%s/.%s" GONE_SUFFIX, dir, id);
}

int run_remove(const char *dir, const struct run_info *r, int64_t *ret_bytes, struct err *err)
{
	CLEANUP(xfreep) char *lock = fs_join(r->dir, RUN_LOCK);
	CLEANUP(xfreep) char *gone = gone_name(dir, r->id);
	CLEANUP(xclosep) int fd = -1;
	int ret;

	*ret_bytes = 0;
	/* Made when it is missing, so that no other process takes up the run meanwhile. */
	ret = registry_lock(lock, true, &fd);
	if (ret == -EWOULDBLOCK)
		return err_set(err, EBUSY, "'%s' lives", r->dir);
	if (ret < 0)
		return err_sys(err, -ret, "'%s'", lock);
	*ret_bytes = r->bytes >= 0 ? r->bytes : fs_usage(r->dir, NULL);
	if (rename(r->dir, gone) < 0)
		return err_sys(err, errno, "'%s'", r->dir);
	return fs_remove_tree(gone, err);
}

size_t runs_sweep_removed(const char *dir, bool dry, int64_t *ret_bytes, struct strvec *failed)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	size_t count = 0;

	*ret_bytes = 0;
	if (fs_list(dir, &names, NULL) < 0)
		return 0;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		const char *end = text_suffix(names.v[i], GONE_SUFFIX);
		CLEANUP(xfreep)
		char *id = end && names.v[i][0] == '.'
				   ? xstrndup(names.v[i] + 1, (size_t)(end - names.v[i]) - 1)
				   : xstrdup("");

		if (!runs_is_id(id) || is_plain_dir(path) <= 0)
			continue;
		int64_t bytes = fs_usage(path, NULL);
		struct err err = ERR_INIT;

		if (dry || fs_remove_tree(path, &err) == 0) {
			*ret_bytes += bytes;
			count++;
		} else if (failed) {
			strvec_push(failed, err.msg);
		}
	}
	return count;
}

static void point_latest(const char *dir, const char *link, const char *name)
{
	CLEANUP(xfreep) char *tmp = xasprintf("%s/.latest.%d", dir, (int)getpid());

	if (symlink(name, tmp) == 0 && rename(tmp, link) < 0)
		unlink(tmp);
}

void runs_point_latest(const char *dir, const char *rel)
{
	CLEANUP(xfreep) char *link = fs_join(dir, "latest");
	struct stat st;

	/* a folder of that name is not profrig's */
	if (lstat(link, &st) < 0 || S_ISLNK(st.st_mode))
		point_latest(dir, link, rel);
}

void runs_move_latest(const char *from_dir, const char *to_dir)
{
	CLEANUP(xfreep) char *dir = fs_dir(to_dir);
	CLEANUP(xfreep) char *link = fs_join(dir, "latest");
	char now[256];
	ssize_t n = readlink(link, now, sizeof(now) - 1);

	now[n > 0 ? n : 0] = '\0';
	if (n > 0 && !strcmp(now, fs_base(from_dir)))
		point_latest(dir, link, fs_base(to_dir));
}

void runs_relink_latest(const char *dir)
{
	CLEANUP(xfreep) char *link = fs_join(dir, "latest");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct stat st;

	/* The link is valid, or is not profrig's. */
	if (stat(link, &st) == 0 || lstat(link, &st) < 0 || !S_ISLNK(st.st_mode))
		return;
	runs_names(dir, &names, NULL);
	if (!names.nr)
		unlink(link);
	else
		point_latest(dir, link, names.v[0]);
}
