/*
 * Commands of madengine's tools that begin with a script of its scripts/common/tools. A package
 * does not contain those scripts, so profrig replaces them:
 *
 *	rocprof_wrapper.sh WORDS --	rocprofv3 with WORDS, or the first rocprof with what it has
 *	rtl_trace_wrapper.sh		the tool's own words (mode: RTL_MODE)
 *	get_library_trace.py, runTracer.sh	the tool's own words
 *
 * The tool decides the place and format of the recording, as it has to find and read it.
 */
#include "mad_int.h"

#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/text.h"

/*
 * rocprof.sh and rtl.sh (mk/embed.mk). $1 is a folder. For rocprof.sh $2 is a format of rocprofv3,
 * followed by its options and --. The workload comes last.
 */
extern const char embedded_rocprof_sh[], embedded_rtl_sh[];

/*
 * The name of the script that the words start; *ret_args: index of the word behind it. NULL: none.
 */
static const char *script_of(const struct strvec *words, size_t *ret_args)
{
	size_t at = words->nr > 1 && text_in_list("bash|sh|python3|python", '|', words->v[0]);

	if (at >= words->nr || !(strstr(words->v[at], "common/tools/") ||
				 strstr(words->v[at], "rocmProfileData/rpd_tracer/")))
		return NULL;
	*ret_args = at + 1;
	return fs_base(words->v[at]);
}

/* Options of rocprofv3 about the place and form of its output; each takes a value. */
static bool is_about_output(const char *word)
{
	return text_in_list("-d|--output-directory|-o|--output-file|-f|--output-format|"
			    "--perfetto-trace-filename",
			    '|', word);
}

/* "NAME" of "…/tools/counters/NAME" */
static const char *counters_file(const char *path)
{
	const char *dir = strstr(path, "tools/counters/");

	return dir && !strchr(dir + strlen("tools/counters/"), '/') ? fs_base(path) : NULL;
}

static void rocprof_words(struct strvec *words, size_t at, const struct mad_wrap *to,
			  char **ret_counters)
{
	struct strvec out = STRVEC_INIT;
	bool kernels = false;

	strvec_pushl(&out, "sh", "-c", embedded_rocprof_sh, "rocprof", to->out, to->format, NULL);
	for (; at < words->nr && strcmp(words->v[at], "--") != 0; at++) {
		const char *word = words->v[at];
		CLEANUP(xfreep) char *name = xstrndup(word, strcspn(word, "="));
		const char *counters = at > 0 && !strcmp(words->v[at - 1], "-i") && to->counters
					       ? counters_file(word)
					       : NULL;

		kernels |= text_in_list("--kernel-trace|--runtime-trace", '|', word);
		if (is_about_output(name)) {
			at += !strchr(word, '=');
			continue;
		}
		if (counters) {
			*ret_counters = xasprintf("counters/%s", counters);
			word = to->counters;
		}
		strvec_push(&out, word);
	}
	if (!kernels)
		strvec_push(&out, "--kernel-trace");
	strvec_push(&out, "--");
	strvec_release(words);
	*words = out;
}

enum mad_wrapped mad_wrap(struct strvec *words, const struct mad_wrap *to, char **ret_counters)
{
	size_t at = 0;
	const char *script = script_of(words, &at);

	if (!script)
		return MAD_WRAP_AS_IT_IS;
	if (strcmp(script, "rocprof_wrapper.sh") == 0) {
		rocprof_words(words, at, to, ret_counters);
		return MAD_WRAP_ROCPROF;
	}
	if (to->own_words)
		return text_in_list("rtl_trace_wrapper.sh|get_library_trace.py|runTracer.sh", '|',
				    script)
			       ? MAD_WRAP_OWN
			       : MAD_WRAP_AS_IT_IS;
	if (strcmp(script, "rtl_trace_wrapper.sh") != 0)
		return MAD_WRAP_AS_IT_IS;
	strvec_clear(words);
	strvec_pushl(words, "sh", "-c", embedded_rtl_sh, "rtl", to->out, NULL);
	return MAD_WRAP_RTL;
}
