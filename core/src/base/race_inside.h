/* SPDX-License-Identifier: Apache-2.0 */
/* race_inside.h - included before each file of the library in a build for
 * SENNIT_SANITIZE=race, by a compiler option. The library is not instrumented
 * there, and ThreadSanitizer must not see its calls of libc, either: see
 * race.h. These calls go to functions of race.c, also those that the compiler
 * generates to copy or clear a struct.
 */
#if !defined(SN_RACE_INSIDE_H) && !defined(__ASSEMBLER__)
#define SN_RACE_INSIDE_H

#define SN_INSIDE(name) __asm__(#name " = sn_race_" #name)

SN_INSIDE(memcpy);
SN_INSIDE(memmove);
SN_INSIDE(memset);
SN_INSIDE(malloc);
SN_INSIDE(calloc);
SN_INSIDE(realloc);
SN_INSIDE(free);
SN_INSIDE(posix_memalign);
SN_INSIDE(pthread_mutex_init);
SN_INSIDE(pthread_mutex_destroy);
SN_INSIDE(pthread_mutex_lock);
SN_INSIDE(pthread_mutex_trylock);
SN_INSIDE(pthread_mutex_unlock);
SN_INSIDE(getaddrinfo);
SN_INSIDE(close);
SN_INSIDE(eventfd);
SN_INSIDE(epoll_create1);
SN_INSIDE(epoll_ctl);
SN_INSIDE(process_vm_readv);

#endif
