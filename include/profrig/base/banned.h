/*
 * banned: calls that parse or copy without a bound, or go through a shell. Included by force before
 * every file; the standard headers that declare these calls come first.
 */
#ifndef PROFRIG_BANNED_H
#define PROFRIG_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat sprintf vsprintf sscanf atoi atol atoll atof gets system popen \
	strtok

#endif
