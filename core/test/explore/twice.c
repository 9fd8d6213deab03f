/* SPDX-License-Identifier: Apache-2.0 */
/* twice.c - every wait for several objects, in which the same object stands
 * several times, ended by others between any two of its steps.
 *
 * Each object lies on a page of its own. Whoever knows that the wait has taken
 * its object frees that page at once. A later use of it is a fault. The end of
 * an object finds what is still in its queue.
 */
#include "explore.h"

#include "sennit/channel.h"
#include "sennit/event.h"
#include "sennit/future.h"
#include "sennit/select.h"

#include <signal.h>
#include <sys/mman.h>

enum way {
	EVENT_ANY,
	EVENT_ALL,
	FUTURE_ANY,
	FUTURE_ALL,
	SELECT_EVENT,
	SELECT_FUTURE,
	SELECT_SEND,
	SELECT_RECEIVE,
	SELECT_BOTH,
	WAYS
};

/* The most entries; more than 8 are waited for in other frames. */
enum { ENTRIES = 10 };

struct object {
	sennit_event   event;
	sennit_future  future;
	sennit_channel channel;
};

static struct {
	enum way               way;
	enum sennit_event_mode mode;
	sennit_time            deadline;
	struct object         *objects[2]; /* on a page each */
	bool                   gone[2];
	uint8_t                entries[ENTRIES];
	size_t                 count;
	bool                   watched; /* others wait for the objects, too */
	bool              closes; /* a close ends the wait, for one channel */
	sennit_time       soon;
	int               out, in;
	bool              over;
	sennit_wait_group done;
} scene;

/* A fault is a failure like others, which prints the seed. */
static void fault(int signal)
{
	abort();
}

static struct object *open_object(void)
{
	struct object *o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(o != MAP_FAILED);
	sennit_event_init(&o->event, scene.mode);
	sennit_future_init(&o->future);
	o->channel = (sennit_channel)SENNIT_CHANNEL_INIT(sizeof(int));
	return o;
}

static void end_object(struct object *o)
{
	sennit_event_destroy(&o->event);
	sennit_future_destroy(&o->future);
	sennit_channel_destroy(&o->channel);
}

/* The wait has taken object i. */
static void free_object(unsigned i)
{
	struct object *o = scene.objects[i];

	scene.gone[i] = true;
	end_object(o);
	REQUIRE(!mprotect(o, sizeof(*o), PROT_NONE));
}

/* --- the wait ------------------------------------------------------------ */

static struct object *entry(size_t i)
{
	return scene.objects[scene.entries[i]];
}

static int wait_for_events(size_t *which)
{
	sennit_event *events[ENTRIES];

	for (size_t i = 0; i < scene.count; i++)
		events[i] = &entry(i)->event;
	if (scene.way == EVENT_ALL)
		return sennit_event_wait_all_until(events, scene.count,
						   scene.deadline);
	return sennit_event_wait_any_until(events, scene.count, which,
					   scene.deadline);
}

static int wait_for_futures(size_t *which)
{
	sennit_future *futures[ENTRIES];

	for (size_t i = 0; i < scene.count; i++)
		futures[i] = &entry(i)->future;
	if (scene.way == FUTURE_ALL)
		return sennit_future_wait_all_until(futures, scene.count,
						    scene.deadline);
	return sennit_future_wait_any_until(futures, scene.count, which,
					    scene.deadline);
}

static sennit_case case_of(size_t i)
{
	switch (scene.way) {
	case SELECT_EVENT:
		return sennit_case_event(&entry(i)->event);
	case SELECT_FUTURE:
		return sennit_case_future(&entry(i)->future, NULL);
	case SELECT_SEND:
		return sennit_case_send(&entry(i)->channel, &scene.out);
	case SELECT_RECEIVE:
		return sennit_case_receive(&entry(i)->channel, &scene.in);
	default:
		return i % 2 ? sennit_case_send(&entry(i)->channel, &scene.out)
			     : sennit_case_receive(&entry(i)->channel,
						   &scene.in);
	}
}

static int wait_for_cases(size_t *which)
{
	sennit_case cases[ENTRIES];
	int         err;

	for (size_t i = 0; i < scene.count; i++)
		cases[i] = case_of(i);
	err = sennit_select_until(cases, scene.count, which, scene.deadline);
	REQUIRE(err || cases[*which].result == (scene.closes ? -EPIPE : 0));
	return err;
}

static void wait_twice(void *unused)
{
	size_t which = 0;
	int    err;

	if (scene.way <= EVENT_ALL)
		err = wait_for_events(&which);
	else if (scene.way <= FUTURE_ALL)
		err = wait_for_futures(&which);
	else
		err = wait_for_cases(&which);
	REQUIRE(!err || (err == -ETIMEDOUT && scene.deadline != SENNIT_NEVER));
	REQUIRE(which < scene.count);
	scene.over = true;
	sennit_wait_group_done(&scene.done);
}

/* --- others -------------------------------------------------------------- */

/* Returns whether the wait, or another, has taken what was given, so that the
 * object may be freed. */
static bool give(struct object *o)
{
	int v = 1;

	if (scene.closes && o == scene.objects[0]) {
		if (!o->channel.senders_ && !o->channel.receivers_)
			return false; /* the wait has not begun */
		sennit_channel_close(&o->channel);
		return true;
	}
	switch (scene.way) {
	case EVENT_ANY:
		sennit_event_set(&o->event);
		return !sennit_event_is_set(&o->event);
	case EVENT_ALL:
	case SELECT_EVENT: /* it may still hold the locks of all */
		sennit_event_set(&o->event);
		return false;
	case FUTURE_ANY:
	case FUTURE_ALL:
	case SELECT_FUTURE:
		(void)!sennit_future_try_set(&o->future, NULL);
		return false;
	case SELECT_SEND:
		return !sennit_channel_receive_until(&o->channel, &v, 0);
	case SELECT_RECEIVE:
		return !sennit_channel_send_until(&o->channel, &v, 0);
	default:
		return sennit_explore_choose(2)
			       ? !sennit_channel_receive_until(&o->channel, &v,
							       0)
			       : !sennit_channel_send_until(&o->channel, &v, 0);
	}
}

static void give_until_over(void *number)
{
	unsigned i = number != NULL;

	while (!scene.over) {
		if (give(scene.objects[i]) && !scene.watched) {
			free_object(i);
			break;
		}
		sennit_yield();
	}
	sennit_wait_group_done(&scene.done);
}

/* Waits for both objects in turn, for a short time. */
static void stand_by(void *unused)
{
	int v = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct object *o = scene.objects[i];

		if (scene.way <= EVENT_ALL || scene.way == SELECT_EVENT)
			(void)!sennit_event_wait_until(&o->event, scene.soon);
		else if (scene.way <= FUTURE_ALL || scene.way == SELECT_FUTURE)
			(void)!sennit_future_wait_until(&o->future, scene.soon);
		else if (scene.way == SELECT_SEND)
			(void)!sennit_channel_send_until(&o->channel, &v,
							 scene.soon);
		else
			(void)!sennit_channel_receive_until(&o->channel, &v,
							    scene.soon);
	}
	sennit_wait_group_done(&scene.done);
}

/* --- scenes -------------------------------------------------------------- */

static const size_t counts[] = { 2, 3, 3, 4, ENTRIES };

static void set_scene(enum way way)
{
	memset(&scene, 0, sizeof(scene));
	scene.way = way;
	scene.mode = sennit_explore_choose(2) ? SENNIT_EVENT_AUTO
					      : SENNIT_EVENT_MANUAL;
	scene.soon = sennit_after(20 * SENNIT_MICROSECOND);
	scene.deadline = sennit_explore_choose(3) ? SENNIT_NEVER : scene.soon;
	scene.watched = scene.deadline != SENNIT_NEVER ||
			!sennit_explore_choose(4);
	scene.closes = way >= SELECT_SEND && !scene.watched &&
		       !sennit_explore_choose(3);
	scene.count =
		counts[sennit_explore_choose(sizeof(counts) / sizeof(*counts))];
	for (size_t i = 0; i < scene.count; i++)
		scene.entries[i] = scene.closes
					   ? 0
					   : (uint8_t)sennit_explore_choose(2);
	/* Something always stands twice. */
	scene.entries[scene.count - 1] = scene.entries[0];
	scene.objects[0] = open_object();
	scene.objects[1] = open_object();
}

static void end_scene(sennit_scheduler *s)
{
	sennit_wait_group_wait(&scene.done);
	end(s);
	for (unsigned i = 0; i < 2; i++) {
		struct object *o = scene.objects[i];

		if (!scene.gone[i])
			end_object(o);
		munmap(o, sizeof(*o));
	}
}

static void stand_twice(void *way)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	const bool        bound = sennit_explore_choose(2);

	set_scene(*(const enum way *)way);
	sennit_wait_group_init(&scene.done, scene.watched ? 4 : 3);
	if (scene.watched)
		spawn(stand_by, NULL);
	if (!bound)
		spawn(wait_twice, NULL);
	spawn(give_until_over, NULL);
	spawn(give_until_over, &scene);
	if (bound)
		wait_twice(NULL);
	end_scene(s);
}

TEST(nothing_is_left_of_a_wait_in_which_an_object_stands_twice)
{
	void (*const before)(int) = signal(SIGSEGV, fault);

	for (enum way way = 0; way < WAYS; way++)
		explore_some(stand_twice, &way, SCHEDULES / 5);
	signal(SIGSEGV, before);
}
