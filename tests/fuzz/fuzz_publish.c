/* A run.json as a workload may leave it, and what each target would be sent of it. */
#include "fuzz.h"
#include "publish_formats.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID "20260304T050607Z-mlp-3fa9c1"

static void publish_require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "violated: %s\n", what);
	abort();
}

static void record_check(const struct publish_record *rec)
{
	publish_require(*rec->id && *rec->status && rec->ended_ns > 0, "it has an id and an end");
	publish_require(rec->metrics.nr <= PUBLISH_MAX_METRICS, "metrics are bounded");
	for (size_t i = 0; i < rec->metrics.nr && i < 100; i++) {
		const struct publish_metric *m = &rec->metrics.v[i];

		publish_require(isfinite(m->value), "values are numbers");
		for (size_t k = 0; k < i; k++)
			publish_require(strcmp(m->name, rec->metrics.v[k].name) != 0 ||
						strcmp(m->key, rec->metrics.v[k].key) != 0,
					"a metric is known by its name and key");
	}
}

/* Every line is a comment, or begins with one of our names. */
static void prometheus_check(const char *text)
{
	for (const char *nl; *text; text = nl + 1) {
		nl = strchr(text, '\n');
		publish_require(nl && (*text == '#' || !strncmp(text, "profrig_", 8)),
				"a label ends no line");
	}
}

static void record_send(const struct publish_record *rec)
{
	const struct publish_target t = { .job = xstrdup("job"), .group = xstrdup("cell") };
	size_t n;
	char *line = publish_json_line(rec, &n), *lines = publish_influx_text(rec);
	char *text = publish_prometheus_text(rec), *path = publish_prometheus_path(&t, rec);
	json_t *doc = json_loadb(line, n, 0, NULL);
	const char *id = json_string_value(json_object_get(doc, "_id"));

	publish_require(!memchr(line, '\n', n) && id && !strcmp(id, rec->id), "a line is a run");
	publish_require(json_array_size(json_object_get(doc, "metrics")) == rec->metrics.nr,
			"with all metrics");
	prometheus_check(text);
	publish_require(!strncmp(lines, "profrig_run,", 12), "points begin with the run");
	publish_require(!strpbrk(path, " \n?#%") && !strstr(path, "//"), "a group is a path");
	json_decref(doc);
	free(line);
	free(lines);
	free(text);
	free(path);
	free(t.job);
	free(t.group);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const folders[] = { ID, "aaaa-1.2", "" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		struct publish_record rec;

		if (publish_record_parse((const char *)data, n, folders[i], &rec, NULL) == 0) {
			record_check(&rec);
			record_send(&rec);
		}
		publish_record_release(&rec);
	}
	return 0;
}
