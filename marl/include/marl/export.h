/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - visibility of symbols.
 *
 * All functions are inline. What these headers keep is in one of two places:
 *   - with the scheduler, which libsennit has. So whatever uses one copy of
 *     libsennit, several shared libraries or versions of these headers, has
 *     one state, and two static copies of libsennit know nothing of each
 *     other;
 *   - in each program or shared library for itself (MARL_OWN in
 *     detail/system.h), where it makes no difference to others. Such an object
 *     is not exported, since gcc would make it one per process
 *     (STB_GNU_UNIQUE), also in libraries that are loaded apart.
 */
#ifndef marl_export_h
#define marl_export_h

#define MARL_EXPORT    __attribute__((visibility("default")))
#define MARL_NO_EXPORT __attribute__((visibility("hidden")))

#endif
