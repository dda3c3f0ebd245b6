/*
 * campaign_dir: where a campaign is, from a word of the command line; its store; what the commands
 * on campaigns share.
 *
 *	code = campaign_dir_find(c, operand, campaigns, &dir);		-1 to go on
 *	code = campaign_store_open(c, dir, true, &s);
 *	store_close(s);
 */
#ifndef CLI_CAMPAIGN_DIR_H
#define CLI_CAMPAIGN_DIR_H

#include "cli.h"
#include "store.h"

#define CAMPAIGNS_DIR "campaigns"

/* The option for the folder of campaigns; letter 0 where -o is another one. */
#define CAMPAIGNS_OPT(to, letter) \
	{ \
		"campaigns", letter, OPT_STR, to, "DIR", \
			"where campaigns are, when FILE is named (./campaigns)" \
	}

/*
 * The `name` of a campaign file, owned: -1 to go on, else 3 or 5 after an error message. It is
 * [A-Za-z0-9._-]+ without a dot in front.
 */
int campaign_file_name(const struct command *c, const char *file, char **ret);
bool campaign_name_ok(const char *name);
/* Whether it is the directory of a campaign: it has a journal. */
bool campaign_dir_is(const char *dir);
/*
 * The directory of a campaign, owned. operand: that directory (it holds journal.ndjson), or a
 * campaign file, whose name is a folder of campaigns (NULL: ./campaigns). -1 to go on; else an exit
 * code after an error message: 3 the file is wrong, 5 there is no such campaign.
 */
int campaign_dir_find(const struct command *c, const char *operand, const char *campaigns,
		      char **ret);
/* The one operand that is a campaign: -1 to go on; 2 after a usage error; as above. */
int campaign_dir_of(const struct command *c, const struct strvec *operands, size_t more,
		    const char *campaigns, char **ret);

/* What every opening of a store has: figures of tables, lines to be said. */
struct store_opts campaign_store_opts(bool read, struct strvec *said);
/* Opened, with what it says printed: -1 to go on, else an exit code after an error message. */
int campaign_store_open(const struct command *c, const char *dir, bool read, struct store **ret);
/* The exit code of an error of a store; prints it. */
int campaign_store_failed(const struct command *c, int r, const struct err *err);
/* Prints what a summary says of things that are missing; whether there was any. */
bool campaign_store_lacks(const struct store_summary *sum);

#endif
