#include "html_private.h"
#include "table_json.h"

#include "profrig/base/json_fields.h"
#include "profrig/report/headline.h"

static void write_time(struct json_out *j, const struct headline *h)
{
	JSON_TABLE(fields, JSON_FIELD_AS(false, struct headline, time_ns, "ns"),
		   JSON_FIELD_AS(false, struct headline, time_of, "what"),
		   JSON_FIELDS(struct headline, around_ns, around));

	json_obj(j, "time");
	json_fields(j, h, fields);
	json_end(j);
}

static void write_energy(struct json_out *j, const struct headline *h)
{
	static const char *const use[] = {
		[HEADLINE_NEITHER] = "", [HEADLINE_SUMMED] = "summed", [HEADLINE_BESIDE] = "beside"
	};

	json_obj(j, "energy");
	json_f64(j, "j", h->energy_j);
	json_put(j, struct headline, h, estimated, integrated);
	json_arr(j, "counters");
	for (size_t i = 0; i < h->counters.nr; i++) {
		const struct headline_counter *c = &h->counters.v[i];

		json_obj(j, NULL);
		json_put(j, struct headline_counter, c, counter, device, view, j, estimated);
		json_i64(j, "rank", c->rank);
		json_str(j, "use", use[c->use]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void write_busy(struct json_out *j, const struct headline *h)
{
	JSON_TABLE(device, JSON_FIELDS(struct headline_device, device, busy, share));

	json_obj(j, "busy");
	json_f64(j, "share", h->busy);
	json_f64(j, "recorded_ns", h->recorded_ns);
	json_rows(j, "devices", &h->devices, device);
	json_words(j, "without", &h->without);
	json_end(j);
}

static void write_split(struct json_out *j, const struct headline *h)
{
	JSON_TABLE(part, JSON_FIELDS(struct headline_part, name, kind, ns));

	json_obj(j, "split");
	json_str(j, "of", h->split_of);
	json_f64(j, "total", h->split_ns);
	json_u64(j, "devices", h->split_devices);
	json_put(j, struct headline, h, within, mostly);
	json_u64(j, "more", h->more);
	json_rows(j, "parts", &h->parts, part);
	json_end(j);
}

/* Rows of `functions` as they are, with their energy. */
static void write_costs(struct json_out *j, const struct table *t, const struct headline *h)
{
	json_obj(j, "costs");
	json_str(j, "scope", h->cost_scope);
	json_arr(j, "rows");
	for (size_t i = 0; i < h->costs.nr; i++) {
		json_obj(j, NULL);
		for (size_t c = 0; c < table_cols(t); c++)
			table_json_cell(j, table_column(t, c)->name, t, h->costs.v[i].row, c,
					HTML_EXACT_MAX);
		json_f64(j, "energy_j", h->costs.v[i].energy_j);
		json_str(j, "energy_estimate", h->costs.v[i].estimate);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void html_write_headline(struct json_out *j, const struct report *r)
{
	struct headline h;

	headline_make(r, &h);
	json_obj(j, "headline");
	write_time(j, &h);
	write_energy(j, &h);
	write_busy(j, &h);
	write_split(j, &h);
	write_costs(j, table_set_find(&r->tables, "functions"), &h);
	json_end(j);
	headline_release(&h);
}
