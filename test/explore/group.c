/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - groups in many orders: cancels against signals, deadlines and
 * errors, with members that are stolen or run on their opener's stack. */
#include "explore.h"

static sennit_time soon(void)
{
	return sennit_after(5 * SENNIT_MICROSECOND);
}

static void must_spawn(sennit_group *g, sennit_member_fn *run, void *argument)
{
	REQUIRE(!sennit_group_spawn(g, run, argument));
}

static void add_one(unsigned *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

/* --- a token that is passed on while waits for it are cancelled ----------- */

struct game {
	sennit_group g;
	sennit_event turn; /* auto: the task that has it owns `turns` */
	unsigned     turns, ended;
	unsigned     got;
};

static int take_turn(struct game *game, sennit_time deadline)
{
	int err = sennit_event_wait_until(&game->turn, deadline);

	if (err)
		return err;
	game->turns++;
	sennit_yield();
	add_one(&game->got);
	sennit_event_set(&game->turn);
	return 0;
}

static int play(void *argument)
{
	struct game *game = argument;
	int          err = 0;

	for (int i = 0; i < 2 && !err && !sennit_cancelled(); i++)
		err = take_turn(game, SENNIT_NEVER);
	REQUIRE(!err || err == -ECANCELED);
	add_one(&game->ended);
	return err;
}

static int play_in_time(void *argument)
{
	struct game *game = argument;
	int          err = take_turn(game, soon());

	REQUIRE(!err || err == -ECANCELED || err == -ETIMEDOUT);
	add_one(&game->ended);
	return 0;
}

static int play_inside(void *argument)
{
	sennit_group g;

	sennit_group_init(&g, soon(), SENNIT_GROUP_KEEP_GOING);
	if (!sennit_group_spawn(&g, play_in_time, argument))
		sennit_group_wait(&g);
	add_one(&((struct game *)argument)->ended);
	return 0;
}

static int break_off(void *argument)
{
	struct game *game = argument;

	sennit_yield();
	sennit_group_cancel(&game->g);
	add_one(&game->ended);
	return 0;
}

static void hold_game(void *argument)
{
	struct game *game = argument;

	sennit_group_init(&game->g, SENNIT_NEVER, 0);
	must_spawn(&game->g, play, game);
	must_spawn(&game->g, play_inside, game);
	must_spawn(&game->g, play, game);
	must_spawn(&game->g, break_off, game);
	REQUIRE(sennit_group_wait(&game->g) == -ECANCELED);
	memset(&game->g, 0xa5, sizeof(game->g));
	REQUIRE(game->ended >= 4 && game->turns == game->got);
	REQUIRE(sennit_event_is_set(&game->turn));
}

static void in_this_thread(void *unused)
{
	struct game       game = { .turns = 0 };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	sennit_event_init(&game.turn, SENNIT_EVENT_AUTO, true);
	hold_game(&game);
	end(s);
}

struct errand {
	struct game       game;
	sennit_wait_group done;
};

static void hold_game_and_tell(void *argument)
{
	struct errand *e = argument;

	hold_game(&e->game);
	sennit_wait_group_done(&e->done);
}

static void in_a_task(void *unused)
{
	struct errand     e = { .game.turns = 0 };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	sennit_event_init(&e.game.turn, SENNIT_EVENT_AUTO, true);
	sennit_wait_group_init(&e.done, 1);
	spawn(hold_game_and_tell, &e);
	sennit_wait_group_wait(&e.done);
	end(s);
}

TEST(cancelled_waits_lose_no_turn)
{
	explore(in_this_thread, NULL);
}

TEST(nor_those_of_a_group_that_a_task_has_opened)
{
	explore(in_a_task, NULL);
}

/* --- trees ---------------------------------------------------------------- */

struct branch {
	unsigned depth;
	bool     fails;
	unsigned leaves; /* leaves that are running */
};

static int grow(void *argument)
{
	struct branch *b = argument;
	struct branch  half[2] = { { b->depth - 1, b->fails, 0 },
				   { b->depth - 1, false, 0 } };
	sennit_group   g;
	int            err = 0;

	if (!b->depth) {
		b->leaves = 1;
		if (!b->fails)
			sennit_yield();
		return b->fails ? -EIO : 0;
	}
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 2 && !err; i++)
		err = sennit_group_spawn(&g, grow, &half[i]);
	err = sennit_group_wait(&g);
	memset(&g, 0xa5, sizeof(g));
	b->leaves = half[0].leaves + half[1].leaves;
	return err;
}

static void grow_in_a_task(void *argument)
{
	struct branch root = { 3, false, 0 };

	REQUIRE(!grow(&root) && root.leaves == 8);
	root = (struct branch){ 3, true, 0 };
	REQUIRE(grow(&root) == -EIO && root.leaves <= 8);
	sennit_wait_group_done(argument);
}

static void grow_trees(void *unused)
{
	sennit_wait_group done;
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 3));

	(void)unused;
	sennit_wait_group_init(&done, 2);
	spawn(grow_in_a_task, &done);
	spawn(grow_in_a_task, &done);
	sennit_wait_group_wait(&done);
	end(s);
}

TEST(no_branch_outlives_its_group)
{
	explore(grow_trees, NULL);
}

/* --- an earlier deadline, and an opener that gives up --------------------- */

struct haste {
	sennit_group g;
	sennit_event turn;
	unsigned     ended, late;
};

static int wait_for_ever(void *argument)
{
	struct haste *h = argument;
	int           err = sennit_event_wait(&h->turn);

	REQUIRE(!err || err == -ETIMEDOUT);
	if (err)
		add_one(&h->late);
	add_one(&h->ended);
	return err;
}

static int wait_in_a_group(void *argument)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	must_spawn(&g, wait_for_ever, argument);
	(void)!sennit_group_wait_until(&g, soon());
	return sennit_group_wait(&g);
}

static int hurry(void *argument)
{
	struct haste *h = argument;

	sennit_yield();
	sennit_group_set_deadline(&h->g, soon());
	sennit_event_set(&h->turn);
	sennit_group_set_deadline(&h->g, 0);
	return 0;
}

static void be_hasty(void *unused)
{
	struct haste      h = { .ended = 0 };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	int               err;

	(void)unused;
	sennit_event_init(&h.turn, SENNIT_EVENT_AUTO, false);
	sennit_group_init(&h.g, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	must_spawn(&h.g, wait_for_ever, &h);
	must_spawn(&h.g, wait_in_a_group, &h);
	must_spawn(&h.g, wait_for_ever, &h);
	must_spawn(&h.g, hurry, &h);
	err = sennit_group_wait_until(&h.g, soon());
	REQUIRE(!err || err == -ETIMEDOUT);
	REQUIRE(err || (h.ended == 3 && !sennit_group_members(&h.g)));
	REQUIRE(sennit_group_wait(&h.g) == -ETIMEDOUT);
	memset(&h.g, 0xa5, sizeof(h.g));
	REQUIRE(h.ended == 3);
	/* The turn went to one waiter, or is still there. */
	REQUIRE(h.late + !sennit_event_is_set(&h.turn) == 3);
	end(s);
}

TEST(an_earlier_deadline_ends_all_waits)
{
	explore(be_hasty, NULL);
}
