#include "bundle_manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/json_out.h"
#include "profrig/base/num.h"
#include "profrig/base/redact.h"
#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/base/zip.h"

#define HOST_MAX 256
#define RANK_MAX 10000000

void bundle_manifest_init(struct bundle_manifest *m)
{
	*m = (struct bundle_manifest){ json_array(), json_array(), json_array(), json_array(),
				       VEC_INIT };
}

static void member_release(struct bundle_row *mb)
{
	free(mb->path);
	free(mb->origin);
	strvec_release(&mb->bundles);
}

void bundle_manifest_release(struct bundle_manifest *m)
{
	for (size_t i = 0; i < m->members.nr; i++)
		member_release(&m->members.v[i]);
	VEC_RELEASE(&m->members);
	json_decref(m->inputs);
	json_decref(m->runs);
	json_decref(m->bundles);
	json_decref(m->left_out);
	*m = (struct bundle_manifest){ .inputs = NULL };
}

static int by_path(const void *a, const void *b)
{
	return zip_path_cmp(((const struct bundle_row *)a)->path,
			    ((const struct bundle_row *)b)->path);
}

void bundle_manifest_sort(struct bundle_manifest *m)
{
	if (m->members.nr)
		qsort(m->members.v, m->members.nr, sizeof(*m->members.v), by_path);
}

struct bundle_row *bundle_manifest_find(const struct bundle_manifest *m, const char *path)
{
	size_t i = LOWER_BOUND(at, 0, m->members.nr, zip_path_cmp(m->members.v[at].path, path) < 0);

	return i < m->members.nr && strcmp(m->members.v[i].path, path) == 0 ? &m->members.v[i]
									    : NULL;
}

/* jansson takes UTF-8 alone. */
static json_t *text_value(const char *s)
{
	json_t *v = json_string(s);

	return v ? v : json_string("(no UTF-8)");
}

json_t *bundle_manifest_add(json_t *list, const char *path, ...)
{
	json_t *row = json_object();
	const char *key;
	va_list ap;

	json_object_set_new(row, "path", text_value(path));
	va_start(ap, path);
	while ((key = va_arg(ap, const char *)))
		json_object_set_new(row, key, text_value(va_arg(ap, const char *)));
	va_end(ap);
	json_array_append_new(list, row);
	return row;
}

int64_t bundle_manifest_rank_of(const char *path)
{
	static const char *const words[] = { "rank", "worker" };
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		for (const char *at = base; (at = strstr(at, words[i]));) {
			size_t n;
			int64_t rank;

			at += strlen(words[i]);
			at += *at == '_' || *at == '-' || *at == '.';
			n = strspn(at, "0123456789");
			if (n && num_i64(at, n, &rank) == 0 && rank <= RANK_MAX)
				return rank;
		}
	return RANK_UNKNOWN;
}

/* ---- writing ---- */

static void list_put(struct json_out *j, const char *key, const json_t *list)
{
	char *text = json_dumps(list, JSON_COMPACT);

	json_raw(j, key, text ? text : "[]");
	free(text);
}

static void member_put(struct json_out *j, const struct bundle_row *mb)
{
	json_obj(j, NULL);
	json_str(j, "path", mb->path);
	json_u64(j, "bytes", mb->bytes);
	json_str(j, "sha256", mb->sha256);
	json_str(j, "origin", mb->origin);
	if (mb->rank == RANK_UNKNOWN)
		json_nil(j, "rank");
	else
		json_i64(j, "rank", mb->rank);
	if (mb->bundles.nr)
		json_words(j, "bundles", &mb->bundles);
	json_end(j);
}

void bundle_manifest_text(const struct bundle_manifest *m, struct strbuf *to)
{
	CLEANUP(xfreep) char *text = NULL;
	char host[HOST_MAX] = "";
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);
	struct json_out j;

	gethostname(host, sizeof(host) - 1);
	json_out_init(&j, f, 1);
	json_obj(&j, NULL);
	json_str(&j, "schema", MANIFEST_SCHEMA);
	json_str(&j, "profrig", PROFRIG_VERSION);
	json_str(&j, "host", host);
	list_put(&j, "inputs", m->inputs);
	list_put(&j, "runs", m->runs);
	if (json_array_size(m->bundles))
		list_put(&j, "bundles", m->bundles);
	json_arr(&j, "members");
	for (size_t i = 0; i < m->members.nr; i++)
		member_put(&j, &m->members.v[i]);
	json_end(&j);
	list_put(&j, "left_out", m->left_out);
	json_end(&j);
	fputc('\n', f);
	fclose(f);
	strbuf_add(to, text, redact_json(text, n));
}

/* ---- reading ---- */

static bool is_sha256(const char *s)
{
	return s && strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

static int member_take(struct bundle_manifest *m, const json_t *row, struct err *err)
{
	const char *path = json_string_value(json_object_get(row, "path")), *origin;
	const char *sha256 = json_string_value(json_object_get(row, "sha256")), *name;
	const json_t *bytes = json_object_get(row, "bytes"), *rank = json_object_get(row, "rank");
	struct bundle_row mb = { .rank = RANK_UNKNOWN, .bundles = STRVEC_INIT };
	const json_t *one;
	size_t i;
	int r;

	if (!path || !is_sha256(sha256) || !json_is_integer(bytes) || json_integer_value(bytes) < 0)
		return err_set(err, EINVAL, "member %zu lacks its path, bytes or sha256",
			       m->members.nr + 1);
	r = zip_name_check(path, strlen(path), err);
	if (r < 0)
		return r;
	origin = json_string_value(json_object_get(row, "origin"));
	mb.path = xstrdup(path);
	mb.origin = xstrdup(origin ? origin : "");
	mb.bytes = (uint64_t)json_integer_value(bytes);
	memcpy(mb.sha256, sha256, sizeof(mb.sha256));
	if (json_is_integer(rank) && json_integer_value(rank) >= 0)
		mb.rank = json_integer_value(rank);
	json_array_foreach(json_object_get(row, "bundles"), i, one)
	{
		name = json_string_value(one);
		if (name)
			strvec_push(&mb.bundles, name);
	}
	VEC_PUSH(&m->members, mb);
	return 0;
}

static void list_take(json_t **to, const json_t *doc, const char *key)
{
	json_t *list = json_object_get(doc, key);

	if (!json_is_array(list))
		return;
	json_decref(*to);
	*to = json_incref(list);
}

static int document_take(const json_t *doc, struct bundle_manifest *m, struct err *err)
{
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	const json_t *members = json_object_get(doc, "members"), *row;
	size_t i;
	int r = 0;

	if (!schema || strcmp(schema, MANIFEST_SCHEMA) != 0)
		return err_set(err, EINVAL, "schema '%.40s' is not '%s'", schema ? schema : "",
			       MANIFEST_SCHEMA);
	if (!json_is_array(members) || json_array_size(members) > ZIP_MEMBERS_MAX)
		return err_set(err, EINVAL, "no list of members, or too long a one");
	list_take(&m->inputs, doc, "inputs");
	list_take(&m->runs, doc, "runs");
	list_take(&m->bundles, doc, "bundles");
	list_take(&m->left_out, doc, "left_out");
	json_array_foreach(members, i, row)
	{
		r = member_take(m, row, err);
		if (r < 0)
			return r;
	}
	bundle_manifest_sort(m);
	for (i = 1; i < m->members.nr; i++)
		if (strcmp(m->members.v[i - 1].path, m->members.v[i].path) == 0)
			return err_set(err, EINVAL, "member %.200s is there twice",
				       m->members.v[i].path);
	return 0;
}

int bundle_manifest_parse(const char *text, size_t n, struct bundle_manifest *ret, struct err *err)
{
	json_error_t e;
	json_t *doc = n <= MANIFEST_MAX ? json_loadb(text, n, JSON_REJECT_DUPLICATES, &e) : NULL;
	int r;

	bundle_manifest_init(ret);
	if (!doc)
		r = n > MANIFEST_MAX
			    ? err_set(err, EINVAL, "larger than %zu MiB", MANIFEST_MAX >> 20)
			    : err_set(err, EINVAL, "line %d: %.200s", e.line, e.text);
	else
		r = document_take(doc, ret, err);
	json_decref(doc);
	if (r < 0)
		bundle_manifest_release(ret);
	return r;
}
