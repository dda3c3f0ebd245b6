#include "publish_formats.h"

#include <stdlib.h>

#include "profrig/base/clock.h"
#include "profrig/base/json_fields.h"

static void text_put(struct json_out *j, const char *key, const char *s)
{
	json_str(j, key, *s ? s : NULL);
}

static void time_put(struct json_out *j, const char *key, int64_t ns)
{
	char when[32];

	json_str(j, key, clock_utc(ns, when));
}

JSON_TABLE(metric_fields, JSON_FIELDS(struct publish_metric, name, key, unit, value));
JSON_TABLE(label_fields, JSON_FIELDS(struct publish_label, name, value));

static void durations_put(struct json_out *j, const char *key, const struct publish_record *rec)
{
	json_obj(j, key);
	for (size_t i = 0; i < rec->durations.nr; i++)
		json_f64(j, rec->durations.v[i].name, rec->durations.v[i].seconds);
	json_end(j);
}

static void line_put(struct json_out *j, const struct publish_record *rec)
{
	json_obj(j, NULL);
	json_str(j, "_id", rec->id);
	json_str(j, "run", rec->id);
	text_put(j, "model", rec->model);
	text_put(j, "campaign", rec->campaign);
	text_put(j, "cell", rec->cell);
	text_put(j, "repeat", rec->repeat);
	text_put(j, "block", rec->block);
	json_rows(j, "labels", &rec->labels, label_fields);
	json_str(j, "status", rec->status);
	text_put(j, "reason", rec->reason);
	if (rec->exited)
		json_i64(j, "exit_code", rec->exit_code);
	else
		json_nil(j, "exit_code");
	text_put(j, "signal", rec->signal);
	time_put(j, "started_utc", rec->started_ns);
	time_put(j, "ended_utc", rec->ended_ns);
	text_put(j, "host", rec->host);
	text_put(j, "engine", rec->engine);
	text_put(j, "image", rec->image);
	text_put(j, "image_digest", rec->image_digest);
	json_words(j, "devices", &rec->devices);
	json_words(j, "tools", &rec->tools);
	durations_put(j, "durations_s", rec);
	json_rows(j, "metrics", &rec->metrics, metric_fields);
	json_u64(j, "metrics_left_out", rec->left_out);
	text_put(j, "profrig", rec->version);
	json_end(j);
}

/* PART: statements that write to a struct json_out *j. */
#define JSON_TEXT(ret_n, PART) \
	({ \
		char *json_text_ = NULL; \
		struct json_out json_out_, *j = &json_out_; \
		FILE *json_file_ = xmemstream(&json_text_, (ret_n)); \
		json_out_init(j, json_file_, 0); \
		PART; \
		fclose(json_file_); \
		json_text_; \
	})

char *publish_json_line(const struct publish_record *rec, size_t *ret_n)
{
	return JSON_TEXT(ret_n, line_put(j, rec));
}

char *publish_json_metrics(const struct publish_record *rec)
{
	size_t n;

	return JSON_TEXT(&n, json_rows(j, NULL, &rec->metrics, metric_fields));
}

char *publish_json_durations(const struct publish_record *rec)
{
	size_t n;

	return JSON_TEXT(&n, durations_put(j, NULL, rec));
}

static void labels_put(struct json_out *j, const struct publish_record *rec)
{
	json_obj(j, NULL);
	for (size_t i = 0; i < rec->labels.nr; i++)
		json_str(j, rec->labels.v[i].name, rec->labels.v[i].value);
	json_end(j);
}

char *publish_json_labels(const struct publish_record *rec)
{
	size_t n;

	return JSON_TEXT(&n, labels_put(j, rec));
}

char *publish_json_words(const struct strvec *words)
{
	size_t n;

	return JSON_TEXT(&n, json_words(j, NULL, words));
}
