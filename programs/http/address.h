/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - "host:port", "[host]:port" or ":port" as an address. */
#ifndef APPS_HTTP_ADDRESS_H
#define APPS_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Resolve the name into *to, by getaddrinfo. Blocks its thread. Returns the
 * address's size, or -1 after a message. */
int http_address_resolve(const char *name, bool passive,
			 struct sockaddr_storage *to);

#endif
