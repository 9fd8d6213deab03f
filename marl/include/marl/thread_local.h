/* SPDX-License-Identifier: Apache-2.0 */
/* thread_local.h - thread-local variables of a class, with separate declaration
 * and definition.
 *
 * A fiber resumes on the thread that it left, so such a variable may be used on
 * both sides of any wait.
 */
#ifndef marl_thread_local_h
#define marl_thread_local_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#define MARL_DECLARE_THREAD_LOCAL(type, name) static thread_local type name
#define MARL_INSTANTIATE_THREAD_LOCAL(type, name, value) \
	thread_local type name                           \
	{                                                \
		value                                    \
	}

#endif
#endif
