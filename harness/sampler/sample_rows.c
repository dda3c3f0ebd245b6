#include "sample_rows.h"
#include "samplers_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"
#include "profrig/base/samples_file.h"
#include "profrig/base/xalloc.h"

void sample_rows_init(struct sample_rows *r, const struct sampler_device *dev, size_t nr_dev,
		      bool changes)
{
	size_t fields = 0, left = 0;

	*r = (struct sample_rows){ .dev = dev, .nr_dev = nr_dev, .changes = changes };
	for (size_t d = 0; d < nr_dev; d++)
		fields += dev[d].nr;
	r->commas = xmalloc(fields + 1);
	memset(r->commas, ',', fields + 1);
	for (size_t d = 0; d < nr_dev; d++) {
		size_t n = dev[d].nr;
		struct sample_rows_device rd = { .nr = n,
						 .before = left,
						 .after = fields - left - n };

		rd.summary = xcalloc(n + 1,
				     sizeof(*rd.summary) + sizeof(*rd.written) + sizeof(*rd.read));
		rd.written = (struct sample_field *)(rd.summary + n + 1);
		rd.read = (double *)(rd.written + n + 1);
		for (size_t i = 0; i < n; i++)
			rd.written[i].v = rd.read[i] = SAMPLER_ABSENT;
		VEC_PUSH(&r->device, rd);
		left += n;
	}
}

void sample_rows_release(struct sample_rows *r)
{
	for (size_t d = 0; d < r->device.nr; d++)
		free(r->device.v[d].summary);
	VEC_RELEASE(&r->device);
	free(r->commas);
	r->commas = NULL;
}

/* --- header --- */

static void put_device(const struct sampler_device *d, const struct sampler_facts *facts,
		       struct strbuf *to)
{
	char text[sizeof(d->facts)];

	snprintf(text, sizeof(text), "%s", d->facts);
	sampler_clean_line(text);
	strbuf_addf(to, "# device: %s: %s\n", d->id, text);
	if (facts && facts->nr) {
		strbuf_addf(to, "# facts: %s:", d->id);
		sampler_facts_text(facts, to);
		strbuf_addch(to, '\n');
	} else if (d->pci[0]) {
		strbuf_addf(to, "# facts: %s: pci=%s\n", d->id, d->pci);
	}
}

void sample_rows_header(const struct sample_rows *r, const struct sample_header *h,
			struct strbuf *to)
{
	struct samples_header head = SAMPLES_HEADER_INIT;

	head.source = h->source;
	head.run_id = h->run_id;
	head.anchor = clock_anchor_now();
	head.period_s = (double)h->period_ns / 1e9;
	head.changes = r->changes;
	head.estimated = h->estimated;
	gethostname(head.host, sizeof(head.host) - 1);
	sampler_clean_line(head.host);
	samples_header_put(&head, to);
	for (size_t d = 0; d < r->nr_dev; d++)
		put_device(&r->dev[d], h->facts ? &h->facts[d] : NULL, to);
	strbuf_addstr(to, "t_ns");
	for (size_t d = 0; d < r->nr_dev; d++)
		for (size_t i = 0; i < r->dev[d].nr; i++)
			strbuf_addf(to, ",%s[%s]", r->dev[d].series[i].name,
				    r->dev[d].series[i].unit);
	strbuf_addch(to, '\n');
}

/* --- rows --- */

static void summarize_value(struct sampling_summary *s, int64_t t_ns, double v)
{
	if (!isfinite(v)) {
		s->failed++;
		return;
	}
	if (s->samples == 0) {
		*s = (struct sampling_summary){
			.failed = s->failed, .first_ns = t_ns, .first = v, .min = v, .max = v
		};
	} else {
		double dt_s = (double)(t_ns - s->last_ns) / 1e9;

		s->integral += dt_s * (v + s->last) / 2;
	}
	s->min = v < s->min ? v : s->min;
	s->max = v > s->max ? v : s->max;
	s->sum += v;
	s->samples++;
	s->last_ns = t_ns;
	s->last = v;
}

/* A failure equals a failure, unlike NaN and NaN. */
static bool same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Takes in a reading. Returns the fields to be written, as bits. */
static uint64_t take_reading(struct sample_rows *r, size_t d, int64_t t_ns, const double *v)
{
	struct sample_rows_device *rd = &r->device.v[d];
	bool all = !r->changes || rd->refresh;
	uint64_t news = 0;

	rd->unwritten = 0;
	for (size_t i = 0; i < rd->nr; i++) {
		rd->read[i] = isfinite(v[i]) || v[i] == SAMPLER_ABSENT ? v[i] : NAN;
		if (v[i] == SAMPLER_ABSENT)
			continue;
		r->failed += !isfinite(v[i]);
		summarize_value(&rd->summary[i], t_ns, v[i]);
		if (all || !same_value(rd->read[i], rd->written[i].v))
			news |= UINT64_C(1) << i;
		else
			rd->unwritten |= UINT64_C(1) << i;
	}
	rd->read_ns = t_ns;
	return news;
}

/* The longest number with its comma (num.h); this many bytes of a field are always copied. */
#define NUMBER_ROOM 33

static void set_field(struct sample_field *f, double v)
{
	char *p = f->text;

	f->v = v;
	*p++ = ',';
	p = isnan(v) ? mempcpy(p, "NA", 2) : p + num_fmt_f64(p, v);
	f->n = (unsigned char)(p - f->text);
}

/* Written directly into the buffer: a thousand ticks a second make tens of thousands of fields. */
static void put_row(struct sample_rows *r, size_t d, uint64_t fields, struct strbuf *to)
{
	struct sample_rows_device *rd = &r->device.v[d];
	char *p;

	strbuf_reserve(to, NUMBER_ROOM * (rd->nr + 1) + rd->before + rd->after + 1);
	p = to->buf + to->len;
	p += num_fmt_i64(p, rd->read_ns);
	p = mempcpy(p, r->commas, rd->before);
	for (size_t i = 0; i < rd->nr; i++) {
		struct sample_field *f = &rd->written[i];

		if (!(fields >> i & 1)) {
			*p++ = ',';
			continue;
		}
		if (f->v != rd->read[i] || signbit(f->v) != signbit(rd->read[i]))
			set_field(f, rd->read[i]);
		memcpy(p, f->text, NUMBER_ROOM);
		p += f->n;
	}
	p = mempcpy(p, r->commas, rd->after);
	*p++ = '\n';
	*p = '\0';
	to->len = (size_t)(p - to->buf);
	r->rows++;
}

bool sample_rows_put(struct sample_rows *r, size_t d, int64_t t_ns, const double *v,
		     struct strbuf *to)
{
	uint64_t news = take_reading(r, d, t_ns, v);

	/* without change-point storage every read gives a row, even an empty one */
	if (!news && r->changes)
		return false;
	put_row(r, d, news, to);
	r->device.v[d].refresh = false;
	return true;
}

void sample_rows_refresh(struct sample_rows *r)
{
	for (size_t d = 0; d < r->device.nr; d++)
		r->device.v[d].refresh = r->changes;
}

void sample_rows_end(struct sample_rows *r, struct strbuf *to)
{
	for (size_t d = 0; d < r->device.nr; d++) {
		if (r->device.v[d].unwritten)
			put_row(r, d, r->device.v[d].unwritten, to);
		r->device.v[d].unwritten = 0;
	}
}
