/* SPDX-License-Identifier: Apache-2.0 */
/* network_httpd.c - connections of sennit-httpd in the simulated network:
 * wherever requests are cut and whatever is short, every answer is whole and in
 * its place; a connection that the network takes away ends its fiber.
 */
#include "../../../io/test/explore/network.h"

#include "httpd/httpd.h"

#include <fcntl.h>
#include <unistd.h>

#define BODY "0123456789abcdefghijklmnopqrstuvwxyz"

static const char requests[] =
	"GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n"
	"HEAD /a.txt HTTP/1.1\r\nHost: x\r\n\r\n"
	"GET /none HTTP/1.1\r\nHost: x\r\n\r\n"
	"POST /status HTTP/1.1\r\nHost: x\r\n"
	"Content-Length: 36\r\n\r\n" BODY "POST /status HTTP/1.1\r\nHost: x\r\n"
	"Transfer-Encoding: chunked\r\n\r\n"
	"1f\r\n0123456789abcdefghijklmnopqrstu\r\n"
	"5\r\nvwxyz\r\n0\r\n\r\n"
	"GET /a.txt HTTP/1.1\r\nHost: x\r\n"
	"Range: bytes=10-12\r\nConnection: close\r\n\r\n";

/* What is in the answers, in this order. */
static const char *const expected[] = {
	"HTTP/1.1 200 ", BODY,
	"HTTP/1.1 200 ", "HTTP/1.1 404 ",
	"HTTP/1.1 200 ", "{\"received\":36",
	"HTTP/1.1 200 ", "{\"received\":36",
	"HTTP/1.1 206 ", "\r\n\r\nabc",
};

/* No patience ends: the seed would let it end early. */
static struct httpd httpd = {
	.service = { .max_connections = 10 },
	.files = { .index = "index.html",
		   .keep = 1 << 20,
		   .keep_files = 16,
		   .small = 65536,
		   .valid = SENNIT_NEVER },
	.limits = { .head = 8192, .fields = 100, .body = 1 << 20 },
	.idle_patience = SENNIT_NEVER,
	.head_patience = SENNIT_NEVER,
	.body_patience = SENNIT_NEVER,
	.send_patience = SENNIT_NEVER,
	.total_patience = SENNIT_NEVER,
	.status_path = "/status",
};

static struct {
	const sennit_simulation_config *config;
	int                             fds[2];
	unsigned                        whole, broken;
} talk;

static int serve(void *unused)
{
	struct http_stream s = { .fd = talk.fds[0],
				 .stop = &httpd.service.stop };
	struct sockaddr_in peer = { .sin_family = AF_INET };

	(void)unused;
	httpd_serve(&s, (struct sockaddr *)&peer, &httpd);
	return 0;
}

static int ask(void *unused)
{
	(void)unused;
	(void)!send_all(talk.fds[1], requests, sizeof(requests) - 1);
	return 0;
}

static bool is_whole(const char *answers)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const char *at = strstr(answers, expected[i]);

		if (!at)
			return false;
		answers = at + strlen(expected[i]);
	}
	return true;
}

static void ask_all(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	sennit_group      g;
	char              answers[8192] = "";

	(void)unused;
	REQUIRE(!sennit_simulation_begin(talk.config));
	REQUIRE(!sennit_simulation_pair(talk.fds));
	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, serve, NULL));
	REQUIRE(!sennit_group_spawn(&g, ask, NULL));
	(void)receive_all(talk.fds[1], answers, sizeof(answers) - 1);
	sennit_close(talk.fds[1]);
	REQUIRE(!sennit_group_wait(&g));
	if (is_whole(answers)) {
		talk.whole++;
	} else {
		talk.broken++;
		if (!talk.config->resets)
			fprintf(stderr, "%s\n", answers);
		REQUIRE(talk.config->resets);
	}
	end(s);
}

TEST(every_answer_is_whole_and_in_its_place)
{
	talk.config = SENNIT_SIMULATION_CONFIG(.buffer = 64);
	explore_some(ask_all, NULL, SCHEDULES / 15);
	talk.config = SENNIT_SIMULATION_CONFIG(.delay_max_ns = 10000);
	explore_some(ask_all, NULL, SCHEDULES / 15);
	assert_int_not_equal(talk.whole, 0);
}

TEST(a_connection_that_is_lost_ends_its_fiber)
{
	talk.config = SENNIT_SIMULATION_CONFIG(.resets = 30000, .ends = 30000);
	explore_some(ask_all, NULL, SCHEDULES / 15);
}

static char folder[] = "/tmp/sennit-httpd-XXXXXX";

static int make_folder(void)
{
	char name[64];
	int  fd;

	if (!mkdtemp(folder))
		return -1;
	snprintf(name, sizeof(name), "%s/a.txt", folder);
	fd = open(name, O_CREAT | O_WRONLY, 0644);
	if (fd < 0 || write(fd, BODY, strlen(BODY)) < 0)
		return -1;
	close(fd);
	httpd.files.root = folder;
	return files_open(&httpd.files);
}

static int remove_folder(int failures)
{
	char name[64];

	files_close();
	snprintf(name, sizeof(name), "%s/a.txt", folder);
	unlink(name);
	return failures || rmdir(folder);
}

BEFORE_ALL(make_folder);
AFTER_ALL(remove_folder);
