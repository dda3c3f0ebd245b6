/* A profrig that loads libraries itself: no command is handed over. */
#include "cli.h"

void helper_take_over(int argc, char **argv)
{
	(void)argc, (void)argv;
}
