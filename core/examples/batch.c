/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - a bound thread schedules all lines of a picture in one call.
 *
 * The call publishes all lines at once and wakes one worker, which has the next
 * one woken. Scheduled one by one, each line would make the thread look for
 * sleeping workers. If there is no memory, no line is scheduled.
 */
#include <sennit.h>

#include <stdio.h>

enum { LINES = 24, COLUMNS = 72 };

static struct picture {
	sennit_wait_group left;
	char              line[LINES][COLUMNS + 1];
} picture;

/* A pixel of the Mandelbrot set. */
static char pixel(double re, double im)
{
	double x = 0, y = 0;
	int    steps = 0;

	for (; steps < 500 && x * x + y * y < 4; steps++) {
		double next = x * x - y * y + re;

		y = 2 * x * y + im;
		x = next;
	}
	return steps < 500 ? " .:-=+*%@"[steps % 9] : '#';
}

static void draw(void *line)
{
	char     *text = line;
	ptrdiff_t number = (text - picture.line[0]) / (COLUMNS + 1);

	for (int column = 0; column < COLUMNS; column++)
		text[column] = pixel(-2.2 + 3.0 * column / COLUMNS,
				     -1.2 + 2.4 * (double)number / LINES);
	sennit_wait_group_done(&picture.left);
}

int main(void)
{
	sennit_scheduler *s;
	sennit_task       tasks[LINES];
	int               err;

	if (sennit_scheduler_create(&s, NULL))
		return 1;
	sennit_wait_group_init(&picture.left, LINES);
	for (int i = 0; i < LINES; i++)
		tasks[i] = (sennit_task){ .run = draw,
					  .argument = picture.line[i] };
	err = sennit_schedule_many_on(s, tasks, LINES);
	if (!err) {
		sennit_wait_group_wait(&picture.left);
		for (int i = 0; i < LINES; i++)
			puts(picture.line[i]);
	}
	sennit_scheduler_release(s);
	return err ? 1 : 0;
}
