#include "fuzz.h"
#include "library_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/library/library_log.h"

static void log_require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "violated: %s\n", what);
	abort();
}

static void check_row(const struct library_calls *calls, const struct library_row *r)
{
	library_sum most = (library_sum)r->calls * INT64_MAX;

	log_require(r->calls > 0 && r->nested <= r->calls, "a row has calls, some are nested");
	log_require(r->timed <= r->calls && r->total_ns >= 0, "some calls are timed");
	log_require(r->all_flops <= most && r->all_bytes <= most, "work is that of calls");
	log_require(r->nested_flops <= r->all_flops && r->nested_bytes <= r->all_bytes,
		    "work of nested calls is part of it");
	log_require(r->caller == LIBRARY_ROW_NONE || r->caller < calls->rows.nr,
		    "a caller is a row");
	log_require(strlen(r->key) <= LIBRARY_TEXT_MAX && r->key[0] && r->operation[0],
		    "a row has names");
}

/* Σ row.calls; each key of a library once. */
static uint64_t check_rows(const struct library_calls *calls)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < calls->rows.nr; i++) {
		const struct library_row *r = &calls->rows.v[i];

		check_row(calls, r);
		sum += r->calls;
		for (size_t k = 0; k < i && k < 64; k++)
			log_require(strcmp(r->key, calls->rows.v[k].key) != 0 ||
					    strcmp(r->library, calls->rows.v[k].library) != 0 ||
					    r->level != calls->rows.v[k].level || r->key[0] == '[',
				    "a key has one row");
	}
	return sum;
}

static void check_counts(const struct library_counts *n, const uint8_t *data, size_t size)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n' || i + 1 == size;
	log_require(n->lines == lines, "lines are counted");
	log_require((n->torn > 0) == (n->torn_text[0] != 0), "torn records have an example");
	log_require((n->bad > 0) == (n->bad_text[0] != 0), "bad records have an example");
}

/* What is remembered of records changes nothing. */
static void check_forgetful(const struct library_calls *calls, const struct library_counts *n,
			    const char *text, size_t size)
{
	CLEANUP(library_calls_freep) struct library_calls *other = library_calls_new();
	CLEANUP(library_log_freep) struct library_log *log = library_log_new("t.12.log", other);
	struct library_counts c;

	library_log_forgets(log);
	library_log_text(log, text, size);
	library_log_end(log, &c);
	log_require(c.records == n->records && c.doubled == n->doubled && c.info == n->info &&
			    c.torn == n->torn && c.bad == n->bad && c.foreign == n->foreign &&
			    c.prefixed == n->prefixed && c.odd_times == n->odd_times,
		    "counts without memory are equal");
	log_require(other->rows.nr == calls->rows.nr, "rows without memory are equal");
	for (size_t i = 0; i < other->rows.nr; i++) {
		const struct library_row *a = &other->rows.v[i], *b = &calls->rows.v[i];

		log_require(!strcmp(a->key, b->key) && a->calls == b->calls &&
				    a->first_ns == b->first_ns && a->last_ns == b->last_ns &&
				    a->total_ns == b->total_ns && a->timed == b->timed &&
				    a->pid == b->pid && a->ranks.nr == b->ranks.nr,
			    "a row without memory is equal");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = library_calls_new();
	CLEANUP(library_calls_freep) struct library_calls *all = library_calls_new();
	CLEANUP(library_log_freep) struct library_log *log = library_log_new("t.12.log", calls);
	struct library_counts counts;

	library_log_text(log, (const char *)data, n);
	library_log_end(log, &counts);
	check_counts(&counts, data, n);
	log_require(check_rows(calls) == counts.records, "records are the calls of rows");
	check_forgetful(calls, &counts, (const char *)data, n);
	library_calls_merge(all, calls);
	library_calls_merge(all, calls);
	log_require(check_rows(all) == 2 * counts.records, "merged rows have all calls");
	log_require(library_calls_totals(all).flops == 2 * library_calls_totals(calls).flops,
		    "merged rows have all flops");
	return 0;
}
