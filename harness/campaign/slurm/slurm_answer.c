#include "slurm_answer.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define NODE_MAX ((size_t)400)
#define REASON_MAX ((size_t)120)
#define WORD_MAX ((size_t)40)

/* ---- states ---- */

/* The long names of squeue's %T and sacct's State, of Slurm 20 to 25. */
static const struct slurm_state states[] = {
	{ "PENDING", SLURM_WAITS, SCHED_NONE },
	{ "CONFIGURING", SLURM_WAITS, SCHED_NONE },
	{ "POWER_UP_NODE", SLURM_WAITS, SCHED_NONE },
	{ "RUNNING", SLURM_RUNS, SCHED_NONE },
	{ "SUSPENDED", SLURM_RUNS, SCHED_NONE },
	{ "STOPPED", SLURM_RUNS, SCHED_NONE },
	{ "RESIZING", SLURM_RUNS, SCHED_NONE },
	{ "SIGNALING", SLURM_RUNS, SCHED_NONE },
	{ "COMPLETING", SLURM_RUNS, SCHED_NONE },
	{ "STAGE_OUT", SLURM_RUNS, SCHED_NONE },
	{ "UPDATE_DB", SLURM_RUNS, SCHED_NONE },
	{ "EXPEDITING", SLURM_RUNS, SCHED_NONE },
	{ "COMPLETED", SLURM_LEFT, SCHED_OK },
	{ "FAILED", SLURM_LEFT, SCHED_WORKLOAD },
	{ "TIMEOUT", SLURM_LEFT, SCHED_WORKLOAD },
	{ "OUT_OF_MEMORY", SLURM_LEFT, SCHED_WORKLOAD },
	{ "OUT_OF_ME", SLURM_LEFT, SCHED_WORKLOAD },
	{ "DEADLINE", SLURM_LEFT, SCHED_WORKLOAD },
	/* By us when the campaign asked for it, which the client knows. */
	{ "CANCELLED", SLURM_LEFT, SCHED_INFRASTRUCTURE },
	{ "NODE_FAIL", SLURM_LEFT, SCHED_INFRASTRUCTURE },
	{ "BOOT_FAIL", SLURM_LEFT, SCHED_INFRASTRUCTURE },
	{ "LAUNCH_FAILED", SLURM_LEFT, SCHED_INFRASTRUCTURE },
	{ "RECONFIG_FAIL", SLURM_LEFT, SCHED_INFRASTRUCTURE },
	{ "PREEMPTED", SLURM_LEFT, SCHED_INFRASTRUCTURE },
	{ "REVOKED", SLURM_LEFT, SCHED_INFRASTRUCTURE },
	/* Jobs of ours are never to run twice (--no-requeue). */
	{ "REQUEUED", SLURM_HELD, SCHED_INFRASTRUCTURE },
	{ "REQUEUE_FED", SLURM_HELD, SCHED_INFRASTRUCTURE },
	{ "REQUEUE_HOLD", SLURM_HELD, SCHED_INFRASTRUCTURE },
	{ "SPECIAL_EXIT", SLURM_HELD, SCHED_INFRASTRUCTURE },
	{ "RESV_DEL_HOLD", SLURM_HELD, SCHED_INFRASTRUCTURE },
};

const struct slurm_state *slurm_state_find(const char *text)
{
	static const struct slurm_state none = { "", SLURM_UNKNOWN, SCHED_NONE };
	size_t n = strcspn(text, " +");

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (strlen(states[i].word) == n && !strncmp(states[i].word, text, n))
			return &states[i];
	return &none;
}

/* By their beginnings, the longer ones first; of Slurm 20 to 25. */
static const struct {
	const char *reason, *says;
} stuck[] = {
	{ "PartitionNodeLimit", "the partition gives a job no such number of nodes" },
	{ "PartitionTimeLimit", "the partition's limit of time is lower" },
	{ "PartitionDown", "the partition is down" },
	{ "PartitionInactive", "the partition starts no jobs" },
	{ "PartitionConfig", "the partition does not have what it asks for" },
	{ "DependencyNeverSatisfied", "it depends on a job that failed" },
	{ "BadConstraints", "no node has what it asks for" },
	{ "AccountNotAllowed", "the partition is not for its account" },
	{ "QOSNotAllowed", "the partition is not for its QOS" },
	{ "InvalidAccount", "there is no such account" },
	{ "InvalidQOS", "there is no such QOS" },
	{ "JobHeldUser", "its user holds it (scontrol release)" },
	{ "JobHeldAdmin", "an administrator holds it" },
	{ "ReqNodeNotAvail", "nodes that it asks for are down, drained or reserved" },
	{ "Nodes required for job are DOWN", "nodes that it needs are down, drained or reserved" },
	{ "NodeDown", "a node that it asks for is down" },
	{ "FrontEndDown", "no front end is up" },
	{ "MaxMemPerLimit", "it asks for more memory than a job may have" },
	{ "AccountingPolicy", "a limit of its account or QOS" },
	{ "Assoc", "a limit of its account" },
	{ "QOS", "a limit of its QOS" },
};

const char *slurm_reason_stuck(const char *reason)
{
	for (size_t i = 0; i < ARRAY_LEN(stuck); i++)
		if (!strncmp(reason, stuck[i].reason, strlen(stuck[i].reason)))
			return stuck[i].says;
	return NULL;
}

bool slurm_reason_failed(const char *reason)
{
	return strcasestr(reason, "launch failed requeued held") != NULL;
}

/* ---- rows ---- */

/* A line cut into fields: the first ones, what is in the middle, the last ones. */
static size_t fields_cut(char *line, char **field, size_t max)
{
	size_t n = 0;

	for (char *at = line; n < max; n++) {
		char *bar = strchr(at, '|');

		field[n] = at;
		if (!bar || n + 1 == max)
			return n + 1;
		*bar = '\0';
		at = bar + 1;
	}
	return n;
}

/* From the right: puts a NUL in front of the last field and returns it; NULL: there is none. */
static char *field_pop(char *line)
{
	char *bar = strrchr(line, '|');

	if (!bar)
		return NULL;
	*bar = '\0';
	return bar + 1;
}

static const char *node_checked(char *node)
{
	if (strlen(node) > NODE_MAX)
		return "";
	for (const char *s = node; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-,[]", *s))
			return "";
	return node;
}

static void text_bound(char *s, size_t max)
{
	if (strlen(s) > max)
		s[max] = '\0';
	text_no_controls(s, ' ');
}

/* The words of a state, before " by 0" or "+". */
static void word_cut(char *s)
{
	s[strcspn(s, " +")] = '\0';
	text_bound(s, WORD_MAX);
}

static bool number_read(const char *s, uint64_t max, uint64_t *ret)
{
	return num_u64(s, strlen(s), ret) == 0 && *ret <= max;
}

/* F|K|A|T|reason, which may have bars itself|N|j */
static bool squeue_row(char *line, slurm_row_seen *seen, void *ctx)
{
	struct slurm_row row = { .task = SLURM_NO_TASK };
	char *name = field_pop(line), *node = name ? field_pop(line) : NULL, *f[5];
	uint64_t task, own;

	if (!node || fields_cut(line, f, 5) != 5 || !number_read(f[0], UINT32_MAX, &row.id) ||
	    !number_read(f[2], UINT32_MAX, &own) || row.id == 0 || !*f[3] || !*name)
		return false;
	if (strcmp(f[1], "N/A") != 0) {
		if (!number_read(f[1], UINT32_MAX, &task))
			return false;
		row.task = (size_t)task;
	}
	row.state = slurm_state_find(f[3]);
	word_cut(f[3]);
	text_bound(f[4], REASON_MAX);
	row.word = f[3];
	row.reason = f[4];
	row.node = node_checked(node);
	row.name = name;
	seen(ctx, &row);
	return true;
}

/* "12", "12_3"; ret_part: "12_[3-7%2]", tasks that have not begun. */
static bool job_id_read(char *s, struct slurm_row *row, bool *ret_part)
{
	char *bar = strchr(s, '_');
	uint64_t task;

	*ret_part = false;
	if (bar)
		*bar = '\0';
	if (!number_read(s, UINT32_MAX, &row->id) || row->id == 0)
		return false;
	if (!bar)
		return true;
	*ret_part = bar[1] == '[';
	if (*ret_part)
		return true;
	if (!number_read(bar + 1, UINT32_MAX, &task))
		return false;
	row->task = (size_t)task;
	return true;
}

/* JobID|JobName|State|ExitCode|DerivedExitCode|Start|End|NodeList */
static bool sacct_row(char *line, slurm_row_seen *seen, void *ctx)
{
	struct slurm_row row = { .task = SLURM_NO_TASK, .reason = "" };
	char *f[9];
	bool part;

	if (fields_cut(line, f, 9) != 8 || !job_id_read(f[0], &row, &part) || !*f[1] || !*f[2])
		return false;
	if (part)
		return true;
	row.state = slurm_state_find(f[2]);
	word_cut(f[2]);
	row.name = f[1];
	row.word = f[2];
	row.node = !strcmp(f[7], "None assigned") ? "" : node_checked(f[7]);
	seen(ctx, &row);
	return true;
}

static struct slurm_read rows_read(const char *text, size_t n,
				   bool (*take)(char *, slurm_row_seen *, void *),
				   slurm_row_seen *seen, void *ctx)
{
	struct slurm_read r = { 0 };

	for (size_t at = 0; at < n;) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end ? (size_t)(end - (text + at)) : n - at;
		/* up to a NUL, if there is one */
		CLEANUP(xfreep) char *line = xstrndup(text + at, len), *kept = xstrdup(line);

		at += len + 1;
		if (!len)
			continue;
		/* A line that has no end was cut. */
		if (end && strlen(line) == len && take(line, seen, ctx)) {
			r.rows++;
			continue;
		}
		if (r.odd++ == 0) {
			text_no_controls(kept, ' ');
			snprintf(r.sample, sizeof(r.sample), "%s", kept);
		}
		r.doubt |= !end || strlen(kept) < len || strstr(kept, "pr-") != NULL;
	}
	return r;
}

struct slurm_read slurm_squeue_read(const char *text, size_t n, slurm_row_seen *seen, void *ctx)
{
	return rows_read(text, n, squeue_row, seen, ctx);
}

struct slurm_read slurm_sacct_read(const char *text, size_t n, slurm_row_seen *seen, void *ctx)
{
	return rows_read(text, n, sacct_row, seen, ctx);
}

/* ---- sbatch ---- */

/* "28" or "28;cluster", alone in a line; the last such line counts, as banners come before it. */
static bool id_find(const char *out, uint64_t *ret)
{
	bool found = false;

	while (*out) {
		size_t n = strcspn(out, "\n"), digits = strspn(out, "0123456789");
		uint64_t id;

		if (digits && digits <= 10 && digits <= n && (digits == n || out[digits] == ';') &&
		    num_u64(out, digits, &id) == 0 && id > 0 && id <= UINT32_MAX) {
			*ret = id;
			found = true;
		}
		out += n + (out[n] == '\n');
	}
	return found;
}

static bool has_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(text, *words))
			return true;
	return false;
}

enum slurm_submitted slurm_sbatch_read(int code, const char *out, const char *errs,
				       uint64_t *ret_id)
{
	/* The controller has answered no. Words of Slurm 20 to 25. */
	static const char *const later[] = { "AssocMaxSubmitJobLimit",
					     "AssocGrpSubmitJobsLimit",
					     "QOSMaxSubmitJobPerUserLimit",
					     "QOSMaxSubmitJobPerAccountLimit",
					     "QOSGrpSubmitJobsLimit",
					     "Job violates accounting/QOS policy",
					     "Slurm temporarily unable to accept job",
					     "Required node not available (down",
					     "Job limit exceeded",
					     "Reached per-user job limit",
					     NULL };
	static const char *const never[] = { "Invalid ",
					     "invalid ",
					     "Requested node configuration is not available",
					     "Requested partition configuration not available",
					     "Requested reservation is invalid",
					     "Memory specification can not be satisfied",
					     "unrecognized option",
					     "option requires an argument",
					     "is ambiguous",
					     "Unable to open file",
					     "User's group not permitted",
					     "Access/permission denied",
					     "Requested time limit is invalid",
					     "Time limit specification required",
					     "Job size specification needs to be",
					     "Node count specification invalid",
					     "Pathname of a file",
					     "Requested GRES option unsupported",
					     "Batch script",
					     NULL };
	/* It was asked and may have queued it; these outrank what else is in the text. */
	static const char *const doubt[] = {
		"timed out",      "Unable to contact", "Transport endpoint",
		"Connection re",  "Zero Bytes",        "Unexpected message",
		"Communication ", "communication ",    NULL
	};

	if (code == 0)
		return id_find(out, ret_id) ? SLURM_ACCEPTED : SLURM_DOUBTFUL;
	if (code < 0 || has_any(errs, doubt))
		return SLURM_DOUBTFUL;
	if (has_any(errs, later))
		return SLURM_BUSY;
	return has_any(errs, never) ? SLURM_REFUSED : SLURM_DOUBTFUL;
}

/* ---- scontrol show config ---- */

static void config_text(char *to, size_t size, const char *value)
{
	snprintf(to, size, "%s", value);
	text_no_controls(to, ' ');
}

/* KEY   = VALUE */
static void config_line(struct slurm_site *site, char *line)
{
	char *eq = strchr(line, '='), *value;
	uint64_t v;

	if (!eq)
		return;
	value = eq + 1 + strspn(eq + 1, " \t");
	value[strcspn(value, "\r")] = '\0';
	while (eq > line && strchr(" \t", eq[-1]))
		eq--;
	*eq = '\0';
	if (!strcmp(line, "MaxArraySize") && number_read(value, 4000001, &v)) {
		site->max_array = (size_t)v;
		site->known = true;
	} else if (!strcmp(line, "AccountingStorageType")) {
		site->accounting = strncmp(value, "accounting_storage/none", 23) != 0 &&
				   strcmp(value, "(null)") != 0 && *value;
	} else if (!strcmp(line, "SLURM_VERSION")) {
		config_text(site->version, sizeof(site->version), value);
	} else if (!strcmp(line, "ClusterName")) {
		config_text(site->cluster, sizeof(site->cluster), value);
	}
}

struct slurm_site slurm_config_read(const char *text, size_t n)
{
	struct slurm_site site = { .max_array = 1001 };

	for (size_t at = 0; at < n;) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end ? (size_t)(end - (text + at)) : n - at;
		CLEANUP(xfreep) char *line = xstrndup(text + at, len);

		config_line(&site, line);
		at += len + 1;
	}
	return site;
}
