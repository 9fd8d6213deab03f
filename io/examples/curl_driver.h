/* SPDX-License-Identifier: Apache-2.0 */
/* curl_driver.h - libcurl's multi interface for fibers: one fiber drives all
 * transfers, and each fiber that wants one waits for its own.
 *
 * A multi handle must be used by one thread at a time, and calls back while it
 * is. So one fiber, the driver, owns it. It waits by sennit_poll for an epoll
 * descriptor that has all sockets of libcurl's, and an eventfd by which other
 * fibers wake it. All fibers share connections, TLS sessions and HTTP/2
 * streams.
 *
 * libcurl's callbacks of a transfer run in the driver. They must not wait: that
 * would hold up all transfers.
 */
#ifndef CURL_DRIVER_H
#define CURL_DRIVER_H

#include <sennit.h>

#include <curl/curl.h>
#include <stdbool.h>

struct curl_driver {
	CURLM         *multi;
	int            set;      /* epoll: sockets, and `wake` */
	int            wake;     /* eventfd: there are requests */
	sennit_channel requests; /* struct curl_request */
	sennit_event   ended;
	/* Of the driver. */
	sennit_time due; /* when libcurl wants to be called */
	bool        stopping;
	long        turns; /* how often it went round */
};

/* Start a driver, as a task of the bound scheduler, for up to `connections`
 * connections to a host; 0: any number. Returns 0 or a negative errno. */
int curl_driver_start(struct curl_driver *d, long connections);

/* End it. No transfer may be going on. */
void curl_driver_stop(struct curl_driver *d);

/* Perform the transfer of an easy handle, from any fiber. No other fiber may
 * use the handle meanwhile. Sets its CURLOPT_PRIVATE and CURLOPT_NOSIGNAL.
 * Returns 0 when libcurl has ended the transfer, with what it says in *result,
 * or a negative errno: then the transfer has been taken back. */
int curl_driver_perform(struct curl_driver *d, CURL *easy, CURLcode *result,
			sennit_time deadline);

#endif
