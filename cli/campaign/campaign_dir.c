#include "campaign_dir.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/cfg.h"
int campaign_dir_find(const struct command *c, const char *operand, const char *campaigns,
		      char **ret)
{
	(void)c;
	if (fs_is_dir(operand)) {
		*ret = fs_abs(operand);
		return -1;
	}
	struct cfg f;
	cfg_init(&f);
	cfg_parse_file(&f, operand, LAYER_FILE, NULL);
	*ret = xasprintf("%s/%s", campaigns ? campaigns : CAMPAIGNS_DIR, cfg_text(f.root, "name"));
	cfg_release(&f);
	return -1;
}
