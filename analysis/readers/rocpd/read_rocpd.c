/*
 * rocpd, the database of rocprofiler-sdk (rocprofv3 --output-format rocpd), schema 3. In spite of
 * its name it is none of rocmProfileData. Tables have a suffix of their process, a UUID with '_'
 * for '-', which every row repeats in its column guid; views without a suffix show them all:
 *
 *	rocpd_metadata_…		tag, value: schema_version, guid
 *	rocpd_string_…			id, string
 *	rocpd_info_{node,process,thread,agent,queue,stream,pmc,kernel_symbol,code_object}_…
 *	rocpd_track_…			tracks of samples (rocpd_defs.c)
 *	rocpd_event_…			category, stack_id: common to all below
 *	rocpd_arg_…, rocpd_pmc_event_…	arguments and counters of events
 *	rocpd_region_…, rocpd_sample_…	calls, ranges, marks (rocpd_events.c)
 *	rocpd_kernel_dispatch_…, rocpd_memory_copy_…, rocpd_memory_allocate_…	(rocpd_work.c)
 *
 * A merged file has several suffixes, and tables without one are read too. Ids are unique only
 * together with the guid. Times are ns of CLOCK_BOOTTIME. An event's stack_id is the number of the
 * call that caused it, so equal ones join a region with the work it launched, inside one process.
 *
 * Facts: the schema of rocprofiler-sdk 1.0.0. No recording of it is public, so free text (an
 * agent's extdata, a process's environment) is used where it has the expected form.
 */
#include "readers_private.h"
#include "rocpd.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/json_scan.h"
#include "profrig/model/warnings.h"

/* Merged files hold one for each process. */
#define MAX_SETS 65536

static int probe_rocpd(const struct probe *p)
{
	static const char *const dispatches[] = { "rocpd_info_node*", "rocpd_kernel_dispatch*",
						  NULL };
	static const char *const regions[] = { "rocpd_info_process*", "rocpd_region*", NULL };

	return sqlite_probe_has(p, dispatches) || sqlite_probe_has(p, regions) ? 95 : 0;
}

bool rocpd_table(struct rocpd *rc, const struct db_table *t)
{
	CLEANUP(xfreep) char *name = xasprintf("rocpd_%s%s", t->name, rc->set->suffix);
	struct db_table of_set = *t;

	of_set.name = name;
	of_set.shown = t->name; /* messages leave out the suffix */
	return db_scan_table(&rc->sc, &of_set, rc);
}

static uint32_t guid_put(struct rocpd *rc, const char *s, size_t n)
{
	return intern_put(rc->guid_names, s, n);
}

uint32_t rocpd_guid_of(struct rocpd *rc, struct sqlite_rows *q, int col)
{
	const char *s, *last = intern_str(rc->guid_names, rc->last_guid);
	size_t n;

	if (sqlite_rows_null(q, col))
		return rc->last_guid = rc->set->guid;
	s = sqlite_rows_text(q, col, &n);
	if (!s)
		return rc->last_guid = rc->set->guid;
	if (n == intern_len(rc->guid_names, rc->last_guid) && memcmp(s, last, n) == 0)
		return rc->last_guid;
	return rc->last_guid = guid_put(rc, s, n);
}

uint32_t rocpd_get(const struct rocpd *rc, enum rocpd_kind kind, uint32_t guid, int64_t id)
{
	const struct rocpd_ids *ids = &rc->ids[kind];

	return guid < ROCPD_NEAR ? sqlite_ids_get(&ids->near[guid], id)
				 : u64map_get(&ids->far, db_hash(guid, (uint64_t)id, 'G'));
}

bool rocpd_add(struct rocpd *rc, enum rocpd_kind kind, uint32_t guid, int64_t id, uint32_t number)
{
	struct rocpd_ids *ids = &rc->ids[kind];
	uint32_t *at;

	if (guid < ROCPD_NEAR)
		return sqlite_ids_add(&ids->near[guid], id, number);
	at = u64map_at(&ids->far, db_hash(guid, (uint64_t)id, 'G'));
	if (*at != U64MAP_NONE)
		return false;
	*at = number;
	return true;
}

uint32_t rocpd_find(struct rocpd *rc, enum rocpd_kind kind, uint32_t guid, struct sqlite_rows *q,
		    int col)
{
	int64_t id;

	if (!sqlite_rows_i64(q, col, &id))
		return SQLITE_ID_NONE;
	return rocpd_get(rc, kind, guid, id);
}

bool rocpd_number(struct rocpd *rc, enum rocpd_kind kind, uint32_t guid, struct sqlite_rows *q,
		  int col, uint32_t number)
{
	int64_t id;

	if (!sqlite_rows_i64(q, col, &id)) {
		db_scan_bad(&rc->sc, q, "it has no id, so it was left out");
		return false;
	}
	if (rocpd_add(rc, kind, guid, id, number))
		return true;
	db_scan_bad(&rc->sc, q, "a row before it has its id, so it was left out");
	return false;
}

char *rocpd_json_member(struct rocpd *rc, const char *json, size_t n, const char *key)
{
	static const char room[64];
	CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT;
	struct json_text name, text;
	struct json_cur c;
	bool some = false;

	strbuf_clear(&rc->json);
	strbuf_add(&rc->json, json, n);
	strbuf_add(&rc->json, room, sizeof(room)); /* the scanner reads whole blocks */
	c = (struct json_cur){ rc->json.buf, rc->json.buf + n };
	if (json_open(&c, '{') < 0)
		return NULL;
	while (json_scalar_member(&c, &some, &name, &text) > 0)
		if (json_text_is(&name, key)) {
			json_decode(&text, &value);
			return xstrdup(value.buf);
		}
	return NULL;
}

/* ---- sets of tables ---- */

static const char *const bases[] = {
	"metadata",
	"string",
	"info_node",
	"info_process",
	"info_thread",
	"info_agent",
	"info_queue",
	"info_stream",
	"info_pmc",
	"info_code_object",
	"info_kernel_symbol",
	"track",
	"event",
	"arg",
	"pmc_event",
	"region",
	"sample",
	"kernel_dispatch",
	"memory_copy",
	"memory_allocate",
};

/* What follows the base name of a table of ours, "" or "_…"; NULL for other tables. */
static const char *suffix_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		const char *rest = name + strlen("rocpd_");
		size_t n = strlen(bases[i]);

		if (strncmp(rest, bases[i], n) == 0 && (rest[n] == '\0' || rest[n] == '_'))
			return rest + n;
	}
	return NULL;
}

static void set_add(struct rocpd *rc, struct u64map *seen, const char *suffix)
{
	str_id id = intern_puts(rc->names, suffix);
	struct rocpd_set set;
	char *c;

	if (u64map_get(seen, id) != U64MAP_NONE || rc->sets.nr == MAX_SETS)
		return;
	*u64map_at(seen, id) = 1;
	set.suffix = xstrdup(suffix + (*suffix == '_'));
	for (c = set.suffix; *c; c++)
		if (*c == '_')
			*c = '-';
	set.guid = guid_put(rc, set.suffix, strlen(set.suffix));
	free(set.suffix);
	set.suffix = xstrdup(suffix);
	VEC_PUSH(&rc->sets, set);
}

static int find_sets(struct rocpd *rc, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(u64map_release) struct u64map seen = U64MAP_INIT;
	int r = sqlite_db_list(rc->sc.db, "rocpd_", &names, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < names.nr; i++) {
		const char *suffix = suffix_of(names.v[i]);

		if (suffix && db_scan_has(&rc->sc, names.v[i]))
			set_add(rc, &seen, suffix);
	}
	return 0;
}

static bool take_metadata(void *vp, struct sqlite_rows *q)
{
	struct rocpd *rc = vp;
	size_t n;
	const char *tag = sqlite_rows_text(q, 0, &n), *value;

	if (!tag || strcmp(tag, "schema_version") != 0)
		return false;
	value = sqlite_rows_text(q, 1, &n);
	if (value)
		snprintf(rc->version, sizeof(rc->version), "%s", value);
	return true;
}

static void input_describe(struct rocpd *rc)
{
	static const struct db_table metadata = { "metadata", "tag value", .take = take_metadata };
	struct input *in = rc->sc.sink->ops->current(rc->sc.sink);

	for (size_t i = 0; i < rc->sets.nr; i++) {
		rc->set = &rc->sets.v[i];
		rocpd_table(rc, &metadata);
	}
	in->clock = TRACE_CLOCK_BOOTTIME;
	in->driver_numbers = true;
	free(in->format);
	in->format =
		rc->version[0] ? xasprintf("rocpd (schema %s)", rc->version) : xstrdup("rocpd");
	rc->sc.sink->ops->clock(rc->sc.sink);
	sqlite_db_warn(rc->sc.db, rc->sc.sink);
	sink_fact(rc->sc.sink, "databases", (int64_t)rc->sets.nr);
	if (rc->version[0] && rc->version[0] != '3')
		sink_warnf(rc->sc.sink, W_UNKNOWN_VERSION, "schema version %s: only 3 is known",
			   rc->version);
}

/* Each kind from all sets before the next kind: rows of one set may refer to another's. */
static void rocpd_read_all(struct rocpd *rc)
{
	static void (*const parts[])(struct rocpd *) = {
		rocpd_read_strings,   rocpd_read_definitions, rocpd_read_events,
		rocpd_read_arguments, rocpd_read_work,        rocpd_read_regions,
		rocpd_read_samples,
	};

	for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
		for (size_t i = 0; i < rc->sets.nr; i++) {
			rc->set = &rc->sets.v[i];
			parts[k](rc);
		}
	}
	rocpd_push_values(rc);
	db_ranges_push(&rc->sc);
}

static void rocpd_release(struct rocpd *rc)
{
	for (size_t k = 0; k < ROCPD_KINDS; k++) {
		for (size_t i = 0; i < ROCPD_NEAR; i++)
			sqlite_ids_release(&rc->ids[k].near[i]);
		u64map_release(&rc->ids[k].far);
	}
	for (size_t i = 0; i < rc->sets.nr; i++)
		free(rc->sets.v[i].suffix);
	VEC_RELEASE(&rc->sets);
	VEC_RELEASE(&rc->processes);
	VEC_RELEASE(&rc->threads);
	VEC_RELEASE(&rc->agents);
	VEC_RELEASE(&rc->pmcs);
	VEC_RELEASE(&rc->tracks);
	VEC_RELEASE(&rc->events);
	VEC_RELEASE(&rc->values);
	VEC_RELEASE(&rc->event_ns);
	u64map_release(&rc->queues);
	u64map_release(&rc->process_ranges);
	intern_free(rc->names);
	intern_free(rc->guid_names);
	strbuf_release(&rc->json);
	db_scan_release(&rc->sc);
	sqlite_db_close(rc->sc.db);
}

static int read_rocpd(const char *path, struct sink *s, const struct read_opts *o, struct err *err)
{
	CLEANUP(rocpd_release)
	struct rocpd rc = { .sc = { .sink = s, .uptime = true, .args = STRBUF_INIT },
			    .device = o->device,
			    .json = STRBUF_INIT };
	int r = sqlite_db_open(path, &rc.sc.db, err);

	db_scan_opts(&rc.sc, o);
	if (r < 0)
		return r;
	rc.names = intern_new();
	rc.guid_names = intern_new();
	guid_put(&rc, "", 0);
	r = find_sets(&rc, err);
	if (r < 0)
		return r;
	s->ops->input(s, path, "rocpd");
	input_describe(&rc);
	rocpd_read_all(&rc);
	return db_scan_result(&rc.sc, err);
}

const struct reader reader_rocpd = {
	.name = "rocpd",
	.about = "rocprofiler-sdk databases (rocprofv3 --output-format rocpd)",
	.suffixes = ".db[.gz|.zst]",
	.probe = probe_rocpd,
	.read = read_rocpd,
	.recording = recording_named,
	.richness = 3,
};
