/*
 * progress: shows on stderr how far long work has come.
 *
 * On a terminal one line is redrawn with each phase and else at most ten times a second ("read
 * traces/12.evt  43 %  1.2 GB/s", "workload  12 s"); elsewhere each phase is one line when it
 * begins. Silent at log level 0. progress_update is cheap enough for every block of input (one
 * relaxed load when nothing is due) and may be called from any thread. No call waits for a reader:
 * text that the reader does not take is dropped.
 */
#ifndef PROFRIG_PROGRESS_H
#define PROFRIG_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

void progress_setup(int enabled); /* 0 silent, 1 lines, 2 redraw */
void progress_phase(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_total(uint64_t total); /* bytes of the current phase; 0 = unknown */
void progress_items(uint64_t total); /* a number of items instead of bytes: no rate is shown */
void progress_update(uint64_t done);
void progress_tick(void); /* for a caller that only waits: shows the time so far, once a second */
/* On a terminal: text behind the phase (the last line of a command); a new phase clears it. */
void progress_note(const char *note);
bool progress_heard(int patience_ms); /* would a line be taken within this time? */
void progress_end(void);              /* wipes the redrawn line */

#endif
