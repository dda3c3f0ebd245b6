#include "rocblas_call.h"
#include "library_args.h"

#include <string.h>

#include "profrig/base/xalloc.h"

bool rocblas_is_info(struct text_slice f)
{
	static const char *const begins[] = { "create_", "destroy_", "set_",      "get_",
					      "query_",  "start_",   "stop_",     "is_",
					      "device_", "abort",    "initialize" };
	static const char tail[] = "_get_solutions";

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (slice_begins(f, begins[i]))
			return true;
	return memmem(f.p, f.n, tail, strlen(tail)) != NULL;
}

void rocblas_common(const struct blas_name *name, const struct element_type *type,
		    struct library_key *k)
{
	static const char *const letters[][2] = {
		{ "f32", "s" },  { "f64", "d" },  { "f16", "h" },
		{ "f32c", "c" }, { "f64c", "z" }, { "bf16", "bf" }
	};
	const char *letter = "";

	if (args_of(name))
		return;
	if (name->type)
		type = name->type;
	for (size_t i = 0; i < ARRAY_LEN(letters) && !name->ex && type; i++)
		if (!strcmp(letters[i][0], type->name))
			letter = letters[i][1];
	strbuf_clear(&k->common);
	strbuf_addf(&k->common, "call %s%s %d%d%d", letter, name->function, name->ex, name->batched,
		    name->strided);
}
