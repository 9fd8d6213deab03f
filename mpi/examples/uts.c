/* SPDX-License-Identifier: Apache-2.0 */
/* uts.c - counts the nodes of an unbalanced tree whose shape is not known
 * before: each process has fibers that expand nodes, and a process without
 * nodes asks others for some.
 *
 * It asks one process at random, and then its lifelines, the processes whose
 * numbers differ in one bit. A process that has nothing to give to a lifeline
 * remembers it, and gives as soon as it has nodes: no request is repeated.
 * (Saraswat et al., Lifeline-based global load balancing, PPoPP 2011.)
 *
 * The end is found by credit: nodes that are given away take half of the
 * giver's credit, and a process without nodes sends its credit to process 0.
 * When process 0 has all credit, no node is left. (Global quiescence detection
 * based on credit distribution and recovery, Information Processing Letters 30,
 * 1989.)
 *
 * Process 0 begins when it has given some nodes away, so that small trees are
 * shared, too. It counts once more alone, and must get the same.
 *
 *	mpirun -n 2 uts [SEED [WORK [WORKERS [ROOT]]]]
 *
 * WORK: how often each node is hashed; WORKERS: of each process, 2 by default;
 * ROOT: the children of the root, 500 by default.
 *
 * It prints, besides the time,
 *	share      nodes of the process with the fewest, in % of a fair share
 *	gifts      how often one process gave nodes to another
 *	questions  to processes at random: one for each gift and process at most
 *	messages   of all kinds
 *	CPU time   of all processes for the search, times that of counting alone
 */
#include <inttypes.h>
#include <mpi.h>
#include <sennit.h>
#include <sennit/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Chances of children; a tree has 80 times its root's, or many more. One
 * message carries PARCEL nodes, and a process keeps KEEP. A fiber expands up to
 * BATCH nodes at once, but not so many that they take TURN hashes. */
enum { CHILDREN = 4, CHANCE = 247, OF = 1000 };
enum { PARCEL = 512, KEEP = 8, FIBERS = 4, MOST_RANKS = 1024 };
enum { BATCH = 32, TURN = 50000 };

enum tag { ASK = 1, ASK_LIFELINE, GIVE, NOTHING, HOME, OVER };

#define ALL_CREDIT (UINT64_C(1) << 62)

struct message {
	uint64_t credit, count, node[PARCEL];
};

static int      rank, ranks;
static uint64_t work_for_each;
static int      root_children = 500;

static struct {
	sennit_mutex lock;
	sennit_cond  changed;
	uint64_t    *node; /* a stack */
	size_t       count, room;
	uint64_t     credit, home; /* home: at process 0 */
	uint64_t     nodes;        /* expanded here */
	uint64_t     sum;          /* of what toil() said of those */
	uint64_t     gifts, questions;
	int          busy;      /* fibers that expand one */
	int          asked;     /* an answer is to come */
	bool         lifelines; /* they have been asked */
	bool         over;
	int          sent[MOST_RANKS], got[MOST_RANKS]; /* messages */
	bool         waits[MOST_RANKS]; /* lifelines that wait for nodes */
} self;

/* --- the tree ------------------------------------------------------------- */

static uint64_t mix(uint64_t x) /* splitmix64 */
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t toil(uint64_t node)
{
	uint64_t x = node;

	for (uint64_t i = 0; i < work_for_each; i++)
		x = mix(x);
	return x;
}

static int children(uint64_t node)
{
	return mix(node) % OF < CHANCE ? CHILDREN : 0;
}

static uint64_t child(uint64_t node, int i)
{
	return mix(node ^ mix((uint64_t)i + 1));
}

static void push(uint64_t node)
{
	if (self.count == self.room) {
		self.room = self.room ? 2 * self.room : 1024;
		self.node = realloc(self.node, self.room * sizeof(*self.node));
		if (!self.node)
			abort();
	}
	self.node[self.count++] = node;
}

static uint64_t count_alone(uint64_t root, uint64_t *sum)
{
	uint64_t nodes = 1;

	for (int i = 0; i < root_children; i++)
		push(child(root, i));
	for (; self.count; nodes++) {
		uint64_t node = self.node[--self.count];

		*sum ^= toil(node);
		for (int i = 0; i < children(node); i++)
			push(child(node, i));
	}
	return nodes;
}

/* --- giving and asking: self.lock is held, but not while a message is sent  */

static void send(int to, enum tag tag, const struct message *m)
{
	size_t count = m ? m->count : 0;

	self.sent[to]++;
	sennit_mutex_unlock(&self.lock);
	MPI_Send(m, m ? (int)(2 + count) : 0, MPI_UINT64_T, to, (int)tag,
		 MPI_COMM_WORLD);
	sennit_mutex_lock(&self.lock);
}

/* There are nodes here, so what has come home may be lent again. */
static bool has_credit(void)
{
	if (self.credit < 2) {
		self.credit += self.home;
		self.home = 0;
	}
	return self.credit >= 2;
}

/* Half of what is more than KEEP, the oldest: their trees are the largest. */
static bool give(int to)
{
	struct message m;
	size_t         half = self.count > KEEP ? self.count / 2 : 0;

	if (!half || !has_credit())
		return false;
	m.count = half < PARCEL ? half : PARCEL;
	m.credit = self.credit / 2;
	self.credit -= m.credit;
	memcpy(m.node, self.node, m.count * sizeof(*m.node));
	self.count -= m.count;
	memmove(self.node, self.node + m.count,
		self.count * sizeof(*self.node));
	self.gifts++;
	send(to, GIVE, &m);
	return true;
}

static void give_to_lifelines(void)
{
	for (int r = 0; r < ranks && self.count > KEEP; r++)
		if (self.waits[r]) {
			self.waits[r] = false;
			self.waits[r] = !give(r);
		}
}

static void tell_all(void)
{
	self.over = true;
	sennit_cond_notify_all(&self.changed);
	for (int r = 1; r < ranks; r++)
		send(r, OVER, NULL);
}

static void come_home(uint64_t credit)
{
	self.home += credit;
	if (self.home == ALL_CREDIT)
		tell_all();
}

static void send_home(void)
{
	struct message m = { .credit = self.credit };

	self.credit = 0;
	if (rank) {
		send(0, HOME, &m);
		return;
	}
	come_home(m.credit);
	if (self.over)
		send(0, OVER, NULL); /* for the fiber that receives */
}

static void ask_lifelines(void)
{
	self.lifelines = true;
	for (int bit = 1; bit < ranks; bit *= 2)
		if ((rank ^ bit) < ranks)
			send(rank ^ bit, ASK_LIFELINE, NULL);
}

static bool may_ask(void)
{
	return ranks > 1 && !self.asked && !self.lifelines;
}

static void run_dry(void)
{
	if (self.credit)
		send_home();
	if (may_ask() && !self.count && !self.over) {
		self.asked = 1;
		self.questions++;
		send((rank + 1 + rand() % (ranks - 1)) % ranks, ASK, NULL);
	}
}

/* --- fibers --------------------------------------------------------------- */

/* How many nodes a fiber takes: it leaves as many for each other one. */
static size_t batch(void)
{
	size_t n = self.count / FIBERS;
	size_t most = TURN / (work_for_each + 1);

	n = n < most ? n : most;
	n = n < BATCH ? n : BATCH;
	return n ? n : 1;
}

static void expand(void)
{
	uint64_t node[BATCH], sum = 0;
	size_t   n = batch(), parents = 0;

	self.count -= n;
	memcpy(node, self.node + self.count, n * sizeof(*node));
	self.busy++;
	sennit_mutex_unlock(&self.lock);
	sennit_yield();
	for (size_t i = 0; i < n; i++)
		sum ^= toil(node[i]);
	sennit_mutex_lock(&self.lock);
	self.busy--;
	self.nodes += n;
	self.sum ^= sum;
	for (size_t i = 0; i < n; i++) {
		int many = children(node[i]);

		parents += many > 0;
		for (int k = 0; k < many; k++)
			push(child(node[i], k));
	}
	if (parents)
		sennit_cond_notify_all(&self.changed);
}

static int work(void *unused)
{
	int err = 0;

	(void)unused;
	sennit_mutex_lock(&self.lock);
	while (!err && ranks > 1 && self.credit == ALL_CREDIT)
		err = sennit_cond_wait(&self.changed, &self.lock);
	while (!err && !self.over) {
		if (self.count) {
			expand();
			give_to_lifelines();
		} else if (!self.busy && (self.credit || may_ask())) {
			run_dry();
		} else {
			err = sennit_cond_wait(&self.changed, &self.lock);
		}
	}
	sennit_mutex_unlock(&self.lock);
	return err;
}

static void take(const struct message *m)
{
	for (size_t i = 0; i < m->count; i++)
		push(m->node[i]);
	self.credit += m->credit;
	self.lifelines = false;
}

static void handle(enum tag tag, int from, const struct message *m)
{
	switch (tag) {
	case ASK:
		if (!give(from))
			send(from, NOTHING, NULL);
		break;
	case ASK_LIFELINE:
		self.waits[from] = !give(from);
		break;
	case GIVE:
		self.asked = 0;
		take(m);
		break;
	case NOTHING:
		self.asked = 0;
		if (!self.count && !self.lifelines)
			ask_lifelines();
		break;
	case HOME:
		come_home(m->credit);
		break;
	case OVER:
		self.over = true;
		break;
	}
}

/* Until the message of the end, or, in process 0, until the last credit has
 * returned. */
static int serve(void *unused)
{
	bool over = false;

	(void)unused;
	while (!over) {
		struct message m;
		MPI_Status     status;

		MPI_Recv(&m, sizeof(m) / sizeof(uint64_t), MPI_UINT64_T,
			 MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		sennit_mutex_lock(&self.lock);
		self.got[status.MPI_SOURCE]++;
		handle((enum tag)status.MPI_TAG, status.MPI_SOURCE, &m);
		over = status.MPI_TAG == OVER ||
		       (status.MPI_TAG == HOME && self.over);
		sennit_cond_notify_all(&self.changed);
		sennit_mutex_unlock(&self.lock);
	}
	return 0;
}

/* Receive the questions that no fiber received. */
static void receive_rest(void)
{
	int            sent[MOST_RANKS];
	struct message m;

	MPI_Alltoall(self.sent, 1, MPI_INT, sent, 1, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0; r < ranks; r++)
		for (; self.got[r] < sent[r]; self.got[r]++)
			MPI_Recv(&m, sizeof(m) / sizeof(uint64_t), MPI_UINT64_T,
				 r, MPI_ANY_TAG, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
}

static void must(int err)
{
	if (err)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- the program ---------------------------------------------------------- */

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct {
	uint64_t root;
	double   took, cpu; /* of the search */
	int      wrong;
} program;

/* What the processes did together. */
struct sums {
	uint64_t nodes, gifts, questions, messages;
	uint64_t least; /* nodes of a process */
	uint64_t sum;
	double   cpu;
};

static void tell(const struct sums *all)
{
	const double begin = cpu_seconds();
	uint64_t     sum = 0;
	uint64_t     alone = count_alone(program.root, &sum);
	double       alone_cpu = cpu_seconds() - begin;

	printf("uts: %d processes, %" PRIu64 " nodes, alone %" PRIu64
	       ", %.3f s, %" PRIu64 " by others\n"
	       "uts: share %.1f %%, %" PRIu64 " gifts, %" PRIu64
	       " questions, %" PRIu64 " messages, CPU time %.2f\n",
	       ranks, all->nodes, alone, program.took, all->nodes - self.nodes,
	       100.0 * (double)all->least * ranks / (double)all->nodes,
	       all->gifts, all->questions, all->messages, all->cpu / alone_cpu);
	program.wrong = all->nodes != alone || all->sum != sum ||
			(ranks > 1 && all->nodes == self.nodes) ||
			all->questions > all->gifts + (uint64_t)ranks;
}

static void add_up(const void *mine, void *all, MPI_Datatype type, MPI_Op op)
{
	MPI_Reduce(mine, all, 1, type, op, 0, MPI_COMM_WORLD);
}

/* In a fiber, so the others sleep while process 0 counts alone. */
static void compare(void)
{
	struct sums all = { .nodes = 0 };
	uint64_t    sent = 0;

	for (int r = 0; r < ranks; r++)
		sent += (uint64_t)self.sent[r];
	add_up(&self.nodes, &all.nodes, MPI_UINT64_T, MPI_SUM);
	add_up(&self.nodes, &all.least, MPI_UINT64_T, MPI_MIN);
	add_up(&self.gifts, &all.gifts, MPI_UINT64_T, MPI_SUM);
	add_up(&self.questions, &all.questions, MPI_UINT64_T, MPI_SUM);
	add_up(&sent, &all.messages, MPI_UINT64_T, MPI_SUM);
	add_up(&self.sum, &all.sum, MPI_UINT64_T, MPI_BXOR);
	add_up(&program.cpu, &all.cpu, MPI_DOUBLE, MPI_SUM);
	if (!rank)
		tell(&all);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void measure(void *unused)
{
	sennit_group g;
	double       begin, cpu;

	(void)unused;
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	cpu = cpu_seconds();
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must(sennit_group_spawn(&g, serve, NULL));
	for (int i = 0; i < FIBERS; i++)
		must(sennit_group_spawn(&g, work, NULL));
	must(sennit_group_wait(&g));
	program.took = MPI_Wtime() - begin;
	program.cpu = cpu_seconds() - cpu;
	receive_rest();
	compare();
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	must(ranks > MOST_RANKS);
	program.root = mix(argc > 1 ? strtoull(argv[1], NULL, 0) : 19);
	work_for_each = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	root_children = argc > 4 ? atoi(argv[4]) : root_children;
	if (!rank) {
		for (int i = 0; i < root_children; i++)
			push(child(program.root, i));
		self.credit = ALL_CREDIT;
		self.nodes = 1;
	}
	must(sennit_scheduler_create(
		&s,
		SENNIT_CONFIG(.workers = argc > 3 ? (uint32_t)atoi(argv[3]) : 2,
			      .stack_size = SENNIT_MPI_STACK_SIZE)));
	must(sennit_mpi_start(s, NULL));
	must(sennit_scheduler_run(s, measure, NULL));
	must(sennit_mpi_stop(s, SENNIT_NEVER));
	must(sennit_scheduler_shutdown(s, SENNIT_NEVER));
	must(program.wrong);
	free(self.node);
	MPI_Barrier(MPI_COMM_WORLD); /* see "Limits of MPICH" */
	MPI_Finalize();
	return 0;
}
