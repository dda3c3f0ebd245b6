/*
 * demangle: the qualified name in a mangled C++ name (Itanium C++ ABI, chapter 5.1).
 *
 *	_ZN7cutlass6KernelI3FooEEvNT_6ParamsE	→ cutlass::Kernel<Foo>
 *
 * Return type and parameters of the outermost function are left out, so the result says which
 * function it is and no more. Anonymous namespaces are "(anonymous namespace)", lambdas
 * "{lambda()#1}" with their parameters. A part that this reader does not know (expressions with
 * operators, vector types of vendors) makes the whole name unknown: the caller shows it as it is.
 *
 * Names are untrusted. Recursion ends at DEMANGLE_DEPTH, and the text at DEMANGLE_MAX bytes: each
 * back reference may double it.
 */
#ifndef PROFRIG_DEMANGLE_H
#define PROFRIG_DEMANGLE_H

#include <stdbool.h>

#include "profrig/base/strbuf.h"

#define DEMANGLE_DEPTH 256
#define DEMANGLE_MAX ((size_t)1 << 16)

/* Appends to out. False, and out as it was: the name is not mangled, or has unknown parts. */
bool demangle(const char *name, struct strbuf *out);

#endif
