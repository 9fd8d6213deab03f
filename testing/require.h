/* SPDX-License-Identifier: Apache-2.0 */
/* require.h - claims of programs that have no cmocka: one that is false aborts
 * and says where. */
#ifndef SN_TEST_REQUIRE_H
#define SN_TEST_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(claim)                                                   \
	do {                                                             \
		if (!(claim)) {                                          \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, \
				__LINE__, #claim);                       \
			abort();                                         \
		}                                                        \
	} while (0)

#endif
