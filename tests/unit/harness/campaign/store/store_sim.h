/*
 * store_sim: a campaign that only looks like one: its plan, its journal and run directories, as a
 * campaign would have left them, for tests and measurements of the store.
 *
 *	sim_begin(&m, dir, cells, repeat, "[\"performance\"]");		events open and plan
 *	sim_run(&m, 0, 1, 1, 12.5);		cell 0, repeat 1, attempt 1: begun, ended, committed
 *	sim_event(&m, "failed", "…-1", 0, "\"class\":\"workload\"");
 *	sim_end(&m);
 *
 * Times are those of a clock that moves a second with each event, so all of it is the same each
 * time.
 */
#ifndef STORE_SIM_H
#define STORE_SIM_H

#include "journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

struct sim {
	const char *dir;
	FILE *journal;
	uint64_t seq;
};

static inline void sim_die(const char *what)
{
	fprintf(stderr, "store_sim: %s\n", what);
	abort();
}

/* fields: "" or members of JSON. run NULL: of the campaign. */
static inline void sim_event(struct sim *m, const char *ev, const char *run, int attempt,
			     const char *fields)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;
	time_t t = 1700000000 + (time_t)++m->seq;
	struct tm tm;
	char utc[32];

	gmtime_r(&t, &tm);
	strftime(utc, sizeof(utc), "%Y-%m-%dT%H:%M:%S", &tm);
	strbuf_addf(&line,
		    "{\"seq\":%" PRIu64 ",\"t\":\"%s.000000000Z\",\"boot_id\":\"b\",\"ev\":\"%s\"",
		    m->seq, utc, ev);
	if (run)
		strbuf_addf(&line, ",\"run\":\"%s\"", run);
	if (attempt)
		strbuf_addf(&line, ",\"attempt\":%d", attempt);
	if (*fields)
		strbuf_addf(&line, ",%s", fields);
	fprintf(m->journal, "%s,\"crc\":\"%08" PRIx32 "\"}\n", line.buf,
		journal_crc(line.buf, line.len));
	fflush(m->journal);
}

/* The id of a cell. */
static inline char *sim_cell(size_t cell)
{
	static char id[16];

	snprintf(id, sizeof(id), "%012zx", (cell + 1) * 0x9e3779b1 & 0xffffffffffff);
	return id;
}

static inline char *sim_run_id(size_t cell, int repeat)
{
	static char id[32];

	snprintf(id, sizeof(id), "%s-%d", sim_cell(cell), repeat);
	return id;
}

static inline void sim_put(const struct sim *m, const char *name, const char *text)
{
	CLEANUP(xfreep) char *path = fs_join(m->dir, name), *folder = fs_dir(path);
	struct err err = ERR_INIT;

	if (fs_mkdirs(folder, 0755, &err) < 0 ||
	    fs_write_kept(path, text, strlen(text), FS_KEEP_NOTHING, &err) < 0)
		sim_die(err.msg);
}

/* metrics: a list of JSON. */
static inline void sim_plan(struct sim *m, size_t cells, int repeat, const char *metrics)
{
	CLEANUP(strbuf_release) struct strbuf plan = STRBUF_INIT;
	CLEANUP(xfreep) char *name = NULL, *fields = NULL;
	char sha[65];

	strbuf_addf(&plan,
		    "{\"schema\":\"profrig.campaign/1\",\"name\":\"sim\",\"repeat\":%d,"
		    "\"order\":\"random\",\"seed\":7,\"metrics\":%s,\"cells\":[",
		    repeat, metrics);
	for (size_t i = 0; i < cells; i++)
		strbuf_addf(&plan,
			    "%s{\"id\":\"%s\",\"label\":\"n=%zu\",\"model\":\"mlp\","
			    "\"axes\":{\"env.N\":\"%zu\",\"tools\":[%s]},\"is_baseline\":%s,"
			    "\"baseline\":null,\"config\":{}}",
			    i ? "," : "", sim_cell(i), i, i, i % 2 ? "\"t\"" : "",
			    i ? "false" : "true");
	strbuf_addstr(&plan, "]}");
	fs_sha256_text(plan.buf, plan.len, sha);
	name = xasprintf("plans/%.12s.json", sha);
	sim_put(m, name, plan.buf);
	fields = xasprintf("\"plan\":\"%s\"", name);
	sim_event(m, "plan", NULL, 0, fields);
}

static inline void sim_begin(struct sim *m, const char *dir, size_t cells, int repeat,
			     const char *metrics)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "journal.ndjson");

	*m = (struct sim){ .dir = dir, .journal = fopen(path, "we") };
	if (!m->journal)
		sim_die(path);
	sim_event(m, "open", NULL, 0,
		  "\"version\":\"0.1.0\",\"file\":\"/f/sim.yaml\",\"dir\":\"/f\",\"name\":\"sim\"");
	sim_plan(m, cells, repeat, metrics);
}

/* The run.json of an attempt: value is its performance. */
static inline void sim_run_json(const struct sim *m, const char *attempt, double value)
{
	CLEANUP(xfreep) char *name = xasprintf("runs/%s/run.json", attempt);
	CLEANUP(xfreep)
	char *text = xasprintf(
		"{\"schema\":\"profrig.run/1\",\"id\":\"x\",\"status\":\"success\","
		"\"started_utc\":\"2026-03-04T05:06:07.250000Z\","
		"\"ended_utc\":\"2026-03-04T05:06:09.750000Z\",\"host\":{\"hostname\":\"n1\","
		"\"kernel\":\"6\",\"cpu\":\"c\"},\"devices\":[{\"id\":\"gpu0\",\"name\":\"G\","
		"\"uuid\":\"U\",\"start\":{\"clock\":%g}}],\"versions\":{\"profrig\":\"0.1.0\"},"
		"\"git\":null,\"tools\":[],\"artifacts\":[{\"tool\":\"t\",\"path\":"
		"\"artifacts/t/a.csv\",\"bytes\":12,\"sha256\":\"ab\",\"verdict\":\"valid\"}],"
		"\"metrics\":[{\"name\":\"performance\",\"value\":%g,\"unit\":\"samples/s\"},"
		"{\"name\":\"wall\",\"value\":2.5,\"unit\":\"s\"},{\"name\":\"none\",\"value\":"
		"null,\"unit\":\"\"},{\"name\":\"rate\",\"value\":3,\"unit\":\"B/s\"},"
		"{\"name\":\"rate\",\"value\":4,\"unit\":\"B/s\"}]}\n",
		value, value);

	sim_put(m, name, text);
}

static inline void sim_intend(struct sim *m, size_t cell, int repeat, int attempt)
{
	char *run = sim_run_id(cell, repeat);
	CLEANUP(xfreep)
	char *fields = xasprintf("\"cell\":\"%s\",\"repeat\":%d,\"block\":%d,\"pos\":%zu",
				 sim_cell(cell), repeat, repeat, cell + 1);

	sim_event(m, "intend", run, attempt, fields);
}

static inline void sim_commit(struct sim *m, const char *run, int attempt)
{
	CLEANUP(xfreep) char *name = xasprintf("results/%s", run);
	CLEANUP(xfreep) char *text = xasprintf("%s.%d\n", run, attempt);

	sim_put(m, name, text);
	sim_event(m, "committed", run, attempt, "");
}

static inline void sim_run(struct sim *m, size_t cell, int repeat, int attempt, double value)
{
	char *run = sim_run_id(cell, repeat);
	CLEANUP(xfreep) char *id = xasprintf("%s.%d", run, attempt);

	sim_intend(m, cell, repeat, attempt);
	sim_run_json(m, id, value);
	sim_event(m, "ended", run, attempt,
		  "\"state\":\"success\",\"class\":\"ok\",\"reason\":null,\"exit\":0,"
		  "\"signal\":null,\"node\":null");
	sim_commit(m, run, attempt);
}

/* Goes on with a journal that has so many events. */
static inline void sim_resume(struct sim *m, const char *dir, uint64_t events)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "journal.ndjson");

	*m = (struct sim){ .dir = dir, .journal = fopen(path, "ae"), .seq = events };
	if (!m->journal)
		sim_die(path);
}

static inline void sim_end(struct sim *m)
{
	fclose(m->journal);
	m->journal = NULL;
}

#endif
