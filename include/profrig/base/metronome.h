/*
 * metronome: one thread wakes at start + k·period of CLOCK_MONOTONIC, for as little CPU time as
 * there is.
 *
 * Two timerfds take turns, each with twice the period: while one is waited for, the other is armed
 * already. A thread that arms the timer it is about to wait for has the clock's hardware set anew
 * each time, which a virtual machine's host must do for it (1000 times a second took 1.8 % of a
 * CPU, and 1.1 % with two timers); with another timer due earlier the kernel only files it, and the
 * interrupt of the earlier one sets the hardware.
 *
 * Where timerfds cannot be had (no descriptor left), clock_sleep_until_ns does the waiting: the
 * same times for more CPU time. All functions are one thread's.
 *
 * SOURCE the kernel's hrtimers: hrtimer_start reprograms the device only for a timer that became
 * the first to expire (kernel.org, Documentation/timers/hrtimers.rst; timerfd_create(2)).
 */
#ifndef PROFRIG_METRONOME_H
#define PROFRIG_METRONOME_H

#include <stdint.h>

struct metronome {
	int64_t start_ns, period_ns;
	int fd[2]; /* of even and of odd beats; -1 without timers */
};

/* Beats at start_ns + k·period_ns; start_ns >= 0, period_ns > 0. Never fails, see above. */
void metronome_start(struct metronome *m, int64_t start_ns, int64_t period_ns);
/* Sleeps until t_ns, which is a beat; returns at once when it is past. */
void metronome_wait(struct metronome *m, int64_t t_ns);
/* Closes what start opened. */
void metronome_release(struct metronome *m);

#endif
