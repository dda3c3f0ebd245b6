#include "publish_record.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/redact.h"
#include "profrig/base/utf8.h"
#include "profrig/run/runs.h"

#define MAX_RUN_JSON ((size_t)64 << 20)
#define SCHEMA "profrig.run/1"
#define ENERGY_SOURCE "energy_totals: "

FIELD_TABLE(metric_fields, TEXT_FIELDS(struct publish_metric, name, key, unit));
FIELD_TABLE(label_fields, TEXT_FIELDS(struct publish_label, name, value));
FIELD_TABLE(duration_fields, TEXT_FIELDS(struct publish_duration, name));
FIELD_TABLE(record_fields,
	    TEXT_FIELDS(struct publish_record, id, model, status, campaign, cell, repeat, block),
	    TEXT_FIELDS(struct publish_record, reason, signal, host, engine, image, image_digest,
			version),
	    WORDS_FIELDS(struct publish_record, devices, tools),
	    FIELD_VEC(struct publish_record, labels, label_fields),
	    FIELD_VEC(struct publish_record, durations, duration_fields),
	    FIELD_VEC(struct publish_record, metrics, metric_fields));

void publish_record_release(struct publish_record *rec)
{
	fields_release(rec, record_fields);
}

/* --- texts --- */

static char *text_kept(const char *s)
{
	size_t n = strlen(s), cut = 0;
	char *text;

	if (n <= PUBLISH_MAX_TEXT) {
		text = xstrdup(s);
	} else {
		static const char more[] = "…";

		/* The last whole character that leaves room for the mark. */
		while (cut + utf8_len(s + cut, n - cut) <= PUBLISH_MAX_TEXT - strlen(more))
			cut += utf8_len(s + cut, n - cut);
		text = xasprintf("%.*s%s", (int)cut, s, more);
	}
	redact(text, strlen(text), REDACT_SURE);
	return text;
}

/* jansson takes valid UTF-8 without NUL bytes alone. */
static char *text_at(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	return text_kept(s ? s : "");
}

/* --- metrics --- */

static char *metric_key(const json_t *m)
{
	const char *source = json_string_value(json_object_get(m, "source"));
	size_t n = sizeof(ENERGY_SOURCE) - 1;

	return text_kept(source && !strncmp(source, ENERGY_SOURCE, n) ? source + n : "");
}

static bool metric_known(const struct publish_record *rec, const char *name, const char *key)
{
	return VEC_FIND(&rec->metrics, x, !strcmp(x->name, name) && !strcmp(x->key, key));
}

static void metric_add(struct publish_record *rec, const json_t *m)
{
	const json_t *value = json_object_get(m, "value");
	struct publish_metric pm = { .value = json_number_value(value) };

	if (!json_is_number(value) || !isfinite(pm.value) ||
	    !json_is_string(json_object_get(m, "name")) || rec->metrics.nr >= PUBLISH_MAX_METRICS) {
		rec->left_out++;
		return;
	}
	pm.name = text_at(m, "name");
	pm.key = metric_key(m);
	pm.unit = text_at(m, "unit");
	VEC_PUSH(&rec->metrics, pm);
}

static int by_name_and_key(const void *pa, const void *pb)
{
	const struct publish_metric *a = *(struct publish_metric *const *)pa;
	const struct publish_metric *b = *(struct publish_metric *const *)pb;
	int r = strcmp(a->name, b->name);

	r = r ? r : strcmp(a->key, b->key);
	return r ? r : (a > b) - (a < b);
}

/* Metrics of one name and key get "#2", "#3", … in the order of run.json. */
static void keys_made_single(struct publish_record *rec)
{
	VEC(struct publish_metric *) order = VEC_INIT;
	size_t same = 1;

	for (size_t i = 0; i < rec->metrics.nr; i++)
		VEC_PUSH(&order, &rec->metrics.v[i]);
	if (order.nr)
		qsort(order.v, order.nr, sizeof(*order.v), by_name_and_key);
	for (size_t i = 1, first = 0; i < order.nr; i++) {
		struct publish_metric *m = order.v[i], *f = order.v[first];
		char *key;

		if (strcmp(m->name, f->name) != 0 || strcmp(m->key, f->key) != 0) {
			first = i;
			same = 1;
			continue;
		}
		do {
			key = xasprintf("%s#%zu", f->key, ++same);
			if (!metric_known(rec, m->name, key))
				break;
			free(key);
		} while (true);
		free(m->key);
		m->key = key;
	}
	VEC_RELEASE(&order);
}

/* --- the rest --- */

static void read_labels(struct publish_record *rec, json_t *doc)
{
	const struct {
		const char *name;
		char **to;
	} own[] = { { "campaign", &rec->campaign },
		    { "cell", &rec->cell },
		    { "repeat", &rec->repeat },
		    { "block", &rec->block } };
	json_t *labels = json_object_get(doc, "labels"), *v;
	const char *key;

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		*own[i].to = text_at(labels, own[i].name);
	json_object_foreach(labels, key, v)
	{
		if (json_is_string(v) && rec->labels.nr < PUBLISH_MAX_LABELS)
			VEC_PUSH(&rec->labels,
				 ((struct publish_label){ text_kept(key),
							  text_kept(json_string_value(v)) }));
	}
}

static bool is_plain_name(const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)s[i]) && s[i] != '_')
			return false;
	return n > 0 && n <= 32;
}

static void read_durations(struct publish_record *rec, json_t *doc)
{
	json_t *all = json_object_get(doc, "durations_s"), *v;
	const char *key;

	json_object_foreach(all, key, v)
	{
		double s = json_number_value(v);

		if (json_is_number(v) && isfinite(s) && is_plain_name(key) &&
		    rec->durations.nr < PUBLISH_MAX_WORDS)
			VEC_PUSH(&rec->durations, ((struct publish_duration){ xstrdup(key), s }));
	}
}

static void read_lists(struct publish_record *rec, const json_t *doc)
{
	const json_t *list = json_object_get(doc, "devices"), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		CLEANUP(xfreep) char *id = text_at(one, "id"), *name = text_at(one, "name");

		if (*id && rec->devices.nr < PUBLISH_MAX_WORDS)
			strvec_pushf(&rec->devices, "%s%s%s", id, *name ? " " : "", name);
	}
	list = json_object_get(doc, "tools");
	json_array_foreach(list, i, one)
	{
		if (rec->tools.nr < PUBLISH_MAX_WORDS)
			strvec_push_take(&rec->tools, text_at(one, "name"));
	}
}

static int id_of(struct publish_record *rec, const char *folder, const char *stated,
		 struct err *err)
{
	char when[32];

	if (runs_is_id(folder) && strcmp(folder, stated) != 0)
		return err_set(err, EBADMSG, "'%s': its run.json says that it is the run '%.120s'",
			       folder, stated);
	if (runs_is_id(folder))
		rec->id = xstrdup(folder);
	else if (*rec->campaign && *folder)
		rec->id = xasprintf("%s-%s-%s", clock_utc_compact(rec->started_ns, when),
				    rec->campaign, folder);
	else if (runs_is_id(stated) && strlen(stated) < PUBLISH_MAX_TEXT)
		rec->id = xstrdup(stated);
	else
		return err_set(err, EBADMSG, "'%s': its run.json has no run's id", folder);
	return utf8_valid(rec->id) ? 0
				   : err_set(err, EBADMSG, "'%s': its name is no UTF-8", folder);
}

static int record_fill(struct publish_record *rec, json_t *doc, const char *folder, struct err *err)
{
	const char *stated = json_string_value(json_object_get(doc, "id"));
	const json_t *m, *code = json_object_get(doc, "exit_code");
	size_t i;

	rec->status = text_at(doc, "status");
	rec->started_ns = clock_utc_parse(json_string_value(json_object_get(doc, "started_utc")));
	rec->ended_ns = clock_utc_parse(json_string_value(json_object_get(doc, "ended_utc")));
	if (!strcmp(rec->status, "running") || !strcmp(rec->status, "planned"))
		return err_set(err, EBUSY,
			       "'%s' has not ended (status %s); where its profrig was killed, "
			       "'profrig doctor --fix' ends it",
			       folder, rec->status);
	if (!*rec->status || !rec->ended_ns)
		return err_set(err, EBADMSG, "'%s': its run.json has no status, or no end", folder);
	rec->started_ns = rec->started_ns ? rec->started_ns : rec->ended_ns;
	rec->model = text_at(doc, "model");
	rec->reason = text_at(doc, "reason");
	rec->signal = text_at(doc, "signal");
	rec->engine = text_at(doc, "engine");
	rec->image = text_at(doc, "image");
	rec->image_digest = text_at(doc, "image_digest");
	rec->host = text_at(json_object_get(doc, "host"), "hostname");
	rec->version = text_at(json_object_get(doc, "versions"), "profrig");
	rec->exited = json_is_integer(code);
	rec->exit_code = json_integer_value(code);
	read_labels(rec, doc);
	read_durations(rec, doc);
	read_lists(rec, doc);
	json_array_foreach(json_object_get(doc, "metrics"), i, m) metric_add(rec, m);
	keys_made_single(rec);
	return id_of(rec, folder, stated ? stated : "", err);
}

int publish_record_parse(const char *text, size_t n, const char *folder, struct publish_record *ret,
			 struct err *err)
{
	json_error_t why;
	json_t *doc = json_loadb(text, n, 0, &why);
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	int r;

	*ret = (struct publish_record){ .devices = STRVEC_INIT, .tools = STRVEC_INIT };
	if (!doc)
		return err_set(err, EBADMSG, "'%s': run.json, line %d: %.200s", folder, why.line,
			       why.text);
	r = schema && !strcmp(schema, SCHEMA)
		    ? record_fill(ret, doc, folder, err)
		    : err_set(err, EBADMSG, "'%s': its run.json is not of schema %s", folder,
			      SCHEMA);
	json_decref(doc);
	return r;
}

int publish_record_read(const char *run_dir, struct publish_record *ret, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, "run.json");
	CLEANUP(xfreep) char *whole = fs_abs(run_dir);
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	int r;

	*ret = (struct publish_record){ .devices = STRVEC_INIT, .tools = STRVEC_INIT };
	r = door_hold(run_dir, err);
	if (r < 0)
		return r;
	r = fs_read(path, MAX_RUN_JSON, &text, &n, err);
	door_let_go(run_dir);
	if (r < 0)
		return r;
	return publish_record_parse(text, n, fs_base(whole), ret, err);
}
