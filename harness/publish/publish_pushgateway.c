/*
 * Prometheus Pushgateway: PUT /metrics/job/<job>/<label>/<value>…, which replaces the group. The
 * gateway keeps the last value of a group alone; a run that is sent late never replaces a later
 * one (series).
 *
 * Text format 0.0.4: in a label's value \, " and a line end are escaped, all else is UTF-8 as it
 * is. Values in the path are base64url where they are not plain (label@base64/…), as a '/' cannot
 * be escaped there.
 */
#include "publish_formats.h"
#include "publish_http.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"

/* --- the group --- */

static bool is_plain(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-", *s))
			return false;
	return true;
}

static void base64url_add(struct strbuf *sb, const char *s)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789-_";
	size_t n = strlen(s);

	/* The gateway reads "=" as the empty text. */
	if (!n)
		strbuf_addch(sb, '=');
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t v = (uint32_t)(unsigned char)s[i] << 16;

		v |= left > 1 ? (uint32_t)(unsigned char)s[i + 1] << 8 : 0;
		v |= left > 2 ? (uint32_t)(unsigned char)s[i + 2] : 0;
		for (size_t k = 0; k < (left > 2 ? 4 : left + 1); k++)
			strbuf_addch(sb, digits[v >> (18 - 6 * k) & 63]);
	}
}

static void group_add(struct strbuf *sb, const char *label, const char *value)
{
	/* "." and ".." would be parts of a path. */
	if (is_plain(value) && strspn(value, ".") < strlen(value)) {
		strbuf_addf(sb, "/%s/%s", label, value);
		return;
	}
	strbuf_addf(sb, "/%s@base64/", label);
	base64url_add(sb, value);
}

char *publish_prometheus_path(const struct publish_target *t, const struct publish_record *rec)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "/metrics");
	group_add(&sb, "job", t->job);
	if (!strcmp(t->group, "run")) {
		group_add(&sb, "run", rec->id);
	} else if (*rec->campaign && *rec->cell) {
		group_add(&sb, "campaign", rec->campaign);
		group_add(&sb, "cell", rec->cell);
	} else {
		group_add(&sb, "host", rec->host);
		group_add(&sb, "model", rec->model);
	}
	return strbuf_steal(&sb);
}

/* --- the text --- */

static void label_value_add(struct strbuf *sb, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			strbuf_addstr(sb, "\\n");
		else if (*s == '"' || *s == '\\')
			strbuf_addf(sb, "\\%c", *s);
		else
			strbuf_addch(sb, *s);
	}
}

static void family(struct strbuf *sb, const char *name, const char *help)
{
	strbuf_addf(sb, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* name{run="…",label="value"…} value: pairs of label and value, NULL ends them. */
static void sample_add(struct strbuf *sb, const struct publish_record *rec, const char *name,
		       const char *const *labels, double value)
{
	char number[32];

	strbuf_addf(sb, "%s{run=\"", name);
	label_value_add(sb, rec->id);
	strbuf_addch(sb, '"');
	for (; *labels; labels += 2) {
		strbuf_addf(sb, ",%s=\"", labels[0]);
		label_value_add(sb, labels[1]);
		strbuf_addch(sb, '"');
	}
	num_fmt_f64(number, value);
	strbuf_addf(sb, "} %s\n", number);
}

char *publish_prometheus_text(const struct publish_record *rec)
{
	struct strbuf text = STRBUF_INIT, *sb = &text;
	const char *const none[] = { NULL };
	const char *const info[] = { "model",     rec->model,   "host",      rec->host, "status",
				     rec->status, "engine",     rec->engine, "repeat",  rec->repeat,
				     "version",   rec->version, NULL };

	family(sb, "profrig_run_info", "The last run of this group.");
	sample_add(sb, rec, "profrig_run_info", info, 1);
	family(sb, "profrig_run_success", "1 when the run ended with status success.");
	sample_add(sb, rec, "profrig_run_success", none, !strcmp(rec->status, "success"));
	family(sb, "profrig_run_end_timestamp_seconds", "When the run ended.");
	sample_add(sb, rec, "profrig_run_end_timestamp_seconds", none, (double)rec->ended_ns / 1e9);
	if (rec->durations.nr)
		family(sb, "profrig_run_duration_seconds", "How long its parts took.");
	for (size_t i = 0; i < rec->durations.nr; i++)
		sample_add(sb, rec, "profrig_run_duration_seconds",
			   (const char *const[]){ "part", rec->durations.v[i].name, NULL },
			   rec->durations.v[i].seconds);
	if (rec->metrics.nr)
		family(sb, "profrig_metric", "The results of the run, in their units.");
	for (size_t i = 0; i < rec->metrics.nr; i++) {
		const struct publish_metric *m = &rec->metrics.v[i];

		sample_add(sb, rec, "profrig_metric",
			   (const char *const[]){ "metric", m->name, "key", m->key, "unit", m->unit,
						  NULL },
			   m->value);
	}
	return strbuf_steal(sb);
}

static int pushgateway_send(const struct publish_target *t, const struct publish_record *rec,
			    const struct publish_call *call, struct err *err)
{
	CLEANUP(xfreep) char *body = publish_prometheus_text(rec);
	CLEANUP(xfreep) char *path = publish_prometheus_path(t, rec);
	CLEANUP(xfreep) char *url = xasprintf("%s%s", t->url, path);
	const struct publish_request rq = {
		.method = "PUT",
		.url = url,
		.type = "text/plain; version=0.0.4; charset=utf-8",
		.body = body,
		.good = { 200, 202 },
	};

	return publish_http(t, &rq, call, err);
}

const struct publisher publisher_pushgateway = {
	.name = "pushgateway",
	.about = "Prometheus Pushgateway: the last run of each cell, or model",
	.send = pushgateway_send,
	.series = publish_prometheus_path,
};
