/*
 * publishconf: the parts of a configuration about publishing (docs/publish.md): where results are
 * sent when a run has ended, typed.
 *
 * Filled by runconf_load (runconf.publish), or by publishconf_load out of any file that has the
 * keys publish: and secrets:, a campaign's as well as a run's. Passwords are in memory alone.
 */
#ifndef PROFRIG_PUBLISHCONF_H
#define PROFRIG_PUBLISHCONF_H

#include "profrig/base/cfg.h"
#include "profrig/base/vec.h"

/*
 * Publishers by name, with the keys that an entry of theirs needs and those it may have. Each is a
 * struct publisher publisher_<name> (publish.h).
 */
/* clang-format off */
#define PUBLISHERS(X) \
	X(pushgateway, "url", "user password job group") \
	X(influxdb, "url database", "user password") \
	X(postgres, "connection", "password") \
	X(ndjson, "path", "")
#define PUBLISHER_CHOICE(name, needs, may) "|" #name
/* clang-format on */
/* "pushgateway|influxdb|…" */
#define PUBLISHER_CHOICES (&(PUBLISHERS(PUBLISHER_CHOICE))[1])

struct publish_target {
	char *to; /* the publisher's name */
	/*
	 * What the target is known by in the outbox: "influxdb http://host:8086 perf", "ndjson
	 * /srv/results.ndjson"; no password in it. Two entries with the same one are a problem.
	 */
	char *name;
	char *url; /* without '/' at its end */
	char *job, *group, *database;
	char *connection;
	char *path; /* absolute */
	char *user;
	char *password; /* secret; NULL */
	double timeout_s;
	char *where; /* file:line of the entry */
};

struct publish_conf {
	VEC(struct publish_target) targets;
};
#define PUBLISH_CONF_INIT \
	{ \
		VEC_INIT \
	}

void publish_conf_release(struct publish_conf *pc); /* also a CLEANUP function */
/*
 * The key publish: of a file, and of its secrets those that publish: names; everything else in it
 * is passed over. Relative paths begin at the file's folder. 0; -EINVAL: problems hold why; else
 * -errno when the file cannot be read.
 */
int publishconf_load(const char *file, struct publish_conf *ret, struct problems *p,
		     struct err *err);

#endif
