/*
 * sample: the parts of `profrig sample`.
 *
 *	cmd_sample.c	the command: sources, the program beside them, the end
 *	sample_show.c	its output: the live line, the summary, --json
 */
#ifndef PROFRIG_CLI_SAMPLE_H
#define PROFRIG_CLI_SAMPLE_H

#include "cli.h"

#include "profrig/sampler/sampler.h"

struct sample_source {
	const struct sampler *sampler;
	char *path, *option_file; /* option_file: of replay:FILE */
	struct sampler_opts opts;
	struct sampling *sampling;
	bool stopped;
	struct sampling_stats stats;
};

struct sample {
	VEC(struct sample_source) source;
	bool keeps;         /* there are files, not just /dev/null */
	int64_t started_ns; /* CLOCK_MONOTONIC */
	double lasted_s;
	struct strvec views; /* paths of what --compat made */
};

/* One device, from all sources that read it. NaN: not known. */
struct sample_figures {
	char id[32];
	double power_w, mean_w, max_w; /* the last one; over the time */
	double counter_j, integral_j;  /* since the start: by counter, by power over time */
	double used_bytes, max_used_bytes, total_bytes; /* memory; of processes: resident */
	double busy, mean_busy;                         /* %; of processes: of one CPU */
	bool estimated;
};
/* Devices in the order of the sources, at most max of them; returns how many there are. */
size_t sample_figures(const struct sample *s, struct sample_figures *ret, size_t max);

/*
 * The live line: one text for the terminal's width, made anew each time it is due. History of each
 * device's power is kept in it.
 */
#define SAMPLE_SPARKS 8
#define SAMPLE_SHOWN 64
struct sample_live {
	bool utf8;
	size_t ticks;
	struct sample_spark {
		double w[SAMPLE_SPARKS];
	} spark[SAMPLE_SHOWN];
};
void sample_live_init(struct sample_live *l);
/* width in cells; owned. */
char *sample_live_line(struct sample_live *l, const struct sample *s, size_t width);
size_t sample_terminal_width(void);

/* On stderr; nothing at log level 0. */
void sample_print_summary(const struct sample *s);
/* One object on stdout. */
void sample_print_json(const struct sample *s, int code, int workload_code, int workload_signal);

#endif
