/* SPDX-License-Identifier: Apache-2.0 */
/* pthread_np.h - see tools/check-systems. */
#ifndef SN_TEST_PTHREAD_NP_H
#define SN_TEST_PTHREAD_NP_H

#include <pthread.h>

void pthread_set_name_np(pthread_t thread, const char *name);
int  pthread_getthreadid_np(void);
int  pthread_attr_get_np(pthread_t thread, pthread_attr_t *attributes);

#endif
