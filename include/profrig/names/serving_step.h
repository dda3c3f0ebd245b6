/*
 * serving_step: names by which servers of language models mark the steps that they run.
 *
 *	vLLM	execute_context_2(6144)_generation_3(3)
 *		execute_6147_context_2(sq6144sk7144sqsq9sqsk9)_generation_3(sq3sk9sqsq3sqsk9)
 *	SGLang	step[EXTEND bs=2 toks=12], step[DECODE bs=64 g_sq=128],
 *		step[MIXED bs=5 c=2 g=3 c_sq=6144 g_sq=3]
 *	ATOM	prefill[bs=2 tok=14721 ctx=[7803, 6918]], decode[bs=117/128 tok=117 d=117],
 *		also with eager_ in front
 *
 * Requests are those that the step works on: of both phases; of a batch that is padded (117/128)
 * the real ones. Tokens are the new ones: of prompts that are read (prefill) and of answers that
 * are written (decode). SGLang's toks or the sums c_sq and g_sq; a decoding step that states none
 * has one for each request. What is not stated is SERVING_ABSENT.
 *
 * Phase: prefill, decode, mixed where a step has requests of both, idle with none of either;
 * other modes of SGLang are their word in small letters ("verify").
 *
 * Sources: vLLM's worker (annotate_profile), SGLang's and ATOM's profiles as TraceLens reads them.
 */
#ifndef PROFRIG_SERVING_STEP_H
#define PROFRIG_SERVING_STEP_H

#include <stdbool.h>
#include <stdint.h>

#define SERVING_PHASE_MAX 24
#define SERVING_ABSENT INT64_MIN

struct serving_step {
	char phase[SERVING_PHASE_MAX];
	int64_t requests, tokens; /* SERVING_ABSENT */
};

/* Whether a name marks a step. Linear in its length. */
bool serving_step(const char *name, struct serving_step *ret);

#endif
