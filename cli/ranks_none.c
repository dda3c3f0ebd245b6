/* profrig without MPI: a single process. */
#include "cli.h"

struct comm *ranks_open(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return NULL;
}

int ranks_close(struct comm *c, int code)
{
	(void)c;
	return code;
}
