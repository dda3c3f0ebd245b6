/*
 * tef_out: the parts of the Trace Event Format converter (write_tef.c describes the output).
 *
 *	write_tef.c		the events in order of time, parts
 *	tef_out_places.c	tracks and series of the model → pid, tid, counter names
 *	tef_out_links.c		links → flow points of their spans
 */
#ifndef REPORT_TEF_OUT_H
#define REPORT_TEF_OUT_H

#include "native_text.h"
#include "text_out.h"

#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/report/convert.h"

/* Texts of the model as JSON strings with their quotes, made at their first use. */
struct json_names {
	const struct model *m;
	struct strbuf text;
	uint64_t *at; /* by str_id: 1 + where it begins; 0 not made yet */
	uint32_t *len;
};
void json_names_init(const struct model *m, struct json_names *ret);
void json_names_add(struct json_names *n, str_id id, struct strbuf *to);
void json_names_release(struct json_names *n);

/*
 * What makes a file one of PyTorch's (write_torch.c): its first members, categories as Kineto has
 * them, and arguments that tools for such traces ask for.
 */
#define TORCH_DEVICES_MAX 64 /* of a node, in TensorBoard's plug-in */
struct tef_torch {
	int64_t rank, ranks;
};
/* torch: NULL for a plain file. */
int tef_write(const struct convert_job *job, const struct tef_torch *torch,
	      struct convert_result *ret, struct err *err);
/* The members in front of the events. */
void torch_head(const struct model *m, const struct tef_torch *torch, struct strbuf *to);
/* Kineto's category of a span. Static, or the span's own. launches: it begins a link to work. */
const char *torch_category(const struct model *m, uint64_t span, bool launches);
/*
 * Members to put in front of those of args, which may be NULL: "\"device\":0,", each with a comma
 * behind it. Empty when nothing is missing.
 */
void torch_members(const struct model *m, uint64_t span, const char *args, size_t n,
		   struct strbuf *to);

/* The pid and tid of a track's events. */
struct tef_place {
	uint32_t pid, tid;
};

struct tef_places {
	const struct model *m;
	struct native_order order;
	struct tef_place *of_track; /* row 0 */
	struct u64map tids;         /* used ones: (pid, tid) */
	struct u64map rows;         /* (track, row) → tid, from row 1 on */
	struct u64map shown;        /* (pid, hash of name) used by counters */
	uint32_t unlinked_pid;      /* of counters that belong to no process */
	uint32_t *series_pid;       /* by series */
	char **series_name;         /* by series, as viewers show it, a JSON string; owned */
	uint32_t next_tid;
};
void tef_places_init(const struct model *m, struct tef_places *ret);
void tef_places_release(struct tef_places *p);
/* All tracks and series, in front of each file's events. */
void tef_places_describe(struct tef_places *p, struct strbuf *to);
/* The place of a row; described into `to` at its first use in a file (fresh). */
struct tef_place tef_places_row(struct tef_places *p, track_id t, uint32_t row, bool *ret_fresh);
void tef_places_describe_row(struct tef_places *p, track_id t, uint32_t row, struct tef_place at,
			     struct strbuf *to);

/* The links that begin or end at each span. */
struct span_links {
	uint64_t *first; /* by span, of the next one too: its part of link */
	uint64_t *link;  /* index of the model's link × 2, + 1 when it ends at the span */
};
void span_links_init(const struct model *m, struct span_links *ret);
void span_links_release(struct span_links *l);

/* The number at the end of a device's id, −1 without one. */
int64_t tef_device_index(const char *device);

#endif
