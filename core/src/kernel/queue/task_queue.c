/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/task_queue.h"

#include "base/memory.h"
#include "os/os.h"

#include <errno.h>

#ifdef SENNIT_SPAWN_SITES
_Thread_local const void *sn_spawn_site;
#endif

/* Slots of the first segment. Each next one doubles the room, up to
 * SEGMENT_MOST slots: 96 KB, which malloc takes from its heap. */
#define SEGMENT_FIRST TORTURED(1u, 16u)
#define SEGMENT_MOST  TORTURED(2u, 4096u)
#define ROOM_MAX      (1u << 30)

static uint32_t slots_of(const struct task_segment *s)
{
	return (uint32_t)(s->end - s->slots);
}

static size_t size_of(uint32_t slots)
{
	return sizeof(struct task_segment) + slots * sizeof(struct task);
}

void sn_task_queue_init(struct task_queue *q, const sennit_allocator *allocator)
{
	*q = (struct task_queue){ .allocator = allocator };
}

/* --- segments ----------------------------------------------------------- */

/* The allocator may keep freed memory (glibc does in all arenas except the
 * first, once it has seen a block of that size, and below any block that stays
 * in use). Therefore the pages of a large segment are discarded first. The page
 * between two segments remains: with 1,024 slots each that was a sixth of the
 * memory. */
static void free_segment(struct task_queue *q, struct task_segment *s)
{
	uint32_t slots = slots_of(s);

	q->room -= slots;
	if (slots >= SEGMENT_MOST / 4)
		os_discard(s, size_of(slots));
	sn_memory_give(q->allocator, s, size_of(slots));
}

static void free_chain(struct task_queue *q, struct task_segment *s)
{
	while (s) {
		struct task_segment *next = s->next;

		free_segment(q, s);
		s = next;
	}
}

void sn_task_queue_free(struct task_queue *q)
{
	free_chain(q, q->front);
	free_chain(q, q->spare);
	sn_task_queue_init(q, q->allocator);
}

static void spare_segment(struct task_queue *q, struct task_segment *s)
{
	s->next = q->spare;
	q->spare = s;
	q->spare_room += slots_of(s);
}

static struct task_segment *take_spare(struct task_queue *q)
{
	struct task_segment *s = q->spare;

	q->spare = s->next;
	q->spare_room -= slots_of(s);
	return s;
}

static int add_spare(struct task_queue *q)
{
	uint32_t             slots = q->room < SEGMENT_FIRST  ? SEGMENT_FIRST
				     : q->room < SEGMENT_MOST ? q->room
							      : SEGMENT_MOST;
	struct task_segment *s;

	if (q->room > ROOM_MAX - slots)
		return -ENOMEM;
	s = sn_memory_take(q->allocator, size_of(slots),
			   _Alignof(struct task_segment));
	if (!s)
		return -ENOMEM;
	s->end = s->slots + slots;
	q->room += slots;
	spare_segment(q, s);
	return 0;
}

/* --- both ends ---------------------------------------------------------- */

int sn_task_queue_grow(struct task_queue *q)
{
	struct task_segment *s;
	int                  err = q->spare ? 0 : add_spare(q);

	if (err)
		return err;
	s = take_spare(q);
	s->next = NULL;
	s->previous = q->back;
	if (q->back) {
		q->back->next = s;
	} else {
		q->front = s;
		q->head = s->slots;
		q->head_limit = s->end;
	}
	q->back = s;
	q->tail = s->slots;
	q->tail_limit = s->end;
	return 0;
}

void sn_task_queue_leave_front(struct task_queue *q)
{
	struct task_segment *left = q->front;

	if (sn_task_queue_is_empty(q)) { /* so it is the back segment, too */
		q->head = q->tail = left->slots;
		return;
	}
	q->front = left->next;
	q->front->previous = NULL;
	q->head = q->front->slots;
	q->head_limit = q->front->end;
	spare_segment(q, left);
}

void sn_task_queue_leave_back(struct task_queue *q)
{
	struct task_segment *left = q->back;

	if (sn_task_queue_is_empty(q))
		return; /* head and tail are at its first slot */
	q->back = left->previous;
	q->back->next = NULL;
	q->tail = q->tail_limit = q->back->end;
	spare_segment(q, left);
}

/* --- room --------------------------------------------------------------- */

/* The last segment of a queue without tasks becomes a spare, and the smallest
 * spare the last one. Otherwise the newest block of a long queue might stay,
 * above the freed ones, and glibc would keep more of them. */
static void leave_last(struct task_queue *q)
{
	struct task_segment **least = &q->spare, **end = &q->spare;
	struct task_segment  *s;

	if (q->front)
		spare_segment(q, q->front);
	q->front = q->back = NULL;
	q->head = q->head_limit = NULL;
	q->tail = q->tail_limit = NULL;
	for (; *end; end = &(*end)->next)
		if (slots_of(*end) < slots_of(*least))
			least = end;
	s = *least;
	if (!s || !s->next)
		return;
	*least = s->next;
	s->next = NULL;
	*end = s;
}

/* One segment stays in any case, because the room that was reserved for the
 * next task does. */
void sn_task_queue_trim(struct task_queue *q)
{
	if (sn_task_queue_is_empty(q))
		leave_last(q);
	while (q->room > QUEUE_KEPT &&
	       q->room > UINT64_C(4) * sn_task_queue_count(q) && q->spare &&
	       (q->front || q->spare->next))
		free_segment(q, take_spare(q));
}

int sn_task_queue_reserve(struct task_queue *q, uint32_t n)
{
	while ((size_t)(q->tail_limit - q->tail) + q->spare_room < n) {
		int err = add_spare(q);

		if (err)
			return err;
	}
	return 0;
}
