/*
 * RPD (rocmProfileData): one SQLite file that any number of processes append to. Times are ns of
 * CLOCK_MONOTONIC (documents that say µs are wrong). Version 3; earlier versions behind "<":
 *
 *	rocpd_metadata	tag, value: schema_version (2, 3; absent: 1 or 2), session_count, pid_stride
 *			and gpu_stride (files merged of several nodes)
 *	rocpd_string	id → text: names; every writing process has its own copies
 *	rocpd_ustring	id → text: arguments and texts of ranges		< 3: rocpd_string
 *	rocpd_api	id, pid, tid, start, end, apiName_id, args_id: one call, range or mark
 *			category_id, domain_id					< 3: none
 *	rocpd_op	id, gpuId, queueId, start, end, opType_id, description_id (a kernel's
 *			name, else '')
 *	rocpd_api_ops	api_id, op_id: which call launched which work, n:m
 *	rocpd_kernelapi	api_ptr_id, grid, workgroup, stream …	1: rocpd_kernelop, op_ptr_id
 *	rocpd_copyapi	api_ptr_id, size, kind …			1: rocpd_copyop, op_ptr_id
 *	rocpd_monitor	deviceType, deviceId, monitorType, start, end, value (text)
 *	rocpd_stackframe	api_ptr_id, depth, name_id: lines of the call stack of a call
 *	rocpd_hsaApi	1 only: as rocpd_api
 *
 * Ids of rows are offset by the writer's number times 2^32. A range has apiName "UserMarker" and
 * its text in args; a mark is one without length. Nothing is indexed but ids, so all tables are
 * read once from begin to end and joined here.
 *
 * The tracer's own time (overhead_names) has rows on the threads that it interrupted. It is no time
 * of the program: it goes to a track beside the threads, and its sum is in the facts. A file
 * without device work gets a warning.
 *
 * Source of facts: the tracer's schema files and two public recordings.
 */
#include "readers_private.h"
#include "rpd.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

static const char *const overhead_names[] = {
	"OpTable::writeRows",
	"ApiTable::writeRows",
	"KernelApiTable::writeRows",
	"CopyApiTable::writeRows",
	"MonitorTable::writeRows",
	"StackFrameTable::writeRows",
	"StringTable::writeRows",
	"UStringTable::writeRows",
	"hcc_activity_callback",
	"rpdflush",
	"BLOCKING",
	"RocprofDataSource::buffer_callback",
};

/* A text of rocpd_string for the sink; made up from the id, and counted, where it is not there. */
static str_id rpd_name(struct rpd *r, int64_t id)
{
	str_id s = sqlite_strings_id(&r->names, id);
	char text[40];

	if (s != STR_NONE)
		return s;
	snprintf(text, sizeof(text), "string %" PRId64, id);
	tally_text(&r->n.unknown_strings, "names that rocpd_string does not hold, the first is %s",
		   text);
	return sink_puts(r->sc.sink, text);
}

static enum rpd_class class_of(const char *name)
{
	if (strcmp(name, "UserMarker") == 0)
		return RPD_MARKER;
	for (size_t i = 0; i < ARRAY_LEN(overhead_names); i++)
		if (strcmp(name, overhead_names[i]) == 0)
			return RPD_OVERHEAD;
	return RPD_CALL;
}

const struct rpd_known *rpd_learn(struct rpd *r, struct rpd_known *into, int64_t id)
{
	const char *name = sqlite_strings_text(&r->names, id);

	into->name = rpd_name(r, id);
	into->id = id;
	/* missing strings are counted each time */
	into->class = name ? class_of(name) : RPD_UNASKED;
	into->capture = name ? capture_kind_of(name) : CAPTURE_UNKNOWN;
	return into;
}

const char *rpd_args_text(struct rpd *r, int64_t id, size_t *ret_n)
{
	struct sqlite_strings *st = &r->texts;
	uint32_t own = r->version < 3 ? SQLITE_ID_NONE : sqlite_ids_get(&st->ids, id);

	/* Ranges pushed through the tracer's C interface have theirs among the names. */
	if (own == SQLITE_ID_NONE) {
		st = &r->names;
		own = sqlite_ids_get(&st->ids, id);
	}
	if (own == SQLITE_ID_NONE)
		return NULL;
	*ret_n = intern_len(st->texts, own);
	return intern_str(st->texts, own);
}

/* ---- metadata ---- */

static bool take_tag(void *vp, struct sqlite_rows *q)
{
	struct rpd *r = vp;
	size_t tag_n, n;
	const char *tag = sqlite_rows_text(q, 0, &tag_n), *value = sqlite_rows_text(q, 1, &n);
	int64_t v;

	if (!tag || !value || num_i64(value, n, &v) < 0 || v < 0)
		return false;
	if (strcmp(tag, "schema_version") == 0) {
		r->version = v > 3 ? 3 : v < 1 ? 1 : (int)v;
		if (v > 3)
			sink_warnf(r->sc.sink, W_UNKNOWN_VERSION,
				   "schema_version %" PRId64 " is not known; it is read as 3", v);
	} else if (strcmp(tag, "pid_stride") == 0) {
		r->pid_stride = v;
	} else if (strcmp(tag, "gpu_stride") == 0) {
		r->gpu_stride = v;
	} else if (strcmp(tag, "session_count") == 0) {
		sink_fact(r->sc.sink, "writers", v);
	}
	return true;
}

/* The tables are more reliable than the row of metadata. */
static void find_version(struct rpd *r)
{
	static const struct db_table metadata = { "rocpd_metadata", "tag value", .take = take_tag };

	db_scan_table(&r->sc, &metadata, r);
	if (sqlite_db_has_column(r->sc.db, "rocpd_api", "category_id"))
		r->version = 3;
	else if (sqlite_db_has(r->sc.db, "rocpd_kernelop") ||
		 sqlite_db_has(r->sc.db, "rocpd_copyop"))
		r->version = 1;
	else if (r->version == 0)
		r->version = 2;
}

static void load_strings(struct rpd *r, struct sqlite_strings *st, const char *table)
{
	struct err e = ERR_INIT;

	if (sqlite_strings_load(st, r->sc.db, table, "id string", &e) >= 0)
		return;
	if (sqlite_db_has(r->sc.db, table))
		db_scan_damage(&r->sc, &e);
	else
		sink_warnf(r->sc.sink, W_UNKNOWN_REFERENCE, "%s: names are made up from ids",
			   e.msg);
}

/* Whether a name begins captures: only then are launches kept that may be part of one. */
static bool begins_captures(const struct rpd *r)
{
	const struct intern *texts = r->names.texts;
	uint32_t nr = texts ? (uint32_t)intern_count(texts) : 0;

	for (uint32_t i = 0; i < nr; i++)
		if (capture_kind_of(intern_str(texts, i)) == CAPTURE_BEGIN)
			return true;
	return false;
}

/* ---- the whole ---- */

static void rpd_begin(struct rpd *r)
{
	struct sink *s = r->sc.sink;
	struct input *in;

	s->ops->input(s, r->path, "rpd");
	in = s->ops->current(s);
	in->clock = TRACE_CLOCK_MONOTONIC;
	in->resolution_hz = 1e9;
	s->ops->clock(s);
	r->empty = sink_puts(s, "");
	r->marker = sink_puts(s, "UserMarker");
	find_version(r);
	free(in->format);
	in->format = xasprintf("RPD %d", r->version);
	sqlite_strings_init(&r->names, s);
	sqlite_strings_init(&r->texts, s);
	load_strings(r, &r->names, "rocpd_string");
	if (r->version >= 3 && sqlite_db_has(r->sc.db, "rocpd_ustring"))
		load_strings(r, &r->texts, "rocpd_ustring");
	r->captures = r->sc.facts && begins_captures(r);
}

static void counts_put(struct rpd *r)
{
	const struct rpd_counts *n = &r->n;
	const struct {
		const char *key;
		uint64_t value;
	} facts[] = {
		{ "api", n->api },
		{ "hsa_api", n->hsa },
		{ "ops", n->ops },
		{ "api_ops", n->links },
		{ "markers", n->markers },
		{ "overhead_rows", n->overhead },
		{ "overhead_ns", (uint64_t)n->overhead_ns },
		{ "copies", n->copies },
		{ "copy_bytes", (uint64_t)n->copy_bytes },
		{ "copies_without_size", n->copies_unsized },
	};

	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		if (facts[i].value > 0 || i == 0 || i == 2)
			sink_fact(r->sc.sink, facts[i].key, (int64_t)facts[i].value);
}

static void problems_warn(struct rpd *r)
{
	struct rpd_counts *n = &r->n;

	db_scan_warn(&r->sc);
	tally_warn(&n->unknown_strings, r->sc.sink, W_UNKNOWN_REFERENCE, NULL);
	sink_warn(r->sc.sink, W_UNKNOWN_REFERENCE, r->names.duplicate_ids + r->texts.duplicate_ids,
		  "ids of strings that occur twice; the first one counts");
	sink_warn(r->sc.sink, W_UNKNOWN_REFERENCE, n->lost_ops,
		  "rows of rocpd_api_ops name work that rocpd_op does not hold");
	sink_warn(r->sc.sink, W_UNLINKED_WORK, n->unlinked, "work without a row in rocpd_api_ops");
	if (n->ops == 0 && !r->sc.damage.code && !r->sc.db->damage[0])
		sink_warnf(r->sc.sink, W_EMPTY_INPUT, "%s holds no work on a device", r->path);
}

static void rpd_release(struct rpd *r)
{
	sqlite_strings_release(&r->names);
	sqlite_strings_release(&r->texts);
	sqlite_ids_release(&r->process_at);
	sqlite_ids_release(&r->tid_at);
	u64map_release(&r->thread_at);
	VEC_RELEASE(&r->processes);
	VEC_RELEASE(&r->frames);
	rpd_ops_release(r);
	sqlite_db_close(r->sc.db);
	db_scan_release(&r->sc);
}

static int read_rpd(const char *path, struct sink *s, const struct read_opts *o, struct err *err)
{
	CLEANUP(rpd_release)
	struct rpd r = { .path = path,
			 .sc = { .sink = s, .old_tools = true, .args = STRBUF_INIT },
			 .last = { .track = TRACK_NONE },
			 .overhead = TRACK_NONE };
	int rc = sqlite_db_open(path, &r.sc.db, err);

	db_scan_opts(&r.sc, o);
	if (rc < 0)
		return rc;
	if (!sqlite_db_has(r.sc.db, "rocpd_api") && !sqlite_db_has(r.sc.db, "rocpd_op"))
		return err_set(err, EINVAL, "%s: neither table 'rocpd_api' nor 'rocpd_op'", path);
	rpd_begin(&r);
	sqlite_db_warn(r.sc.db, s);
	rpd_launches_read(&r);
	rpd_api_read(&r);
	rpd_ops_read(&r);
	rpd_monitor_read(&r);
	counts_put(&r);
	problems_warn(&r);
	rc = sqlite_db_result(r.sc.db, s, &r.sc.damage, err);
	s->ops->input_end(s);
	return rc;
}

static int probe_rpd(const struct probe *p)
{
	static const char *const both[] = { "rocpd_api", "rocpd_op", NULL };
	static const char *const api[] = { "rocpd_api", "rocpd_string", NULL };
	static const char *const op[] = { "rocpd_op", "rocpd_string", NULL };
	static const char *const none[] = { NULL };

	if (sqlite_probe_has(p, both))
		return 95;
	if (sqlite_probe_has(p, api) || sqlite_probe_has(p, op))
		return 60;
	/* so that a damaged .rpd gets a proper error, and is not an unknown file */
	return sqlite_probe_has(p, none) && text_suffix(p->name, ".rpd") ? 10 : 0;
}

const struct reader reader_rpd = {
	.name = "rpd",
	.about = "RPD (rocmProfileData) 1 to 3: HIP, CUDA and HSA calls, device work, ranges, "
		 "clocks",
	.suffixes = ".rpd[.gz|.zst]",
	.probe = probe_rpd,
	.read = read_rpd,
};
