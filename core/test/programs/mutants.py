#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants.py - plants faults into copies of the library, one at a time, and says
which ones the generated programs find, and after how many seconds.

	mutants.py [--seconds N] [--build FOLDER] [NAME...]

Each fault is a replacement of text in one file of core/src. The copy is built
with SENNIT_DETERMINISTIC. The exit status is 1 if a fault is not found, or if
its text is not in the library any more.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))

# (name, file in core/src, text, what it becomes)
MUTANTS = [
    # --- faults that were in the library ---------------------------------
    ("any-twice", "library/sync/wait_any.c",
     "if (take_place(&places, s, i, q.word) &&",
     "if ((take_place(&places, s, i, q.word) || !*q.list) &&"),
    ("retired-not-threadless", "kernel/life/worker_threads.c",
     "target - open + retired,", "target - open,"),
    ("closed-ignores-errands", "kernel/sched/idle.c",
     "(!stuck && has_own_tasks(w)) ||", ""),
    ("clear-lost-when-locked", "library/sync/event.c",
     "clear_locked(e);\n\t\t\treturn;", "return;"),
    # --- events ------------------------------------------------------------
    ("set-wakes-nobody-watched", "library/sync/event.c",
     "sn_wake_all(watchers);", "(void)watchers;"),
    ("set-manual-keeps-auto", "library/sync/event.c",
     "sn_wait_queue_unlock(&e->state_, n ? word : word | EVENT_SET);",
     "sn_wait_queue_unlock(&e->state_, word | EVENT_SET);"),
    ("wait-misses-set-at-lock", "library/sync/event.c",
     "\tif (word & EVENT_SET) {\n\t\tsn_race_acquire(e);\n"
     "\t\tsn_wait_queue_unlock(&e->state_, sn_event_passed(e, word));\n"
     "\t\treturn 0;\n\t}\n", ""),
    # --- waits -----------------------------------------------------------------
    ("leave-forgets-bits", "kernel/wait/wait.c",
     "\tif (n->is.linked)\n\t\tsn_wait_queue_leave(list, n);\n\t"
     "sn_wait_queue_unlock(word, sn_wait_queue_bits(*list, value));",
     "\tif (n->is.linked)\n\t\tsn_wait_queue_leave(list, n);\n\t"
     "sn_wait_queue_unlock(word, value);"),
    ("any-keeps-others-linked", "library/sync/wait_any.c",
     "for (i = 0; i < linked; i++) {\n\t\tstruct wait_any_queue q",
     "for (i = 1; i < linked; i++) {\n\t\tstruct wait_any_queue q"),
    ("any-touches-reported", "library/sync/wait_any.c",
     "if (q.word != gone)", "if (q.word != gone || gone)"),
    # --- semaphores, barriers -----------------------------------------------------
    ("take-keeps-those-behind", "library/sync/semaphore.c",
     "if (err) /* the permits", "if (0) /* the permits"),
    ("take-passes-waiters", "library/sync/semaphore.c",
     "if (!(word & WAIT_QUEUE_WAITERS) && word / COUNT_ONE >= n) {",
     "if (word / COUNT_ONE > n) {"),
    ("barrier-keeps-arrival", "library/sync/barrier.c",
     "ended ? word : word - ARRIVAL", "word"),
    ("barrier-late-is-late", "library/sync/barrier.c",
     "return ended ? 0 : err;", "return err;"),
    ("give-touches-afterwards", "library/sync/semaphore.c",
     "\tsn_wait_queue_unlock(&s->state_, word);\n\tsn_wake_all(served);\n",
     "\tsn_wait_queue_unlock(&s->state_, word);\n\tsn_wake_all(served);\n"
     "\t(void)a_load_acq(&s->state_);\n"),
    ("unlock-touches-afterwards", "library/sync/mutex.c",
     "unlock_queue(m, word, guarded);\n\twake_turns(woken);\n}\n\n/* Whether an",
     "unlock_queue(m, word, guarded);\n\twake_turns(woken);\n\t"
     "(void)a_load_acq(&m->state_);\n}\n\n/* Whether an"),
    ("set-touches-afterwards", "library/sync/event.c",
     "sn_wait_queue_unlock(&e->state_, EVENT_SET);\n\tsn_wake_all(waiters);",
     "sn_wait_queue_unlock(&e->state_, EVENT_SET);\n\tsn_wake_all(waiters);"
     "\n\t(void)a_load_acq(&e->state_);"),
    # --- locks -------------------------------------------------------------------------
    ("rwlock-writer-gives-up", "library/sync/rwlock.c",
     "if (err && to_write)", "if (0)"),
    ("rwlock-last-reader", "library/sync/rwlock.c",
     "if (word < READER)\n\t\tadmit_next_phase(l, word, false);\n\telse",
     "if (word < READER && !(word & WAIT_QUEUE_WAITERS))\n\t\t"
     "admit_next_phase(l, word, false);\n\telse"),
    ("rwlock-readers-and-writer", "library/sync/rwlock.c",
     ": RWLOCK_HELD | WAIT_QUEUE_WAITERS;", ": WAIT_QUEUE_WAITERS;"),
    ("cond-unlocks-too-early", "library/sync/cond.c",
     "\tword = sn_wait_queue_lock(&c->state_);\n\tsn_wait_show",
     "\tsennit_mutex_unlock(m);\n\tword = sn_wait_queue_lock(&c->state_);\n"
     "\tsn_wait_show"),
    ("once-loses-the-turn", "library/sync/once.c",
     "if (n)\n\t\tn->is.handed = true;\n\tsn_wait_queue_unlock(&o->state_, "
     "n ? word : 0);",
     "if (n)\n\t\tn->is.handed = true;\n\tsn_wait_queue_unlock(&o->state_, "
     "0);"),
    ("mutex-unlock-wakes-none", "library/sync/mutex.c",
     "if (!(*word & AWAKE) || is_overdue(m))\n\t\tcall_waiters",
     "if (0)\n\t\tcall_waiters"),
    ("mutex-loser-calls-none", "library/sync/mutex.c",
     "if (!(word & HELD) && m->waiters_ && !guarded)", "if (0)"),
    ("mutex-skips-queue", "library/sync/mutex.c",
     "if (!may_skip_queue(word))\n\t\t\t\tbreak;", ""),
    ("mutex-two-owners", "library/sync/mutex.c",
     "if (!(word & HELD) || !deadline) {\n\t\tsn_wait_queue_unlock",
     "if (!(word & HELD) || !deadline || deadline > sennit_now() + 1000000) {"
     "\n\t\tword &= ~HELD;\n\t\tsn_wait_queue_unlock"),
    # --- tickets, pools --------------------------------------------------------------
    ("ticket-wait-does-not-look", "library/sync/ticket.c",
     "if (a_load_rlx(&t->state_) >= TICKET_DUE) {\n\t\t"
     "sn_wait_queue_unlock", "if (0) {\n\t\tsn_wait_queue_unlock"),
    ("ticket-done-early-keeps-waiters", "library/sync/ticket.c",
     "else if (t->waiters_) /*", "else if (0) /*"),
    ("ticket-call-forgets-due", "library/sync/ticket.c",
     "\tif (due)\n\t\tplace_call(t);", "\t(void)due;"),
    ("pool-lends-without-look", "library/sync/pool.c",
     "n->tag = take_free(p);\n\tif (n->tag || !deadline) {",
     "n->tag = NULL;\n\tif (!deadline) {"),
    # --- channels, futures, select ----------------------------------------------------------
    ("channel-close-keeps-senders", "library/flow/channel.c",
     "sn_wake_all(senders);\n\tsn_wake_all(receivers);\n}\n\nsize_t",
     "(void)senders;\n\tsn_wake_all(receivers);\n}\n\nsize_t"),
    ("channel-newest-sender-last", "library/flow/channel.c",
     "\tif (d->partner) {\n\t\tsn_race_acquire(d->partner);\n\t\t"
     "sn_channel_buffer_put(&c->store_, d->partner->place, c->size_);\n\t}",
     ""),
    ("channel-sends-to-closed", "library/flow/channel.c",
     "if (is_closed(c)) {\n\t\tsn_race_acquire(c);\n\t\treturn -EPIPE;\n\t}",
     ""),
    ("select-forgets-other-side", "library/flow/channel.c",
     "if (other_side && other_side->n.is.linked)", "if (0)"),
    ("select-leaves-some", "library/flow/select.c",
     "if (is_queued(k) && k->object_ != gone)",
     "if (is_queued(k) && k->object_ != gone && i)"),
    ("select-enomem-forgotten", "library/flow/select.c",
     "if (i == s->count)\n\t\t\treturn -ETIMEDOUT;",
     "if (i == s->count)\n\t\t\treturn 0;"),
    # --- groups --------------------------------------------------------------------------------
    ("cancel-only-own-waits", "library/group/cancel.c",
     "for (at = s; at; at = next_inner_scope(at, s))\n\t\t"
     "take_waits(at, &claimed);",
     "at = s;\n\ttake_waits(at, &claimed);"),
    ("enlist-misses-cancel", "library/group/cancel.c",
     "if (unlikely(over))\n\t\tover = claim_cancelled(n);", "over = false;"),
    ("deadline-not-limited", "library/group/cancel.c",
     "limit_deadline(n, deadline);\n\t}", "}"),
    ("moved-deadline-not-told", "library/group/cancel.c",
     "for (at = s; at; at = next_inner_scope(at, s))\n\t\t\t"
     "notify_waits_of_scope(at);", "(void)at, (void)notify_waits_of_scope;"),
    ("withdraw-stays-in-list", "library/group/cancel.c",
     "if (n->is.enlisted)\n\t\tunlink_wait", "if (0)\n\t\tunlink_wait"),
    ("refusal-keeps-no-error", "library/group/group.c",
     "sn_group_keep_error(g, -ECANCELED);\n\treturn -ECANCELED;",
     "return -ECANCELED;"),
    ("refused-member-counts", "library/group/group.c",
     "if (err)\n\t\tsn_group_end(g, sn_self, 0);\n\treturn err;\n}\n\n"
     "static int place_member_on", "return err;\n}\n\n"
     "static int place_member_on"),
    # --- workers ----------------------------------------------------------------------------------
    ("help-wakes-nobody", "kernel/sched/place.c",
     "if (hungry)\n\t\tsn_parking_wake_one(w->parking, w->index);\n\t"
     "return 0;", "return 0;"),
    ("inbox-wakes-nobody", "kernel/sched/place.c",
     "\tstruct worker *to = push_to_inbox(next_for_one(s), n, n);\n\n\t"
     "a_fence(); /* <-> park.sleep: published before looking for sleepers */"
     "\n\tsn_parking_wake_one(&s->parking, to->index);",
     "\t(void)push_to_inbox(next_for_one(s), n, n);"),
    ("drain-wakes-nobody", "kernel/sched/place.c",
     "sn_parking_wake_one(w->parking, w->index);\n}\n\n/* --- placing",
     "}\n\n/* --- placing"),
    ("park-without-last-look", "kernel/sched/idle.c",
     "if (work_appeared(w)) {", "if (0) {"),
    ("fiber-sleep-without-look", "kernel/sched/idle.c",
     "if (sn_inbox_is_empty(&w->mail.fibers) &&\n\t\t    "
     "!sn_worker_threads_is_kept(w)) {", "if (1) {"),
    ("closed-leaves-with-mail", "kernel/life/worker_threads.c",
     "leaves = sn_worker_threads_is_draining(w) &&\n\t\t "
     "sn_inbox_is_empty(&w->mail.fibers);",
     "leaves = sn_worker_threads_is_draining(w);"),
    ("send-to-does-not-start", "kernel/life/worker_threads.c",
     "if (!err && !sn_thread_is_present(&s->workers[index]->thread))\n\t\t"
     "err = start_locked(s->workers[index], true);", ""),
    ("resize-looks-for-no-work", "kernel/life/worker_threads.c",
     "if (any_worker_has_work(s))", "if (0 && any_worker_has_work(s))"),
    ("retire-loses-withdraw", "kernel/park/parking.c",
     "\ta_store_rlx(&p->threadless,\n\t\t    a_load_rlx(&p->threadless) - "
     "1); /* not raced, as above */\n", ""),
    ("withdraw-does-not-count", "kernel/park/parking.c",
     "\telse\n\t\t/* -> park.counts <- park.counts */\n\t\t"
     "a_add_acqrel(&s->parking->counts, SEARCHER - SLEEPER);\n\t"
     "TORTURE_POINT();", "\tTORTURE_POINT();"),
    ("wake-one-tries-preferred-only", "kernel/park/parking.c",
     "for (; word; word &= word - 1)", "for (; 0 && word; word &= word - 1)"),
    ("wake-many-sends-first-bundle", "kernel/wait/wake.c",
     "\t\tl = l->prev;\n\t\tsend_home(home, oldest->next, oldest);",
     "\t\tl = NULL;\n\t\tsend_home(home, oldest->next, oldest);"),
    # --- for claims of tests that were deleted: core/docs/design/claims.md -------
    # cancel-reaches-siblings is found by stress/groups_end_vs_cancels.
    ("event-newest-first", "library/sync/event.c",
     "word |= sn_wait_queue_join(&e->waiters_, n, false);\n"
     "\tsn_wait_queue_unlock(&e->state_, word);\n\treturn",
     "word |= sn_wait_queue_join(&e->waiters_, n, true);\n"
     "\tsn_wait_queue_unlock(&e->state_, word);\n\treturn"),
    ("set-auto-wakes-all", "library/sync/event.c",
     "if (e->mode_ == SENNIT_EVENT_AUTO)\n\t\tset_auto_slow(e);",
     "if (0)\n\t\tset_auto_slow(e);"),
    ("set-manual-wakes-one", "library/sync/event.c",
     "if (e->mode_ == SENNIT_EVENT_AUTO)\n\t\tset_auto_slow(e);",
     "if (1)\n\t\tset_auto_slow(e);"),
    ("deadline-too-early", "kernel/wait/wait.c",
     "sn_timers_arm(&w->timers, &a->timer, deadline);",
     "sn_timers_arm(&w->timers, &a->timer, deadline - 500000);"),
    ("deadline-too-late", "kernel/wait/wait.c",
     "sn_timers_arm(&w->timers, &a->timer, deadline);",
     "sn_timers_arm(&w->timers, &a->timer, deadline + 1000000000);"),
    ("timed-out-stays-linked", "kernel/wait/wait.c",
     "if (err)\n\t\tsn_wait_leave(word, list, n);",
     "(void)word, (void)list;"),
    ("set-wakes-the-timed-out", "kernel/wait/wait.c",
     "if (!n->is.raced || sn_waiter_claim(n))\n\t\t\tsn_link_join(&claimed, "
     "&n->link);",
     "if (!n->is.raced || (sn_waiter_claim(n), 1))\n"
     "\t\t\tsn_link_join(&claimed, &n->link);"),
    ("any-names-another", "library/sync/wait_any.c",
     "*which = part;",
     "*which = part ? 0 : s->count - 1;"),
    ("watcher-takes-the-set", "library/sync/event.c",
     "if (n->is.watches)\n\t\t\tcontinue;",
     ""),
    ("locks-in-any-order", "library/sync/wait_any.c",
     "while (i && (uintptr_t)l->words[i - 1] > (uintptr_t)word)\n\t\ti--;\n"
     "\tif (i && l->words[i - 1] == word)\n\t\treturn;",
     "(void)0;\n\tfor (last = 0; last < i; last++)\n\t\tif (l->words[last] "
     "== word)\n\t\t\treturn;"),
    ("semaphore-newest-first", "library/sync/semaphore.c",
     "sn_wait_queue_join(&s->waiters_, w, false)",
     "sn_wait_queue_join(&s->waiters_, w, true)"),
    ("grant-counts-one", "library/sync/semaphore.c",
     "*word -= w->permits * COUNT_ONE;",
     "*word -= COUNT_ONE;"),
    ("give-serves-one", "library/sync/semaphore.c",
     "while (s->waiters_) {\n\t\tstruct waiter *w",
     "while (s->waiters_ && !served) {\n\t\tstruct waiter *w"),
    ("take-at-once-passes-waiters", "library/sync/semaphore.c",
     "while (!(word & (WAIT_QUEUE_LOCKED | WAIT_QUEUE_WAITERS)) &&\n\t      "
     " word / COUNT_ONE >= n)",
     "while (!(word & WAIT_QUEUE_LOCKED) &&\n\t       word / COUNT_ONE >= n)"),
    ("barrier-opens-early", "library/sync/barrier.c",
     "word / ARRIVAL + 1 == b->parties_",
     "word / ARRIVAL + 1 >= b->parties_ - (b->parties_ > 2)"),
    ("once-runs-again", "library/sync/once.c",
     "return word & ONCE_DONE ? ONCE_IS_DONE : ONCE_TURN;",
     "return ONCE_TURN;"),
    ("once-done-wakes-none", "library/sync/once.c",
     "sn_wait_queue_unlock(&o->state_, ONCE_DONE);\n\tsn_wake_all(waiters);",
     "sn_wait_queue_unlock(&o->state_, ONCE_DONE);\n\t(void)waiters;"),
    ("once-failure-is-done", "library/sync/once.c",
     "if (err)\n\t\thand_over_once(o);",
     "if (0)\n\t\thand_over_once(o);"),
    ("rwlock-writer-beside-readers", "library/sync/rwlock.c",
     "to_write ? ~0U\n",
     "to_write ? RWLOCK_HELD | WAIT_QUEUE_WAITERS\n"),
    ("rwlock-newest-writer-first", "library/sync/rwlock.c",
     "sn_wait_queue_join(&l->waiters_, n, !to_write)",
     "sn_wait_queue_join(&l->waiters_, n, true)"),
    ("cond-late-without-lock", "library/sync/cond.c",
     "sennit_mutex_lock(m);\n\treturn err;",
     "if (!err)\n\t\tsennit_mutex_lock(m);\n\treturn err;"),
    ("channel-newest-first", "library/flow/channel.c",
     "(void)sn_wait_queue_join(list, n, false);",
     "(void)sn_wait_queue_join(list, n, true);"),
    ("channel-close-keeps-receivers", "library/flow/channel.c",
     "sn_wake_all(receivers);\n}\n\nsize_t",
     "(void)receivers;\n}\n\nsize_t"),
    ("channel-one-too-many", "library/flow/channel.c",
     "return s->count_ < s->capacity_;",
     "return s->count_ <= s->capacity_;"),
    ("channel-close-drops-values", "library/flow/channel.c",
     "if (c->store_.count_) {",
     "if (c->store_.count_ && !is_closed(c)) {"),
    ("channel-closed-send-succeeds", "library/flow/channel.c",
     "return n->is.handed ? 0 : -EPIPE;",
     "return 0;"),
    ("channel-handed-is-closed", "library/flow/channel.c",
     "d->partner->is.handed = true;",
     "d->partner->is.handed = !d->block && !d->to;"),
    ("future-set-touches-afterwards", "library/flow/future.c",
     "sn_wake_all(waiters);\n\tstart_continuations(last, value, error);",
     "sn_wake_all(waiters);\n\t(void)a_load_acq(&f->state_);\n"
     "\tstart_continuations(last, value, error);"),
    ("future-set-wakes-one", "library/flow/future.c",
     "waiters = sn_wait_take_all(&f->waiters_, word);",
     "waiters = f->waiters_;\n\tif (waiters) {\n\t\tstruct waiter *one = "
     "sn_wait_take_one(&f->waiters_);\n\t\twaiters = one ? &one->link : "
     "NULL;\n\t}"),
    ("future-second-set-counts", "library/flow/future.c",
     "if (word & SET) {\n\t\tsn_wait_queue_unlock(&f->state_, word);\n"
     "\t\treturn false;\n\t}",
     "(void)0;"),
    ("select-skips-a-case", "library/flow/select.c",
     "for (i = 0; i < s->count; i++) {\n\t\t*err = try_case",
     "for (i = 0; i < s->count - (s->count > 2); i++) {\n\t\t*err = try_case"),
    ("select-joins-equal-cases", "library/flow/select.c",
     "if (find_part(s, i, list_of(k)))\n\t\treturn;",
     ""),
    ("select-names-the-first", "library/flow/select.c",
     "which = sleep_for_each(s, &whole);",
     "which = sleep_for_each(s, &whole);\n\tif (which > 1)\n\t\twhich = 1;"),
    ("select-case-is-closed", "library/flow/select.c",
     "s->parties[which].n.is.handed\n\t\t\t\t      ? 0",
     "s->parties[which].n.is.handed && which\n\t\t\t\t      ? 0"),
    ("wait-group-zero-wakes-none", "library/group/wait_group.c",
     "if (!left && waits)\n\t\tfinish_locked(g, word);",
     "if (0)\n\t\tfinish_locked(g, word);"),
    ("wait-group-done-touches-afterwards", "library/group/wait_group.c",
     "if (!left && waits)\n\t\tfinish_locked(g, word);",
     "if (!left && waits)\n\t\tfinish_locked(g, word), "
     "(void)a_load_acq(&g->state_);"),
    ("wait-group-wait-ends-at-one", "library/group/wait_group.c",
     "\tif (unlikely(!left)) {\n\t\tfinish_locked(g, word);\n\t\treturn 0;",
     "\tif (unlikely(left == WAIT_GROUP_ONE)) {\n"
     "\t\tsn_wait_queue_unlock(&g->state_, word);\n\t\treturn 0;\n\t}\n\tif "
     "(unlikely(!left)) {\n\t\tfinish_locked(g, word);\n\t\treturn 0;"),
    ("ticket-done-wakes-none", "library/sync/ticket.c",
     "waiters = make_due(next);",
     "(void)make_due(next);"),
    ("ticket-two-due", "library/sync/ticket.c",
     "if (t->earlier_) {\n\t\tt->earlier_->later_ = later;\n\t\treturn "
     "NULL;\n\t}",
     "if (t->earlier_) {\n\t\tt->earlier_->later_ = later;\n\t\treturn "
     "later;\n\t}"),
    ("pool-newest-first", "library/sync/pool.c",
     "word |= sn_wait_queue_join(&p->waiters_, n, false);",
     "word |= sn_wait_queue_join(&p->waiters_, n, true);"),
    ("pool-lends-twice", "library/sync/pool.c",
     "t->next = &on_loan;\n\t\tn->tag = t;",
     "t->next = p->free_;\n\t\tp->free_ = t;\n\t\tn->tag = t;\n\t\tt->next "
     "= &on_loan;"),
    ("pool-return-wakes-none", "library/sync/pool.c",
     "n = sn_wait_take_one(&p->waiters_);",
     "n = NULL;"),
    ("group-ends-early", "library/group/group.c",
     "return withdraw_opener(g, err);",
     "return (void)withdraw_opener, err;"),
    ("group-member-is-forgotten", "library/group/group.c",
     "a_add_rlx(&g->others_, GROUP_ONE);",
     "a_add_rlx(&g->others_, a_load_rlx(&g->others_) ? 0 : GROUP_ONE);"),
    ("cancel-reaches-siblings", "library/group/cancel.c",
     "for (; at != s; at = at->parent_)\n\t\tif (at->next_)\n\t\t\treturn "
     "at->next_;",
     "for (; at; at = at->parent_)\n\t\tif (at->next_)\n\t\t\treturn "
     "at->next_;"),
    ("scope-stays-in-tree", "library/group/cancel.c",
     "if (state & SCOPE_LINKED) {\n\t\tTORTURE_POINT();",
     "if (0) {\n\t\tTORTURE_POINT();"),
    ("error-cancels-nobody", "library/group/group.c",
     "if (!(g->flags_ & SENNIT_GROUP_KEEP_GOING) &&",
     "if (0 &&"),
    ("keep-going-is-ignored", "library/group/group.c",
     "if (!(g->flags_ & SENNIT_GROUP_KEEP_GOING) &&",
     "if (1 &&"),
    ("group-current-is-none", "library/group/group.c",
     "return scope && scope->kind_ == SCOPE_GROUP\n",
     "return 0 && scope->kind_ == SCOPE_GROUP\n"),
    ("deadline-moves-later", "library/group/cancel.c",
     "if (deadline < deadline_of(s)) {",
     "if (deadline != deadline_of(s)) {"),
    ("drain-never-cancels", "library/group/group.c",
     "if (sennit_group_wait_until(g, deadline))\n\t\tsennit_group_cancel(g);",
     "(void)!sennit_group_wait_until(g, deadline);"),
    ("cancelled-group-says-nothing", "library/group/group.c",
     "sn_group_keep_error(g, -ECANCELED);\n\treturn sn_wake_cancelled",
     "return sn_wake_cancelled"),
]


def run(command, log, **how):
    with open(log, "ab") as out:
        return subprocess.call(command, stdout=out, stderr=out, **how)


def copy_tree(to):
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT)
    for name in files.decode().split("\0"):
        source = os.path.join(ROOT, name)
        target = os.path.join(to, name)
        if not name or not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target) or open(source, "rb").read() != open(
                target, "rb").read():
            shutil.copy2(source, target)


def build(tree, log):
    folder = os.path.join(tree, "build")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        launcher = []
        if shutil.which("ccache"):
            launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
        if run(["cmake", "-S", tree, "-B", folder, "-G", "Ninja",
                "-DCMAKE_BUILD_TYPE=Debug",
                "-DCMAKE_C_FLAGS_DEBUG=-O1 -g1 -w", "-DSENNIT_BUILD=tests",
                "-DSENNIT_DETERMINISTIC=ON"] + launcher, log):
            sys.exit("mutants: cmake fails, see " + log)
    return run(["ninja", "-C", folder, "test_programs"], log) == 0


def symptom(log):
    with open(log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    for line in text.splitlines():
        found = re.search(r"(failed: .*|sennit: .*|it hangs|an access.*|"
                          r"Assertion.*|not so.*)", line)
        if found and "repeat" not in line:
            return found.group(1)[:60]
    return "?"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--build",
                           default=os.path.join(ROOT, "build/mutants"))
    arguments.add_argument("names", nargs="*")
    options = arguments.parse_args()
    tree = options.build
    log = tree + ".log"
    copy_tree(tree)
    if not build(tree, log):
        sys.exit("mutants: the copy does not build, see " + log)
    missed = []
    for name, file, old, new in MUTANTS:
        if options.names and name not in options.names:
            continue
        path = os.path.join(tree, "core/src", file)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if text.count(old) != 1:
            print(f"{name:34} STALE: {text.count(old)} places", flush=True)
            missed.append(name)
            continue
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))
        try:
            if not build(tree, log):
                print(f"{name:34} does not build", flush=True)
                missed.append(name)
                continue
            out = tree + ".out"
            open(out, "wb").close()
            begin = time.monotonic()
            failed = run([os.path.join(tree, "build/test/programs"),
                          "--whole", "--seed", str(options.seed),
                          "--seconds", str(options.seconds)], out)
            took = time.monotonic() - begin
            if failed:
                print(f"{name:34} {took:6.1f} s  {symptom(out)}", flush=True)
            else:
                print(f"{name:34} NOT FOUND", flush=True)
                missed.append(name)
        finally:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
    print(f"{len(missed)} not found: {' '.join(missed)}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
