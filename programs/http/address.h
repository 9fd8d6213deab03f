/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - parses "host:port", "[host]:port" or ":port". */
#ifndef APPS_HTTP_ADDRESS_H
#define APPS_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Resolve the name into *to with getaddrinfo, which blocks the thread. Returns
 * the size of the address, or -1 after a message. */
int http_address_resolve(const char *name, bool passive,
			 struct sockaddr_storage *to);

#endif
