/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - all stacks of a process: as a page, with deadlocks and what is
 * damaged. */
#ifndef SN_STACKS_H
#define SN_STACKS_H

#include "diag/fibers.h"
#include "diag/unwind.h"
#include "sennit/report.h"
#include "sennit/stacks.h"

#include <stddef.h>

/* --- stacks page ---------------------------------------------------------- */

/* Text on its way to a file descriptor, in pieces. */

struct stacks_page {
	int    fd;
	int    error; /* the first one, negative; nothing is written after it */
	size_t used;
	char   text[8192];
};

__attribute__((format(printf, 2, 3))) void sn_stacks_page_add(
	struct stacks_page *p, const char *format, ...);

/* Add a name that the program chose, escaped. */
void sn_stacks_page_add_name(struct stacks_page *p, const char *name);

/* Add text that is escaped already, as a string of JSON. */
void sn_stacks_page_add_quoted(struct stacks_page *p, const char *text);

/* Add a name that the program chose, escaped, as a string of JSON; NULL: the
 * word null. */
void sn_stacks_page_add_string(struct stacks_page *p, const char *name);

/* Write what is left. Returns 0 or the error. */
int sn_stacks_page_end(struct stacks_page *p);

/* Set *format to the one of this name: text, json, merged, merged-json, pprof.
 * Returns false if there is none. */
bool sn_stacks_format(const char *name, enum sennit_stacks_format *format);

/* Words for what a stack says. */
const char *sn_stacks_wait(uint32_t waits_for);
const char *sn_stacks_state(uint32_t state);
const char *sn_stacks_source(uint32_t source);
const char *sn_stacks_rest(uint32_t rest);

/* Whether the frame's address is behind a call, not that of the next
 * instruction. */
static inline bool sn_stacks_is_call(uint32_t source, uint32_t call_count,
				     uint32_t i)
{
	return i != call_count || source == SENNIT_STACK_SUSPENDED;
}

/* Add the lines that stand before frame i, if a thread makes the fiber's
 * blocking call: the first `count` frames are the thread's. thread 0: of
 * several. */
void sn_stacks_page_add_call(struct stacks_page *p, uint32_t thread,
			     uint32_t count, uint32_t rest, uint32_t i);

/* Add the line about missing frames, if they are. */
void sn_stacks_page_add_rest(struct stacks_page *p, uint32_t source,
			     uint32_t rest);

/* Add the place in the source code at which a task was spawned. The symbols
 * must have lines. */
void sn_stacks_page_add_site(struct stacks_page *p, struct symbols *symbols,
			     const void *site);

/* Add a frame with its place in the source code as an object of JSON. The
 * frame's instruction is at `place`. The symbols must have lines. */
void sn_stacks_page_add_frame(struct stacks_page *p, struct symbols *symbols,
			      uintptr_t frame, uintptr_t place);

/* The same for a spawn site, as a member of an object; NULL: not known. */
void sn_stacks_page_add_site_member(struct stacks_page *p,
				    struct symbols *symbols, const void *site);

/* Add what a fiber waits for, as members of an object of JSON; 0, NULL:
 * nothing. */
void sn_stacks_page_add_wait(struct stacks_page *p, uint32_t waits_for,
			     const void *object);

/* Add the last lines: whether names are missing ("": they are not), and the
 * visit's error. */
void sn_stacks_page_add_end(struct stacks_page *p, const char *missing,
			    int err);

/* --- deadlocks ------------------------------------------------------------ */

/* The deadlocks of schedulers, kept to be printed beside the stacks of their
 * fibers. They are those of sennit_scheduler_wait_graph, from copied memory. */

/* A wait of a deadlock, and who holds what it waits for. */
struct deadlock_wait {
	uint32_t    number;        /* of the deadlock, from 1 */
	uint32_t    thread, fiber; /* with `object` and `since` they tell waits
				 * from each other */
	const void *object;
	sennit_time since;
	uint32_t    holder_worker, holder_thread, holder_fiber;
};

struct deadlocks {
	struct deadlock_wait *waits;
	size_t                count;
	size_t                capacity;
};

/* Find the deadlocks of the scheduler, or of all schedulers if it is 0. What
 * finds no memory is left out. */
void sn_deadlocks_find(struct deadlocks *d, uintptr_t scheduler);

/* The deadlock that the fiber's wait belongs to, or NULL. */
const struct deadlock_wait *sn_deadlocks_of(const struct deadlocks    *d,
					    const sennit_report_entry *e);

void sn_deadlocks_free(struct deadlocks *d);

/* --- stacks --------------------------------------------------------------- */

struct stacks_visitor {
	void (*visit)(void *context, const sennit_stack *stack);
	/* Or NULL: is called first, when memory can be read. */
	void (*begin)(void *context, uintptr_t scheduler);
	/* Or NULL: see fibers.h. Is called also between the fibers. */
	damage_teller *tell;
	/* Or NULL: whether to visit that fiber. Threads none of whose fibers is
	 * wanted get no signal. */
	bool (*wants)(void *context, uint32_t thread, uint32_t fiber);
};

/* As sennit_stacks_visit. */
int sn_stacks_visit(sennit_scheduler *s, const struct stacks_visitor *by,
		    void *context);

#endif
