#include "samplers_private.h"

#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/sampler/sampler.h"

static struct sampler_fact *add_fact(struct sampler_facts *f, const char *name)
{
	struct sampler_fact *a = NULL;

	if (f->nr < SAMPLER_MAX_FACTS) {
		a = &f->fact[f->nr++];
		*a = (struct sampler_fact){ .number = NAN };
		snprintf(a->name, sizeof(a->name), "%s", name);
	}
	return a;
}

void sampler_fact_number(struct sampler_facts *f, const char *name, double v)
{
	struct sampler_fact *a = isfinite(v) ? add_fact(f, name) : NULL;

	if (a)
		a->number = v;
}

void sampler_fact_text(struct sampler_facts *f, const char *name, const char *text)
{
	struct sampler_fact *a = text && *text ? add_fact(f, name) : NULL;

	if (a) {
		snprintf(a->text, sizeof(a->text), "%s", text);
		sampler_clean_line(a->text);
	}
}

const struct sampler_fact *sampler_fact(const struct sampler_facts *f, const char *name)
{
	for (size_t i = 0; i < f->nr; i++)
		if (strcmp(f->fact[i].name, name) == 0)
			return &f->fact[i];
	return NULL;
}

void sampler_facts_text(const struct sampler_facts *f, struct strbuf *to)
{
	char number[32];

	for (size_t i = 0; i < f->nr; i++) {
		const struct sampler_fact *a = &f->fact[i];
		bool quoted = strchr(a->text, ' ') != NULL;

		strbuf_addf(to, " %s=%s", a->name, quoted ? "\"" : "");
		if (*a->text)
			strbuf_addstr(to, a->text);
		else
			strbuf_add(to, number, num_fmt_f64(number, a->number));
		strbuf_addstr(to, quoted ? "\"" : "");
	}
	if (f->nr || f->users)
		strbuf_addf(to, " other_processes=%zu", f->users);
}

/* --- distortions of a measurement --- */

static double number_of(const struct sampler_facts *f, const char *name)
{
	const struct sampler_fact *a = sampler_fact(f, name);

	return a ? a->number : NAN;
}

static char *shared_words(const struct sampler_facts *f, const char *device)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;

	strbuf_addf(&b, "%s is in use by %zu other process%s: ", device, f->users,
		    f->users == 1 ? "" : "es");
	for (size_t i = 0; i < f->users && i < SAMPLER_MAX_USERS; i++) {
		const struct sampler_user *u = &f->user[i];

		strbuf_addf(&b, "%s%s (pid %d", i ? ", " : "", u->name, (int)u->pid);
		if (isfinite(u->vram_bytes))
			strbuf_addf(&b, ", %.0f MB", u->vram_bytes / 1e6);
		strbuf_addch(&b, ')');
	}
	if (f->users > SAMPLER_MAX_USERS)
		strbuf_addstr(&b, ", …");
	strbuf_addstr(&b, "; what it draws is theirs too");
	return strbuf_steal(&b);
}

void sampler_facts_judge(const struct sampler_facts *f, const char *device, char **ret_shared,
			 char **ret_capped)
{
	double cap = number_of(f, "power_cap_w"), def = number_of(f, "power_cap_default_w");

	*ret_shared = f->users ? shared_words(f, device) : NULL;
	*ret_capped = NULL;
	if (cap < def)
		*ret_capped = xasprintf("%s may draw %g W at most, its default is %g W: it is "
					"slower than others of its kind",
					device, cap, def);
}

void sampler_facts_user(struct sampler_facts *f, pid_t pid, const char *name, double vram_bytes)
{
	for (size_t i = 0; i < f->users && i < SAMPLER_MAX_USERS; i++)
		if (f->user[i].pid == pid) {
			/* a process may hold a device by several handles */
			if (isfinite(vram_bytes) && !(f->user[i].vram_bytes >= vram_bytes))
				f->user[i].vram_bytes = vram_bytes;
			return;
		}
	if (f->users < SAMPLER_MAX_USERS) {
		struct sampler_user *u = &f->user[f->users];

		*u = (struct sampler_user){ .pid = pid, .vram_bytes = vram_bytes };
		snprintf(u->name, sizeof(u->name), "%s", name && *name ? name : "?");
		sampler_clean_line(u->name);
	}
	f->users++;
}
