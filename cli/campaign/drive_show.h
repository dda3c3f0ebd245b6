/*
 * drive_show: how far a campaign has come, while it runs: on a terminal a few lines that are
 * redrawn, elsewhere a line for each event.
 */
#ifndef DRIVE_SHOW_H
#define DRIVE_SHOW_H

#include "campaign_drive.h"

struct drive_show;

/* cells: how many there are. */
struct drive_show *drive_show_new(size_t cells);
/* The function of drive_opts; ctx: struct drive_show *. */
void drive_show_moment(void *ctx, const struct drive_moment *m);
/* Whether it wants to be called each second. */
bool drive_show_ticks(const struct drive_show *s);
void drive_show_free(struct drive_show *s);

#endif
