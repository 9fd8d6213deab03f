/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - the frames of a game: the same steps for each frame, and several
 * frames at once.
 *
 *	input -> physics -> cull -------> draw -> show
 *	         physics -> particles --> draw
 *	input -> sound ------------------------> show
 *
 * The order of the steps is stated once. A frame is a run with data of its own.
 * The first attempt states a contradictory order, and the library prints the
 * cycle.
 */
#include <sennit.h>
#include <sennit/dag.h>

#include <stdio.h>

enum { INPUT, PHYSICS, SOUND, CULL, PARTICLES, DRAW, SHOW, STEPS };

static const char *const names[STEPS] = { "input", "physics",   "sound",
					  "cull",  "particles", "draw",
					  "show" };

static const struct {
	uint32_t before, after;
} edges[] = {
	{ INPUT, PHYSICS },     { INPUT, SOUND }, { PHYSICS, CULL },
	{ PHYSICS, PARTICLES }, { CULL, DRAW },   { PARTICLES, DRAW },
	{ DRAW, SHOW },         { SOUND, SHOW },
};

/* A step uses the results of the steps before it, and stores its own. */
struct frame {
	unsigned number;
	unsigned left[STEPS];
};

static int input(void *data, void *unused)
{
	struct frame *f = data;

	(void)unused;
	f->left[INPUT] = f->number;
	return 0;
}

static int simulate(void *data, void *unused)
{
	struct frame *f = data;

	(void)unused;
	f->left[PHYSICS] = f->left[INPUT] * 2;
	return 0;
}

static int mix(void *data, void *unused)
{
	struct frame *f = data;

	(void)unused;
	sennit_sleep(SENNIT_MILLISECOND); /* other steps run meanwhile */
	f->left[SOUND] = f->left[INPUT] + 1;
	return 0;
}

static int cull(void *data, void *unused)
{
	struct frame *f = data;

	(void)unused;
	f->left[CULL] = f->left[PHYSICS] / 2;
	return 0;
}

static int scatter(void *data, void *unused)
{
	struct frame *f = data;

	(void)unused;
	f->left[PARTICLES] = f->left[PHYSICS] + 3;
	return 0;
}

static int draw(void *data, void *unused)
{
	struct frame *f = data;

	(void)unused;
	f->left[DRAW] = f->left[CULL] + f->left[PARTICLES];
	return 0;
}

static int show(void *data, void *unused)
{
	struct frame *f = data;

	(void)unused;
	f->left[SHOW] = f->left[DRAW] + f->left[SOUND];
	return 0;
}

static sennit_dag_fn *const steps[STEPS] = { input,   simulate, mix, cull,
					     scatter, draw,     show };

static int describe(sennit_dag_builder *b)
{
	uint32_t node;
	int      err = 0;

	for (unsigned i = 0; i < STEPS && !err; i++)
		err = sennit_dag_builder_add(b, steps[i], NULL, names[i],
					     &node);
	for (unsigned i = 0; i < sizeof(edges) / sizeof(edges[0]) && !err; i++)
		err = sennit_dag_builder_order(b, edges[i].before,
					       edges[i].after);
	return err;
}

/* Returns NULL if the graph cannot be built. */
static sennit_dag *make_frame_graph(bool with_mistake)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	char               circle[80] = "no memory";
	int                err = describe(&b);

	if (!err && with_mistake)
		err = sennit_dag_builder_order(&b, DRAW, PHYSICS);
	if (!err)
		err = sennit_dag_build(&d, &b, circle, sizeof(circle));
	if (err)
		printf("not a frame graph: %s\n", circle);
	sennit_dag_builder_destroy(&b);
	return d;
}

enum { FRAMES = 4 };

static int play(sennit_dag *d)
{
	struct frame frames[FRAMES];
	unsigned     wrong = 0;
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < FRAMES; i++) {
		frames[i].number = i;
		if (sennit_dag_spawn(&g, d, &frames[i], NULL, SENNIT_NEVER))
			break;
	}
	if (sennit_group_wait(&g))
		return -1;
	for (unsigned i = 0; i < FRAMES; i++) {
		printf("frame %u: %u\n", i, frames[i].left[SHOW]);
		wrong += frames[i].left[SHOW] != 4 * i + 4;
	}
	return wrong ? -1 : 0;
}

int main(void)
{
	sennit_scheduler *s;
	sennit_dag       *d;
	int               err;

	if (make_frame_graph(true))
		return 1;
	d = make_frame_graph(false);
	if (!d || sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = play(d);
	sennit_dag_destroy(d);
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return err ? 1 : 0;
}
