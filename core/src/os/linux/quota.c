/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c - how many CPUs and threads the limits of its cgroups leave to the
 * process. */
#include "os/quota.h"

#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static bool at_end(const char *text)
{
	return *text == '\0' || *text == '\n';
}

static bool read_group_number(const struct os_group *g, const char *name,
			      uint64_t *number)
{
	char        line[64];
	const char *text = line;

	return os_group_line(g, name, line, sizeof(line)) &&
	       os_parse_number(&text, number) && at_end(text);
}

/* --- CPUs --------------------------------------------------------------- */

static uint32_t cpus_of_quota(uint64_t quota, uint64_t period)
{
	uint64_t cpus;

	if (!quota || !period)
		return OS_NO_LIMIT;
	cpus = quota / period + (quota % period != 0);
	return cpus < OS_NO_LIMIT ? (uint32_t)cpus : OS_NO_LIMIT;
}

/* Version 2: "QUOTA PERIOD", or "max PERIOD". */
static uint32_t quota_v2(const struct os_group *g)
{
	char        line[64];
	const char *text = line;
	uint64_t    quota;
	uint64_t    period;

	if (!os_group_line(g, "/cpu.max", line, sizeof(line)) ||
	    !os_parse_number(&text, &quota) || *text++ != ' ' ||
	    !os_parse_number(&text, &period) || !at_end(text))
		return OS_NO_LIMIT;
	return cpus_of_quota(quota, period);
}

/* Version 1: two files. A quota of -1 means none. */
static uint32_t quota_v1(const struct os_group *g)
{
	uint64_t quota;
	uint64_t period;

	if (!read_group_number(g, "/cpu.cfs_quota_us", &quota) ||
	    !read_group_number(g, "/cpu.cfs_period_us", &period))
		return OS_NO_LIMIT;
	return cpus_of_quota(quota, period);
}

static uint32_t cpu_quota(const struct os_group *g, bool v2)
{
	return v2 ? quota_v2(g) : quota_v1(g);
}

uint32_t os_cpu_quota(const char *root)
{
	return os_tightest_group(root, "cpu", cpu_quota);
}

uint32_t os_cpu_count(void)
{
	uint32_t quota = os_cpu_quota("");
	uint32_t cpus = (uint32_t)os_cpu_list(NULL, 0);

	return quota < cpus ? quota : cpus;
}

/* --- threads ------------------------------------------------------------ */

static uint32_t limit_of_number(uint64_t number)
{
	return number < OS_NO_LIMIT ? (uint32_t)number : OS_NO_LIMIT;
}

/* "max" or a number, in both versions. */
static uint32_t task_limit(const struct os_group *g, bool v2)
{
	uint64_t tasks;

	(void)v2;
	return read_group_number(g, "/pids.max", &tasks)
		       ? limit_of_number(tasks)
		       : OS_NO_LIMIT;
}

uint32_t os_thread_quota(const char *root)
{
	return os_tightest_group(root, "pids", task_limit);
}

uint32_t os_thread_limit(void)
{
	struct rlimit of_user;
	uint32_t      quota = os_thread_quota("");

	if (getrlimit(RLIMIT_NPROC, &of_user) || of_user.rlim_cur >= quota)
		return quota;
	return (uint32_t)of_user.rlim_cur;
}

/* --- cgroup --------------------------------------------------------------- */

/* The longest file name that is read, with its slash. */
#define LONGEST_NAME sizeof("/cpu.cfs_period_us")

/* --- numbers ------------------------------------------------------------ */

bool os_parse_number(const char **text, uint64_t *number)
{
	const char *c = *text;
	uint64_t    n = 0;

	for (; *c >= '0' && *c <= '9'; c++) {
		uint64_t digit = (uint64_t)(*c - '0');

		if (n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (c == *text)
		return false;
	*text = c;
	*number = n;
	return true;
}

/* --- one group ---------------------------------------------------------- */

/* A directory of the cgroup tree. The buffer has room for a file name behind
 * the directory. */
struct os_group {
	char  *path;
	size_t length; /* of the directory */
	size_t top;    /* length of the mount point: go_up stops there */
};

bool os_group_line(const struct os_group *p, const char *name, char *line,
		   int size)
{
	FILE *f;
	bool  ok;

	strcpy(p->path + p->length, name);
	f = fopen(p->path, "re");
	if (!f)
		return false;
	ok = fgets(line, size, f) != NULL;
	fclose(f);
	return ok;
}

/* --- a chain of groups -------------------------------------------------- */

/* Go to the parent directory. False at the mount point. The path below the
 * mount point begins with a slash. */
static bool go_up(struct os_group *p)
{
	if (p->length <= p->top)
		return false;
	while (p->path[--p->length] != '/')
		;
	return true;
}

static uint32_t tighter(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The limit to look up. */
struct wanted {
	const char     *root;
	const char     *controller;
	os_group_limit *limit;
};

/* The lowest limit from the group `below`, seen from the mount at `point`, up
 * to the mount point. */
static uint32_t chain_limit(const struct wanted *w, const char *point,
			    const char *below, bool v2)
{
	const char     *root = w->root;
	size_t          top = strlen(root) + strlen(point);
	size_t          room = top + strlen(below) + LONGEST_NAME;
	struct os_group p = { malloc(room), top + strlen(below), top };
	uint32_t        least = OS_NO_LIMIT;

	if (!p.path)
		return OS_NO_LIMIT;
	snprintf(p.path, room, "%s%s%s", root, point, below);
	do
		least = tighter(least, w->limit(&p, v2));
	while (go_up(&p));
	free(p.path);
	return least;
}

/* --- /proc/self/cgroup: the process's groups ---------------------------- */

/* Whether `word` is one of the comma-separated words of `list`. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (;;) {
		size_t n = strcspn(list, ",");

		if (n == length && !memcmp(list, word, n))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

struct groups {
	char *v1; /* in the hierarchy with the controller, or NULL */
	char *v2;
};

static void set_group_path(char **where, const char *path)
{
	if (!*where)
		*where = strdup(path);
}

/* A line is "number:controllers:/path". In version 2 the controllers are
 * empty. */
static void parse_group(struct groups *g, const char *controller, char *line)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path || path[1] != '/')
		return;
	*controllers++ = '\0';
	*path++ = '\0';
	if (!strcmp(line, "0") && !*controllers)
		set_group_path(&g->v2, path);
	else if (has_word(controllers, controller))
		set_group_path(&g->v1, path);
}

/* --- /proc/self/mountinfo: the mounts of the cgroup trees --------------- */

struct mount {
	char *root;  /* the group that is mounted */
	char *point; /* the directory that shows it */
	bool  v2;
};

static bool is_octal(const char *c)
{
	return c[0] >= '0' && c[0] <= '3' && c[1] >= '0' && c[1] <= '7' &&
	       c[2] >= '0' && c[2] <= '7';
}

/* Decode the escapes (\ooo) of space, tab, newline and backslash in place. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; to++) {
		if (*text == '\\' && is_octal(text + 1)) {
			*to = (char)((text[1] - '0') << 6 |
				     (text[2] - '0') << 3 | (text[3] - '0'));
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = '\0';
}

/* Skip n fields. Each ends with one space, and empty fields count. NULL when
 * there are fewer than n. */
static char *skip_fields(char *line, int n)
{
	while (line && n-- > 0) {
		line = strchr(line, ' ');
		if (line)
			line++;
	}
	return line;
}

static void end_field(char *field)
{
	field[strcspn(field, " ")] = '\0';
}

/* Parse "number parent device ROOT POINT options [more...] - TYPE source
 * OPTIONS". Returns whether the line is a cgroup mount of either version that
 * has the controller. */
static bool parse_mount(struct mount *m, const char *controller, char *line)
{
	char *type = strstr(line, " - ");
	char *options = skip_fields(type, 4);

	m->root = skip_fields(line, 3);
	m->point = skip_fields(line, 4);
	if (!options || !m->point || m->point > type)
		return false;
	type += strlen(" - ");
	end_field(type);
	end_field(options);
	m->v2 = !strcmp(type, "cgroup2");
	if (!m->v2 &&
	    (strcmp(type, "cgroup") || !has_word(options, controller)))
		return false;
	end_field(m->root);
	end_field(m->point);
	unescape(m->root);
	unescape(m->point);
	if (!strcmp(m->point, "/"))
		m->point++;
	return m->root[0] == '/';
}

/* --- the path from a mount's root to this process's group --------------- */

/* Whether the path begins with a step ("/..") out of the cgroup namespace. */
static bool steps_up(const char *path)
{
	return !strncmp(path, "/..", 3) && (path[3] == '/' || !path[3]);
}

/* The kernel writes the root of a namespace as "/", which must be empty before
 * another path is appended. */
static const char *without_slash(const char *path)
{
	return strcmp(path, "/") ? path : "";
}

/* The part of `group` below `root`. Both are paths as seen from this process's
 * cgroup namespace. NULL when the mount does not contain the group. A mount
 * made above the namespace does not reveal the names of the directories down to
 * it. Then only the group at the mount's root can be read. */
static const char *path_below(const char *root, const char *group)
{
	size_t length;

	while (steps_up(root) && steps_up(group)) {
		root += 3;
		group += 3;
	}
	root = without_slash(root);
	group = without_slash(group);
	if (steps_up(root)) {
		while (steps_up(root))
			root += 3;
		return *root ? NULL : "";
	}
	length = strlen(root);
	if (steps_up(group) || strncmp(root, group, length) ||
	    (group[length] != '/' && group[length]))
		return NULL;
	return group + length;
}

/* --- the lookup --------------------------------------------------------- */

static FILE *open_under(const char *root, const char *path)
{
	size_t room = strlen(root) + strlen(path) + 1;
	char  *whole = malloc(room);
	FILE  *f = NULL;

	if (whole) {
		snprintf(whole, room, "%s%s", root, path);
		f = fopen(whole, "re");
	}
	free(whole);
	return f;
}

/* Read the next line of a file, without its newline, into a buffer that
 * grows. */
static bool next_line(FILE *f, char **line, size_t *room)
{
	if (getline(line, room, f) < 0)
		return false;
	(*line)[strcspn(*line, "\n")] = '\0';
	return true;
}

static void read_groups(const struct wanted *w, struct groups *g)
{
	FILE  *f = open_under(w->root, "/proc/self/cgroup");
	char  *line = NULL;
	size_t room = 0;

	if (!f)
		return;
	while (next_line(f, &line, &room))
		parse_group(g, w->controller, line);
	free(line);
	fclose(f);
}

static uint32_t mount_limit(const struct wanted *w, const struct groups *g,
			    const struct mount *m)
{
	const char *group = m->v2 ? g->v2 : g->v1;
	const char *below = group ? path_below(m->root, group) : NULL;

	return below ? chain_limit(w, m->point, below, m->v2) : OS_NO_LIMIT;
}

uint32_t os_tightest_group(const char *root, const char *controller,
			   os_group_limit *limit)
{
	const struct wanted w = { root, controller, limit };
	FILE               *f = open_under(root, "/proc/self/mountinfo");
	struct groups       g = { NULL, NULL };
	uint32_t            least = OS_NO_LIMIT;
	struct mount        m;
	char               *line = NULL;
	size_t              room = 0;

	if (!f)
		return OS_NO_LIMIT;
	read_groups(&w, &g);
	while (next_line(f, &line, &room)) {
		if (parse_mount(&m, controller, line))
			least = tighter(least, mount_limit(&w, &g, &m));
	}
	free(line);
	fclose(f);
	free(g.v1);
	free(g.v2);
	return least;
}
