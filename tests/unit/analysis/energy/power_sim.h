/*
 * Random programs and the sensor that watches them, for the fit of powers: the energy of every
 * interval and class is the exact integral, what the fit is given is what a sensor makes of it.
 *
 *	seed = 81000;
 *	s = power_sim_of(&plan);	or power_sim_new, writing into its tables, power_sim_pack
 *	power_fit_make(&s.data, &fit);	against s.truth_j
 *	power_sim_release(&s);
 *
 * A stream is a row of calls: rounds of all functions, each round in a new order, or all in the
 * same (pattern). A call takes the function's mean time by exp(N(0, .2)) and draws the function's
 * power by 1 + N(0, .1). After some calls comes a gap. Streams of a host share the processor's
 * power equally, those of a device add theirs over a static power.
 */
#ifndef POWER_SIM_H
#define POWER_SIM_H

#include "test.h"

#include "profrig/energy/power_fit.h"

enum tenfold { TENFOLD_NONE, TENFOLD_ALL, TENFOLD_HALF };

/* Members that are 0 have the usual value, in brackets, or do nothing. */
struct power_plan {
	const char *name;
	int functions;          /* [20] */
	double from_s, to_s;    /* a function's mean time lies between them [0.005 both] */
	double period_s;        /* of the sensor [0.01] */
	int rounds;             /* [100] */
	double stretch;         /* sd of the logarithm of a call's time [0.2] */
	double varies;          /* sd of a call's power [0.1] */
	bool steady;            /* no call draws more than others */
	double from_w, to_w;    /* a function's power lies between them [60, 500] */
	bool pattern;           /* each round has the same order */
	bool pairs;             /* functions 2k and 2k + 1 follow each other */
	double gap_s;           /* mean of a gap, behind 30 % of the calls */
	int streams;            /* [1] */
	bool shares;            /* streams share */
	double static_w;        /* of a device, which is the last class then; else idle is */
	double rise_s;          /* time constant of the power itself */
	double late;            /* sd of how late a reading is, in periods, as the next two */
	double seldom_late;     /* mean, of every tenth reading */
	double latency;         /* of each reading */
	double tau, tau_factor; /* of a filter, in periods; what is put right, by the truth */
	double publish;         /* periods between two values of the counter */
	double step;            /* of the counter, in mean intervals */
	double drift;           /* of all powers, from beginning to end */
	double class_drift;     /* up or down by function */
	double common;          /* sd of a factor that all have for a 60th of the time */
	enum tenfold tenfold;   /* powers grow so behind the middle */
};

#define IDLE_W 25

struct power_sim {
	size_t n;
	uint32_t classes;
	double *t_s;      /* [n][classes] */
	double *border;   /* [n + 1][classes]: shares at the intervals' borders */
	double *energy_j; /* [n], as the next three */
	double *length_s;
	uint64_t *number;
	bool *halo;
	double *truth_j; /* [classes] */
	size_t *first;
	struct power_part *parts;
	struct power_data data; /* of power_sim_pack; borrows from the above */
};

/* Of all that is drawn. */
extern uint64_t seed;
double uniform(double from, double to);
double normal(void); /* N(0, 1) */
double exponential(double mean);

/* Empty tables; intervals of a second. */
void power_sim_new(struct power_sim *s, size_t n, uint32_t classes);
/* The tables become the data of a fit, but for what `data` says of the sensor. */
void power_sim_pack(struct power_sim *s);
/* A program and what its sensor says, packed. */
struct power_sim power_sim_of(const struct power_plan *usual_plan);
void power_sim_release(struct power_sim *s);
/* Each class's part of the energy, by time; owned by the caller. */
double *by_time_j(const struct power_data *d);

static inline double *time_of(struct power_sim *s, size_t i, uint32_t f)
{
	return &s->t_s[i * s->classes + f];
}

static inline double *border_of(struct power_sim *s, size_t i, uint32_t f)
{
	return &s->border[i * s->classes + f];
}

static inline int double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#endif
