#include "profrig/config/results.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* Words for errors in the output of Python and GPU programs. A test summary's "0 FAILED" and a
 * program that ends by sys.exit(0) are no errors. */
const char *const results_default_errors[] = {
	"OutOfMemoryError",
	"HIP out of memory",
	"CUDA out of memory",
	"RuntimeError:",
	"AssertionError:",
	"ValueError:",
	"/\\bSystemExit\\b(?!: 0\\b)/",
	"failed (exitcode:",
	"Traceback (most recent call last)",
	"/(?<!\\b0 )\\bFAILED\\b/",
	"Exception:",
	"ImportError:",
	"ModuleNotFoundError:",
	NULL,
};

/* Lines of profilers and of Ray that look like errors and are harmless. */
const char *const results_default_benign[] = {
	"Failed to establish connection to the metrics exporter agent",
	"RpcError: Running out of retries to initialize the metrics agent",
	"Metrics will not be exported",
	"FutureWarning",
	"Opened result file:",
	"SQLite3 generation ::",
	"rocpd_op:",
	"rpd_tracer:",
	"/^E\\d{8}.*generateRocpd\\.cpp/",
	"/^W\\d{8}.*(simple_timer|generateRocpd)\\.cpp/",
	"/^E\\d{8}.*tool\\.cpp/",
	"/\\[rocprofv3\\]/",
	NULL,
};

void results_conf_init(struct results_conf *rc)
{
	*rc = (struct results_conf){ .scan = SCAN_WARN,
				     .error_patterns = STRVEC_INIT,
				     .benign_patterns = STRVEC_INIT };
}

void results_conf_release(struct results_conf *rc)
{
	free(rc->pattern);
	free(rc->csv);
	free(rc->perf_csv);
	strvec_release(&rc->error_patterns);
	strvec_release(&rc->benign_patterns);
	results_conf_init(rc);
}

static const char *const picks[] = {
	[PICK_LAST] = "last", [PICK_FIRST] = "first", [PICK_MEDIAN] = "median",
	[PICK_MEAN] = "mean", [PICK_MAX] = "max",     [PICK_MIN] = "min",
};

int results_pick_parse(const char *word, enum results_pick *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(picks); i++)
		if (!strcmp(picks[i], word)) {
			*ret = (enum results_pick)i;
			return 0;
		}
	return -EINVAL;
}

const char *results_pick_name(enum results_pick p)
{
	return picks[p];
}

int results_steady_parse(const char *text, double *ret, bool *ret_share)
{
	size_t n = strlen(text);
	bool share = n > 0 && text[n - 1] == '%';
	double v;

	if (num_f64(text, share ? n - 1 : n, &v) < 0 || !isfinite(v) || v < 0)
		return -EINVAL;
	if (share ? v >= 100 : v != floor(v) || v > 1e9)
		return -EINVAL;
	*ret = share ? v / 100 : v;
	*ret_share = share;
	return 0;
}

size_t results_steady_skip(const struct results_conf *rc, size_t n)
{
	if (!rc->steady_share)
		return rc->steady < (double)n ? (size_t)rc->steady : n;
	return (size_t)(rc->steady * (double)n);
}

char *results_pattern_regex(const char *pattern)
{
	size_t n = strlen(pattern);

	if (n > 2 && pattern[0] == '/' && pattern[n - 1] == '/')
		return xstrndup(pattern + 1, n - 2);
	if (strchr(pattern, '\\') || strstr(pattern, ".*") || strstr(pattern, ".+") ||
	    *pattern == '^')
		return xstrdup(pattern);
	return NULL;
}

/* A word that begins where a word of the text begins: "loss" is in "val_loss" and "lossy". */
static bool text_says(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = text; *s; s++)
		if (!strncasecmp(s, word, n) && (s == text || !isalpha((unsigned char)s[-1])))
			return true;
	return false;
}

static bool says_any(const char *name, const char *unit, const char *const *words)
{
	for (; *words; words++)
		if (text_says(name, *words) || text_says(unit, *words))
			return true;
	return false;
}

enum results_merge results_merge_of(const char *name, const char *unit)
{
	static const char *const memory[] = { "memory", "mem",  "vram", "bytes", "MiB",
					      "GiB",    "peak", "rss",  NULL };
	static const char *const mean[] = { "latency",    "accuracy",    "acc",     "loss",
					    "perplexity", "error",       "time",    "ttft",
					    "tpot",       "duration",    "percent", "ratio",
					    "score",      "utilization", "mfu",     "bleu",
					    "f1",         NULL };
	static const char *const rate[] = { "throughput", "per_second", "per_sec", "qps", NULL };
	/* "loss/s" is no rate of something that adds up, but "GiB/s" and "tokens/s" are. */
	const char *per = strstr(unit, "/s");
	bool is_rate = per && !isalpha((unsigned char)per[2]);

	if (is_rate || says_any(name, unit, rate) || strstr(unit, "_per_sec"))
		return MERGE_SUM;
	if (says_any(name, unit, memory))
		return MERGE_MAX;
	if (says_any(name, unit, mean) || !strcmp(unit, "s") || !strcmp(unit, "ms") ||
	    !strcmp(unit, "us") || !strcmp(unit, "%"))
		return MERGE_MEAN;
	return MERGE_SUM;
}

double results_merge(enum results_merge how, const double *v, size_t n)
{
	double sum = 0, most = NAN;

	for (size_t i = 0; i < n; i++) {
		sum += v[i];
		most = i == 0 || v[i] > most ? v[i] : most;
	}
	if (n == 0)
		return NAN;
	return how == MERGE_MAX ? most : how == MERGE_MEAN ? sum / (double)n : sum;
}
