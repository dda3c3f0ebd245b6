/* --memory: what an analysis may take before its large arrays lie in files (spill.h). */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/memory_limit.h"
#include "profrig/base/num.h"
#include "profrig/base/spill.h"

static void say(const char *text)
{
	log_warn("%s", text);
}

/* Of what the machine and the control group allow: the rest is for programs beside this one. */
static uint64_t memory_by_itself(void)
{
	return memory_limit() / 4 * 3;
}

int cli_memory(const struct command *c, const char *size, const char *output)
{
	const char *variable = getenv("PROFRIG_MEMORY"), *tmp = getenv("TMPDIR");
	const char *text = size ? size : variable && *variable ? variable : NULL;
	CLEANUP(xfreep) char *whole = output && *output ? fs_abs(output) : NULL;
	CLEANUP(xfreep) char *beside = whole ? fs_dir(whole) : NULL;
	const char *folders[4] = { NULL };
	size_t nr = 0;
	int64_t bytes = 0;

	if (text && num_bytes(text, strlen(text), &bytes) < 0)
		return cli_usage(c, "%s wants a size such as 4G or 500M, not '%.40s'",
				 size ? "--memory" : "PROFRIG_MEMORY", text);
	if (tmp && *tmp == '/')
		folders[nr++] = tmp;
	if (beside)
		folders[nr++] = beside;
	folders[nr++] = "/var/tmp";
	spill_begin(
		&(struct spill_opts){ .budget_bytes = text ? (uint64_t)bytes : memory_by_itself(),
				      .folders = folders,
				      .say = say });
	return EXIT_DONE;
}

void cli_memory_say(void)
{
	struct spill_use use;
	char all[32], most[32];

	spill_use(&use);
	if (use.blocks)
		log_info("beyond the memory allowed: %" PRIu64 " arrays in files in %s, %s in all, "
			 "%s at a time",
			 use.blocks, use.folder, cli_bytes((int64_t)use.bytes, all),
			 cli_bytes((int64_t)use.most_bytes, most));
}
