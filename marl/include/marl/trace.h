/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - trace macros of marl, which do nothing here.
 *
 * sennit records by itself what its workers do: see sennit/trace.h.
 */
#ifndef marl_trace_h
#define marl_trace_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#define MARL_TRACE_ENABLED 0

#define MARL_SCOPED_EVENT(...)
#define MARL_BEGIN_ASYNC_EVENT(id, ...)
#define MARL_END_ASYNC_EVENT(id, ...)
#define MARL_SCOPED_ASYNC_EVENT(id, ...)
#define MARL_NAME_THREAD(...)

#endif
#endif
