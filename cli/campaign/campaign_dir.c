#include "campaign_dir.h"
#include "campaign_verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/xalloc.h"

#define JOURNAL "journal.ndjson"

bool campaign_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n < 256 && *name != '.' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       n;
}

int campaign_file_name(const struct command *c, const char *file, char **ret)
{
	struct err err = ERR_INIT;
	const char *name;
	struct cfg cfg;
	int code = -1, r;

	cfg_init(&cfg);
	r = cfg_parse_file(&cfg, file, LAYER_FILE, &err);
	name = r < 0 ? NULL : cfg_text(cfg.root, "name");
	if (r < 0) {
		log_error("%s: %s", c->name, err.msg);
		code = EXIT_CONFIG;
	} else if (!name) {
		log_error("%s: %s: no 'name': a campaign file begins with 'name: WORD'", c->name,
			  file);
		code = EXIT_CONFIG;
	} else if (!campaign_name_ok(name)) {
		log_error(
			"%s: %s: the name '%.80s' is none: letters, digits, '.', '_', '-', and no "
			"'.' in front",
			c->name, file, name);
		code = EXIT_CONFIG;
	} else {
		*ret = xstrdup(name);
	}
	cfg_release(&cfg);
	return code;
}

bool campaign_dir_is(const char *dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, JOURNAL);

	return fs_exists(path);
}

/* A campaign of the file's name. */
static int dir_of_file(const struct command *c, const char *file, const char *campaigns, char **ret)
{
	CLEANUP(xfreep) char *name = NULL, *dir = NULL;
	int code = campaign_file_name(c, file, &name);

	if (code >= 0)
		return code;
	dir = fs_join(campaigns, name);
	if (!campaign_dir_is(dir)) {
		log_error("%s: no campaign '%s' in %s yet: 'profrig campaign run %s' begins it; "
			  "--campaigns names another folder",
			  c->name, name, campaigns, file);
		return EXIT_UNREADABLE;
	}
	*ret = STEAL(dir);
	return -1;
}

int campaign_dir_find(const struct command *c, const char *operand, const char *campaigns,
		      char **ret)
{
	CLEANUP(xfreep) char *named = NULL;

	campaigns = campaigns ? campaigns : CAMPAIGNS_DIR;
	*ret = NULL;
	if (fs_is_dir(operand) && campaign_dir_is(operand)) {
		*ret = xstrdup(operand);
		return -1;
	}
	if (fs_is_dir(operand)) {
		log_error("%s: %s: no directory of a campaign: it has no " JOURNAL, c->name,
			  operand);
		return EXIT_UNREADABLE;
	}
	if (fs_exists(operand))
		return dir_of_file(c, operand, campaigns, ret);
	named = fs_join(campaigns, operand);
	if (campaign_name_ok(operand) && campaign_dir_is(named))
		log_error("%s: '%s' is no file or folder here; the campaign is %s", c->name,
			  operand, named);
	else
		log_error("%s: '%s': no such file or folder; name a campaign file, or a campaign's "
			  "directory (%s/NAME)",
			  c->name, operand, campaigns);
	return EXIT_UNREADABLE;
}

int campaign_dir_of(const struct command *c, const struct strvec *operands, size_t more,
		    const char *campaigns, char **ret)
{
	*ret = NULL;
	if (operands->nr == 0)
		return cli_usage(c, "no campaign: name its file or its directory");
	if (operands->nr > 1 + more)
		return cli_usage(c, "'%s' is one word too many", operands->v[1 + more]);
	return campaign_dir_find(c, operands->v[0], campaigns, ret);
}

struct store_opts campaign_store_opts(bool read, struct strvec *said)
{
	return (struct store_opts){ .read = read, .said = said, .figures = campaign_figures };
}

int campaign_store_failed(const struct command *c, int r, const struct err *err)
{
	log_error("%s: %s%s", c->name, err->msg,
		  r == -EUCLEAN ? "; 'profrig campaign rebuild' makes it again" : "");
	switch (-r) {
	case EBADMSG:
	case ENOENT:
	case EUCLEAN:
	case ESTALE:
	case EINVAL:
		return EXIT_UNREADABLE;
	default:
		return EXIT_MISSING;
	}
}

int campaign_store_open(const struct command *c, const char *dir, bool read, struct store **ret)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct store_opts o = campaign_store_opts(read, &said);
	struct err err = ERR_INIT;
	int r = store_open(dir, &o, ret, &err);

	for (size_t i = 0; i < said.nr; i++)
		log_warn("%s", said.v[i]);
	return r < 0 ? campaign_store_failed(c, r, &err) : -1;
}

bool campaign_store_lacks(const struct store_summary *sum)
{
	if (sum->unread)
		log_warn("%" PRIu64 " attempts that ended well have no run directory that can be "
			 "read, or not all of one: their figures are missing",
			 sum->unread);
	if (sum->disputed)
		log_warn("%" PRIu64 " commits of the journal are not in results/, and do not count",
			 sum->disputed);
	if (sum->unknown)
		log_warn("%" PRIu64 " events of the journal are of a newer profrig and were passed "
			 "over",
			 sum->unknown);
	return sum->unread || sum->disputed || sum->unknown;
}
