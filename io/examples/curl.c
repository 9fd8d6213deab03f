/* SPDX-License-Identifier: Apache-2.0 */
/* curl.c - fetches many URLs at once into files: a fiber for each, and libcurl
 * behind all of them; see curl_driver.h.
 *
 *	curl FOLDER SECONDS URL...
 *
 * Each file has the last part of its URL as its name. The first error ends all
 * transfers; so does the deadline, after as many seconds.
 */
#include "curl_driver.h"

#include <sennit/io.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS 32
#define LARGEST     (64 << 20) /* bytes that a file may have */

static struct curl_driver driver;
static const char        *folder;

struct body {
	char  *bytes;
	size_t size;
};

/* Runs in the driver, so it must not wait: it collects. A program that wants
 * back-pressure returns CURL_WRITEFUNC_PAUSE here. */
static size_t collect(char *bytes, size_t one, size_t size, void *argument)
{
	struct body *b = argument;
	char        *more = NULL;

	(void)one;
	if (b->size + size <= LARGEST)
		more = realloc(b->bytes, b->size + size + 1);
	if (!more)
		return 0; /* libcurl ends the transfer: CURLE_WRITE_ERROR */
	memcpy(more + b->size, bytes, size);
	b->bytes = more;
	b->size += size;
	return size;
}

/* Until the group's deadline. */
static int fetch(const char *url, struct body *b)
{
	char     why[CURL_ERROR_SIZE] = "";
	CURL    *easy = curl_easy_init();
	CURLcode result = CURLE_OK;
	int      err;

	if (!easy)
		return -ENOMEM;
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, b);
	err = curl_driver_perform(&driver, easy, &result, SENNIT_NEVER);
	if (!err && result) {
		fprintf(stderr, "%s: %s\n", url,
			*why ? why : curl_easy_strerror(result));
		err = -EIO;
	}
	curl_easy_cleanup(easy);
	return err;
}

static int save(const char *url, const struct body *b)
{
	const char *name = strrchr(url, '/');
	char        path[4096];
	size_t      done = 0;
	int         fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name ? name + 1 : url);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	while (!err && done < b->size) {
		ptrdiff_t n = sennit_write(fd, b->bytes + done, b->size - done,
					   SENNIT_NEVER);

		err = n < 0 ? (int)n : 0;
		done += n > 0 ? (size_t)n : 0;
	}
	if (sennit_close(fd) && !err)
		err = -EIO;
	return err;
}

static int fetch_and_save(void *argument)
{
	const char *url = argument;
	struct body b = { NULL, 0 };
	int         err = fetch(url, &b);

	if (!err)
		err = save(url, &b);
	free(b.bytes);
	return err;
}

static int run(int count, char **urls, uint64_t patience)
{
	sennit_group g;
	int          ended, err = curl_driver_start(&driver, CONNECTIONS);

	if (err)
		return err;
	sennit_group_init(&g, sennit_after(patience), 0);
	for (int i = 0; i < count && !err; i++)
		err = sennit_group_spawn(&g, fetch_and_save, urls[i]);
	ended = sennit_group_wait(&g);
	curl_driver_stop(&driver);
	return ended ? ended : err;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               err;

	if (argc < 4) {
		fputs("curl FOLDER SECONDS URL...\n", stderr);
		return 2;
	}
	folder = argv[1];
	if (curl_global_init(CURL_GLOBAL_DEFAULT) ||
	    sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run(argc - 3, argv + 3,
		  strtoull(argv[2], NULL, 10) * SENNIT_SECOND);
	printf("%d files, %ld turns of the driver, by %s\n", argc - 3,
	       driver.turns, sennit_io_backend());
	if (err)
		fprintf(stderr, "curl: %s\n", sennit_strerror(err));
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	curl_global_cleanup();
	return err ? 1 : 0;
}
