#include "record_state.h"

#include "profrig/base/json_fields.h"

JSON_TABLE(window_fields, JSON_FIELDS(struct record_window, name, start_ns),
	   JSON_SET_FIELDS(struct record_window, end_ns), JSON_FIELDS(struct record_window, by));

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
	json_rows_of(j, "windows", s->windows.v, s->switched ? s->windows.nr : 0,
		     sizeof(*s->windows.v), window_fields);
	put_marks(j, s);
}
