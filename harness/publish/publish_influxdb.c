/*
 * InfluxDB 1.x: POST /write?db=…&precision=ns with line protocol. A point is known by measurement,
 * tags and time, which all come from run.json, so sending a run again replaces its points.
 *
 * A tag's key and value escape ',', '=' and a blank by '\'; there is no escape for '\' itself, so
 * one at the end of a value, which would escape what follows, becomes '/'. Line ends and other
 * control characters have no escape either and become '?'. An empty tag is left out. Texts as
 * fields stand in '"', in which '"' and '\' are escaped.
 */
#include "publish_formats.h"
#include "publish_http.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

static void tag_add(struct strbuf *sb, const char *key, const char *value)
{
	CLEANUP(xfreep) char *text = xstrdup(value);
	size_t n = strlen(text);

	if (!n)
		return;
	text_no_controls(text, '?');
	if (text[n - 1] == '\\')
		text[n - 1] = '/';
	strbuf_addf(sb, ",%s=", key);
	for (const char *s = text; *s; s++) {
		if (strchr(",= ", *s))
			strbuf_addch(sb, '\\');
		strbuf_addch(sb, *s);
	}
}

static void text_field_add(struct strbuf *sb, const char *key, const char *value)
{
	if (!*value)
		return;
	strbuf_addf(sb, ",%s=\"", key);
	for (const char *s = value; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addch(sb, '\\');
		strbuf_addch(sb, *s);
	}
	strbuf_addch(sb, '"');
}

static void number_field_add(struct strbuf *sb, const char *key, double v)
{
	char number[32];

	num_fmt_f64(number, v);
	strbuf_addf(sb, ",%s=%s", key, number);
}

/* The run's own tags; sorted by their keys, as the server prefers them. */
static void run_tags_add(struct strbuf *sb, const struct publish_record *rec,
			 const struct publish_metric *m)
{
	tag_add(sb, "block", rec->block);
	tag_add(sb, "campaign", rec->campaign);
	tag_add(sb, "cell", rec->cell);
	tag_add(sb, "host", rec->host);
	if (m)
		tag_add(sb, "key", m->key);
	if (m)
		tag_add(sb, "metric", m->name);
	tag_add(sb, "model", rec->model);
	tag_add(sb, "repeat", rec->repeat);
	tag_add(sb, "run", rec->id);
	if (m)
		tag_add(sb, "unit", m->unit);
}

static void run_point_add(struct strbuf *sb, const struct publish_record *rec)
{
	CLEANUP(xfreep) char *tools = strvec_join(&rec->tools, ",");
	CLEANUP(xfreep) char *devices = strvec_join(&rec->devices, ", ");

	strbuf_addstr(sb, "profrig_run");
	run_tags_add(sb, rec, NULL);
	strbuf_addf(sb, " success=%s", strcmp(rec->status, "success") ? "false" : "true");
	text_field_add(sb, "status", rec->status);
	text_field_add(sb, "reason", rec->reason);
	text_field_add(sb, "signal", rec->signal);
	text_field_add(sb, "engine", rec->engine);
	text_field_add(sb, "image", rec->image);
	text_field_add(sb, "image_digest", rec->image_digest);
	text_field_add(sb, "tools", tools);
	text_field_add(sb, "devices", devices);
	text_field_add(sb, "profrig", rec->version);
	if (rec->exited)
		strbuf_addf(sb, ",exit_code=%" PRId64 "i", rec->exit_code);
	strbuf_addf(sb, ",started_ns=%" PRId64 "i", rec->started_ns);
	for (size_t i = 0; i < rec->durations.nr; i++) {
		CLEANUP(xfreep) char *key = xasprintf("%s_s", rec->durations.v[i].name);

		number_field_add(sb, key, rec->durations.v[i].seconds);
	}
	for (size_t i = 0; i < rec->labels.nr; i++) {
		CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT;

		strbuf_addstr(&key, "label_");
		for (const char *s = rec->labels.v[i].name; *s; s++) {
			if (strchr(",= ", *s))
				strbuf_addch(&key, '\\');
			strbuf_addch(&key, *s);
		}
		text_no_controls(key.buf, '?');
		if (key.buf[key.len - 1] == '\\')
			key.buf[key.len - 1] = '/';
		text_field_add(sb, key.buf, rec->labels.v[i].value);
	}
	strbuf_addf(sb, " %" PRId64 "\n", rec->ended_ns);
}

static void metric_point_add(struct strbuf *sb, const struct publish_record *rec,
			     const struct publish_metric *m)
{
	char number[32];

	strbuf_addstr(sb, "profrig_metric");
	run_tags_add(sb, rec, m);
	num_fmt_f64(number, m->value);
	strbuf_addf(sb, " value=%s %" PRId64 "\n", number, rec->ended_ns);
}

char *publish_influx_text(const struct publish_record *rec)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	run_point_add(&sb, rec);
	for (size_t i = 0; i < rec->metrics.nr; i++)
		metric_point_add(&sb, rec, &rec->metrics.v[i]);
	return strbuf_steal(&sb);
}

static int influxdb_send(const struct publish_target *t, const struct publish_record *rec,
			 const struct publish_call *call, struct err *err)
{
	CLEANUP(xfreep) char *body = publish_influx_text(rec);
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT;
	struct publish_request rq = {
		.method = "POST",
		.type = "text/plain; charset=utf-8",
		.body = body,
		.good = { 204 },
	};

	strbuf_addf(&url, "%s/write?precision=ns&db=", t->url);
	text_percent_encode(&url, t->database, "", true);
	rq.url = url.buf;
	return publish_http(t, &rq, call, err);
}

const struct publisher publisher_influxdb = {
	.name = "influxdb",
	.about = "InfluxDB 1.x: a point for each run, and one for each of its metrics",
	.send = influxdb_send,
};
