/*
 * headline: the figures that several outputs show first: time, energy, busy share, split of the
 * time, largest costs. They are computed here only, from the tables and the two JSON texts of a
 * report, so that the page, the plain page and the closing lines of a command agree, also when
 * `profrig report` writes them again.
 *
 *	struct headline h;
 *	headline_make(&report, &h);
 *	…
 *	headline_release(&h);
 *
 * Texts marked borrowed live as long as the tables of the report. Times in ns, energies in J,
 * shares are fractions of 1; NaN is unknown. A report without tables gives an empty headline.
 */
#ifndef PROFRIG_HEADLINE_H
#define PROFRIG_HEADLINE_H

#include "profrig/base/intern.h"
#include "profrig/base/strvec.h"
#include "profrig/report/writer.h"

/* One row of energy_totals. */
struct headline_counter {
	const char *counter, *device, *view; /* borrowed */
	const char *kind, *flags;            /* of the table `counters`, "" unknown; borrowed */
	double total_j, unattributed_j;      /* as in the table */
	double j;                            /* total without the idle time around the workload */
	bool estimated, accelerator;
	/*
	 * Preference among counters, smaller is better: accelerators first, measured before
	 * estimated, energy counters before integrated power.
	 */
	int rank;
	bool outranked; /* integrated power of a device that has an energy counter */
	/*
	 * One counter per device, so that no energy counts twice: summed in energy_j, or shown
	 * beside it (CPUs beside accelerators).
	 */
	enum { HEADLINE_NEITHER, HEADLINE_SUMMED, HEADLINE_BESIDE } use;
};

struct headline_device {
	const char *device; /* borrowed */
	double busy;        /* from its first to its last work, as in the table `busy` */
	double share;       /* of the recording where that is known, else busy */
};

struct headline_part {
	const char *name;
	const char *kind; /* compute, comm, copy, idle, host, rest */
	double ns;
	size_t order; /* of appearance */
};

struct headline_cost {
	size_t row;       /* of the table `functions` */
	const char *name; /* borrowed */
	double ns, share; /* exclusive */
	double calls;
	double energy_j; /* of the summed counters, in the view of its scope */
	/* how it was divided: "time", "power", "time and power" (rows differ), "" not known */
	const char *estimate;
};

struct headline {
	const char *time_of; /* "workload", "recorded" or "none" */
	double time_ns;
	/* Tools in front of the workload, when their events span distinctly less than it. */
	struct strvec around;
	double around_ns;

	VEC(struct headline_counter) counters; /* in the table's order */
	double energy_j;
	bool estimated, integrated; /* a part of energy_j is */

	double busy;        /* of all accelerators, NaN without device work */
	double recorded_ns; /* `busy` is a share of it; 0: of each device's own extent */
	VEC(struct headline_device) devices;
	struct strvec without; /* accelerators without any work */

	const char *split_of; /* name of the sum of the parts, "" without parts */
	double split_ns;
	size_t split_devices;
	VEC(struct headline_part) parts;
	size_t more; /* calls that the part of kind "rest" holds; 0: not known */
	/*
	 * Parts of host calls: the path of the opened wrapper (main;solve) whose calls are listed,
	 * "" when none is opened. mostly: calls beside a wrapper are listed, too.
	 */
	const char *within;
	bool mostly;
	struct intern *names; /* of parts */

	const char *cost_scope; /* "device", "host" or "" */
	VEC(struct headline_cost) costs;
};

void headline_make(const struct report *r, struct headline *ret);
void headline_release(struct headline *h);

/* The only names of devices with a meaning of their own: gpu0, node3:xpu1. */
bool headline_is_accelerator(const char *device);

#endif
