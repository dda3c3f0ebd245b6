/*
 * publish_run: what becomes of a run's results by the key publish: of its configuration.
 */
#ifndef PUBLISH_RUN_H
#define PUBLISH_RUN_H

#include "cli.h"

/*
 * Once all that run.json will have is there: the run goes into the outbox and is sent; so is, for
 * some seconds, what earlier runs left. Nothing here fails a run: what does not work becomes a
 * warning (W_PUBLISH), and the outbox keeps it.
 */
void publish_run_end(const struct prepared *p);

#endif
