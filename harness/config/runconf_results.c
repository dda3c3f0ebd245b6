/* The results of a run, and the needs of its directory, from the merged tree. */
#include "runconf_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/regex.h"

static void fill_pattern(struct loader *l, const struct cfg_node *n)
{
	CLEANUP(regex_freep) struct regex *re = NULL;
	struct err err = ERR_INIT;

	l->rc->results.pattern = xstrdup(n->s);
	if (regex_new(n->s, 0, &re, &err) < 0)
		cfg_problem(l->p, n, "results.pattern: %s", err.msg);
	else if (!regex_has_group(re, "value"))
		cfg_problem(l->p, n,
			    "results.pattern: it has no group 'value'; write the number as "
			    "(?<value>[0-9.]+)");
}

static void check_patterns(struct loader *l, const struct cfg_node *results, const char *key)
{
	CFG_EACH(n, cfg_get(results, key), CFG_SEQ) {
		CLEANUP(xfreep) char *pattern = n->s ? results_pattern_regex(n->s) : NULL;
		CLEANUP(regex_freep) struct regex *re = NULL;
		struct err err = ERR_INIT;

		if (n->s && !*n->s)
			cfg_problem(l->p, n, "results.%s: an empty pattern is in every line", key);
		else if (pattern && regex_new(pattern, 0, &re, &err) < 0)
			cfg_problem(l->p, n, "results.%s: %s", key, err.msg);
	}
}

static void fill_scan(struct loader *l, const struct cfg_node *results)
{
	struct results_conf *rc = &l->rc->results;
	const struct cfg_node *scan = conf_scalar(results, "log_scan");
	const struct cfg_node *errors = cfg_get(results, "error_patterns");

	if (scan)
		rc->scan = !strcmp(scan->s, "off")    ? SCAN_OFF
			   : !strcmp(scan->s, "fail") ? SCAN_FAIL
						      : SCAN_WARN;
	rc->has_error_patterns = errors && errors->kind == CFG_SEQ;
	if (rc->has_error_patterns && !errors->nr)
		cfg_problem(l->p, errors,
			    "results.error_patterns: the list is empty; to look for nothing, say "
			    "results.log_scan: off");
	check_patterns(l, results, "error_patterns");
	check_patterns(l, results, "benign_patterns");
}

/* MAD_COLLECT_METRICS=false means that no run of this machine reports a result. */
static bool told_to_collect(const struct runconf *rc)
{
	const char *said = getenv("MAD_COLLECT_METRICS");

	for (size_t i = 0; i < rc->env.nr; i++)
		if (!strcmp(rc->env.v[i].name, "MAD_COLLECT_METRICS"))
			said = rc->env.v[i].value;
	return !said || strcasecmp(said, "false") != 0;
}

static void fill_results(struct loader *l, const struct cfg_node *results)
{
	struct results_conf *rc = &l->rc->results;
	const struct cfg_node *pattern = conf_scalar(results, "pattern");
	const struct cfg_node *steady = conf_scalar(results, "steady");
	const struct cfg_node *require = conf_scalar(results, "require");
	const struct cfg_node *csv = conf_scalar(results, "perf_csv");

	if (pattern)
		fill_pattern(l, pattern);
	if (cfg_text(results, "pick"))
		results_pick_parse(cfg_text(results, "pick"), &rc->pick);
	if (steady && results_steady_parse(steady->s, &rc->steady, &rc->steady_share) < 0)
		cfg_problem(l->p, steady,
			    "results.steady: want a number of values, or a part of them such as "
			    "10%%, not %.40s",
			    steady->s);
	rc->require = require && require->kind == CFG_BOOL && require->b && told_to_collect(l->rc);
	if (csv && !*csv->s)
		cfg_problem(l->p, csv, "results.perf_csv names no file");
	else if (csv) {
		CLEANUP(xfreep) char *joined = fs_join(l->rq->cwd, csv->s);

		rc->perf_csv = fs_abs(joined);
	}
	fill_scan(l, results);
}

static int64_t size_at(struct loader *l, const struct cfg_node *map, const char *key)
{
	const struct cfg_node *n = conf_scalar(map, key);
	int64_t v = 0;

	if (n && num_bytes(n->s, strlen(n->s), &v) < 0)
		cfg_problem(l->p, n, "disk.%s: want a size such as 500M or 10G, not %.40s", key,
			    n->s);
	return v;
}

void runconf_fill_results(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *disk = conf_map(root, "disk");
	struct runconf *rc = l->rc;

	rc->skip_workload = l->rq->skip_workload;
	fill_results(l, conf_map(root, "results"));
	rc->disk_min_bytes = size_at(l, disk, "min_free");
	rc->disk_warn_bytes = size_at(l, disk, "warn_free");
}
