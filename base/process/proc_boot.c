/* Apart from proc.c, which the agent links without files. */
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/proc.h"
#include "profrig/base/xalloc.h"

char *proc_boot_id(void)
{
	char *text = NULL;

	if (fs_read("/proc/sys/kernel/random/boot_id", 64, &text, NULL, NULL) < 0)
		return xstrdup("");
	text[strcspn(text, "\n")] = 0;
	return text;
}
