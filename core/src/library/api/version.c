/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - what library this is, for bug reports. */
#include "base/compiler.h"
#include "sennit/base.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

#define NUMBERS                    \
	TEXT(SENNIT_VERSION_MAJOR) \
	"." TEXT(SENNIT_VERSION_MINOR) "." TEXT(SENNIT_VERSION_PATCH)

#ifdef __clang__
#define COMPILER "clang-" TEXT(__clang_major__)
#else
#define COMPILER "gcc-" TEXT(__GNUC__)
#endif

uint32_t sennit_version(void)
{
	return SENNIT_VERSION;
}

const char *sennit_build(void)
{
	return "sennit " NUMBERS " " COMPILER
#ifndef NDEBUG
	       " assertions"
#endif
#ifdef SENNIT_DETERMINISTIC
	       " deterministic"
#endif
#ifdef SN_ASAN
	       " asan"
#endif
#ifdef SN_TSAN
	       " tsan"
#endif
#ifdef SENNIT_SPAWN_SITES
	       " spawn-sites"
#endif
#ifdef SENNIT_END_COUNT
	       " end=count"
#endif
#ifdef SENNIT_NO_FP_CONTROL
	       " no-fp-control"
#endif
		;
}
