/*
 * short_name: names of kernels as people read them in a table.
 *
 *	void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>,
 *	at::detail::Array<char*, 3> >(int, …)
 *	→ at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add, Array>
 *
 * Mangled names are demangled; return type, parameters and anonymous namespaces are left out;
 * arguments of the outermost template become one word each, those inside them nothing. A name that
 * is still wider than its column loses the options of Tensile's and xmma's generators
 * ("Cijk_Alik_Bljk_BBS_BH_MT128x224x64"), then its middle. What is no name
 * of a function ("Memcpy HtoD (Pinned -> Device)") stays, but for its middle.
 *
 * Widths are numbers of UTF-8 characters; a byte that begins none counts as one.
 */
#ifndef PROFRIG_SHORT_NAME_H
#define PROFRIG_SHORT_NAME_H

#include <stddef.h>

#include "profrig/base/strbuf.h"

#define SHORT_NAME_WIDTH 60
#define SHORT_NAME_LEAST 16 /* a smaller width counts as this one */

/* Appends to out. */
void short_name(const char *name, size_t width, struct strbuf *out);
size_t short_width(const char *text);

/*
 * Of all names of a table. Two different names never get one short name: those that would get "~"
 * and digits of a hash of the whole name behind it, within the width. The result does not depend on
 * the order of names. ret[i] is owned, and so is ret.
 */
char **short_names(const char *const *names, size_t nr, size_t width);
void short_names_free(char **v, size_t nr);

#endif
