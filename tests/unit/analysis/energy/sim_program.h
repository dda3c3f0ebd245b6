/*
 * sim_program: the streams of calls of a program as power_sim.h plans it, with the power of each
 * call and the exact integral of it.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include "power_sim.h"

#include "profrig/base/vec.h"

struct sim_call {
	int function; /* −1: a gap */
	double start_s, end_s;
	double w;
	double from_w;  /* what a first-order rise has reached at the start */
	double until_j; /* of the stream, until the start */
};

struct sim_stream {
	VEC(struct sim_call) calls;
	double rise_s; /* of the power */
	double tau_s;  /* of from_w: that, or of the sensor's filter */
};

/* What all streams of a program have in common. */
struct sim_program {
	const struct power_plan *plan;
	double *mean_s, *w;
	double *drifts; /* up or down */
	struct sim_stream *streams;
	int nr;
	double end_s;
	uint32_t rest; /* class of gaps; POWER_NO_CLASS: none */
	double part;   /* of the power that a stream has */
};

/* Draws it. */
void program_make(struct sim_program *g, const struct power_plan *p);
void program_release(struct sim_program *g);

/* The call that runs at a time. */
const struct sim_call *stream_at(const struct sim_stream *s, double at_s);
/* Joules of the first x_s of a call. */
double call_energy(const struct sim_stream *s, const struct sim_call *c, double x_s);
/* What a first-order filter has reached x_s into a call. */
double call_filtered(const struct sim_stream *s, const struct sim_call *c, double x_s);

#endif
