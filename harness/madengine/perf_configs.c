/*
 * The configuration file of a workload: the word behind --config among its arguments. The rows of a
 * CSV file become objects, JSON and YAML stay as they are; an unreadable file is represented by its
 * name.
 */
#include "perf_csv.h"
#include "run_priv.h"

#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/fs.h"
#include "profrig/base/text.h"

#define MAX_CONFIG ((size_t)1 << 20)

/* --- one file; NULL: it cannot be read, or has another format --- */

static json_t *from_csv(const char *path)
{
	CLEANUP(strvec_release) struct strvec head = STRVEC_INIT;
	struct csv_reader *csv;
	json_t *rows;
	char *const *f;
	size_t n;
	int r;

	if (fs_size(path) > (int64_t)MAX_CONFIG || csv_open_file(path, &csv, NULL) < 0)
		return NULL;
	rows = json_array();
	while ((r = csv_next(csv, &f, &n, NULL)) > 0) {
		json_t *row = head.nr ? json_object() : NULL;

		for (size_t i = 0; i < n; i++)
			if (!row)
				strvec_push(&head, f[i]);
			else if (i < head.nr)
				json_object_set_new(row, head.v[i], json_string(f[i]));
		if (row)
			json_array_append_new(rows, row);
	}
	csv_free(csv);
	if (r == 0)
		return rows;
	json_decref(rows);
	return NULL;
}

static json_t *from_json(const char *path)
{
	CLEANUP(xfreep) char *text = NULL;

	return fs_read(path, MAX_CONFIG, &text, NULL, NULL) == 0 ? json_loads(text, 0, NULL) : NULL;
}

/* cfg.h limits how deep a tree is. */
static json_t *of_node(const struct cfg_node *n)
{
	json_t *j;

	switch (n->kind) {
	case CFG_BOOL:
		return json_boolean(n->b);
	case CFG_INT:
		return json_integer(n->i);
	case CFG_FLOAT:
		/* Neither infinity nor NaN is JSON. */
		j = json_real(n->f);
		return j ? j : json_string(n->s);
	case CFG_STR:
		return json_string(n->s);
	case CFG_SEQ:
		j = json_array();
		for (size_t i = 0; i < n->nr; i++)
			json_array_append_new(j, of_node(n->child[i]));
		return j;
	case CFG_MAP:
		j = json_object();
		for (size_t i = 0; i < n->nr; i++)
			json_object_set_new(j, n->child[i]->key, of_node(n->child[i]));
		return j;
	default:
		return json_null();
	}
}

static json_t *from_yaml(const char *path)
{
	CLEANUP(xfreep) char *text = NULL;
	json_t *doc = NULL;
	struct cfg c;
	size_t n;

	if (fs_read(path, MAX_CONFIG, &text, &n, NULL) < 0)
		return NULL;
	cfg_init(&c);
	if (cfg_parse_value(&c, text, n, path, CFG_YAML, LAYER_FILE, NULL) == 0)
		doc = of_node(c.root);
	cfg_release(&c);
	return doc;
}

static json_t *from_file(const char *path)
{
	if (text_suffix(path, ".csv"))
		return from_csv(path);
	if (text_suffix(path, ".json"))
		return from_json(path);
	if (text_suffix(path, ".yaml") || text_suffix(path, ".yml"))
		return from_yaml(path);
	return NULL;
}

/* --- no secrets in tables --- */

static void mask_secrets(json_t *v)
{
	const char *key;
	json_t *child;
	size_t i;

	json_array_foreach(v, i, child) mask_secrets(child);
	json_object_foreach(v, key, child)
	{
		if (json_is_string(child) && runconf_is_secret_name(key))
			json_string_set(child, "***");
		else
			mask_secrets(child);
	}
}

/* The run's own folder is gone by now; files that were copied into it are found at their origin. */
static json_t *config_look_up(const struct plan *pl, const char *name)
{
	const char *const dirs[] = { pl->source_dir, pl->conf->source.copy, pl->conf->dir };
	json_t *doc = NULL;

	for (size_t i = 0; !doc && i < ARRAY_LEN(dirs); i++) {
		CLEANUP(xfreep) char *path = dirs[i] ? fs_join(dirs[i], name) : NULL;

		doc = path ? from_file(path) : NULL;
	}
	return doc;
}

json_t *perf_configs(const struct plan *pl)
{
	const struct strvec *command = &pl->conf->command;

	for (size_t i = 0; i < command->nr; i++) {
		const char *word = command->v[i];
		const char *name = !strncmp(word, "--config=", 9) ? word + 9
				   : !strcmp(word, "--config")    ? command->v[i + 1]
								  : NULL;
		json_t *doc;

		if (!name)
			continue;
		doc = config_look_up(pl, name);
		mask_secrets(doc);
		return doc ? doc : json_string(name);
	}
	return json_null();
}
