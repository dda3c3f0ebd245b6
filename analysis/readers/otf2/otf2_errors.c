#include "otf2_private.h"

#include <stdarg.h>
#include <stdio.h>

#include "profrig/base/text.h"

static _Thread_local char said[256];

static OTF2_ErrorCode on_error(void *user, const char *file, uint64_t line, const char *function,
			       OTF2_ErrorCode code, const char *fmt, va_list ap)
{
	char text[192];

	(void)user, (void)file, (void)line, (void)function;
	/* the first of a chain is nearest to the cause */
	if (*said)
		return code;
	vsnprintf(text, sizeof(text), fmt ? fmt : "", ap);
	snprintf(said, sizeof(said), "%s%s%s", OTF2_Error_GetDescription(code), *text ? ": " : "",
		 text);
	text_no_controls(said, ' ');
	return code;
}

void otf2_errors_catch(void)
{
	otf2_errors_forget();
	OTF2_Error_RegisterCallback(on_error, NULL);
}

void otf2_errors_forget(void)
{
	*said = '\0';
}

const char *otf2_error(OTF2_ErrorCode code)
{
	return *said ? said : OTF2_Error_GetDescription(code);
}
