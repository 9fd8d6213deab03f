/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.h - addresses of names, and connections to names.
 *
 * In libsennit-io. Names are looked up by getaddrinfo() of libc, so by what
 * nsswitch.conf says: files, DNS, multicast, directories. That blocks a thread:
 * one of the library's, of which there are 64 in the process at most. Further
 * lookups wait until one is free; an unbound thread without a deadline looks up
 * itself.
 *
 * A deadline and a cancelled group hold for a lookup that has begun, too: the
 * call returns, and the lookup ends in the background, on copies of its own.
 * Lookups that were given up keep their threads until libc gives up, some 5 to
 * 30 s with unreachable servers, and for ever if a server wants it so. They
 * hold up other lookups alone, no other call, and no scheduler's end.
 */
#ifndef SENNIT_RESOLVE_H
#define SENNIT_RESOLVE_H

#include "sennit/base.h"

SENNIT_BEGIN

struct addrinfo;

/* Look up host and service as getaddrinfo() does: *result becomes the list of
 * addresses, which the caller frees with freeaddrinfo(). host or service may be
 * NULL, not both; hints may be NULL. Numeric addresses with numeric services
 * are converted at once, also with a deadline of 0.
 * Returns 0, -ETIMEDOUT, -ECANCELED, -ENOMEM, or what getaddrinfo() says, as a
 * negative errno value:
 *
 *	EAI_NONAME                   -ENOENT, no such host or service
 *	EAI_NODATA, EAI_ADDRFAMILY   -ENODATA, no address of that family
 *	EAI_AGAIN                    -EAGAIN, no answer for now
 *	EAI_FAIL                     -EREMOTEIO, a server refused
 *	EAI_SERVICE                  -EPROTONOSUPPORT, not with that type
 *	EAI_SOCKTYPE                 -ESOCKTNOSUPPORT
 *	EAI_FAMILY                   -EAFNOSUPPORT
 *	EAI_BADFLAGS                 -EINVAL
 *	EAI_OVERFLOW                 -EOVERFLOW
 *	EAI_SYSTEM                   -errno
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_resolve(const char            *host,
					      const char            *service,
					      const struct addrinfo *hints,
					      struct addrinfo      **result,
					      sennit_time            deadline);

/* Connect by TCP to host and service: the descriptor of the connection, which
 * is the caller's, with FD_CLOEXEC. The addresses are tried in turn, families
 * alternating: the next one 250 ms after the last, or at once when that has
 * failed. The first that answers is taken (RFC 8305).
 * Returns the descriptor, or a negative errno: of sennit_resolve, of socket(),
 * or of the last address that failed.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_connect_host(const char *host,
						   const char *service,
						   sennit_time deadline);

SENNIT_END

#endif
