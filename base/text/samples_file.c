#include "profrig/base/samples_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/num.h"

struct text {
	const char *p;
	size_t n;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct text text_trim(const char *p, size_t n)
{
	while (n > 0 && is_blank(*p))
		p++, n--;
	while (n > 0 && is_blank(p[n - 1]))
		n--;
	return (struct text){ p, n };
}

static bool text_is(struct text t, const char *s)
{
	return t.n == strlen(s) && memcmp(t.p, s, t.n) == 0;
}

/* Copies as much as fits. */
static void text_copy(struct text t, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)(t.n < size ? t.n : size - 1), t.p);
}

/* The text behind a word, up to one of the bytes of stops; false when the word is missing. */
static bool text_behind(struct text t, const char *word, const char *stops, struct text *ret)
{
	const char *end = t.p + t.n, *at = memmem(t.p, t.n, word, strlen(word)), *stop;

	if (!at)
		return false;
	at += strlen(word);
	for (stop = at; stop < end && !strchr(stops, *stop); stop++)
		;
	*ret = (struct text){ at, (size_t)(stop - at) };
	return true;
}

/* "key: value" */
static bool line_split(const char *line, size_t n, struct text *key, struct text *value)
{
	const char *colon = memchr(line, ':', n);

	if (!colon)
		return false;
	*key = text_trim(line, (size_t)(colon - line));
	*value = text_trim(colon + 1, n - (size_t)(colon + 1 - line));
	return true;
}

void samples_header_release(struct samples_header *h)
{
	VEC_RELEASE(&h->devices);
}

static struct samples_device *device_of(struct samples_header *h, struct text id)
{
	struct samples_device d = { .id = "" };

	for (size_t i = 0; i < h->devices.nr; i++)
		if (text_is(id, h->devices.v[i].id))
			return &h->devices.v[i];
	if (id.n >= sizeof(d.id) || h->devices.nr == SAMPLES_MAX_DEVICES)
		return NULL;
	text_copy(id, d.id, sizeof(d.id));
	VEC_PUSH(&h->devices, d);
	return &h->devices.v[h->devices.nr - 1];
}

/* "gpu0: AMD Instinct MI210, pci 0000:c1:00.0, …", or "gpu0: pci=0000:c1:00.0 …" of facts. */
static void device_take(struct samples_header *h, struct text value, bool facts)
{
	const char *colon = memmem(value.p, value.n, ": ", 2);
	struct samples_device *d = NULL;
	struct text pci, rest;

	if (colon)
		d = device_of(h, (struct text){ value.p, (size_t)(colon - value.p) });
	if (!d)
		return;
	rest = (struct text){ colon + 1, value.n - (size_t)(colon + 1 - value.p) };
	if (facts ? text_behind(rest, " pci=", " ", &pci)
		  : !d->pci[0] && text_behind(rest, " pci ", ",", &pci))
		text_copy(text_trim(pci.p, pci.n), d->pci, sizeof(d->pci));
	if (!facts && !d->facts[0])
		text_copy(text_trim(rest.p, rest.n), d->facts, sizeof(d->facts));
}

static void anchor_take(struct samples_header *h, struct text value)
{
	struct text mono, real;

	h->anchored = text_behind(value, "monotonic_ns=", " ", &mono) &&
		      text_behind(value, "realtime_ns=", " ", &real) &&
		      num_i64(mono.p, mono.n, &h->anchor.monotonic_ns) == 0 &&
		      num_i64(real.p, real.n, &h->anchor.realtime_ns) == 0;
}

void samples_header_take(struct samples_header *h, const char *line, size_t n)
{
	struct text key, value;

	if (!line_split(line, n, &key, &value))
		return;
	if (text_is(key, "profrig samples"))
		text_copy(value, h->version, sizeof(h->version));
	else if (text_is(key, "clock"))
		text_copy(value, h->clock, sizeof(h->clock));
	else if (text_is(key, "host"))
		text_copy(value, h->host, sizeof(h->host));
	else if (text_is(key, "anchor"))
		anchor_take(h, value);
	else if (text_is(key, "period_s") && num_f64(value.p, value.n, &h->period_s) < 0)
		h->period_s = NAN;
	else if (text_is(key, "storage"))
		h->changes = text_is(value, "change");
	else if (text_is(key, "estimated"))
		h->estimated = text_is(value, "yes");
	else if (text_is(key, "device") || text_is(key, "facts"))
		device_take(h, value, text_is(key, "facts"));
}

const char *samples_header_pci(const struct samples_header *h, const char *device)
{
	for (size_t i = 0; device && i < h->devices.nr; i++)
		if (strcmp(h->devices.v[i].id, device) == 0)
			return h->devices.v[i].pci[0] ? h->devices.v[i].pci : NULL;
	return NULL;
}

void samples_header_put(const struct samples_header *h, struct strbuf *to)
{
	char utc[32], period[32];

	num_fmt_f64(period, h->period_s);
	strbuf_addf(to, "# profrig samples: %s\n# source: %s\n# clock: %s\n", SAMPLES_VERSION,
		    h->source, h->clock);
	strbuf_addf(to,
		    "# anchor: monotonic_ns=%" PRId64 " realtime_ns=%" PRId64
		    " boottime_ns=%" PRId64 "\n",
		    h->anchor.monotonic_ns, h->anchor.realtime_ns, h->anchor.boottime_ns);
	strbuf_addf(to, "# begun: %s\n# host: %s\n", clock_utc(h->anchor.realtime_ns, utc),
		    h->host);
	if (h->run_id)
		strbuf_addf(to, "# run: %s\n", h->run_id);
	strbuf_addf(to, "# period_s: %s\n# storage: %s\n", period, h->changes ? "change" : "every");
	if (h->estimated)
		strbuf_addstr(to, "# estimated: yes\n");
}

bool samples_mark_take(const char *line, size_t n, int64_t *t_ns, bool *t_ok, const char **name,
		       size_t *name_n)
{
	struct text key, value, text;
	const char *blank;
	size_t digits;

	if (!line_split(line, n, &key, &value) || !text_is(key, "mark"))
		return false;
	blank = memchr(value.p, ' ', value.n);
	digits = blank ? (size_t)(blank - value.p) : value.n;
	text = text_trim(value.p + digits, value.n - digits);
	*t_ok = num_i64(value.p, digits, t_ns) == 0;
	*name = text.p;
	*name_n = text.n;
	return true;
}

void samples_mark_put(int64_t t_ns, const char *name, struct strbuf *to)
{
	strbuf_addf(to, "# mark: %" PRId64 " %s\n", t_ns, name);
}

struct samples_column samples_column_take(const char *head)
{
	size_t n = strlen(head);
	const char *open = n > 0 && head[n - 1] == ']' ? strrchr(head, '[') : NULL, *dot;
	struct samples_column c = { .series_n = open ? (size_t)(open - head) : n };

	if (open) {
		c.unit = open + 1;
		c.unit_n = n - c.series_n - 2;
	}
	dot = memrchr(head, '.', c.series_n);
	c.name_n = dot ? (size_t)(dot - head) : c.series_n;
	if (dot) {
		c.device = dot + 1;
		c.device_n = c.series_n - c.name_n - 1;
	}
	c.cumulative = strncmp(head, "energy", 6) == 0 && c.unit_n > 0 && head[n - 2] == 'J';
	return c;
}

enum samples_value samples_value_take(const char *field, size_t n, double *ret)
{
	*ret = NAN;
	if (n == 0)
		return SAMPLES_ABSENT;
	if (n == 2 && memcmp(field, "NA", 2) == 0)
		return SAMPLES_FAILED;
	if (num_f64(field, n, ret) == 0)
		return SAMPLES_NUMBER;
	*ret = NAN;
	return SAMPLES_BAD;
}
