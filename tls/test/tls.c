/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - connections: handshakes, data, ends, and refusals. */
#include "ends.h"

#include "sennit/reader.h"

#include <netinet/tcp.h>

/* --- bytes ---------------------------------------------------------------- */

static void exchange(void *argument)
{
	struct ends e;
	char        b[32];

	(void)argument;
	open_shaken(&e);
	EXPECT(sennit_tls_write(e.client, "to you", 6, LONG_ENOUGH) == 6);
	EXPECT(sennit_tls_read(e.server, b, sizeof(b), LONG_ENOUGH) == 6);
	EXPECT(!memcmp(b, "to you", 6));
	EXPECT(!sennit_tls_write_all(e.server, "and back", 8, NULL,
				     LONG_ENOUGH));
	EXPECT(sennit_tls_read(e.client, b, 3, LONG_ENOUGH) == 3);
	EXPECT(sennit_tls_read(e.client, b + 3, 29, LONG_ENOUGH) == 5);
	EXPECT(!memcmp(b, "and back", 8));
	EXPECT(sennit_tls_read(e.client, b, 0, LONG_ENOUGH) == 0);
	EXPECT(sennit_tls_write(e.client, b, 0, LONG_ENOUGH) == 0);
	EXPECT(sennit_tls_error(e.client) == NULL);
	close_ends(&e);
}

TEST_WITH_WORKERS(bytes_go_to_and_fro)
{
	(void)w;
	in_each_place(exchange, NULL);
}

/* Errors of a failed fiber may be left in the thread's error queue, and errors
 * of the program as well. */
static void exchange_after_an_error(void *argument)
{
	ERR_raise(ERR_LIB_SSL, SSL_R_UNEXPECTED_EOF_WHILE_READING);
	ERR_raise(ERR_LIB_SSL, SSL_R_CERTIFICATE_VERIFY_FAILED);
	exchange(argument);
	ERR_clear_error();
}

TEST_WITH_ONE(errors_of_others_are_not_ours)
{
	(void)w;
	in_a_task(exchange_after_an_error, NULL);
}

static void read_lines(void *argument)
{
	struct ends   e;
	sennit_reader r;
	char         *line, b[4];

	(void)argument;
	open_shaken(&e);
	sennit_reader_init_tls(&r, e.server, NULL, 64);
	EXPECT(sennit_tls_write(e.client, "one\ntw", 6, LONG_ENOUGH) == 6);
	EXPECT(sennit_reader_read_line(&r, &line, LONG_ENOUGH) == 3);
	EXPECT(!strcmp(line, "one"));
	EXPECT(sennit_reader_read_line(&r, &line, 0) == -ETIMEDOUT);
	EXPECT(sennit_tls_write(e.client, "o\r\n1234", 7, LONG_ENOUGH) == 7);
	EXPECT(sennit_reader_read_line(&r, &line, LONG_ENOUGH) == 3);
	EXPECT(!strcmp(line, "two"));
	EXPECT(!sennit_reader_read_exactly(&r, b, 4, NULL, LONG_ENOUGH));
	EXPECT(!sennit_tls_shutdown(e.client, LONG_ENOUGH));
	EXPECT(sennit_reader_read_line(&r, &line, LONG_ENOUGH) == -ENODATA);
	sennit_reader_destroy(&r);
	close_ends(&e);
	open_shaken(&e);
	sennit_reader_init_tls(&r, e.server, b, 4);
	EXPECT(!sennit_shutdown(e.fds[1], SHUT_WR));
	EXPECT(sennit_reader_read_line(&r, &line, LONG_ENOUGH) ==
	       -ECONNABORTED);
	sennit_reader_destroy(&r);
	close_ends(&e);
}

TEST_WITH_WORKERS(lines_are_read_by_a_reader)
{
	(void)w;
	in_each_place(read_lines, NULL);
}

/* --- one after the other ----------------------------------------------- */

static void end_in_turn(void *argument)
{
	struct ends e;
	char        b[32];

	(void)argument;
	open_shaken(&e);
	EXPECT(sennit_tls_write(e.client, "last", 4, LONG_ENOUGH) == 4);
	EXPECT(sennit_tls_shutdown(e.client, LONG_ENOUGH) == 0);
	EXPECT(sennit_tls_shutdown(e.client, LONG_ENOUGH) == 0);
	EXPECT(sennit_tls_write(e.client, "more", 4, LONG_ENOUGH) == -EPIPE);
	EXPECT(sennit_tls_read(e.server, b, sizeof(b), LONG_ENOUGH) == 4);
	EXPECT(sennit_tls_read(e.server, b, sizeof(b), LONG_ENOUGH) == 0);
	EXPECT(sennit_tls_read(e.server, b, sizeof(b), LONG_ENOUGH) == 0);
	EXPECT(sennit_tls_write(e.server, "answer", 6, LONG_ENOUGH) == 6);
	EXPECT(sennit_tls_read(e.client, b, sizeof(b), LONG_ENOUGH) == 6);
	EXPECT(sennit_tls_shutdown(e.server, LONG_ENOUGH) == 0);
	EXPECT(sennit_tls_read(e.client, b, sizeof(b), LONG_ENOUGH) == 0);
	close_ends(&e);
}

TEST_WITH_WORKERS(one_side_ends_and_still_reads)
{
	(void)w;
	in_each_place(end_in_turn, NULL);
}

static void cut_off(void *argument)
{
	struct ends e;
	char        b[32];

	(void)argument;
	open_shaken(&e);
	EXPECT(sennit_tls_write(e.client, "half", 4, LONG_ENOUGH) == 4);
	EXPECT(!sennit_shutdown(e.fds[1], SHUT_WR));
	EXPECT(sennit_tls_read(e.server, b, sizeof(b), LONG_ENOUGH) == 4);
	for (int i = 0; i < 2; i++)
		EXPECT(sennit_tls_read(e.server, b, sizeof(b), LONG_ENOUGH) ==
		       -ECONNABORTED);
	EXPECT(sennit_tls_write(e.server, b, 1, LONG_ENOUGH) == -ECONNABORTED);
	EXPECT(!strcmp(sennit_tls_error(e.server),
		       "ended without close_notify"));
	close_ends(&e);
}

TEST_WITH_WORKERS(an_end_without_close_notify_is_an_error)
{
	(void)w;
	in_each_place(cut_off, NULL);
}

/* A connection that cannot send may have received an answer before. */
static void answer_and_leave(void *argument)
{
	static const char bytes[16384];
	struct ends       e;
	char              b[32];
	ptrdiff_t         n;

	(void)argument;
	open_shaken(&e);
	EXPECT(sennit_tls_write(e.server, "go away", 7, LONG_ENOUGH) == 7);
	EXPECT(!sennit_tls_shutdown(e.server, LONG_ENOUGH));
	EXPECT(!sennit_shutdown(e.fds[0], SHUT_RDWR));
	do
		n = sennit_tls_write(e.client, bytes, sizeof(bytes),
				     LONG_ENOUGH);
	while (n > 0);
	EXPECT(n == -EPIPE || n == -ECONNRESET);
	EXPECT(sennit_tls_write(e.client, b, 1, LONG_ENOUGH) == n);
	EXPECT(sennit_tls_read(e.client, b, sizeof(b), LONG_ENOUGH) == 7);
	EXPECT(sennit_tls_read(e.client, b, sizeof(b), LONG_ENOUGH) == 0);
	close_ends(&e);
}

TEST_WITH_WORKERS(an_answer_is_read_after_a_write_failed)
{
	(void)w;
	in_each_place(answer_and_leave, NULL);
}

/* --- refusals ---------------------------------------------------------- */

/* The client's handshake fails because it rejects the server, the server's
 * because of the client's alert. */
static void refuse_server(const struct wish *wish, const char *host,
			  const char *why)
{
	struct identity     i = make_identity(*wish);
	sennit_tls_context *s = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = i.certificate,
				  .key_text = i.key));
	struct ends e;

	open_ends(&e, s, NULL);
	e.host = host;
	shake_hands(&e);
	EXPECT(e.connected == -EKEYREJECTED);
	EXPECT(sennit_tls_error(e.client) &&
	       !strcmp(sennit_tls_error(e.client), why));
	EXPECT(e.accepted == -EPROTO);
	EXPECT(sennit_tls_error(e.server) &&
	       strstr(sennit_tls_error(e.server), "alert"));
	EXPECT(sennit_tls_connect(e.client, host, LONG_ENOUGH) ==
	       -EKEYREJECTED);
	close_ends(&e);
	sennit_tls_context_destroy(s);
	drop_identity(&i);
}

static void refuse_servers(void *argument)
{
	const struct wish elsewhere = { "DNS:elsewhere", &issuer, 0, 0, 0 };
	const struct wish wild = { "DNS:*.localhost", &issuer, 0, 0, 0 };
	const struct wish over = { "DNS:localhost", &issuer, -7200, -3600, 0 };
	const struct wish early = { "DNS:localhost", &issuer, 3600, 7200, 0 };
	const struct wish alone = { "DNS:localhost", NULL, 0, 0, 0 };
	const struct wish address = { "IP:127.0.0.2", &issuer, 0, 0, 0 };

	(void)argument;
	refuse_server(&elsewhere, "localhost", "hostname mismatch");
	refuse_server(&wild, "localhost", "hostname mismatch");
	refuse_server(&over, "localhost", "certificate has expired");
	refuse_server(&early, "localhost", "certificate is not yet valid");
	refuse_server(&alone, "localhost", "self-signed certificate");
	refuse_server(&address, "127.0.0.1", "IP address mismatch");
}

TEST_WITH_ONE(servers_that_are_not_whom_we_want_are_refused)
{
	(void)w;
	in_a_task(refuse_servers, NULL);
}

static void reach(struct ends *e, const char *host)
{
	e->host = host;
	shake_hands(e);
	EXPECT(e->connected == 0);
	EXPECT(e->accepted == 0);
}

static void reach_by_address(void *argument)
{
	struct ends e;

	(void)argument;
	open_ends(&e, NULL, NULL);
	reach(&e, "127.0.0.1");
	EXPECT(SSL_get_servername(sennit_tls_openssl(e.server),
				  TLSEXT_NAMETYPE_host_name) == NULL);
	close_ends(&e);
	open_ends(&e, NULL, NULL);
	reach(&e, "localhost");
	EXPECT(!strcmp(SSL_get_servername(sennit_tls_openssl(e.server),
					  TLSEXT_NAMETYPE_host_name),
		       "localhost"));
	close_ends(&e);
}

TEST_WITH_ONE(a_server_is_reached_by_address_or_by_name)
{
	(void)w;
	in_a_task(reach_by_address, NULL);
}

static void trust_all(void *argument)
{
	struct identity i =
		make_identity((struct wish){ "DNS:x", NULL, -7200, -3600, 0 });
	sennit_tls_context *s = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = i.certificate,
				  .key_text = i.key));
	sennit_tls_context *c =
		make_context(SENNIT_TLS_CONFIG(.flags = SENNIT_TLS_TRUST_ALL));
	struct ends e;

	(void)argument;
	open_ends(&e, s, c);
	reach(&e, "localhost");
	close_ends(&e);
	sennit_tls_context_destroy(s);
	sennit_tls_context_destroy(c);
	drop_identity(&i);
}

TEST_WITH_ONE(a_client_trusts_all_if_told_to)
{
	(void)w;
	in_a_task(trust_all, NULL);
}

/* With TLS 1.3 a client sees it when it reads. */
static void ask_clients(void *argument)
{
	struct identity someone = make_identity(
		(struct wish){ .names = "DNS:someone", .issuer = &issuer });
	struct identity stranger =
		make_identity((struct wish){ .names = "DNS:stranger" });
	sennit_tls_context *s = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = own.certificate,
				  .key_text = own.key,
				  .trusted_text = issuer.certificate,
				  .flags = SENNIT_TLS_ASK_CLIENTS));
	sennit_tls_context *known = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = someone.certificate,
				  .key_text = someone.key,
				  .trusted_text = issuer.certificate));
	sennit_tls_context *unknown = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = stranger.certificate,
				  .key_text = stranger.key,
				  .trusted_text = issuer.certificate));
	sennit_tls_context *clients[] = { known, unknown, client_context };
	struct ends         e;
	char                b;

	(void)argument;
	for (int i = 0; i < 3; i++) {
		X509 *peer;

		open_ends(&e, s, clients[i]);
		shake_hands(&e);
		EXPECT(e.accepted == (i ? -EKEYREJECTED : 0));
		peer = SSL_get1_peer_certificate(sennit_tls_openssl(e.server));
		EXPECT(i || (peer && !X509_cmp(peer, someone.x509)));
		X509_free(peer);
		if (i)
			EXPECT(sennit_tls_read(e.client, &b, 1, LONG_ENOUGH) ==
			       -EPROTO);
		close_ends(&e);
	}
	sennit_tls_context_destroy(s);
	sennit_tls_context_destroy(known);
	sennit_tls_context_destroy(unknown);
	drop_identity(&someone);
	drop_identity(&stranger);
}

TEST_WITH_ONE(clients_are_asked_who_they_are)
{
	(void)w;
	in_a_task(ask_clients, NULL);
}

static void send_garbage(void *argument)
{
	struct ends e;
	char        b;

	(void)argument;
	open_ends(&e, NULL, NULL);
	EXPECT(sennit_send(e.fds[1], "GET / HTTP/1.1\r\n\r\n", 18, 0,
			   LONG_ENOUGH) == 18);
	EXPECT(sennit_tls_accept(e.server, LONG_ENOUGH) == -EPROTO);
	EXPECT(!strcmp(sennit_tls_error(e.server), "http request"));
	EXPECT(sennit_tls_accept(e.server, LONG_ENOUGH) == -EPROTO);
	close_ends(&e);

	open_shaken(&e);
	EXPECT(sennit_send(e.fds[1], "no record at all", 16, 0, LONG_ENOUGH) ==
	       16);
	EXPECT(sennit_tls_read(e.server, &b, 1, LONG_ENOUGH) == -EPROTO);
	EXPECT(sennit_tls_write(e.server, &b, 1, LONG_ENOUGH) == -EPROTO);
	EXPECT(sennit_tls_shutdown(e.server, LONG_ENOUGH) == -EPROTO);
	EXPECT(sennit_tls_error(e.server) != NULL);
	close_ends(&e);
}

TEST_WITH_WORKERS(what_is_no_tls_is_an_error)
{
	(void)w;
	in_each_place(send_garbage, NULL);
}

/* --- protocols ------------------------------------------------------------ */

static void choose(sennit_tls_context *s, const char *offered,
		   const char *chosen)
{
	sennit_tls_context *c = make_context(
		SENNIT_TLS_CONFIG(.trusted_text = issuer.certificate,
				  .protocols = offered));
	struct ends e;

	open_ends(&e, s, c);
	reach(&e, "localhost");
	if (chosen) {
		EXPECT(!strcmp(sennit_tls_alpn(e.server), chosen));
		EXPECT(!strcmp(sennit_tls_alpn(e.client), chosen));
	} else {
		EXPECT(sennit_tls_alpn(e.server) == NULL);
		EXPECT(sennit_tls_alpn(e.client) == NULL);
	}
	close_ends(&e);
	sennit_tls_context_destroy(c);
}

static void choose_protocols(void *argument)
{
	sennit_tls_context *s = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = own.certificate,
				  .key_text = own.key,
				  .protocols = "h2,http/1.1"));
	sennit_tls_context *c = make_context(
		SENNIT_TLS_CONFIG(.trusted_text = issuer.certificate,
				  .protocols = "smtp,h3"));
	struct ends e;

	(void)argument;
	choose(s, "http/1.1,h2", "h2");
	choose(s, "x,http/1.1", "http/1.1");
	choose(s, NULL, NULL);
	choose(server_context, "h2", NULL);
	open_ends(&e, s, c);
	shake_hands(&e);
	EXPECT(e.accepted == -EPROTO && e.connected == -EPROTO);
	EXPECT(strstr(sennit_tls_error(e.client), "no application protocol"));
	close_ends(&e);
	sennit_tls_context_destroy(s);
	sennit_tls_context_destroy(c);
}

TEST_WITH_ONE(the_server_chooses_the_protocol)
{
	(void)w;
	in_a_task(choose_protocols, NULL);
}

/* --- sessions ------------------------------------------------------------- */

/* The tickets of TLS 1.3 arrive with the first bytes that are read. Returns
 * whether an earlier session was resumed. */
static bool is_resumed(sennit_tls_context *s, sennit_tls_context *c,
		       const char *host, int version)
{
	struct ends e;
	bool        resumed;
	char        b;

	open_ends(&e, s, c);
	SSL_set_max_proto_version(sennit_tls_openssl(e.client), version);
	reach(&e, host);
	EXPECT(SSL_version(sennit_tls_openssl(e.client)) == version);
	resumed = SSL_session_reused(sennit_tls_openssl(e.client));
	EXPECT(SSL_session_reused(sennit_tls_openssl(e.server)) == resumed);
	EXPECT(sennit_tls_write(e.server, "x", 1, LONG_ENOUGH) == 1);
	EXPECT(sennit_tls_read(e.client, &b, 1, LONG_ENOUGH) == 1);
	close_ends(&e);
	return resumed;
}

static void resume(void *argument)
{
	static const int versions[] = { TLS1_3_VERSION, TLS1_2_VERSION };

	(void)argument;
	for (int i = 0; i < 2; i++) {
		const int           v = versions[i];
		sennit_tls_context *s = make_context(
			SENNIT_TLS_CONFIG(.certificate_text = own.certificate,
					  .key_text = own.key));
		sennit_tls_context *c = make_context(
			SENNIT_TLS_CONFIG(.trusted_text = issuer.certificate));

		EXPECT(!is_resumed(s, c, "localhost", v));
		EXPECT(!is_resumed(s, c, "127.0.0.1", v));
		for (int j = 0; j < 3; j++)
			EXPECT(is_resumed(s, c, "localhost", v));
		EXPECT(is_resumed(s, c, "127.0.0.1", v));
		EXPECT(!sennit_tls_context_reload(
			s,
			SENNIT_TLS_CONFIG(.certificate_text = own.certificate,
					  .key_text = own.key),
			NULL, 0));
		EXPECT(!is_resumed(s, c, "localhost", v));
		EXPECT(is_resumed(s, c, "localhost", v));
		sennit_tls_context_destroy(s);
		sennit_tls_context_destroy(c);
	}
}

TEST_WITH_ONE(a_client_resumes_its_last_session_with_a_host)
{
	(void)w;
	in_a_task(resume, NULL);
}

/* --- contexts ------------------------------------------------------------- */

static bool is_shown(struct ends *e, const struct identity *i)
{
	X509 *shown = SSL_get1_peer_certificate(sennit_tls_openssl(e->client));
	bool  same = shown && !X509_cmp(shown, i->x509);

	X509_free(shown);
	return same;
}

static void renew(void *argument)
{
	struct identity next = make_identity(
		(struct wish){ .names = "DNS:localhost", .issuer = &issuer });
	sennit_tls_context *s = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = own.certificate,
				  .key_text = own.key));
	struct ends old, begun, new;
	char        b[4], text[128];

	(void)argument;
	open_ends(&old, s, NULL);
	reach(&old, "localhost");
	open_ends(&begun, s, NULL);
	EXPECT(sennit_tls_context_reload(
		       s,
		       SENNIT_TLS_CONFIG(.certificate_text = next.key,
					 .key_text = next.key),
		       text, sizeof(text)) == -EINVAL);
	EXPECT(!strncmp(text, "certificate: ", 13));
	EXPECT(!sennit_tls_context_reload(
		s,
		SENNIT_TLS_CONFIG(.certificate_text = next.certificate,
				  .key_text = next.key),
		NULL, 0));
	open_ends(&new, s, NULL);
	sennit_tls_context_destroy(s); /* connections keep their own
					* reference */
	reach(&begun, "localhost");
	reach(&new, "localhost");
	EXPECT(is_shown(&old, &own));
	EXPECT(is_shown(&begun, &own));
	EXPECT(is_shown(&new, &next));
	EXPECT(sennit_tls_write(old.server, "here", 4, LONG_ENOUGH) == 4);
	EXPECT(sennit_tls_read(old.client, b, 4, LONG_ENOUGH) == 4);
	close_ends(&old);
	close_ends(&begun);
	close_ends(&new);
	drop_identity(&next);
}

TEST_WITH_ONE(a_renewed_certificate_is_for_new_connections)
{
	(void)w;
	in_a_task(renew, NULL);
}

static void assert_no_context(const sennit_tls_config *c, int err,
			      const char *begin)
{
	sennit_tls_context *made = (void *)1;
	char                text[200] = "";

	assert_int_equal(
		sennit_tls_context_create(&made, c, text, sizeof(text)), err);
	assert_ptr_equal(made, (void *)1);
	if (strncmp(text, begin, strlen(begin)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", text, begin);
	assert_int_equal(sennit_tls_context_create(&made, c, NULL, 0), err);
}

static char *write_file(const char *text)
{
	static char name[] = "/tmp/sennit-tls-XXXXXX";
	int         fd;

	strcpy(name, "/tmp/sennit-tls-XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return name;
}

TEST(a_context_has_defaults)
{
	sennit_tls_context *c;

	assert_int_equal(sennit_tls_context_create(&c, NULL, NULL, 0), 0);
	assert_null(SSL_CTX_get0_certificate(sennit_tls_context_openssl(c)));
	sennit_tls_context_destroy(c);
}

TEST(a_newer_configuration_is_known_unless_it_asks_for_more)
{
	struct {
		sennit_tls_config known;
		const char       *more;
	} newer = { .known = { .size = sizeof(newer) } };
	sennit_tls_context *c;

	assert_int_equal(sennit_tls_context_create(&c, &newer.known, NULL, 0),
			 0);
	assert_int_equal(sennit_tls_context_reload(c, &newer.known, NULL, 0),
			 0);
	newer.more = "x";
	assert_int_equal(sennit_tls_context_reload(c, &newer.known, NULL, 0),
			 -E2BIG);
	sennit_tls_context_destroy(c);
}

TEST(a_context_says_what_is_wrong)
{
	struct identity   a = make_identity((struct wish){ .names = "DNS:a" });
	struct identity   b = make_identity((struct wish){ .names = "DNS:b" });
	sennit_tls_config old = { .size = 8 };
	struct {
		sennit_tls_config known;
		const char       *more;
	} newer = { .known = { .size = sizeof(newer) }, .more = "x" };
	char *file = write_file("no certificate\n");

	assert_no_context(&old, -EINVAL, "configuration: ");
	assert_no_context(&newer.known, -E2BIG, "configuration: ");
	assert_no_context(SENNIT_TLS_CONFIG(.flags = 64), -EINVAL,
			  "configuration: ");
	assert_no_context(SENNIT_TLS_CONFIG(.certificate_text = a.certificate),
			  -EINVAL, "key: missing");
	assert_no_context(SENNIT_TLS_CONFIG(.key = "key.pem"), -EINVAL,
			  "certificate: missing");
	assert_no_context(SENNIT_TLS_CONFIG(.certificate = "/nowhere/a.pem",
					    .key = "/nowhere/b.pem"),
			  -ENOENT, "certificate /nowhere/a.pem: ");
	assert_no_context(SENNIT_TLS_CONFIG(.certificate_text = a.certificate,
					    .key_text = b.key),
			  -EKEYREJECTED, "key: key values mismatch");
	assert_no_context(SENNIT_TLS_CONFIG(.certificate_text = a.certificate,
					    .key_text = a.certificate),
			  -EINVAL, "key: ");
	assert_no_context(SENNIT_TLS_CONFIG(.trusted = file), -EINVAL,
			  "trusted /tmp/sennit-tls-");
	assert_no_context(SENNIT_TLS_CONFIG(.trusted = file,
					    .trusted_text = a.certificate),
			  -EINVAL, "trusted /tmp/sennit-tls-");
	assert_no_context(SENNIT_TLS_CONFIG(.trusted_text = "-----BEGIN "
							    "CERTIFICATE-----\n"
							    "AAAA\n"),
			  -EINVAL, "trusted: ");
	assert_no_context(SENNIT_TLS_CONFIG(.flags = SENNIT_TLS_ASK_CLIENTS),
			  -EINVAL, "trusted: missing");
	assert_no_context(SENNIT_TLS_CONFIG(.protocols = "h2,,x"), -EINVAL,
			  "protocols: ");
	unlink(file);
	drop_identity(&a);
	drop_identity(&b);
}

/* Returns the error, and stores the reason in text. A connection shows which
 * configuration is in use. */
static int try_key(sennit_tls_context *s, const struct identity *certificate,
		   const struct identity *key, char *text, size_t size)
{
	sennit_tls_config   c = { .size = sizeof(c),
				  .certificate_text = certificate->certificate,
				  .key_text = key->key };
	sennit_tls_context *made = NULL;
	int                 err = sennit_tls_context_create(&made, &c, NULL, 0);
	struct ends         e;

	EXPECT(sennit_tls_context_reload(s, &c, text, size) == err);
	EXPECT(!err == !!made);
	sennit_tls_context_destroy(made);
	open_ends(&e, s, NULL);
	reach(&e, "localhost");
	EXPECT(is_shown(&e, certificate) || err);
	close_ends(&e);
	return err;
}

/* OpenSSL has a slot for a key of each type. So it reports a key of another
 * type than the certificate only during a handshake. */
static void keep_to_its_key(void *argument)
{
	struct identity     all[4]; /* two for each type of key */
	sennit_tls_context *s = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = own.certificate,
				  .key_text = own.key));

	(void)argument;
	for (int i = 0; i < 4; i++)
		all[i] = make_identity((struct wish){ "DNS:localhost", &issuer,
						      0, 0, i % 2 ? 2048 : 0 });
	for (int c = 0; c < 4; c++) {
		for (int k = 0; k < 4; k++) {
			char text[100] = "";
			int  err = try_key(s, &all[c], &all[k], text,
					   sizeof(text));

			EXPECT(err == (c == k ? 0 : -EKEYREJECTED));
			EXPECT(!strcmp(text,
				       c == k ? ""
				       : c % 2 == k % 2
					       ? "key: key values mismatch"
					       : "key: key type mismatch"));
		}
		EXPECT(!try_key(s, &all[c], &all[c], NULL, 0));
	}
	sennit_tls_context_destroy(s);
	for (int i = 0; i < 4; i++)
		drop_identity(&all[i]);
}

TEST_WITH_ONE(no_reload_takes_the_key_of_another_certificate)
{
	(void)w;
	in_a_task(keep_to_its_key, NULL);
}

/* OpenSSL would ask for it at the terminal, and the worker would wait. */
TEST(a_key_with_a_passphrase_is_refused)
{
	BIO  *b = BIO_new(BIO_s_mem());
	char *key;

	assert_true(PEM_write_bio_PrivateKey(b, own.pkey, EVP_aes_128_cbc(),
					     (const unsigned char *)"secret", 6,
					     NULL, NULL));
	key = pem_text(b);
	assert_no_context(SENNIT_TLS_CONFIG(.certificate_text = own.certificate,
					    .key_text = key),
			  -EINVAL, "key: ");
	free(key);
}

static void serve_from_files(void *argument)
{
	char               *chain = malloc(strlen(own.certificate) +
					   strlen(issuer.certificate) + 1);
	char                certificate[64], key[64];
	sennit_tls_context *s;
	struct ends         e;

	(void)argument;
	strcpy(chain, own.certificate);
	strcat(chain, issuer.certificate);
	strcpy(certificate, write_file(chain));
	strcpy(key, write_file(own.key));
	s = make_context(
		SENNIT_TLS_CONFIG(.certificate = certificate, .key = key));
	open_ends(&e, s, NULL);
	reach(&e, "localhost");
	EXPECT(sk_X509_num(SSL_get_peer_cert_chain(
		       sennit_tls_openssl(e.client))) == 2);
	close_ends(&e);
	sennit_tls_context_destroy(s);
	unlink(certificate);
	unlink(key);
	free(chain);
}

TEST_WITH_ONE(a_chain_comes_from_files)
{
	(void)w;
	in_a_task(serve_from_files, NULL);
}

/* Whichever code created the socket. */
static void open_on_a_plain_socket(void *argument)
{
	int         fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 0;
	socklen_t   size = sizeof(on);
	sennit_tls *t;

	(void)argument;
	must(fd >= 0, "socket");
	EXPECT(!sennit_tls_create(&t, client_context, fd));
	EXPECT(!getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size) && on);
	sennit_tls_destroy(t);
	close(fd);
}

TEST_WITH_WORKERS(no_answer_waits_for_acknowledgements)
{
	(void)w;
	in_each_place(open_on_a_plain_socket, NULL);
}

static void open_badly(void *argument)
{
	struct ends e;
	sennit_tls *t = NULL;
	int         pipes[2], datagrams[2];

	(void)argument;
	begin_pipe(pipes);
	must(!socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), "socketpair");
	EXPECT(sennit_tls_create(&t, client_context, -1) == -EBADF);
	EXPECT(sennit_tls_create(&t, client_context, pipes[0]) == -ENOTSOCK);
	EXPECT(sennit_tls_create(&t, client_context, datagrams[0]) ==
	       -EPROTOTYPE);
	EXPECT(t == NULL);
	open_ends(&e, client_context, NULL);
	EXPECT(sennit_tls_accept(e.server, 0) == -EINVAL);
	EXPECT(sennit_tls_connect(e.client, "", 0) == -EINVAL);
	/* OpenSSL accepts any name below it. */
	EXPECT(sennit_tls_connect(e.client, ".localhost", 0) == -EINVAL);
	EXPECT(sennit_tls_connect(e.client, ".", 0) == -EINVAL);
	close_ends(&e);
	sennit_tls_destroy(NULL);
	sennit_tls_context_destroy(NULL);
	for (int i = 0; i < 2; i++) {
		close(pipes[i]);
		close(datagrams[i]);
	}
}

TEST_WITH_WORKERS(wrong_arguments_are_told)
{
	(void)w;
	in_each_place(open_badly, NULL);
}

USES_BACKEND;
USES_CONTEXTS;
