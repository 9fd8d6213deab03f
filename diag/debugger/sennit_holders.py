# SPDX-License-Identifier: Apache-2.0
"""Which fiber waits for which, in a process that stands still.

A fiber that waits for a lock points to the word that has the lock's owner, a
reader notes its locks, and a member of a group has the group as its scope
(sennit/detail/debugger.h). The process stands still, so one look at each is enough.
"""

from sennit_descriptor import Fault
from sennit_fibers import FOR_GROUP, FOR_RWLOCK, word

MOST_LOCKS = 20  # that are printed


class Holders:
    def __init__(self, process):
        self.process = process
        self.owners = {}      # by the address of the word
        self.identities = {}  # the fiber with each
        self.members = {}     # of each group
        self.readers = {}     # of each lock
        if not process.waits_by:
            return
        for f in process.fibers():
            self.identities.setdefault(f.address, f)
            self.identities.setdefault(f.identity, f)
            if f.scope:
                self.members.setdefault(f.scope, []).append(f)
            for lock in filter(None, f.reads):
                self.readers.setdefault(lock, []).append(f)

    def owner_of(self, f):
        """The identity of the holder of the lock that the fiber waits for; 0:
        there is none, or it waits for no lock."""
        if f.state != "blocked" or not f.place:
            return 0
        if f.place not in self.owners:
            try:
                self.owners[f.place] = self.process.memory.pointer(f.place,
                                                                   "lock")
            except Fault:
                self.owners[f.place] = 0
        return self.owners[f.place]

    def readers_of(self, lock):
        """If more fibers have noted it than it has readers, then other fibers
        have unlocked it for some of them, and it is not known for which."""
        readers = self.readers.get(lock, [])
        try:
            count, = word(self.process.memory.read(lock, 4, "lock"))
        except Fault:
            return []
        most = count // max(self.process.waits_by.reader, 1)
        return readers if len(readers) <= most else []

    def waited_for(self, f):
        """The fibers that must act before this one can go on."""
        if f.state != "blocked":
            return []
        if f.kind == FOR_GROUP:
            return [m for m in self.members.get(f.object, ()) if m is not f]
        owner = self.owner_of(f)
        if owner:
            holder = self.identities.get(owner)
            return [holder] if holder is not None else []
        if f.kind == FOR_RWLOCK and f.object in self.readers:
            return self.readers_of(f.object)
        return []

    def circles(self):
        """Lists of fibers of which each waits for the next one, and the last
        for the first. A search in depth: `path` is where it is."""
        done = set()
        for start in self.process.fibers():
            if start.address in done or not self.waited_for(start):
                continue
            path = [(start, iter(self.waited_for(start)))]
            at = {start.address: 0}  # the fibers of the path
            while path:
                f, rest = path[-1]
                after = next(rest, None)
                if after is None:
                    path.pop()
                    del at[f.address]
                    done.add(f.address)
                elif after.address in at:
                    first = at[after.address]
                    circle = [g for g, _ in path[first:]]
                    yield circle
                    del path[first:]
                    for g in circle:
                        del at[g.address]
                        done.add(g.address)
                elif after.address not in done:
                    at[after.address] = len(path)
                    path.append((after, iter(self.waited_for(after))))

    def lines(self, shown):
        """What to print below a list of these fibers, by address."""
        inside = set()
        for circle in self.circles():
            inside.update(f.address for f in circle)
            if any(f.address in shown for f in circle):
                yield from self._circle(circle)
        locks = {}
        for f in self.process.fibers():
            if f.address in shown and f.address not in inside and \
                    f.kind != FOR_GROUP and \
                    (self.owner_of(f) or self.waited_for(f)):
                locks.setdefault(f.place or f.object, []).append(f)
        for waiters in list(locks.values())[:MOST_LOCKS]:
            yield self._lock(waiters)
        if len(locks) > MOST_LOCKS:
            yield "and %d more locks" % (len(locks) - MOST_LOCKS)

    def _circle(self, circle):
        if len(circle) == 1:
            yield ("deadlock: fiber %d waits for what it holds itself, or what "
                   "the task below it on its stack holds" % circle[0].number)
        else:
            yield "deadlock of %d fibers:" % len(circle)
        for f, after in zip(circle, circle[1:] + circle[:1]):
            relation = "held by"
            if f.kind == FOR_GROUP:
                relation = "with the member"
            yield "  %s, %s fiber %d" % (self.process.title(f), relation,
                                         after.number)

    def _lock(self, waiters):
        holders = self.waited_for(waiters[0])
        held = "a thread that is not bound"
        if holders:
            held = "fiber %d (%s): %s" % (
                holders[0].number, holders[0].label(),
                self.process.task_of(holders[0]))
        if len(holders) > 1:
            held += " and %d more" % (len(holders) - 1)
        count = "; %d of these wait" % len(waiters)
        return "%s: held by %s%s" % (self.process.wait_of(waiters[0]), held,
                                     count if len(waiters) > 1 else "")
