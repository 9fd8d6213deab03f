/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - visibility of the few symbols that must be shared.
 *
 * All functions are inline. An object that must exist once per process is
 * MARL_EXPORT, also when several shared libraries were built with hidden
 * symbols.
 */
#ifndef marl_export_h
#define marl_export_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#define MARL_EXPORT    __attribute__((visibility("default")))
#define MARL_NO_EXPORT __attribute__((visibility("hidden")))

#endif
#endif
