/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.h - addresses of names, and connections to names.
 *
 * In libsennit-io. getaddrinfo() of libc looks up names, by what nsswitch.conf
 * says: files, DNS, multicast, directories. It blocks a thread of the library;
 * the process has 64 of these at most. Further lookups wait until one is free.
 * An unbound thread without a deadline calls getaddrinfo() itself.
 *
 * A deadline or a cancelled group ends the call even if the lookup has begun.
 * The lookup then ends in the background, on copies of its arguments. It keeps
 * its thread until libc gives up: some 5 to 30 s with unreachable servers, and
 * for ever if a server keeps it waiting. This delays other lookups only: no
 * other call, and no scheduler's end.
 */
#ifndef SENNIT_RESOLVE_H
#define SENNIT_RESOLVE_H

#include "sennit/base.h"

SENNIT_BEGIN

struct addrinfo;

/* Look up host and service as getaddrinfo() does: store the list of addresses
 * in *result; the caller frees it with freeaddrinfo(). host or service may be
 * NULL, but not both; hints may be NULL. Numeric addresses with numeric
 * services are converted at once, also with a deadline of 0.
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

/* Connect by TCP to host and service. The addresses are tried in turn, with
 * alternating families: each 250 ms after the one before, or as soon as that
 * has failed. The first that answers is taken (RFC 8305). The caller owns the
 * descriptor, which has FD_CLOEXEC.
 * Returns the descriptor, or a negative errno: of sennit_resolve, of socket(),
 * or of the last address that failed.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_connect_host(const char *host,
						   const char *service,
						   sennit_time deadline);

SENNIT_END

#endif
