/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - schedulers, their fibers, and schedule(). */
#ifndef marl_scheduler_h
#define marl_scheduler_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "containers.h"
#include "debug.h"
#include "deprecated.h"
#include "export.h"
#include "memory.h"
#include "mutex.h"
#include "sanitizers.h"
#include "task.h"
#include "thread.h"
#include "thread_local.h"

#include "detail/closure.h"
#include "detail/config.h"
#include "detail/deadline.h"
#include "detail/predicate.h"

#include "sennit/config.h"
#include "sennit/fiber.h"
#include "sennit/task.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>

namespace marl
{

class Scheduler
{
public:
	using TimePoint = std::chrono::system_clock::time_point;
	using Predicate = std::function<bool()>;
	using ThreadInitializer = std::function<void(int workerId)>;

	struct Config {
		static constexpr size_t DefaultFiberStackSize = 1024 * 1024;

		struct WorkerThread {
			/* 0: tasks run on the thread that schedules them, when
			 * it waits or unbinds. */
			int count = 0;

			/* Called in each worker's thread before any task. */
			ThreadInitializer initializer;

			/* NULL: the CPUs that the thread that makes the
			 * scheduler may use. */
			std::shared_ptr<Thread::Affinity::Policy>
				affinityPolicy;
		};

		WorkerThread workerThread;

		/* Not used for stacks. It must outlive the scheduler. */
		Allocator *allocator = Allocator::Default;

		/* Rounded up to pages, and to the least size that sennit
		 * needs. */
		size_t fiberStackSize = DefaultFiberStackSize;

		/* Not in marl: the largest number of threads for calls by
		 * blocking_call() at once, and for how long, in milliseconds, a
		 * call may wait to begin while no call ends, before it ends the
		 * process with one line. Calls that wait for each other need
		 * one thread each. 0: what max_blocking_threads and
		 * blocking_fail_ms of sennit_config say: threads are added
		 * until a call ends, up to 8,192; and for ever. */
		uint32_t maxBlockingThreads = 0;
		uint32_t blockingFailMs = 0;

		/* Not in marl: the order in which a worker starts its tasks,
		 * and where those go that a task schedules (sennit/config.h).
		 *
		 * Oldest first is marl's order. Programs rely on it that poll
		 * by scheduling themselves again, or whose tasks each wait for
		 * the one before: 65,536 of these take 47 to 74 ms and 19 MB
		 * so, 530 to 820 ms and 238 MB newest first, and 45 to 100 ms
		 * with marl. Newest first is for tasks that wait for tasks
		 * which they have scheduled: fib(20) by wait groups has 30 to
		 * 60 stacks and takes 0.4 to 0.7 us a task so, 3,100 to 5,000
		 * stacks and 0.9 to 4.7 us oldest first, and 4 to 13 us with
		 * marl. (Medians on a busy machine, one and two workers.)
		 *
		 * With SPREAD, as in marl, tasks go to all workers in turn,
		 * which pays only where each runs for long. fib(20) takes up
		 * to seven times as long newest first, and is the same oldest
		 * first. */
		sennit_order     order = SENNIT_ORDER_OLDEST;
		sennit_placement placement = SENNIT_PLACEMENT_LOCAL;

		/* A worker thread for each CPU that this process may use. */
		static Config allCores()
		{
			return Config().setWorkerThreadCount(
				static_cast<int>(Thread::numLogicalCPUs()));
		}

		Config &setAllocator(Allocator *a)
		{
			allocator = a;
			return *this;
		}
		Config &setFiberStackSize(size_t size)
		{
			fiberStackSize = size;
			return *this;
		}
		Config &setMaxBlockingThreads(uint32_t number,
					      uint32_t failMs = 0)
		{
			maxBlockingThreads = number;
			blockingFailMs = failMs;
			return *this;
		}
		Config &setOrder(sennit_order first)
		{
			order = first;
			return *this;
		}
		Config &setPlacement(sennit_placement where)
		{
			placement = where;
			return *this;
		}
		Config &setWorkerThreadCount(int count)
		{
			workerThread.count = count;
			return *this;
		}
		Config &setWorkerThreadInitializer(
			const ThreadInitializer &initializer)
		{
			workerThread.initializer = initializer;
			return *this;
		}
		Config &setWorkerThreadAffinityPolicy(
			const std::shared_ptr<Thread::Affinity::Policy> &policy)
		{
			workerThread.affinityPolicy = policy;
			return *this;
		}
	};

	/* A fiber: a running task, or a bound thread. It stays on its
	 * thread. */
	class Fiber
	{
	public:
		/* Return the running fiber, or NULL without a bound scheduler.
		 * It may be notified until its thread ends. */
		static inline Fiber *current();

		/* Suspend the fiber, which must be the running one, until the
		 * predicate returns true. The predicate is called with the lock
		 * held, now and at each notify. */
		inline void wait(marl::lock &lock, const Predicate &holds);

		/* Wait at most until this time. Returns what the predicate
		 * returned last. */
		template <typename Clock, typename Duration>
		inline bool wait(
			marl::lock                                     &lock,
			const std::chrono::time_point<Clock, Duration> &timeout,
			const Predicate                                &holds);

		/* Suspend the running fiber until it is notified. Earlier
		 * notifies do not count. */
		inline void wait();

		/* Wait at most until this time. Returns whether it was
		 * notified. */
		template <typename Clock, typename Duration>
		inline bool
		wait(const std::chrono::time_point<Clock, Duration> &timeout);

		/* Make the fiber evaluate its predicate again. Any thread may
		 * call this. */
		inline void notify();

		uint32_t const id; /* unique among the fibers of its thread */

		Fiber(const Fiber &) = delete;
		Fiber &operator=(const Fiber &) = delete;

	private:
		friend class Scheduler;

		/* The fibers of a thread that were ever asked for, by id. They
		 * exist until the thread ends, so that a notify after the
		 * thread has unbound does no harm. */
		using Table =
			std::unordered_map<uint32_t, std::unique_ptr<Fiber>>;

		explicit Fiber(uint32_t number) : id(number)
		{
		}

		static inline MARL_OWN Table &known();
		static inline MARL_OWN Fiber *known(sennit_fiber *native);

		/* The fiber is in wait(), and so its worker exists. */
		struct Waiting {
			explicit Waiting(Fiber &waiter) : fiber(waiter)
			{
				marl::lock held(fiber.mutex_);

				fiber.waits_++;
			}
			~Waiting()
			{
				marl::lock held(fiber.mutex_);

				fiber.waits_--;
			}
			Waiting(const Waiting &) = delete;
			Waiting &operator=(const Waiting &) = delete;

			Fiber &fiber;
		};

		inline bool suspend(marl::lock &lock, const Predicate &holds,
				    sennit_time deadline);
		inline bool wait_until(marl::lock &lock, const Predicate &holds,
				       sennit_time deadline);
		inline bool wait_until(sennit_time deadline);

		mutex         mutex_;
		sennit_fiber *native_ = nullptr; /* for the fiber's thread; for
						  * others while it waits */
		unsigned waits_ = 0;    /* under mutex_; predicates may wait */
		bool notified_ = false; /* under mutex_; since wait() began */
	};

	inline Scheduler(const Config &config);

	/* Wait until every thread has unbound and all work is done. A thread
	 * that is bound to it must not call this. */
	inline ~Scheduler();

	Scheduler(const Scheduler &) = delete;
	Scheduler &operator=(const Scheduler &) = delete;

	/* Return the scheduler that the calling thread is bound to or whose
	 * task it runs, or NULL. */
	static inline Scheduler *get();

	/* Bind the calling thread, which must not be bound, to this
	 * scheduler. */
	inline void bind();

	/* Run all tasks of the calling thread, wait for its fibers, and unbind
	 * it. */
	static inline void unbind();

	/* Schedule the task. If there are worker threads, any thread may call
	 * this. */
	inline void enqueue(Task &&task);

	/* Return the configuration of the scheduler. */
	const Config &config() const
	{
		return config_;
	}

	/* For calls of sennit. */
	sennit_scheduler *native_handle() const
	{
		return native_;
	}

private:
	static inline void begin_thread(void *self, uint32_t index);

	/* Other programs and shared libraries with the same libsennit use the
	 * members below. When one of them or the Config changes, the type in
	 * name gets the next number. */
	static const char *owner()
	{
		return "marl::Scheduler/3";
	}

	sennit_scheduler *native_ = nullptr;
	Fiber *(*const fiber_)(sennit_fiber *) = Fiber::known;
	const Config config_;
};

/* Schedule the task on the bound scheduler. */
inline void schedule(Task &&task)
{
	uint32_t flags = task.is(Task::Flags::SameThread)
				 ? SENNIT_TASK_SAME_THREAD
				 : 0;

	detail::post(nullptr, std::move(task), flags);
}

/* Schedule function() on the bound scheduler. */
template <typename Function> inline void schedule(Function &&function)
{
	detail::post(nullptr, std::forward<Function>(function));
}

inline void schedule(const Task &task)
{
	schedule(Task(task));
}

inline void schedule(Task &task)
{
	schedule(Task(task));
}

/* Schedule function(arguments...) on the bound scheduler. The function and the
 * arguments are copied now.
 */
template <typename Function, typename First, typename... Others>
inline void schedule(Function &&function, First &&first, Others &&...others)
{
	detail::post(nullptr, std::bind(std::forward<Function>(function),
					std::forward<First>(first),
					std::forward<Others>(others)...));
}

} // namespace marl

#include "detail/scheduler_inline.h"

#endif
#endif
