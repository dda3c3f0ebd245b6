/*
 * OTF2, the archive format of Score-P and relatives, read through libotf2. On disk (substrate
 * POSIX):
 *
 *	NAME.otf2		anchor: versions, chunk sizes, how many locations and definitions
 *	NAME.def		global definitions: clock, strings, system tree, regions, locations,
 *				metrics, groups, communicators
 *	NAME/<location>.def	local definitions: clock offsets, maps from local to global
 *				references; optional
 *	NAME/<location>.evt	the events of one location, in time order
 *
 * Times are ticks of the clock that the definitions describe. libotf2 reads the anchor and the
 * definitions, otf2_walk.c the events: locations are independent, and the sink pulls them as it
 * likes, several at once.
 *
 * libotf2 believes what a file says about itself, and reads a cut file for ever. So every file of
 * definitions is walked first and libotf2 is asked for the records that are there; counts in
 * definitions are hints; what it wants to print is caught and becomes part of a warning.
 *
 * Archives that profrig wrote have more: otf2_native.h.
 */
#include "otf2_files.h"
#include "otf2_private.h"
#include "readers_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/serial.h"
#include "profrig/base/text.h"
#include "profrig/model/warnings.h"

/* ---- opening ---- */

struct archive {
	char *anchor, *dir; /* "x/traces.otf2", "x/traces" */
	char *way;          /* the anchor as libotf2 opens it, NULL: by its own name */
	int folder;         /* what way goes through */
	OTF2_Reader *reader;
	uint64_t event_chunk, def_chunk;
	struct otf2_reading r;
	uint64_t events;
	bool partial;
};

static void archive_release(struct archive *a)
{
	if (a->reader)
		OTF2_Reader_Close(a->reader);
	otf2_reading_release(&a->r);
	free(a->anchor);
	free(a->dir);
	free(a->way);
	xclosep(&a->folder);
}

/*
 * libotf2 takes paths and follows links. Of an archive in a held folder every file is looked at
 * first, and it is opened by way of its folder's descriptor: nothing of the workload is alive any
 * more that could change it.
 */
static int archive_way(struct archive *a, struct err *err)
{
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	CLEANUP(xfreep) char *name = NULL;
	int e;

	if (!door_holds(a->anchor))
		return 0;
	if (door_parent(a->anchor, &a->folder, &name) < 0)
		return err_sys(err, errno, "%s", a->anchor);
	strvec_push(&files, a->anchor);
	e = fs_is_dir(a->dir) ? fs_list(a->dir, &files, err) : 0;
	for (size_t i = 0; e >= 0 && i < files.nr; i++) {
		CLEANUP(xfreep) char *file = fs_join(a->dir, files.v[i]);
		CLEANUP(xclosep) int fd = door_open(i ? file : a->anchor, O_RDONLY, 0);

		if (fd < 0 && errno != EISDIR)
			e = err_sys(err, errno, "%s", i ? file : a->anchor);
	}
	a->way = xasprintf("/proc/self/fd/%d/%s", a->folder, name);
	return e;
}

static int archive_open(struct archive *a, const char *path, struct err *err)
{
	int e;

	e = otf2_find_anchor(path, &a->anchor, err);
	if (e < 0)
		return e;
	a->dir = xstrndup(a->anchor, strlen(a->anchor) - strlen(OTF2_SUFFIX));
	e = otf2_check_anchor(a->anchor, err);
	if (e < 0)
		return e;
	otf2_errors_catch();
	e = archive_way(a, err);
	if (e < 0)
		return e;
	a->reader = OTF2_Reader_Open(a->way ? a->way : a->anchor);
	if (!a->reader)
		return err_set(err, EBADMSG, "%s: no archive that libotf2 reads: %s", a->anchor,
			       otf2_error(OTF2_ERROR_PROCESSED_WITH_FAULTS));
	if (OTF2_Reader_SetSerialCollectiveCallbacks(a->reader) != OTF2_SUCCESS ||
	    OTF2_Reader_GetChunkSize(a->reader, &a->event_chunk, &a->def_chunk) != OTF2_SUCCESS)
		return err_set(err, EIO, "%s: %s", a->anchor, otf2_error(OTF2_ERROR_INVALID));
	return 0;
}

/* ---- definitions ---- */

static OTF2_ErrorCode global_definitions(struct archive *a, uint64_t records, uint64_t *ret_read)
{
	OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(a->reader);
	OTF2_GlobalDefReaderCallbacks *callbacks;
	OTF2_ErrorCode code;

	*ret_read = 0;
	if (!reader)
		return OTF2_ERROR_PROCESSED_WITH_FAULTS;
	callbacks = otf2_defs_callbacks();
	if (!callbacks)
		return OTF2_ERROR_MEM_FAULT;
	code = OTF2_Reader_RegisterGlobalDefCallbacks(a->reader, reader, callbacks, &a->r.defs);
	OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
	if (code == OTF2_SUCCESS)
		code = OTF2_Reader_ReadGlobalDefinitions(a->reader, reader, records, ret_read);
	OTF2_Reader_CloseGlobalDefReader(a->reader, reader);
	return code;
}

static void clock_set(struct archive *a, struct input *in)
{
	struct otf2_defs *d = &a->r.defs;

	if (!d->has_clock || d->resolution == 0) {
		sink_warnf(a->r.s, W_MISSING_DEFINITIONS,
			   "%s: no clock resolution; times are taken for nanoseconds", a->anchor);
		d->resolution = 1000000000;
	}
	if (a->r.native.there) {
		native_file_apply(&a->r.native.base, a->r.s);
		a->r.s->ops->clock(a->r.s);
		return;
	}
	a->r.base_ticks = otf2_far_ticks(d, a->dir, a->event_chunk);
	in->clock = TRACE_CLOCK_OWN;
	in->resolution_hz = (double)d->resolution;
	if (d->has_clock && d->realtime != OTF2_UNDEFINED_TIMESTAMP && d->realtime != 0 &&
	    d->realtime <= INT64_MAX) {
		in->has_realtime_anchor = true;
		in->anchor_own_ns = otf2_ns_of(&a->r, d->offset);
		in->anchor_realtime_ns = (int64_t)d->realtime;
	}
	/* where the events are said to lie: the anchor nearest to them is the right one at once */
	in->first_ns = otf2_ns_of(&a->r, d->offset);
	in->last_ns = otf2_ns_of(&a->r, d->offset + d->length);
	a->r.s->ops->clock(a->r.s);
	in->first_ns = INT64_MAX;
	in->last_ns = INT64_MIN;
}

static void format_set(struct archive *a, struct input *in)
{
	uint8_t major = 0, minor = 0, bugfix = 0;

	if (OTF2_Reader_GetVersion(a->reader, &major, &minor, &bugfix) == OTF2_SUCCESS)
		in->format = xasprintf("OTF2 %u.%u.%u%s", major, minor, bugfix,
				       a->r.native.there ? " (profrig convert)" : "");
	else
		in->format = xstrdup("OTF2");
}

static void native_open(struct archive *a)
{
	char *text = NULL;

	otf2_errors_forget();
	if (OTF2_Reader_GetProperty(a->reader, OTF2_NATIVE_PROPERTY, &text) != OTF2_SUCCESS)
		text = NULL;
	otf2_native_open(&a->r, text);
	free(text);
}

/* How many whole records a file of definitions has, and how it ends. */
static int definitions_walk(const struct archive *a, const char *path, struct otf2_walk *w,
			    struct err *err)
{
	struct otf2_record record;
	int e = otf2_walk_open(w, path, a->def_chunk, OTF2_FILE_DEFINITIONS, err);

	while (e == 0 && otf2_walk_next(w, &record))
		;
	otf2_walk_close(w);
	return e;
}

static int definitions_read(struct archive *a, struct err *err)
{
	struct input *in = a->r.s->ops->current(a->r.s);
	CLEANUP(xfreep) char *path = xasprintf("%s.def", a->dir);
	uint64_t read, expected = 0, locations = 0;
	struct otf2_walk scan;
	OTF2_ErrorCode code;
	int e;

	e = definitions_walk(a, path, &scan, err);
	if (e < 0)
		return err_wrap(err, e, "definitions");
	otf2_errors_forget();
	code = global_definitions(a, scan.records, &read);
	otf2_defs_finish(&a->r.defs);
	if (read == 0)
		return err_set(err, EBADMSG, "%s: no definitions can be read: %s", path,
			       scan.complete ? otf2_error(code) : scan.why);
	if (OTF2_Reader_GetNumberOfGlobalDefinitions(a->reader, &expected) != OTF2_SUCCESS)
		expected = 0;
	if (OTF2_Reader_GetNumberOfLocations(a->reader, &locations) != OTF2_SUCCESS)
		locations = 0;
	if (code != OTF2_SUCCESS || !scan.complete || read < expected ||
	    a->r.defs.locations.nr + a->r.defs.duplicates < locations) {
		a->partial = true;
		sink_warnf(a->r.s, W_TRUNCATED,
			   "%s: %" PRIu64 " of %" PRIu64 " definitions, %zu of %" PRIu64
			   " locations: %s",
			   path, read, expected, a->r.defs.locations.nr, locations,
			   code != OTF2_SUCCESS ? otf2_error(code)
			   : scan.complete      ? "fewer than the anchor says"
						: scan.why);
	}
	if (a->r.defs.duplicates)
		sink_warnf(a->r.s, W_UNKNOWN_REFERENCE,
			   "%s.def: %" PRIu64 " references are defined twice", a->dir,
			   a->r.defs.duplicates);
	native_open(a);
	format_set(a, in);
	clock_set(a, in);
	sink_fact(a->r.s, "definitions", (int64_t)read);
	sink_fact(a->r.s, "regions", (int64_t)a->r.defs.regions.nr);
	sink_fact(a->r.s, "locations", (int64_t)a->r.defs.locations.nr);
	sink_fact(a->r.s, "location_groups", (int64_t)a->r.defs.location_groups.nr);
	return 0;
}

/* ---- locations ---- */

static const char *group_name(const struct archive *a, const struct def_location *l)
{
	const struct def_location_group *g = DEF_FIND(&a->r.defs.location_groups, l->group);

	return g ? otf2_string(&a->r.defs, g->name) : "";
}

#define MISSING_LOCATION "location %" PRIu64 " '%s' of '%s': %s"
#define MISSING_LOCATION_ARGS(a, l, reason) \
	(l)->ref, otf2_string(&(a)->r.defs, (l)->name), group_name((a), (l)), (reason)

static void location_missing(struct archive *a, struct def_location *l, const char *reason)
{
	l->missing = true;
	a->partial = true;
	sink_warnf(a->r.s, W_MISSING_LOCATION, MISSING_LOCATION,
		   MISSING_LOCATION_ARGS(a, l, reason));
}

static char *location_path(const struct archive *a, const struct def_location *l,
			   const char *suffix)
{
	return xasprintf("%s/%" PRIu64 "%s", a->dir, l->ref, suffix);
}

/* A location that the definitions call empty may have no file. */
static void locations_select(struct archive *a)
{
	for (size_t i = 0; i < a->r.defs.locations.nr; i++) {
		struct def_location *l = &a->r.defs.locations.v[i];
		CLEANUP(xfreep) char *path = location_path(a, l, ".evt");

		if (l->events == 0 && !fs_exists(path))
			l->missing = true;
		else if (!fs_is_file(path))
			location_missing(a, l, "its .evt file is not there");
		else if (OTF2_Reader_SelectLocation(a->reader, l->ref) != OTF2_SUCCESS)
			location_missing(a, l, "libotf2 does not select it");
	}
}

static int local_definitions(struct archive *a, struct def_location *l,
			     OTF2_DefReaderCallbacks *callbacks, struct err *err)
{
	CLEANUP(xfreep) char *path = location_path(a, l, ".def");
	OTF2_DefReader *reader;
	struct otf2_walk scan;
	OTF2_ErrorCode code;
	uint64_t read = 0;
	int e;

	e = definitions_walk(a, path, &scan, err);
	if (e < 0)
		return e;
	reader = OTF2_Reader_GetDefReader(a->reader, l->ref);
	if (!reader)
		return err_set(err, EBADMSG, "%s: %s", path,
			       otf2_error(OTF2_ERROR_PROCESSED_WITH_FAULTS));
	code = OTF2_Reader_RegisterDefCallbacks(a->reader, reader, callbacks, &l->local);
	if (code == OTF2_SUCCESS)
		code = OTF2_Reader_ReadLocalDefinitions(a->reader, reader, scan.records, &read);
	OTF2_Reader_CloseDefReader(a->reader, reader);
	if (code != OTF2_SUCCESS)
		return err_set(err, EBADMSG, "%s: %s", path, otf2_error(code));
	if (!scan.complete)
		return err_set(err, EBADMSG, "%s: %s", path, scan.why);
	return 0;
}

static bool has_local_definitions(const struct archive *a, const struct def_location *l)
{
	CLEANUP(xfreep) char *path = location_path(a, l, ".def");

	return fs_exists(path);
}

/* Writers that need no maps and no clock correction leave them all out; where some are there, the
 * others were lost. */
static bool wants_local_definitions(const struct archive *a)
{
	for (size_t i = 0; i < a->r.defs.locations.nr; i++)
		if (has_local_definitions(a, &a->r.defs.locations.v[i]))
			return true;
	return false;
}

static void local_missing(struct archive *a, const struct def_location *l, bool lost,
			  const char *reason)
{
	a->partial |= lost;
	sink_warnf(a->r.s, lost ? W_TRUNCATED : W_MISSING_DEFINITIONS,
		   "location %" PRIu64 " '%s': no local definitions: %s", l->ref,
		   otf2_string(&a->r.defs, l->name), reason);
}

static void locals_read(struct archive *a)
{
	OTF2_DefReaderCallbacks *callbacks = otf2_local_callbacks();
	bool wanted = wants_local_definitions(a);
	OTF2_ErrorCode code = OTF2_ERROR_MEM_FAULT;

	otf2_errors_forget();
	if (callbacks)
		code = OTF2_Reader_OpenDefFiles(a->reader);
	for (size_t i = 0; i < a->r.defs.locations.nr; i++) {
		struct def_location *l = &a->r.defs.locations.v[i];
		struct err err = ERR_INIT;

		if (l->missing)
			continue;
		if (code != OTF2_SUCCESS)
			err_set(&err, EIO, "%s", otf2_error(code));
		else {
			otf2_errors_forget();
			if (local_definitions(a, l, callbacks, &err) == 0)
				continue;
		}
		local_missing(a, l, wanted, err.msg);
	}
	if (code == OTF2_SUCCESS)
		OTF2_Reader_CloseDefFiles(a->reader);
	OTF2_DefReaderCallbacks_Delete(callbacks);
}

/* ---- events ---- */

/* Several threads read locations at once: each writes to its own alone. */
struct location {
	struct source source;
	struct archive *a;
	struct otf2_location l;
	struct otf2_walk walk;
	uint64_t read; /* events */
	bool begun, partial;
};

static const struct def_location *location_def(const struct location *lo)
{
	return &lo->a->r.defs.locations.v[lo->l.index];
}

/* Whether all locations, of which there are several, state one and the same number of events. */
static bool one_count(const struct otf2_defs *d)
{
	for (size_t i = 1; i < d->locations.nr; i++)
		if (d->locations.v[i].events != d->locations.v[0].events)
			return false;
	return d->locations.nr > 1;
}

/* A whole file with fewer events than stated is not the one that was written; one with more is all
 * there. */
static void compare_count(struct location *lo, const char *path)
{
	const struct def_location *def = location_def(lo);
	CLEANUP(xfreep) char *text = NULL;

	if (lo->read == def->events)
		return;
	/* APEX states one number for all of them, which is none of any */
	if (one_count(&lo->a->r.defs))
		return;
	lo->partial |= lo->read < def->events;
	text = xasprintf("location %" PRIu64 " '%s': %" PRIu64
			 " events are in %s, and the definitions state %" PRIu64,
			 def->ref, otf2_string(&lo->a->r.defs, def->name), lo->read, path,
			 def->events);
	lo->l.s->ops->warn(lo->l.s, lo->read < def->events ? W_TRUNCATED : W_EVENT_COUNT, 1, text);
}

static int location_open(struct location *lo, struct err *err)
{
	CLEANUP(xfreep) char *path = location_path(lo->a, location_def(lo), ".evt");

	return otf2_walk_open(&lo->walk, path, lo->a->event_chunk, OTF2_FILE_EVENTS, err);
}

static void location_close(struct location *lo)
{
	const struct def_location *def = location_def(lo);
	CLEANUP(xfreep) char *path = location_path(lo->a, def, ".evt");

	otf2_walk_close(&lo->walk);
	otf2_location_end(&lo->l);
	if (lo->walk.complete) {
		compare_count(lo, path);
		return;
	}
	lo->partial = true;
	sink_warnf(lo->l.s, W_TRUNCATED,
		   "location %" PRIu64 " '%s': %" PRIu64 " events were read of %s: %s", def->ref,
		   otf2_string(&lo->a->r.defs, def->name), lo->read, path, lo->walk.why);
}

static int location_pull(struct source *src, struct sink *into, uint64_t max)
{
	struct location *lo = (struct location *)src;
	struct otf2_record record;
	struct err err = ERR_INIT;
	uint64_t until = lo->walk.records + max;

	lo->l.s = into;
	if (!lo->begun && location_open(lo, &err) < 0) {
		lo->partial = true;
		sink_warnf(into, W_MISSING_LOCATION, MISSING_LOCATION,
			   MISSING_LOCATION_ARGS(lo->a, location_def(lo), err.msg));
		return 0;
	}
	lo->begun = true;
	while (lo->walk.records != until && otf2_walk_next(&lo->walk, &record)) {
		otf2_event(&lo->l, &lo->walk, &record);
		if (record.fields.bad)
			otf2_walk_refuse(&lo->walk);
	}
	lo->read = lo->walk.records;
	if (lo->read == until)
		return 1;
	location_close(lo);
	return 0;
}

/* What locations_pull asks of a location afterwards. */
static void location_save(const struct source *src, struct strbuf *to)
{
	const struct location *lo = (const struct location *)src;
	const struct otf2_found *f = &lo->l.found;

	SERIAL_PUT(to, lo->read);
	SERIAL_PUT(to, lo->partial);
	SERIAL_PUT(to, f->counts);
	SERIAL_PUT(to, f->sent_bytes);
	SERIAL_PUT(to, f->received_bytes);
	SERIAL_PUT(to, f->first_ticks);
	SERIAL_PUT(to, f->last_ticks);
}

static void location_load(struct source *src, struct serial_in *from)
{
	struct location *lo = (struct location *)src;
	struct otf2_found *f = &lo->l.found;

	SERIAL_TAKE(from, lo->read);
	SERIAL_TAKE(from, lo->partial);
	SERIAL_TAKE(from, f->counts);
	SERIAL_TAKE(from, f->sent_bytes);
	SERIAL_TAKE(from, f->received_bytes);
	SERIAL_TAKE(from, f->first_ticks);
	SERIAL_TAKE(from, f->last_ticks);
}

static bool location_has_calls(const struct source *src)
{
	const struct location *lo = (const struct location *)src;
	CLEANUP(xfreep) char *path = location_path(lo->a, location_def(lo), ".evt");
	struct otf2_record record = { .type = 0 };
	struct otf2_walk w;

	if (otf2_walk_open(&w, path, lo->a->event_chunk, OTF2_FILE_EVENTS, NULL) == 0)
		while (record.type != OTF2_EVENT_ENTER && record.type != OTF2_EVENT_CONTEXT_ENTER &&
		       otf2_walk_next(&w, &record))
			;
	otf2_walk_close(&w);
	return record.type == OTF2_EVENT_ENTER || record.type == OTF2_EVENT_CONTEXT_ENTER;
}

static void location_init(struct location *lo, struct archive *a, size_t index)
{
	const struct def_location *def = &a->r.defs.locations.v[index];

	*lo = (struct location){ .source = { .track = def->track,
					     .samples_only = def->type == OTF2_LOCATION_TYPE_METRIC,
					     .records = def->events,
					     .has_calls = location_has_calls,
					     .pull = location_pull,
					     .save = location_save,
					     .load = location_load },
				 .a = a,
				 .walk = { .fd = -1 } };
	otf2_location_init(&lo->l, &a->r, index);
}

/* Reads the numbers of places alone. Damage is reported by the second, full reading. */
static void callsites_collect(struct archive *a, size_t index)
{
	struct otf2_record record = { .type = 0 };
	struct location lo;

	location_init(&lo, a, index);
	if (location_open(&lo, NULL) == 0) {
		while (!record.fields.bad && otf2_walk_next(&lo.walk, &record))
			if (record.type == OTF2_EVENT_PARAMETER_UINT)
				otf2_callsite_event(&lo.l, &record.fields);
	}
	otf2_walk_close(&lo.walk);
	otf2_location_gather(&a->r, &lo.l);
	otf2_location_release(&lo.l);
}

/*
 * A sink without links needs to know whose queues are before it sees the first event. Of archives
 * that do not say, all events are passed once more for that, by every rank.
 */
static void owners_learn(struct archive *a)
{
	struct otf2_found *f = &a->r.found;

	if (otf2_native_exact(&a->r) || !otf2_owners_wanted(&a->r) || !sink_streams(a->r.s))
		return;
	for (size_t i = 0; i < a->r.defs.locations.nr; i++)
		if (!a->r.defs.locations.v[i].missing)
			callsites_collect(a, i);
	otf2_find_owners(&a->r);
	VEC_RELEASE(&f->launches);
	VEC_RELEASE(&f->work);
}

static void locations_pull(struct archive *a)
{
	size_t all = a->r.defs.locations.nr, n = 0;
	bool callsites = otf2_has_callsites(&a->r.defs);
	CLEANUP(xfreep) struct location *v = xcalloc(all + 1, sizeof(*v));
	CLEANUP(xfreep) struct source **sources = xcalloc(all + 1, sizeof(*sources));

	for (size_t i = 0; i < all; i++) {
		if (a->r.defs.locations.v[i].missing)
			continue;
		location_init(&v[n], a, i);
		v[n].source.callsites = callsites;
		sources[n] = &v[n].source;
		n++;
	}
	a->r.s->ops->sources(a->r.s, sources, n);
	for (size_t i = 0; i < n; i++) {
		a->events += v[i].read;
		a->partial |= v[i].partial;
		otf2_walk_close(&v[i].walk);
		otf2_location_gather(&a->r, &v[i].l);
		otf2_location_release(&v[i].l);
	}
}

/* ---- the reader ---- */

static void facts_put(struct archive *a)
{
	static const char *const names[] = {
#define X(id, name) name,
		OTF2_COUNTS(X)
#undef X
	};

	sink_fact(a->r.s, "events", (int64_t)a->events);
	for (size_t i = 0; i < OTF2_COUNT_NR; i++) {
		if (a->r.found.counts[i])
			sink_fact(a->r.s, names[i], a->r.found.counts[i]);
	}
	if (a->r.found.sent_bytes)
		sink_fact(a->r.s, "mpi_send_bytes", (int64_t)a->r.found.sent_bytes);
	if (a->r.found.received_bytes)
		sink_fact(a->r.s, "mpi_recv_bytes", (int64_t)a->r.found.received_bytes);
}

static void range_widen(struct archive *a, uint64_t first_ticks, uint64_t last_ticks)
{
	struct input *in = a->r.s->ops->current(a->r.s);
	int64_t first = time_clamp(otf2_ns_of(&a->r, first_ticks));
	int64_t last = time_clamp(otf2_ns_of(&a->r, last_ticks));

	if (first < in->first_ns)
		in->first_ns = first;
	if (last > in->last_ns)
		in->last_ns = last;
}

/* The range of all records, also of those that are neither span nor sample: it is what "from the
 * start of the trace" means. */
static void range_put(struct archive *a)
{
	const struct otf2_found *f = &a->r.found;
	const struct otf2_defs *d = &a->r.defs;

	if (f->first_ticks <= f->last_ticks)
		range_widen(a, f->first_ticks, f->last_ticks);
	/* ours say what it was before, too */
	if (a->r.native.there && d->has_clock && d->length && d->length <= UINT64_MAX - d->offset)
		range_widen(a, d->offset, d->offset + d->length);
}

static int archive_read(struct archive *a, struct err *err)
{
	int e = definitions_read(a, err);

	if (e < 0)
		return e;
	otf2_make_tracks(&a->r);
	locations_select(a);
	locals_read(a);
	owners_learn(a);
	locations_pull(a);
	facts_put(a);
	otf2_match_messages(&a->r);
	otf2_match_callsites(&a->r);
	otf2_native_match(&a->r);
	range_put(a);
	return a->partial ? READ_PARTIAL : 0;
}

static int otf2_read(const char *path, struct sink *s, const struct read_opts *o, struct err *err)
{
	struct archive a = { .folder = -1, .r = { .s = s, .o = o } };
	int e = archive_open(&a, path, err);

	a.r.found.first_ticks = UINT64_MAX;
	a.r.channels = s->counts_only ? otf2_channels_new() : NULL;
	if (e == 0) {
		s->ops->input(s, path, reader_otf2.name);
		e = archive_read(&a, err);
		s->ops->current(s)->partial |= e == READ_PARTIAL;
		s->ops->input_end(s);
	}
	archive_release(&a);
	return e;
}

static int otf2_probe(const struct probe *p)
{
	char *anchor;

	if (p->is_dir) {
		if (otf2_find_anchor(p->path, &anchor, NULL) < 0)
			return 0;
		free(anchor);
		return 90;
	}
	if (otf2_is_anchor(p->head, p->head_len))
		return 100;
	/* so that a damaged anchor is called that, and not an unknown file */
	return otf2_has_suffix(p->name) ? 40 : 0;
}

/* Enter and leave are 3 bytes or so, the time before them 9 more; definitions may lie about their
 * number. */
#define RECORD_BYTES 12

static uint64_t otf2_records(const char *path)
{
	CLEANUP(xfreep) char *anchor = NULL, *dir = NULL;
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	uint64_t bytes = 0;

	if (otf2_find_anchor(path, &anchor, NULL) < 0)
		return 0;
	dir = xstrndup(anchor, strlen(anchor) - strlen(OTF2_SUFFIX));
	if (fs_list(dir, &files, NULL) < 0)
		return 0;
	for (size_t i = 0; i < files.nr; i++) {
		CLEANUP(xfreep) char *file = fs_join(dir, files.v[i]);
		struct stat st;

		if (door_stat(file, &st) == 0 && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	return bytes / RECORD_BYTES;
}

/* rocprofv3 names its archives so, and may write tables and databases beside them. */
static char *recording_otf2(const struct probe *p)
{
	return text_suffix(p->name, "_results" OTF2_SUFFIX) ? recording_named(p) : NULL;
}

const struct reader reader_otf2 = {
	.name = "otf2",
	.about = "Open Trace Format 2 archives (Score-P, TAU, APEX)",
	.suffixes = ".otf2, or a directory that holds one",
	.probe = otf2_probe,
	.read = otf2_read,
	.claims = otf2_claims,
	.records = otf2_records,
	.recording = recording_otf2,
	.richness = 2,
};
