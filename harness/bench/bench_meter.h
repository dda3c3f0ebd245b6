/*
 * bench_meter: the energy that a device has used so far, and its temperature, by a sampler's source
 * (sampler.h) that is read in this thread: "rapl" sums packages and DRAM of the processor, "auto"
 * is the first GPU. It is the energy of the whole device, its idle part included.
 *
 * A source without energy counters has its power integrated, from read to read (trapezoids).
 */
#ifndef BENCH_METER_H
#define BENCH_METER_H

#include "profrig/base/err.h"

struct bench_meter;

/* NULL: the source does not work here or has neither energy nor power, and err says why. */
struct bench_meter *bench_meter_open(const char *source, struct err *err);
double bench_meter_joules(struct bench_meter *m); /* since it was opened; NaN: a read failed */
/* °C, now: a GPU's by its source, the processor's hottest package by hwmon; NaN unknown. */
double bench_meter_temperature(struct bench_meter *m);
void bench_meter_close(struct bench_meter *m); /* NULL is none */

#endif
