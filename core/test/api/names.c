/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - names of tasks, in reports and in messages of misuse. */
#include "testing/misuse.h"
#include "testing/words.h"

#include <errno.h>

/* --- asking ------------------------------------------------------------- */

struct search {
	sennit_task_fn *task;
	char            name[SENNIT_TASK_NAME_SIZE * 2];
	unsigned        count;
};

static void note_name(void *context, const sennit_report_entry *e)
{
	struct search *look = context;

	if (e->task != look->task || e->state == SENNIT_REPORT_QUEUED)
		return;
	look->count++;
	snprintf(look->name, sizeof(look->name), "%s",
		 e->name ? e->name : "nameless");
}

/* Whether the one fiber that runs the function has this name. */
static bool is_called(sennit_scheduler *s, sennit_task_fn *task,
		      const char *name)
{
	struct search look = { .task = task };

	sennit_report_visit(s, note_name, &look);
	return look.count == 1 && !strcmp(look.name, name);
}

/* --- functions ---------------------------------------------------------- */

struct stay {
	sennit_scheduler *s;
	const char       *name;
	sennit_event      go;
	sennit_wait_group done;
	atomic_bool       named;
};

static void stay(void *argument)
{
	struct stay *t = argument;

	EXPECT(!sennit_event_wait(&t->go));
	sennit_wait_group_done(&t->done);
}

TEST_WITH_WORKERS(a_function_is_called_as_the_program_says)
{
	struct stay t = { .s = w->s };

	sennit_wait_group_init(&t.done, 1);
	must_schedule(stay, &t);
	assert_soon(is_called(w->s, stay, "nameless"));
	assert_null(sennit_function_name(stay));
	assert_int_equal(sennit_function_set_name(stay, "stays"), 0);
	assert_true(is_called(w->s, stay, "stays"));
	assert_int_equal(sennit_function_set_name(stay, "stays long"), 0);
	assert_string_equal(sennit_function_name(stay), "stays long");
	assert_true(is_called(w->s, stay, "stays long"));
	assert_int_equal(sennit_function_set_name(stay, NULL), 0);
	assert_true(is_called(w->s, stay, "nameless"));
	sennit_event_set(&t.go);
	sennit_wait_group_wait(&t.done);
}

TEST_ALONE(no_function_has_no_name)
{
	assert_int_equal(sennit_function_set_name(NULL, "nobody"), -EINVAL);
	assert_null(sennit_function_name(NULL));
}

/* --- running tasks ------------------------------------------------------ */

static void name_oneself_and_stay(void *argument)
{
	struct stay *t = argument;

	sennit_task_set_name(t->name);
	atomic_store(&t->named, true);
	stay(t);
}

TEST_WITH_WORKERS(a_task_names_itself)
{
	char        name[] = "client 42";
	struct stay t = { .s = w->s, .name = name };

	assert_int_equal(
		sennit_function_set_name(name_oneself_and_stay, "client"), 0);
	sennit_wait_group_init(&t.done, 1);
	must_schedule(name_oneself_and_stay, &t);
	assert_soon(is_called(w->s, name_oneself_and_stay, "client 42"));
	assert_soon(atomic_load(&t.named));
	memset(name, '-', sizeof(name)); /* the name was copied */
	assert_true(is_called(w->s, name_oneself_and_stay, "client 42"));
	sennit_event_set(&t.go);
	sennit_wait_group_wait(&t.done);
	assert_int_equal(sennit_function_set_name(name_oneself_and_stay, NULL),
			 0);
}

TEST_WITH_WORKERS(a_long_name_is_cut)
{
	struct stay t = { .s = w->s,
			  .name = "0123456789012345678901234567890123456" };

	sennit_wait_group_init(&t.done, 1);
	must_schedule(name_oneself_and_stay, &t);
	assert_soon(is_called(w->s, name_oneself_and_stay,
			      "0123456789012345678901234567890"));
	sennit_event_set(&t.go);
	sennit_wait_group_wait(&t.done);
}

static void take_name_away(void *argument)
{
	struct stay *t = argument;

	sennit_task_set_name("somebody");
	EXPECT(is_called(t->s, run_errand, "somebody"));
	sennit_task_set_name(NULL);
	EXPECT(is_called(t->s, run_errand, "nameless"));
	sennit_task_set_name("somebody");
	sennit_task_set_name("");
	EXPECT(is_called(t->s, run_errand, "nameless"));
	/* The task ends with a name: see below. */
	sennit_task_set_name("left behind");
}

static void be_nameless(void *argument)
{
	struct stay *t = argument;

	EXPECT(is_called(t->s, be_nameless, "nameless"));
	sennit_task_set_name("left behind");
	sennit_wait_group_done(&t->done);
}

TEST_WITH_WORKERS(a_name_can_be_taken_away)
{
	struct stay t = { .s = w->s };

	in_a_task(take_name_away, &t);
}

static void run_nameless_ones_here(void *argument)
{
	struct stay *t = argument;

	for (int i = 0; i < 5; i++) {
		sennit_wait_group_init(&t->done, 1);
		must_schedule_here(be_nameless, t);
		sennit_wait_group_wait(&t->done);
	}
}

TEST_WITH_WORKERS(a_name_ends_with_its_task)
{
	struct stay t = { .s = w->s };

	in_a_task(run_nameless_ones_here, &t);
}

TEST_WITH_WORKERS(a_bound_threads_own_stack_has_a_name)
{
	assert_true(is_called(w->s, NULL, "nameless"));
	sennit_task_set_name("the main thread");
	assert_true(is_called(w->s, NULL, "the main thread"));
	sennit_thread_unbind();
	sennit_task_set_name("nobody notices");
	assert_int_equal(sennit_thread_bind(w->s), 0);
	assert_true(is_called(w->s, NULL, "nameless"));
}

/* --- texts -------------------------------------------------------------- */

TEST_WITH_WORKERS(a_printed_report_names_the_task)
{
	struct stay t = { .s = w->s, .name = "client 42" };
	char        text[4096];

	sennit_wait_group_init(&t.done, 1);
	must_schedule(name_oneself_and_stay, &t);
	assert_soon(is_called(w->s, name_oneself_and_stay, "client 42"));
	printed_report(w->s, text, sizeof(text));
	assert_non_null(strstr(text, ": client 42 ("));
	sennit_event_set(&t.go);
	sennit_wait_group_wait(&t.done);
}

/* Each name ends its line and begins one that looks like another fiber's. */
#define FORGED "x\nnobody worker 7: \x1b[2J"
#define SHOWN  "x\\nnobody worker 7: \\x1b[2J"

static unsigned count_lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++) {
		n += *text == '\n';
		assert_true(*text == '\n' || (unsigned char)*text >= ' ');
	}
	return n;
}

static void add_entry(void *count, const sennit_report_entry *e)
{
	++*(unsigned *)count;
}

TEST_WITH_WORKERS(a_name_cannot_forge_a_line_of_a_report)
{
	struct stay       t = { .name = FORGED };
	char              text[8192];
	unsigned          entries = 0;
	sennit_scheduler *s = move_to(
		SENNIT_CONFIG(.workers = w->workers, .name = "a\nb\x1b"));

	t.s = s;
	sennit_wait_group_init(&t.done, 2);
	assert_int_equal(sennit_function_set_name(stay, FORGED), 0);
	must_schedule(name_oneself_and_stay, &t);
	must_schedule(stay, &t);
	assert_soon(fibers_of(s) == 2);
	assert_soon(is_called(s, name_oneself_and_stay, FORGED));
	sennit_report_visit(s, add_entry, &entries);
	printed_report(s, text, sizeof(text));
	assert_int_equal(count_lines(text), entries);
	assert_non_null(strstr(text, ": " SHOWN " ("));
	assert_non_null(strstr(text, "a\\nb\\x1b"));
	assert_int_equal(sennit_function_set_name(stay, NULL), 0);
	sennit_event_set(&t.go);
	sennit_wait_group_wait(&t.done);
	move_back(w, s);
}

static void unlock_under_a_forged_name(void *argument)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	sennit_task_set_name(
		"\n\n\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b"
		"\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b");
	sennit_mutex_unlock(&m);
}

MISUSE_TEST(a_name_cannot_forge_a_line_of_a_message, "sennit_mutex_unlock")
{
	sennit_scheduler *s;

	sennit_thread_unbind();
	EXPECT(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = o->workers, .name = "\n\n\n")));
	EXPECT(!sennit_thread_bind(s));
	in_a_task(unlock_under_a_forged_name, NULL);
}

static void unlock_under_a_name(void *argument)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	sennit_task_set_name("the culprit");
	sennit_mutex_unlock(&m);
}

MISUSE_BY(misuse_names_the_task, "sennit_mutex_unlock",
	  in_a_task(unlock_under_a_name, NULL));

/* --- the last: no name is left after it ---------------------------------- */

static sennit_task_fn *invented(uintptr_t n)
{
	return (sennit_task_fn *)(0x1000 + 16 * n);
}

TEST_ALONE(only_so_many_functions_have_names)
{
	unsigned named = 0;

	while (named <= SENNIT_FUNCTION_NAMES &&
	       !sennit_function_set_name(invented(named), "invented"))
		named++;
	/* Earlier test cases have named some functions. */
	assert_in_range(named, SENNIT_FUNCTION_NAMES - 10,
			SENNIT_FUNCTION_NAMES);
	assert_int_equal(sennit_function_set_name(invented(named), "one more"),
			 -ENOSPC);
	assert_null(sennit_function_name(invented(named)));
	assert_int_equal(sennit_function_set_name(invented(0), "renamed"), 0);
	assert_string_equal(sennit_function_name(invented(0)), "renamed");
	for (unsigned i = 1; i < named; i++)
		assert_string_equal(sennit_function_name(invented(i)),
				    "invented");
}
