#include "samplers_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/vec.h"

const char *sampler_option(const struct sampler_opts *o, const char *name, const char *def)
{
	for (size_t i = 0; o && i < o->options.nr; i++)
		if (strcmp(o->options.v[i].name, name) == 0)
			return o->options.v[i].value;
	return def;
}

/* "gpu12" or "12" at *p, which moves behind it. */
static bool take_index(const char **p, unsigned *ret)
{
	const char *s = *p;
	unsigned v = 0;
	int digits = 0;

	s += strncmp(s, "gpu", 3) == 0 ? 3 : 0;
	for (; *s >= '0' && *s <= '9' && digits < 6; s++, digits++)
		v = v * 10 + (unsigned)(*s - '0');
	if (digits == 0)
		return false;
	*ret = v;
	*p = s;
	return true;
}

/* "2" or "2-4" at *p, which moves behind it and the comma. */
static bool take_range(const char **p, unsigned *from, unsigned *to)
{
	*p += strspn(*p, " ");
	if (!take_index(p, from))
		return false;
	*to = *from;
	if (**p == '-') {
		(*p)++;
		if (!take_index(p, to) || *to < *from)
			return false;
	}
	*p += strspn(*p, " ");
	if (**p != ',')
		return **p == '\0';
	(*p)++;
	return true;
}

static bool selects_all(const char *device)
{
	return !device || !*device || strcmp(device, "all") == 0;
}

bool sampler_selects(const char *device, unsigned i)
{
	const char *p = device;
	unsigned from, to;

	if (selects_all(device))
		return true;
	while (*p && take_range(&p, &from, &to))
		if (i >= from && i <= to)
			return true;
	return false;
}

int sampler_check_selection(const char *device, unsigned n, struct err *err)
{
	const char *p = device;
	unsigned from, to;

	if (selects_all(device))
		return 0;
	while (*p) {
		if (!take_range(&p, &from, &to))
			return err_set(err, EINVAL, "device '%.40s' is not all or a list as 0,2-4",
				       device);
		if (to >= n)
			return err_set(err, ENODEV, "there is no device %u: %u found",
				       from < n ? n : from, n);
	}
	return 0;
}

int sampler_check_fields(const char *fields, struct err *err)
{
	static const char *const names[] = {
		"power", "power_instant", "energy",      "vram_used", "vram_total",
		"busy",  "mem_busy",      "temperature", "clock",     "mem_clock",
	};

	for (const char *p = fields; p; p = strchr(p, ',')) {
		char word[48];
		bool known = false;

		p += strspn(p, ", ");
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, ", "), p);
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			known |= sampler_wants(word, names[i]);
		if (!known)
			return err_set(err, EINVAL,
				       "no field '%s': there are power, power_instant, energy, "
				       "vram_used, vram_total, busy, mem_busy, temperature, clock, "
				       "mem_clock",
				       word);
	}
	return 0;
}

bool sampler_wants(const char *fields, const char *name)
{
	size_t n = strlen(name), family = strcspn(name, "_");

	if (!fields || !*fields)
		return true;
	for (const char *p = fields; p; p = strchr(p, ',')) {
		size_t len;

		p += strspn(p, ", ");
		len = strcspn(p, ", ");
		if (len > 0 && (len == n || len == family) && strncmp(p, name, len) == 0)
			return true;
	}
	return false;
}
