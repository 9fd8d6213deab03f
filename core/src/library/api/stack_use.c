/* SPDX-License-Identifier: Apache-2.0 */
/* stack_use.c - the calls of sennit/stack_use.h: how much stack the tasks of a
 * function have used. */
#include "api/config.h"
#include "base/text.h"
#include "life/fork.h"
#include "local/names.h"
#include "observe/depth.h"
#include "observe/report.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "stack/stack.h"
#include "sennit/stack_use.h"

#include <inttypes.h>

static size_t round_stack_size(size_t bytes, size_t page)
{
	return (bytes + page - 1) / page * page;
}

/* The smallest stack_size that fits `deepest` bytes of frames. The part of a
 * stack that is not for frames is the same for every size. A group member that
 * runs on its opener's stack may find only half of that stack free. */
static size_t least_size(const sennit_scheduler *s, size_t deepest)
{
	size_t page = s->stacks.slabs.page;
	size_t all = round_stack_size(s->config.stack_size, page);
	size_t room = sn_fiber_room(sn_stacks_usable(&s->stacks));
	size_t half = deepest > FIBER_MEMBER_STACK ? deepest : 0;
	size_t least = round_stack_size(all - room + deepest + half, page);

	return least > CONFIG_STACK_MIN ? least : CONFIG_STACK_MIN;
}

void sennit_stack_use_visit(sennit_scheduler *s,
			    void (*visit)(void                   *context,
					  const sennit_stack_use *use),
			    void *context)
{
	MISUSE_INHERITED(s, "sennit_stack_use_visit");
	for (uint32_t i = 0; s->depths && i <= STACK_DEPTH_FUNCTIONS; i++) {
		const struct stack_depth *d = &s->depths->of[i];
		const uintptr_t           task = a_load_rlx(&d->function);
		sennit_stack_use          use = {
				 .size = sizeof(use),
				 .task = (sennit_task_fn *)task,
				 .tasks = a_load_rlx(&d->tasks),
				 .deepest = (size_t)a_load_rlx(&d->deepest),
		};

		if (!use.tasks)
			continue; /* or it is just being counted */
		use.name = sn_task_names_get(use.task);
		use.least = least_size(s, use.deepest);
		visit(context, &use);
	}
}

static void print_use(void *lines, const sennit_stack_use *use)
{
	char name[128] = "other functions";

	if (use->name)
		sn_escape(name, sizeof(name), use->name);
	else if (use->task)
		sn_report_function_name((uintptr_t)use->task, name,
					sizeof(name));
	os_print_line(lines,
		      "%8zu bytes at most in %" PRIu64
		      " tasks of %s: a stack of "
		      "%zu KiB is enough\n",
		      use->deepest, use->tasks, name, use->least / 1024);
}

int sennit_stack_use_print(sennit_scheduler *s, int fd)
{
	struct os_lines lines = { .fd = fd };

	sennit_stack_use_visit(s, print_use, &lines);
	return lines.error;
}
