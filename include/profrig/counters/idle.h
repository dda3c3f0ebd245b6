/*
 * idle: the idle power of a device, which splits energy into a static part and the part of the
 * work:
 *
 *	E = P_idle · T + dynamic	(may be negative; the sum is the measured energy)
 *
 * The level of one series is measured in the idle windows of a run (`run --idle S`: samplers alone,
 * before and after the workload), or stated by the user (then exact).
 *
 * One window. Its sampled part is cut into at most 40 equal blocks, none shorter than the period of
 * the sensor; a block's power is ΔE/Δt of the series' curve (energy.h), so counters and power
 * readings are treated alike. Blocks that touch a gap, a reset or a stuck counter are left out.
 * Fewer than 5 blocks give no result.
 *	settling	A filtered reading (time constants of 0.1 to 1.6 s), clocks that stay high
 *			and warm silicon make the power fall for a while after work. The first d
 *			blocks are dropped, d ≤ half of them, where
 *				Σ_{i>d} (x_i − mean)² / (n − d)²
 *			is least: the marginal standard error rule of simulation output analysis
 *			(White 1997): dropping ends where fewer data cost more than the bias does.
 *			In a quiet window nothing is dropped.
 *	unsettled	The kept blocks still change: their two halves differ by more than 3
 *			standard errors (of noise from successive differences, which a trend does
 *			not widen), 5 % and 1 W. The window was too short.
 *	standard error	sd / √n of the kept blocks, taken as independent.
 *
 * Both windows. The level is the mean of the two: leakage grows with temperature, so idle power
 * before (cold) and after (warm) brackets that of the run. Their difference is no noise, but the
 * level within it is unknown: stderr² = (se_before² + se_after²)/4 + drift²/12. An unsettled window
 * is not used when the other one is settled.
 *
 * Unknown is NaN, with a reason.
 */
#ifndef PROFRIG_IDLE_H
#define PROFRIG_IDLE_H

#include "profrig/energy/energy.h"

enum idle_method { IDLE_NONE, IDLE_BEFORE, IDLE_AFTER, IDLE_BOTH, IDLE_STATED };
const char *idle_method_name(enum idle_method m); /* "none" "before" … */

/* Common timebase; end <= start: there was none. */
struct idle_window {
	int64_t start_ns, end_ns;
};

/* device: "gpu0", "node3:gpu0", "gpu" (all ids of this word and a number), "" (all) */
struct idle_stated {
	char device[64];
	double power_w;
};

struct idle_opts {
	struct idle_window before, after;
	VEC(struct idle_stated) stated;
};
void idle_opts_release(struct idle_opts *o);

/*
 * Adds statements such as "90" or "gpu0=90,cpu=20", in W. -EINVAL: bad syntax, a value outside 0 to
 * 1e6, or a device that was stated before.
 */
int idle_state(struct idle_opts *o, const char *text, struct err *err);
/* Whether a statement is about the series. The closest counts: device, then word, then all. */
bool idle_is_about(const struct idle_stated *st, const struct model *m, series_id s,
		   const struct counter_info *ci);

struct idle_level {
	double level_w;
	double before_w, after_w; /* of each window, whether it is used or not */
	double drift_w;           /* after − before */
	double stderr_w;          /* of level_w; NaN when stated */
	uint64_t samples;         /* behind level_w */
	int64_t duration_ns;
	enum idle_method method;
	bool unsettled;     /* a window that is used was too short */
	bool too_few;       /* unknown: a sampled window has too few readings */
	const char *reason; /* why the level, or that of one window, is unknown; "" */
};

/*
 * c: the series' curve. The level is unknown unless the series is of power or energy.
 */
void idle_find(const struct model *m, series_id s, const struct counter_info *ci,
	       const struct curve *c, const struct idle_opts *o, struct idle_level *ret);
/* level_w alone: NaN when it is not known. */
double idle_level_w(const struct model *m, series_id s, const struct counter_info *ci,
		    const struct curve *c, const struct idle_opts *o);

/*
 * Mean of a curve's rate in a window (of the curve of a temperature: the mean temperature); NaN
 * when less than half of it was sampled.
 */
double idle_mean(const struct curve *c, struct idle_window w);
/* Energy of the idle time before and after the workload, as far as the model holds it. */
double idle_energy_j(const struct model *m, const struct curve *c, const struct idle_opts *o);

#endif
