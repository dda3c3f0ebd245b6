/*
 * rocprofv3 --output-format json: no trace events, but the records of its library, member by
 * member. One object for each process:
 *
 *	{"rocprofiler-sdk-tool": [{
 *	  "metadata": {"pid": 7, "node": {"hostname": "n1"}, …},
 *	  "agents": [{"id": {"handle": 9}, "type": 2, "node_id": 1, …}],	1 CPU, 2 GPU
 *	  "counters": [{"id": {"handle": 3}, "name": "SQ_WAVES"}],
 *	  "strings": {"buffer_records": [{"kind": "HIP_RUNTIME_API", "operations": [names]}],
 *	    "marker_api": [{"key": correlation, "value": message}],
 *	    "pc_sample_instructions": [texts]},
 *	  "kernel_symbols": [{"kernel_id": 5, "formatted_kernel_name": …}],
 *	  "callback_records": {"counter_collection": [{"dispatch_data": record,
 *	    "records": [{"counter_id": {"handle": 3}, "value": 1.5}]}]},
 *	  "buffer_records": {"kernel_dispatch": [records], "hip_api": …, "memory_copy": …}}]}
 *
 * A record has kind and operation, which are indexes in strings.buffer_records, thread_id,
 * correlation_id.internal, which joins a call with the work it launched, start_timestamp and
 * end_timestamp in ns of CLOCK_BOOTTIME, and by its list: dispatch_info {agent_id, queue_id,
 * kernel_id, dispatch_id}, stream_id, src_agent_id, dst_agent_id, bytes. An id is a number or
 * {"handle": number}.
 *
 * Records follow the names they use, but nothing guarantees that, and a list can be too long to
 * keep: a first walk finds the starts of members, the second reads them.
 *
 * Facts: the description of this output in rocprofiler-sdk's manual and its own tests of it.
 */
#include "tef_rocprofv3.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/model/warnings.h"

static const char root[] = "rocprofiler-sdk-tool";

void v3_damaged(struct v3 *v, const struct json_cur *c, int r)
{
	if (v->damage)
		return;
	v->damage = r;
	v->damaged_at = (size_t)(c->p - v->t->map.data);
}

void v3_unknown(struct v3 *v, const char *what, uint64_t id)
{
	tally_text(&v->unknown, "%s %" PRIu64, what, id);
}

bool v3_number(const struct json_text *text, uint64_t *ret)
{
	return text->p && num_u64(text->p, text->n, ret) == 0;
}

bool tef_is_rocprofv3(const struct tef *t)
{
	struct json_cur c = { t->map.data, t->map.data + t->map.len };
	struct json_text key;
	bool some = false;

	return json_open(&c, '{') == 0 && json_member(&c, &some, &key) > 0 &&
	       json_text_is(&key, root);
}

static int take_process(struct json_cur *c, void *to)
{
	static const char *const members[V3_MEMBERS] = { "metadata",       "agents",
							 "counters",       "strings",
							 "kernel_symbols", "callback_records",
							 "buffer_records" };
	struct v3_process p = { { NULL } };
	struct v3 *v = to;
	struct json_text key;
	bool some = false;
	int r;

	if (json_peek(c) != '{')
		return json_skip(c);
	c->p++;
	while ((r = json_member(c, &some, &key)) > 0) {
		json_peek(c);
		for (int i = 0; i < V3_MEMBERS; i++)
			if (json_text_is(&key, members[i]) && !p.at[i])
				p.at[i] = c->p;
		r = json_skip(c);
		input_walk(&v->t->map, (size_t)(c->p - v->t->map.data));
		if (r < 0)
			break; /* a cut text is read up to the cut */
	}
	VEC_PUSH(&v->processes, p);
	return r;
}

/* Where the members of each process begin. */
static int document_survey(struct v3 *v, struct json_cur *c)
{
	struct json_text key;
	bool some = false;
	int r = json_open(c, '{');

	while (r >= 0 && (r = json_member(c, &some, &key)) > 0) {
		if (!json_text_is(&key, root))
			r = json_skip(c);
		else if (json_peek(c) == '[')
			r = json_elements(c, take_process, v);
		else
			r = take_process(c, v);
	}
	return r;
}

static void damage_warn(const struct v3 *v)
{
	struct tef *t = v->t;

	tally_warn(&t->n.bad_events, t->sink, W_BAD_EVENT, NULL);
	tally_warn(&t->n.bad_numbers, t->sink, W_BAD_NUMBER, NULL);
	tally_warn(&v->unknown, t->sink, W_UNKNOWN_REFERENCE, NULL);
	sink_warn(t->sink, W_IGNORED_RECORD, v->dropped,
		  "counters of dispatches whose time is not told");
	sink_fact(t->sink, "processes", (int64_t)v->processes.nr);
	sink_fact(t->sink, "records", (int64_t)v->records);
}

static int document_judge(const struct v3 *v, struct err *err)
{
	struct tef *t = v->t;

	if (!v->damage && !t->map.truncated)
		return 0;
	if (v->records == 0)
		return err_set(err, EINVAL, "%s: byte %zu: no record could be read%s%s", t->path,
			       v->damaged_at, t->map.truncated ? ": " : "",
			       t->map.truncated ? t->map.why : "");
	if (t->map.truncated)
		sink_warnf(t->sink, W_TRUNCATED, "compressed data: %s", t->map.why);
	else
		sink_warnf(t->sink, W_TRUNCATED, "%s at byte %zu; what could be found was read",
			   v->damage == JSON_CUT ? "ends early" : "damaged", v->damaged_at);
	return READ_PARTIAL;
}

static void v3_release(struct v3 *v)
{
	v3_forget(v);
	VEC_RELEASE(&v->processes);
	VEC_RELEASE(&v->tracks);
	u64map_release(&v->track_at);
	u64map_release(&v->series_at);
}

int tef_rocprofv3_read(struct tef *t, struct err *err)
{
	CLEANUP(v3_release) struct v3 v = { .t = t };
	struct json_cur c = { t->map.data, t->map.data + t->map.len };
	int r;

	progress_total(t->map.len);
	r = document_survey(&v, &c);
	if (r == 0 && json_peek(&c))
		r = JSON_BAD;
	if (r < 0)
		v3_damaged(&v, &c, r);
	if (v.processes.nr == 0)
		return err_set(err, EINVAL, "%s: byte %zu: no process in '%s'", t->path,
			       (size_t)(c.p - t->map.data), root);
	for (size_t i = 0; i < v.processes.nr; i++) {
		v.nr = (uint32_t)i;
		v3_forget(&v);
		v3_define(&v, &v.processes.v[i]);
		v3_work(&v, &v.processes.v[i]);
	}
	tef_asyncs_push(t);
	damage_warn(&v);
	return document_judge(&v, err);
}
