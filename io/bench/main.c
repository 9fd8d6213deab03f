/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sennit-bench-io [--rounds N] [--ms N] [PREFIX...]: rows W16 to W21
 * of libsennit-io and of servers written by other means, all behind the same
 * client. core/docs/design/measurements.md describes the columns.
 *
 * Each figure is taken once in a round, from all servers in turn, so that other
 * load on the machine hits all alike; then comes the next round. A server is a
 * process of its own, and the CPU time is that of this process alone. The
 * programs are in io-servers/ beside this one; what is not there is left out.
 */
#include "bench.h"
#include "server.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>

static char folder[4096]; /* of this program */

const struct server io_servers[] = {
	{ "sennit-epoll", "sennit", "http", "epoll",
	  FANS_OUT | READS_IT | SENNITS },
	{ "sennit-uring", "sennit", "http", "uring",
	  FANS_OUT | READS_IT | SENNITS },
	{ "epoll", "epoll", "http", NULL, FANS_OUT | READS_IT },
	{ "uring", "uring", "http", NULL, READS_IT },
	{ "libuv", "libuv", "http", NULL, 0 },
	{ "asio", "asio", "http", NULL, 0 },
	{ "go", "go", "http", NULL, FANS_OUT },
	{ "go-net-http", "go", "net-http", NULL, 0 },
	{ "nginx", "/usr/sbin/nginx", NULL, NULL, ONE_ONLY },
};

const size_t io_server_count = sizeof(io_servers) / sizeof(io_servers[0]);

/* --- servers -------------------------------------------------------------- */

static void program_of(const struct server *s, char *out, size_t size)
{
	if (s->program[0] == '/')
		snprintf(out, size, "%s", s->program);
	else
		snprintf(out, size, "%.3900s/io-servers/%s", folder,
			 s->program);
}

bool io_server_is_there(const struct server *s)
{
	char path[4200];

	program_of(s, path, sizeof(path));
	return !access(path, X_OK);
}

/* nginx cannot choose a port: one that was free just now. */
static void exec_nginx(const char *path)
{
	char     text[1024], config[64] = "/tmp/sennit-bench-nginx-XXXXXX";
	uint16_t port = 0;
	int      fd;

	close(server_listen(&port));
	fd = mkstemp(config);
	server_check(fd >= 0, "nginx's configuration");
	snprintf(text, sizeof(text),
		 "daemon off; master_process off; pid %s.pid;\n"
		 "error_log /dev/null;\nworker_rlimit_nofile 20000;\n"
		 "events { worker_connections 12000; }\n"
		 "http { access_log off; keepalive_requests 100000000;\n"
		 "server { listen 127.0.0.1:%u;\nlocation / {"
		 " default_type text/plain;"
		 " return 200 \"Hello, world\\n\"; } } }\n",
		 config, port);
	server_check(write(fd, text, strlen(text)) > 0, "write");
	server_print_port(port);
	execl(path, path, "-c", config, (char *)NULL);
	_exit(127);
}

static void exec_server(const struct server *s, const char *mode,
			unsigned workers, const char *more)
{
	char path[4200], number[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	program_of(s, path, sizeof(path));
	if (s->backend)
		setenv("SENNIT_IO", s->backend, 1);
	if (!s->mode)
		exec_nginx(path);
	snprintf(number, sizeof(number), "%u", workers);
	execl(path, path, mode, number, more, (char *)NULL);
	_exit(127);
}

static struct target start(const struct server *s, const char *mode,
			   unsigned workers, const char *more)
{
	struct target t;
	int           ends[2];

	server_check(!pipe2(ends, O_CLOEXEC), "pipe");
	fflush(stdout); /* the child prints to the same buffer */
	t.pid = fork();
	server_check(t.pid >= 0, "fork");
	if (!t.pid) {
		dup2(ends[1], STDOUT_FILENO);
		exec_server(s, mode, workers, more);
	}
	close(ends[1]);
	t.out = ends[0];
	return t;
}

/* The next line that the server prints, as a number. */
double io_server_number(const struct target *t)
{
	char   line[64];
	size_t n = 0;

	while (n + 1 < sizeof(line) && read(t->out, line + n, 1) == 1 &&
	       line[n] != '\n')
		n++;
	line[n] = 0;
	return n ? atof(line) : (double)NAN;
}

void io_server_stop(const struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(t->out);
}

struct target io_server_start(const struct server *s, const char *mode,
			      unsigned workers, const char *more, bool serves)
{
	struct target t = start(s, mode, workers, more);
	double        port = serves ? io_server_number(&t) : 0;

	server_check(!serves || port > 0, s->name);
	t.port = (uint16_t)port;
	if (!s->mode) {
		usleep(200000); /* it prints its port before it listens */
		server_check(!system("rm -f /tmp/sennit-bench-nginx-*"), "rm");
	}
	return t;
}

/* --- the program ---------------------------------------------------------- */

static char **take_options(char **argv)
{
	for (argv++; argv[0] && argv[1]; argv += 2)
		if (!strcmp(argv[0], "--rounds"))
			io_rounds = (unsigned)atoi(argv[1]);
		else if (!strcmp(argv[0], "--ms"))
			io_ms = (unsigned)atoi(argv[1]);
		else
			break;
	server_check(io_rounds && io_rounds <= MOST_ROUNDS && io_ms &&
			     !(argv[0] && argv[0][0] == '-'),
		     "usage: sennit-bench-io [--rounds 1..25] [--ms N]"
		     " [PREFIX...]");
	return argv;
}

static void find_folder(void)
{
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	server_check(n > 0, "/proc/self/exe");
	folder[n] = 0;
	*strrchr(folder, '/') = 0;
}

static void print_load(void)
{
	char  line[128] = "";
	FILE *f = fopen("/proc/loadavg", "r");

	if (f && fgets(line, sizeof(line), f))
		printf("# load: %s", line);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	char **prefixes = take_options(argv);

	(void)argc;
	server_begin();
	alarm(0);
	find_folder();
	print_load();
	for (size_t i = 0; i < io_server_count; i++)
		if (!io_server_is_there(&io_servers[i]))
			printf("# %s: left out, it is not there\n",
			       io_servers[i].name);
	puts("# workload/figure\tserver\tworkers\tconnections\tmedian\tmin\tmax"
	     "\tmedian/epoll\tmin/epoll");
	io_rows_run(prefixes);
	print_load();
	return 0;
}
