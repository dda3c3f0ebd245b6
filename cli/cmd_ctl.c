/*
 * ctl: sends requests to a live run. mark: notes a moment from inside a workload.
 */
#include "cli.h"

#include <errno.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/log.h"
#include "profrig/run/control.h"

#define ANSWER_MS ((CONTROL_SWITCH_S + 5) * 1000)

static const char *text_at(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* The user's name, for those who read the status later. */
static const char *caller_name(void)
{
	const struct passwd *pw = getpwuid(getuid());

	return pw && pw->pw_name && *pw->pw_name ? pw->pw_name : "ctl";
}

static void say_tools(const json_t *answer)
{
	const json_t *tool;
	size_t i;

	json_array_foreach(json_object_get(answer, "tools"), i, tool)
	{
		const char *why = text_at(tool, "why");

		fputs("  ", stdout);
		cli_put(stdout, text_at(tool, "tool"), 60);
		fputs(": ", stdout);
		cli_put(stdout, text_at(tool, "state"), 60);
		fputs(*why ? ": " : "", stdout);
		cli_put(stdout, why, 200);
		putchar('\n');
	}
}

static void say_status(const json_t *answer)
{
	const json_t *hold;
	int64_t now = json_integer_value(json_object_get(answer, "t_ns"));
	size_t i;

	cli_put(stdout, text_at(answer, "run"), 200);
	fputs(": ", stdout);
	cli_put(stdout, text_at(answer, "phase"), 60);
	puts(json_is_true(json_object_get(answer, "recording")) ? ", recording"
								: ", not recording");
	json_array_foreach(json_object_get(answer, "holds"), i, hold)
	{
		int64_t since = json_integer_value(json_object_get(hold, "since_ns"));

		fputs("  held by ", stdout);
		cli_put(stdout, text_at(hold, "by"), 60);
		printf(" for %.1f s\n", (double)(now - since) / 1e9);
	}
	printf("  %lld window%s, %lld mark%s so far\n",
	       (long long)json_integer_value(json_object_get(answer, "windows")),
	       json_integer_value(json_object_get(answer, "windows")) == 1 ? "" : "s",
	       (long long)json_integer_value(json_object_get(answer, "marks")),
	       json_integer_value(json_object_get(answer, "marks")) == 1 ? "" : "s");
	say_tools(answer);
}

/* A tool that does not answer is reported after any request. */
static int silent_tools(const json_t *answer)
{
	const json_t *tool;
	int code = EXIT_DONE;
	size_t i;

	json_array_foreach(json_object_get(answer, "tools"), i, tool)
	{
		if (strcmp(text_at(tool, "state"), "no answer") != 0)
			continue;
		log_warn("%s: %s", text_at(tool, "tool"), text_at(tool, "why"));
		code = EXIT_PARTIAL;
	}
	return code;
}

static int say_answer(const json_t *answer, const char *op, bool json)
{
	if (json) {
		CLEANUP(xfreep) char *text = json_dumps(answer, JSON_INDENT(1));

		puts(text ? text : "{}");
	}
	if (!json_is_true(json_object_get(answer, "ok"))) {
		log_error("%s", text_at(answer, "error"));
		return EXIT_WORKLOAD;
	}
	if (!json && !strcmp(op, "status"))
		say_status(answer);
	else if (!json && strcmp(op, "mark") != 0)
		printf("%s\n", json_is_true(json_object_get(answer, "recording"))
				       ? "recording"
				       : "not recording");
	return strcmp(op, "start") != 0 && strcmp(op, "stop") != 0 ? EXIT_DONE
								   : silent_tools(answer);
}

struct ctl {
	const struct command *c;
	const char *runs_dir, *as;
	bool json;
};

static json_t *ctl_request(const struct ctl *ctl, const char *op, const char *name)
{
	json_t *rq = json_pack("{s:s}", "op", op);

	/* A stop without --as ends the recording for all holders. */
	if (ctl->as || strcmp(op, "stop") != 0)
		json_object_set_new(rq, "by", json_string(ctl->as ? ctl->as : caller_name()));
	if (name)
		json_object_set_new(rq, "name", json_string(name));
	if (!strcmp(op, "mark"))
		json_object_set_new(rq, "t_ns", json_integer(clock_monotonic_ns()));
	return rq;
}

static int bad_words(const struct ctl *ctl, const struct strvec *words)
{
	const char *op = words->nr > 1 ? words->v[1] : "";

	if (words->nr < 2)
		return cli_usage(ctl->c,
				 "want RUN and what to do: start, stop, mark NAME or status");
	if (strcmp(op, "start") != 0 && strcmp(op, "stop") != 0 && strcmp(op, "mark") != 0 &&
	    strcmp(op, "status") != 0)
		return cli_usage(ctl->c, "'%s': want start, stop, mark NAME or status", op);
	if (!strcmp(op, "mark") && words->nr != 3)
		return cli_usage(ctl->c, "mark wants one NAME");
	if (words->nr > 3 || (words->nr == 3 && (!strcmp(op, "stop") || !strcmp(op, "status"))))
		return cli_usage(ctl->c, "'%s' is too much", words->v[words->nr - 1]);
	return -1;
}

static int ctl_ask(const struct ctl *ctl, const struct strvec *words)
{
	/* First of all, because the request carries the time of a mark. */
	json_t *rq = ctl_request(ctl, words->v[1], words->nr > 2 ? words->v[2] : NULL);
	CLEANUP(xfreep) char *dir = NULL;
	struct err err = ERR_INIT;
	json_t *answer = NULL;
	int r = control_find(words->v[0], ctl->runs_dir, &dir, &err), code;

	if (r < 0) {
		json_decref(rq);
		log_error("%s", err.msg);
		return EXIT_USAGE;
	}
	r = control_ask(dir, rq, ANSWER_MS, &answer, &err);
	if (r < 0) {
		log_error("%s", err.msg);
		return EXIT_MISSING;
	}
	code = say_answer(answer, words->v[1], ctl->json);
	json_decref(answer);
	return code;
}

static int ctl_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	struct ctl ctl = { .c = c };
	char **rest;
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &ctl.runs_dir, "DIR",
		  "where run directories are (./runs)" },
		{ "as", 0, OPT_STR, &ctl.as, "NAME",
		  "who holds the recording; stop then ends only a hold of that name" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &ctl.json, argc, argv, &words, &rest);

	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&words, *rest);
	if (code < 0)
		code = bad_words(&ctl, &words);
	return code < 0 ? ctl_ask(&ctl, &words) : code;
}

static int mark_main(const struct command *c, int argc, char **argv)
{
	int64_t t_ns = clock_monotonic_ns();
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	const char *path = getenv("PROFRIG_MARK");
	struct err err = ERR_INIT;
	char **rest;
	const struct opt opts[] = { { 0 } };
	int code = cli_parse(c, opts, NULL, argc, argv, &words, &rest);

	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&words, *rest);
	if (code < 0 && words.nr != 1)
		code = cli_usage(c, "want one NAME");
	if (code >= 0)
		return code;
	if (!path || !*path) {
		log_error("$PROFRIG_MARK is not set: this program was not started by profrig run "
			  "('profrig ctl "
			  "latest mark NAME' marks from outside)");
		return EXIT_MISSING;
	}
	if (control_mark_file(path, words.v[0], t_ns, &err) == 0)
		return EXIT_DONE;
	log_error("%s", err.msg);
	return EXIT_MISSING;
}

extern const struct command cmd_ctl, cmd_mark;
const struct command cmd_ctl = { "ctl", "RUN start [NAME] | stop | mark NAME | status",
				 "switch the recording of a live run, mark moments",
				 "profrig ctl latest start", ctl_main };
const struct command cmd_mark = { "mark", "NAME", "mark a moment, from inside a workload",
				  "profrig mark 'epoch 3'", mark_main };
