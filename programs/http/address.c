/* SPDX-License-Identifier: Apache-2.0 */
#include "http/address.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

int http_address_resolve(const char *name, bool passive,
			 struct sockaddr_storage *to)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = passive ? AI_PASSIVE : 0 };
	const char           *colon = strrchr(name, ':');
	struct addrinfo      *found;
	char                  host[256] = "";
	size_t                size = colon ? (size_t)(colon - name) : 0;
	int                   err;

	if (!colon || size >= sizeof(host)) {
		fprintf(stderr, "%s: not of the form host:port\n", name);
		return -1;
	}
	if (size >= 2 && name[0] == '[' && name[size - 1] == ']') {
		name++;
		size -= 2;
	}
	memcpy(host, name, size);
	err = getaddrinfo(size ? host : NULL, colon + 1, &hints, &found);
	if (err) {
		fprintf(stderr, "%s: %s\n", name, gai_strerror(err));
		return -1;
	}
	size = found->ai_addrlen;
	memcpy(to, found->ai_addr, size);
	freeaddrinfo(found);
	return (int)size;
}
