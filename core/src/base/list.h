/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - intrusive linked lists: a node for stacks, a FIFO of nodes, and a
 * circular doubly linked list and one with a head, which any member can leave
 * in O(1).
 *
 * Nothing here is thread-safe. The owner of a list says what protects it.
 */
#ifndef SN_LIST_H
#define SN_LIST_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct node {
	struct node *next;
};

/* A FIFO queue. All zeros is an empty queue. */
struct fifo {
	struct node *head; /* NULL: empty; tail is then undefined */
	struct node *tail;
};

static inline void sn_fifo_push(struct fifo *f, struct node *n)
{
	n->next = NULL;
	if (f->head)
		f->tail->next = n;
	else
		f->head = n;
	f->tail = n;
}

/* Append the chain first..last, whose inner links are set. */
static inline void sn_fifo_append(struct fifo *f, struct node *first,
				  struct node *last)
{
	last->next = NULL;
	if (f->head)
		f->tail->next = first;
	else
		f->head = first;
	f->tail = last;
}

/* The chain from its last node to its first. NULL for none. */
static inline struct node *sn_chain_reversed(struct node *n)
{
	struct node *before = NULL;

	while (n) {
		struct node *next = n->next;

		n->next = before;
		before = n;
		n = next;
	}
	return before;
}

/* Remove n from the chain *first..*last. Returns whether it was there. *first
 * is NULL if nothing is left. */
static inline bool sn_chain_remove(struct node **first, struct node **last,
				   const struct node *n)
{
	struct node  *before = NULL;
	struct node **at = first;

	while (*at && *at != n) {
		before = *at;
		at = &before->next;
	}
	if (!*at)
		return false;
	*at = n->next;
	if (*last == n)
		*last = before;
	return true;
}

/* A circular list without a head. A pointer to the first member stands for the
 * list; NULL is the empty list. A new member joins at the back. */
struct link {
	struct link *next;
	struct link *prev;
};

static inline void sn_link_join(struct link **first, struct link *l)
{
	struct link *f = *first;

	if (!f) {
		l->next = l;
		l->prev = l;
		*first = l;
		return;
	}
	l->next = f;
	l->prev = f->prev;
	f->prev->next = l;
	f->prev = l;
}

static inline void sn_link_leave(struct link **first, struct link *l)
{
	if (l->next == l) {
		*first = NULL;
		return;
	}
	l->next->prev = l->prev;
	l->prev->next = l->next;
	if (*first == l)
		*first = l->next;
}

/* A list with a head, of records with `next` and `pprev`: the next record, and
 * the pointer that points to this one. Macros, as each list has a type of its
 * own; they evaluate their arguments several times. */
#define SN_LIST_PUSH(head, record)                               \
	do {                                                     \
		(record)->next = *(head);                        \
		(record)->pprev = (head);                        \
		if ((record)->next)                              \
			(record)->next->pprev = &(record)->next; \
		*(head) = (record);                              \
	} while (0)

#define SN_LIST_REMOVE(record)                                   \
	do {                                                     \
		*(record)->pprev = (record)->next;               \
		if ((record)->next)                              \
			(record)->next->pprev = (record)->pprev; \
	} while (0)

/* The member after l in the list that begins at `first`. NULL: l is the
 * last. */
static inline struct link *sn_link_after(const struct link *l,
					 const struct link *first)
{
	return l->next == first ? NULL : l->next;
}

/* --- bits ----------------------------------------------------------------- */

/* Sets of small numbers, a bit for each. */

static inline bool sn_bit_is_set(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> i % 64 & 1;
}

static inline void sn_bit_set(uint64_t *map, uint32_t i)
{
	map[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void sn_bit_clear(uint64_t *map, uint32_t i)
{
	map[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* The lowest number in the set, which is not empty. */
static inline uint32_t sn_bit_first(const uint64_t *map)
{
	uint32_t word = 0;

	while (!map[word])
		word++;
	return word * 64 + (uint32_t)__builtin_ctzll(map[word]);
}

#endif
