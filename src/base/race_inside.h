/* SPDX-License-Identifier: Apache-2.0 */
/* race_inside.h - comes before each file of the library in a build for
 * SENNIT_SANITIZE=race, by an option of the compiler. The library is not
 * instrumented there, and ThreadSanitizer must not see what it copies and
 * locks, either: see race.h.
 */
#if !defined(SN_RACE_INSIDE_H) && !defined(__ASSEMBLER__)
#define SN_RACE_INSIDE_H

#include <pthread.h>

/* Also where the compiler calls them, to copy or clear a struct. */
__asm__("memcpy = sn_race_copy\n"
	"memmove = sn_race_move\n"
	"memset = sn_race_set");

#pragma GCC visibility push(default)
void                   sn_race_hide(void);
void                   sn_race_show(void);
#pragma GCC visibility pop

#define SN_HIDDEN(call)                   \
	__extension__({                   \
		__typeof__(call) result_; \
		sn_race_hide();           \
		result_ = call;           \
		sn_race_show();           \
		result_;                  \
	})
#define pthread_mutex_init(m, a) SN_HIDDEN(pthread_mutex_init(m, a))
#define pthread_mutex_destroy(m) SN_HIDDEN(pthread_mutex_destroy(m))
#define pthread_mutex_lock(m)    SN_HIDDEN(pthread_mutex_lock(m))
#define pthread_mutex_trylock(m) SN_HIDDEN(pthread_mutex_trylock(m))
#define pthread_mutex_unlock(m)  SN_HIDDEN(pthread_mutex_unlock(m))

#endif
