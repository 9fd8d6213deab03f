/* SPDX-License-Identifier: Apache-2.0 */
/* date.h - the date of an answer. */
#ifndef SN_HTTP_DATE_H
#define SN_HTTP_DATE_H

#include "sennit/http.h"

/* Return the current second as a date. Each thread makes it once a second.
 * Valid until the fiber waits. */
const char *sn_http_date_now(void);

#endif
