/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.c - prints what a server says: http_client URL TARGET. */
#include <sennit/http.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const sennit_http_head *answer;
	sennit_http            *http = NULL;
	sennit_http_text        part;
	const sennit_time       by = sennit_after(30 * SENNIT_SECOND);
	ptrdiff_t n = argc < 3 || sennit_http_connect(&http, argv[1], NULL, by);

	if (!n && !sennit_http_ask(http, "GET", argv[2], NULL, 0, by))
		n = sennit_http_next(http, &answer, by);
	while (n > 0 && (n = sennit_http_read(http, &part, by)) > 0)
		fwrite(part.at, 1, part.size, stdout);
	sennit_http_destroy(http);
	return n < 0 || !http;
}
