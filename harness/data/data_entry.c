#include "data_priv.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/clock.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_fields.h"
#include "profrig/base/xalloc.h"

#define ENTRY_SCHEMA "profrig.data/1"

FIELD_TABLE(owned_fields, TEXT_FIELDS(struct data_file, rel, from, tag));
JSON_TABLE(entry_fields, JSON_FIELD_AS(false, struct data_file, rel, "path"),
	   JSON_FIELDS(struct data_file, bytes, mtime_ns, tag, sha256));

void data_files_release(data_files *f)
{
	for (size_t i = 0; i < f->nr; i++)
		fields_release(&f->v[i], owned_fields);
	VEC_RELEASE(f);
}

void data_files_add(data_files *f, const char *rel, const char *from, const char *tag,
		    int64_t bytes)
{
	VEC_PUSH(f, ((struct data_file){ .rel = xstrdup(rel),
					 .from = xstrdup_null(from),
					 .tag = xstrdup_null(tag),
					 .bytes = bytes }));
}

static int by_rel(const void *a, const void *b)
{
	return strcmp(((const struct data_file *)a)->rel, ((const struct data_file *)b)->rel);
}

void data_files_sort(data_files *f)
{
	if (f->nr)
		qsort(f->v, f->nr, sizeof(*f->v), by_rel);
}

static bool add_file(data_files *to, const json_t *o)
{
	const char *path = json_string_value(json_object_get(o, "path"));
	const char *sha = json_string_value(json_object_get(o, "sha256"));
	const json_t *bytes = json_object_get(o, "bytes"), *mtime = json_object_get(o, "mtime_ns");
	struct data_file *f;

	if (!path || !sha || strlen(sha) != 64 || !json_is_integer(bytes) ||
	    !json_is_integer(mtime))
		return false;
	data_files_add(to, path, NULL, json_string_value(json_object_get(o, "tag")),
		       json_integer_value(bytes));
	f = &to->v[to->nr - 1];
	f->mtime_ns = json_integer_value(mtime);
	memcpy(f->sha256, sha, 65);
	return true;
}

int entry_read(const char *dir, data_files *ret)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "entry.json");
	json_t *doc = json_load_file(path, 0, NULL);
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	json_t *files = json_object_get(doc, "files"), *o;
	bool good = schema && !strcmp(schema, ENTRY_SCHEMA) && json_array_size(files) > 0;
	size_t i;

	*ret = (data_files)VEC_INIT;
	if (good)
		json_array_foreach(files, i, o) good = good && add_file(ret, o);
	json_decref(doc);
	if (!good)
		data_files_release(ret);
	return good ? 0 : -ENOENT;
}

int entry_write(const char *dir, const char *source, const data_files *files, double seconds,
		struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "entry.json");
	CLEANUP(xfreep) char *text = NULL;
	struct json_out j;
	char utc[32];
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);

	json_out_init(&j, f, 1);
	json_obj(&j, NULL);
	json_str(&j, "schema", ENTRY_SCHEMA);
	json_str(&j, "source", source);
	json_str(&j, "fetched_utc", clock_utc(clock_realtime_ns(), utc));
	json_f64(&j, "seconds", seconds);
	json_rows(&j, "files", files, entry_fields);
	json_end(&j);
	putc('\n', f);
	fclose(f);
	return fs_write_atomic(path, text, n, err);
}

bool entry_file_good(const char *dir, const struct data_file *f)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/data/%s", dir, f->rel);
	char sha[65];

	if (fs_size(path) != f->bytes)
		return false;
	if (fs_mtime_ns(path) == f->mtime_ns)
		return true;
	return fs_sha256(path, NULL, sha, NULL) == 0 && !strcmp(sha, f->sha256);
}

void entry_hash(const data_files *files, char ret_hex[65])
{
	CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT;

	if (files->nr == 1) {
		memcpy(ret_hex, files->v[0].sha256, 65);
		return;
	}
	for (size_t i = 0; i < files->nr; i++)
		strbuf_addf(&list, "%s  %s\n", files->v[i].sha256, files->v[i].rel);
	fs_sha256_text(list.buf, list.len, ret_hex);
}

int entry_use(struct fetch *f)
{
	CLEANUP(data_files_release) data_files have = VEC_INIT;
	uint64_t bytes = 0;

	if (entry_read(f->dir, &have) < 0)
		return -ENOENT;
	data_files_sort(&have);
	for (size_t i = 0; i < have.nr; i++) {
		if (!entry_file_good(f->dir, &have.v[i]))
			return -ENOENT;
		bytes += (uint64_t)have.v[i].bytes;
	}
	f->ret->files = have.nr;
	f->ret->bytes = bytes;
	f->ret->cached = true;
	entry_hash(&have, f->ret->sha256);
	return 0;
}
