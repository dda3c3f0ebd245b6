/* Rules of a file: which processes a rule matches, which devices it names. */
#include "topology_private.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/model/warnings.h"

#define MAX_HOST 256

/* Most patterns are plain names. */
static bool glob_matches(const char *pattern, const char *s)
{
	return strcmp(pattern, s) == 0 ||
	       (strpbrk(pattern, "*?[") && fnmatch(pattern, s, FNM_NOESCAPE) == 0);
}

/* "node3" matches "node3.cluster.example" too. An unknown host matches all. */
static bool host_matches(const char *pattern, const char *host)
{
	char first[MAX_HOST];
	size_t n = strcspn(host, ".");

	if (!*host || glob_matches(pattern, host))
		return true;
	snprintf(first, sizeof(first), "%.*s", (int)(n < MAX_HOST ? n : MAX_HOST - 1), host);
	return glob_matches(pattern, first);
}

static bool any_host(const struct strvec *patterns, const char *host)
{
	for (size_t i = 0; i < patterns->nr; i++)
		if (host_matches(patterns->v[i], host))
			return true;
	return patterns->nr == 0;
}

/* A pattern of a device of a host: "gpu0", "node3:gpu*". */
static bool device_matches(const char *pattern, const char *host, const char *id)
{
	const char *colon = strrchr(pattern, ':');
	char of_host[MAX_HOST];

	if (colon) {
		snprintf(of_host, sizeof(of_host), "%.*s",
			 (int)(colon - pattern < MAX_HOST ? colon - pattern : MAX_HOST - 1),
			 pattern);
		if (!host_matches(of_host, host))
			return false;
		pattern = colon + 1;
	}
	return glob_matches(pattern, id);
}

static bool in_ranges(const struct topology_range *v, size_t nr, int64_t n)
{
	for (size_t i = 0; i < nr; i++)
		if (n >= v[i].first && n <= v[i].last)
			return true;
	return nr == 0;
}

static bool process_matches(const char *word, const struct model *m, track_id sharer)
{
	const struct track *t = &m->tracks.v[sharer];
	int64_t pid;

	if (num_i64(word, strlen(word), &pid) == 0)
		return t->pid != PID_NONE && t->pid == pid;
	return glob_matches(word, model_str(m, t->name));
}

static bool any_process(const struct strvec *words, const struct model *m, track_id sharer)
{
	for (size_t i = 0; i < words->nr; i++)
		if (process_matches(words->v[i], m, sharer))
			return true;
	return words->nr == 0;
}

bool topology_rule_matches(const struct topology *tp, const struct topology_rule *r,
			   const struct model *m, track_id sharer)
{
	const struct topology_track *p = &tp->track[sharer];

	return in_ranges(r->ranks.v, r->ranks.nr, p->rank) &&
	       in_ranges(r->local_ranks.v, r->local_ranks.nr, p->local_rank) &&
	       any_host(&r->hosts, model_host_of(m, sharer)) &&
	       any_process(&r->processes, m, sharer);
}

bool topology_rule_names(const struct topology_rule *r, const char *host, const char *id)
{
	int64_t gpu = topology_gpu(id);

	for (size_t i = 0; i < r->devices.nr; i++)
		if (device_matches(r->devices.v[i], host, id))
			return true;
	for (size_t i = 0; i < r->visible.nr; i++)
		if (r->visible.v[i] == gpu)
			return true;
	return false;
}

/* ---- what names nothing ---- */

/* Some series or queue has this device. */
static bool device_exists(const struct topology_work *w, const char *pattern)
{
	char host[MAX_HOST];

	for (str_id i = 1; i < intern_count(w->devices); i++) {
		const char *device = intern_str(w->devices, i), *id = topology_id(device);

		snprintf(host, sizeof(host), "%.*s", id > device ? (int)(id - device - 1) : 0,
			 device);
		if (device_matches(pattern, host, id))
			return true;
	}
	return false;
}

struct complaints {
	struct strbuf text;
	uint64_t nr;
};

static void complaint_add(struct complaints *c, const char *where, const char *fmt,
			  const char *name)
{
	if (c->nr++)
		strbuf_addstr(&c->text, "; ");
	if (where)
		strbuf_addf(&c->text, "%s: ", where);
	strbuf_addf(&c->text, "%s%.200s%s", fmt, name, *name ? "'" : "");
}

static void check_devices(struct topology_work *w, const char *where, const struct strvec *names,
			  struct complaints *c)
{
	for (size_t i = 0; i < names->nr; i++)
		if (!device_exists(w, names->v[i]))
			complaint_add(c, where, "no counter and no queue has the device '",
				      names->v[i]);
}

static void check_visible(struct topology_work *w, const struct topology_rule *r,
			  struct complaints *c)
{
	for (size_t i = 0; i < r->visible.nr; i++) {
		char id[32];

		snprintf(id, sizeof(id), "gpu%" PRId64, r->visible.v[i]);
		if (!device_exists(w, id))
			complaint_add(c, r->where, "no counter and no queue has the device '", id);
	}
}

void topology_rules_check(struct topology_work *w)
{
	const struct topology *tp = w->tp;
	struct complaints c = { STRBUF_INIT, 0 };

	for (uint32_t i = 0; i < tp->rules.nr; i++) {
		if (!w->matched[i])
			complaint_add(&c, tp->rules.v[i].where, "the rule matches no process", "");
		check_devices(w, tp->rules.v[i].where, &tp->rules.v[i].devices, &c);
		check_visible(w, &tp->rules.v[i], &c);
	}
	for (size_t i = 0; i < tp->counters.nr; i++) {
		const struct topology_counter *k = &tp->counters.v[i];

		if (!device_exists(w, k->device))
			complaint_add(&c, k->where, "no counter and no queue has the device '",
				      k->device);
		check_devices(w, k->where, &k->measures, &c);
	}
	if (c.nr)
		topology_warn(w, UINT32_MAX, W_TOPOLOGY, c.nr, "%s", c.text.buf);
	strbuf_release(&c.text);
}
