#include "samplers_private.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/sampler/sampler.h"

#define SAMPLER_AT(name) &sampler_##name,
const struct sampler *const samplers[] = { SAMPLERS(SAMPLER_AT) NULL };

const struct sampler *sampler_find(const char *name)
{
	for (size_t i = 0; samplers[i]; i++)
		if (strcmp(samplers[i]->name, name) == 0)
			return samplers[i];
	return NULL;
}

static bool is_gpu_source(const struct sampler *s)
{
	return strcmp(s->vendor, "amd") == 0 || strcmp(s->vendor, "nvidia") == 0;
}

int sampler_probe(const struct sampler *s, const struct sampler_opts *o, struct err *err)
{
	struct sampler_state *st;
	int r = s->probe ? s->probe(o, err) : s->open(o, &st, err);

	if (r == 0 && !s->probe)
		s->close(st);
	return r;
}

int sampler_resolve(const char *name, const struct sampler_opts *o, const struct sampler **ret,
		    struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;

	if (strcmp(name, "auto") != 0) {
		const struct sampler *s = sampler_find(name);

		if (!s)
			return err_set(err, ENOENT, "no sampler '%s'", name);
		*ret = s;
		return 0;
	}
	for (size_t i = 0; samplers[i]; i++) {
		struct err e = ERR_INIT;

		if (!is_gpu_source(samplers[i]))
			continue;
		if (sampler_probe(samplers[i], o, &e) == 0) {
			*ret = samplers[i];
			return 0;
		}
		strbuf_addf(&why, "%s%s: %.140s", why.len ? "; " : "", samplers[i]->name, e.msg);
	}
	return err_set(err, ENODEV, "no GPU that profrig can read: %s", why.buf);
}

/* --- series --- */

static void clean_name(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f || strchr(",\"[]", *s))
			*s = '_';
}

void sampler_clean_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = ' ';
}

bool sampler_device_add(struct sampler_device *d, const char *name, const char *unit)
{
	struct sampler_series s = { 0 };
	int n = snprintf(s.name, sizeof(s.name), "%s.%s", name, d->id);

	if (d->nr >= SAMPLER_MAX_SERIES || n >= (int)sizeof(s.name) ||
	    snprintf(s.unit, sizeof(s.unit), "%s", unit) >= (int)sizeof(s.unit))
		return false;
	clean_name(s.name);
	clean_name(s.unit);
	d->series[d->nr++] = s;
	return true;
}

/* --- files --- */

const char *sampler_root(void)
{
	const char *root = getenv("PROFRIG_SYSFS_ROOT");

	return root ? root : "";
}

static int text_at(int fd, char *buf, size_t n)
{
	ssize_t r = pread(fd, buf, n - 1, 0);

	if (r < 0)
		return -errno;
	while (r > 0 && (buf[r - 1] == '\n' || buf[r - 1] == ' '))
		r--;
	buf[r] = '\0';
	return (int)r;
}

int sampler_read_text(const char *path, char *buf, size_t n)
{
	CLEANUP(xclosep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : text_at(fd, buf, n);
}

int sampler_number_at(int fd, double *ret)
{
	char buf[64];
	double v;
	int r = text_at(fd, buf, sizeof(buf));

	if (r < 0)
		return r;
	/* in a text that fills the buffer digits may be missing */
	if (r == (int)sizeof(buf) - 1 || num_f64(buf, (size_t)r, &v) < 0 || !isfinite(v))
		return -EINVAL;
	*ret = v;
	return 0;
}

int sampler_read_number(const char *path, double *ret)
{
	CLEANUP(xclosep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : sampler_number_at(fd, ret);
}

const char *sampler_reason(int code)
{
	switch (-code) {
	case ENODEV:
	case ENXIO:
	case ENOENT:
	case ESRCH:
		return "device gone";
	case EACCES:
	case EPERM:
		return "permission denied";
	case EINVAL:
		return "not a number";
	case EIO:
		return "input/output error";
	case EBUSY:
	case EAGAIN:
		return "device busy";
	}
	return "not readable";
}
