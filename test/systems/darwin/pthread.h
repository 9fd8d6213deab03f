/* SPDX-License-Identifier: Apache-2.0 */
/* pthread.h - see tools/check-systems. */
#ifndef SN_TEST_PTHREAD_H
#define SN_TEST_PTHREAD_H

#define pthread_setname_np musl_pthread_setname_np
#include_next <pthread.h>
#undef pthread_setname_np

#include <stdint.h>

int    pthread_setname_np(const char *name);
int    pthread_threadid_np(pthread_t thread, uint64_t *id);
void  *pthread_get_stackaddr_np(pthread_t thread);
size_t pthread_get_stacksize_np(pthread_t thread);

#endif
