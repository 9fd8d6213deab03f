/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the stacks of all fibers of a process, with deadlocks and damaged
 * records, as text. */
#ifndef SN_STACKS_H
#define SN_STACKS_H

#include "fibers.h"
#include "unwind.h"
#include "sennit/report.h"
#include "sennit/stacks.h"

#include <stddef.h>

/* --- stacks page ---------------------------------------------------------- */

/* A buffer of text that is written to a file descriptor. */

struct stacks_page {
	int    fd;
	int    error; /* the first error, negative; nothing is written
		       * afterwards */
	size_t used;
	char   text[8192];
};

__attribute__((format(printf, 2, 3))) void sn_stacks_page_add(
	struct stacks_page *p, const char *format, ...);

/* Add a name that the program chose, escaped. */
void sn_stacks_page_add_name(struct stacks_page *p, const char *name);

/* Add text that is already escaped, as a JSON string. */
void sn_stacks_page_add_quoted(struct stacks_page *p, const char *text);

/* Add a name that the program chose, escaped, as a JSON string. NULL: add
 * null. */
void sn_stacks_page_add_string(struct stacks_page *p, const char *name);

/* Write the rest of the buffer. Returns 0 or the error. */
int sn_stacks_page_end(struct stacks_page *p);

/* Set *format to the format of this name: text, json, merged, merged-json,
 * pprof. Returns false if there is none. */
bool sn_stacks_format(const char *name, enum sennit_stacks_format *format);

/* Return the words for the values of a stack. */
const char *sn_stacks_wait(uint32_t waits_for);
const char *sn_stacks_state(uint32_t state);
const char *sn_stacks_source(uint32_t source);
const char *sn_stacks_rest(uint32_t rest);

/* Report whether the frame's address is a return address. Otherwise it is that
 * of the next instruction. */
static inline bool sn_stacks_is_call(uint32_t source, uint32_t call_count,
				     uint32_t i)
{
	return i != call_count || source == SENNIT_STACK_SUSPENDED;
}

/* Add the lines that precede frame i if a thread makes the fiber's blocking
 * call. The first `count` frames are the thread's. thread 0: the stacks of
 * several threads. */
void sn_stacks_page_add_call(struct stacks_page *p, uint32_t thread,
			     uint32_t count, uint32_t rest, uint32_t i);

/* Add the line about missing frames, if frames are missing. */
void sn_stacks_page_add_rest(struct stacks_page *p, uint32_t source,
			     uint32_t rest);

/* Add the source location of the call that spawned a task. *symbols must have
 * has_lines set. */
void sn_stacks_page_add_site(struct stacks_page *p, struct symbols *symbols,
			     const void *site);

/* Add a frame with its source location as a JSON object. `place` is the address
 * of the frame's instruction. *symbols must have has_lines set. */
void sn_stacks_page_add_frame(struct stacks_page *p, struct symbols *symbols,
			      uintptr_t frame, uintptr_t place);

/* Likewise for a spawn site, as a member of an object. site NULL: not known. */
void sn_stacks_page_add_site_member(struct stacks_page *p,
				    struct symbols *symbols, const void *site);

/* Add what a fiber waits for, as members of a JSON object. 0, NULL: nothing. */
void sn_stacks_page_add_wait(struct stacks_page *p, uint32_t waits_for,
			     const void *object);

/* Add the last lines: why names are missing (""; they are not), and the visit's
 * error. */
void sn_stacks_page_add_end(struct stacks_page *p, const char *missing,
			    int err);

/* --- deadlocks ------------------------------------------------------------ */

/* The deadlocks of schedulers, which are printed with the stacks of their
 * fibers. They are those of sennit_wait_graph_visit, but found in copied
 * memory. */

/* A wait in a deadlock, and the holder of the object. */
struct deadlock_wait {
	uint32_t    number;        /* number of the deadlock, from 1 */
	uint32_t    thread, fiber; /* these and `object` and `since` identify
				    * the wait */
	const void *object;
	sennit_time since;
	uint32_t    holder_worker, holder_thread, holder_fiber;
};

struct deadlocks {
	struct deadlock_wait *waits;
	size_t                count;
	size_t                capacity;
};

/* Find the deadlocks of the scheduler, or of all schedulers if it is 0.
 * Deadlocks for which there is no memory are left out. */
void sn_deadlocks_find(struct deadlocks *d, uintptr_t scheduler);

/* Return the deadlock to which the fiber's wait belongs, or NULL. */
const struct deadlock_wait *sn_deadlocks_of(const struct deadlocks    *d,
					    const sennit_report_entry *e);

void sn_deadlocks_free(struct deadlocks *d);

/* --- stacks --------------------------------------------------------------- */

struct stacks_visitor {
	void (*visit)(void *context, const sennit_stack *stack);
	/* NULL, or called first, when memory can be read. */
	void (*begin)(void *context, uintptr_t scheduler);
	/* NULL, or see fibers.h. Also called between fibers. */
	damage_fn *on_damage;
	/* NULL, or returns whether to visit that fiber. Threads none of whose
	 * fibers is wanted get no signal. */
	bool (*wants)(void *context, uint32_t thread, uint32_t fiber);
};

/* Like sennit_stacks_visit. */
int sn_stacks_visit(sennit_scheduler *s, const struct stacks_visitor *by,
		    void *context);

/* Of tools.c: see sennit_stacks_print. */
extern const char sn_tools_are_linked;

#endif
