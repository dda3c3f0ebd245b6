#include "samplers_private.h"

#include <string.h>

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

bool sampler_selects(const char *device, unsigned i)
{
	if (!device || !*device || strcmp(device, "all") == 0)
		return true;
	for (const char *p = device; p;) {
		unsigned from, to;

		p += strspn(p, ", ");
		if (take_index(&p, &from)) {
			to = from;
			if (*p == '-') {
				p++;
				if (!take_index(&p, &to))
					to = 0;
			}
			p += strspn(p, " ");
			if ((*p == ',' || *p == '\0') && i >= from && i <= to)
				return true;
		}
		p = strchr(p, ',');
	}
	return false;
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
