#include "record_state.h"

#include "profrig/base/json_out.h"

static void put_windows(struct json_out *j, const struct record_state *s)
{
	json_arr(j, "windows");
	for (size_t i = 0; s->switched && i < s->windows.nr; i++) {
		const struct record_window *w = &s->windows.v[i];

		json_obj(j, NULL);
		json_str(j, "name", w->name);
		json_i64(j, "start_ns", w->start_ns);
		if (w->end_ns)
			json_i64(j, "end_ns", w->end_ns);
		else
			json_nil(j, "end_ns");
		json_str(j, "by", w->by);
		json_end(j);
	}
	json_end(j);
}

static void put_marks(struct json_out *j, const struct record_state *s)
{
	json_arr(j, "marks");
	for (size_t i = 0; i < s->marks.nr; i++) {
		const struct record_mark *m = &s->marks.v[i];

		json_obj(j, NULL);
		json_str(j, "name", m->name);
		json_i64(j, "t_ns", m->t_ns);
		if (m->uncertainty_ns >= 0)
			json_i64(j, "uncertainty_ns", m->uncertainty_ns);
		else
			json_nil(j, "uncertainty_ns");
		json_str(j, "stamped", m->by_maker ? "made" : "received");
		json_str(j, "by", m->by);
		json_end(j);
	}
	json_end(j);
}

void record_json(struct json_out *j, const struct record_state *s)
{
	put_windows(j, s);
	put_marks(j, s);
}
