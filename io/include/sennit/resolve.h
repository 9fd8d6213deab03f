/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.h - addresses of names, and connections to names.
 *
 * In libsennit-io. Names are looked up by getaddrinfo() of libc, in the sources
 * that nsswitch.conf names: files, DNS, multicast, directories. getaddrinfo()
 * blocks a thread of the library. The process has at most 64 of these threads;
 * further lookups wait until one is free. An unbound thread without a deadline
 * calls getaddrinfo() itself.
 *
 * A deadline or a cancelled group ends the call even if the lookup has begun.
 * The lookup then finishes in the background, on copies of its arguments. It
 * keeps its thread until libc gives up: about 5 to 30 s if servers are
 * unreachable, and without limit if a server never completes its answer. This
 * can delay other lookups, but no other call, and not the end of a scheduler.
 */
#ifndef SENNIT_RESOLVE_H
#define SENNIT_RESOLVE_H

#include "sennit/base.h"

SENNIT_BEGIN

struct addrinfo;

/* Look up host and service as getaddrinfo() does, and store the list of
 * addresses in *result. The caller frees it with freeaddrinfo(). host or
 * service may be NULL, but not both. hints may be NULL. A numeric address with
 * a numeric service is converted at once, even with a deadline of 0.
 * Returns 0, -ETIMEDOUT, -ECANCELED, -ENOMEM, or a negative errno value that
 * stands for the result of getaddrinfo():
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
 * alternating families. Each attempt begins 250 ms after the previous one, or
 * as soon as that has failed. The first connection that succeeds is used (RFC
 * 8305).
 * Returns the descriptor, which the caller must close and which has FD_CLOEXEC
 * and TCP_NODELAY; or a negative errno: of sennit_resolve, of socket(), or of
 * the last address that failed.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_connect_host(const char *host,
						   const char *service,
						   sennit_time deadline);

SENNIT_END

#endif
