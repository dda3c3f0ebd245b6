#ifndef CLI_CAMPAIGN_DIR_H
#define CLI_CAMPAIGN_DIR_H
#include "cli.h"
#define CAMPAIGNS_DIR "campaigns"
int campaign_dir_find(const struct command *c, const char *operand, const char *campaigns,
		      char **ret);
#endif
