#include "profrig/library/library_csv.h"

#include <stdlib.h>
#include <time.h>

#include "profrig/base/csv.h"

void library_csv_facts(const char *model, struct library_csv_facts *ret)
{
	const char *job = getenv("JENKINS_BUILD_NUMBER");
	time_t now = time(NULL);
	struct tm tm;

	*ret = (struct library_csv_facts){ .jobid = job && *job ? job : "0", .model = model };
	if (localtime_r(&now, &tm))
		strftime(ret->created, sizeof(ret->created), "%Y-%m-%d %H:%M:%S", &tm);
}

static void csv_known(struct csv_writer *w, bool known, int64_t v)
{
	if (known)
		csv_i64(w, v);
	else
		csv_str(w, "");
}

static void csv_sum(struct csv_writer *w, uint64_t one, library_sum all)
{
	char digits[48];

	library_sum_fmt(digits, all);
	csv_str(w, one == LIBRARY_UNKNOWN && all == 0 ? "" : digits);
}

static void row_end(struct csv_writer *w)
{
	fputc('\r', w->f);
	csv_end(w);
}

static void row_write(struct csv_writer *w, const struct library_row *r,
		      const struct library_csv_facts *facts)
{
	csv_str(w, facts->jobid);
	csv_str(w, facts->created);
	csv_str(w, facts->model);
	csv_str(w, r->library);
	csv_str(w, r->config);
	csv_u64(w, r->calls);
	csv_known(w, r->ranks.nr == 1, r->ranks.nr == 1 ? r->ranks.v[0] : 0);
	csv_known(w, r->pid != LIBRARY_NO_ID, r->pid);
	csv_known(w, r->first_ns != LIBRARY_NO_TIME, r->first_ns);
	csv_known(w, r->last_ns != LIBRARY_NO_TIME, r->last_ns);
	csv_known(w, r->timed > 0, r->total_ns);
	csv_sum(w, r->flops, r->all_flops);
	csv_sum(w, r->bytes, r->all_bytes);
	csv_str(w, r->operation);
	csv_str(w, r->key);
	row_end(w);
}

void library_csv_write(const struct library_calls *lc, const struct library_csv_facts *facts,
		       FILE *f)
{
	static const char *const columns[] = { "jobid",    "created_date", "model",    "library",
					       "config",   "calls",        "rank",     "pid",
					       "first_ns", "last_ns",      "total_ns", "flops",
					       "bytes",    "operation",    "key" };
	struct csv_writer w = { f, 0 };

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		csv_str(&w, columns[i]);
	row_end(&w);
	for (size_t i = 0; i < lc->rows.nr; i++)
		row_write(&w, &lc->rows.v[i], facts);
}
