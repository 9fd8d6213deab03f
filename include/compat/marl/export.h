/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - what a shared library that includes these headers shows.
 *
 * Everything is inline. What must exist once per process, however many shared
 * libraries were built with hidden symbols, is MARL_EXPORT.
 */
#ifndef marl_export_h
#define marl_export_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#define MARL_EXPORT    __attribute__((visibility("default")))
#define MARL_NO_EXPORT __attribute__((visibility("hidden")))

#endif
#endif
