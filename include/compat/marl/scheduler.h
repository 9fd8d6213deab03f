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
			/* 0: tasks run on the thread that schedules them,
			 * when it waits or unbinds. */
			int count = 0;

			/* Called in each worker's thread before any task. */
			ThreadInitializer initializer;

			/* NULL: where the scheduler's maker may run. */
			std::shared_ptr<Thread::Affinity::Policy>
				affinityPolicy;
		};

		WorkerThread workerThread;

		/* Not for stacks. Must outlive the scheduler. */
		Allocator *allocator = Allocator::Default;

		/* Rounded up, to pages and to what sennit needs at least. */
		size_t fiberStackSize = DefaultFiberStackSize;

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

	/* What runs: a task, or a bound thread. It stays on its thread. */
	class Fiber
	{
	public:
		/* The running fiber; NULL without a bound scheduler. It may be
		 * notified until its thread ends. */
		static inline Fiber *current();

		/* Set the fiber, which is the running one, aside until the
		 * predicate holds; it is looked at, with the lock held, now and
		 * whenever the fiber is notified. */
		inline void wait(marl::lock &lock, const Predicate &holds);

		/* The same, at most until this time. Returns what the
		 * predicate said last. */
		template <typename Clock, typename Duration>
		inline bool wait(
			marl::lock                                     &lock,
			const std::chrono::time_point<Clock, Duration> &timeout,
			const Predicate                                &holds);

		/* Set the running fiber aside until it is notified. What was
		 * notified before does not count. */
		inline void wait();

		/* The same, at most until this time. Returns whether it was
		 * notified. */
		template <typename Clock, typename Duration>
		inline bool
		wait(const std::chrono::time_point<Clock, Duration> &timeout);

		/* Let the fiber look at its predicate again. From anywhere. */
		inline void notify();

		uint32_t const id; /* unique among its thread's */

		Fiber(const Fiber &) = delete;
		Fiber &operator=(const Fiber &) = delete;

	private:
		friend class Scheduler;

		/* Those of a thread that were ever asked for, by id. They stay
		 * until the thread ends, so that a notify which comes after it
		 * has unbound does no harm. */
		using Table =
			std::unordered_map<uint32_t, std::unique_ptr<Fiber>>;

		explicit Fiber(uint32_t number) : id(number)
		{
		}

		static MARL_EXPORT Table &known()
		{
			static thread_local Table table;

			return table;
		}

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

	/* Wait until every thread has unbound and all work is done. Not from a
	 * thread that is bound to it. */
	inline ~Scheduler();

	Scheduler(const Scheduler &) = delete;
	Scheduler &operator=(const Scheduler &) = delete;

	/* The scheduler that the calling thread is bound to, or whose task it
	 * runs; else NULL. */
	static Scheduler *get()
	{
		return bound();
	}

	/* Bind the calling thread, which is not bound, to this scheduler. */
	inline void bind();

	/* Run all tasks of the calling thread, wait for its fibers, and undo
	 * bind(). */
	static inline void unbind();

	/* Schedule the task; also from threads that are not bound, if there
	 * are worker threads. */
	inline void enqueue(Task &&task);

	/* What the scheduler was made of. */
	const Config &config() const
	{
		return config_;
	}

	/* For calls of sennit's. */
	sennit_scheduler *native_handle() const
	{
		return native_;
	}

private:
	static MARL_EXPORT Scheduler *&bound()
	{
		static thread_local Scheduler *scheduler = nullptr;

		return scheduler;
	}

	static inline void begin_thread(void *self, uint32_t index);

	const Config      config_;
	sennit_scheduler *native_ = nullptr;
};

inline void Scheduler::begin_thread(void *self, uint32_t index)
{
	Scheduler *scheduler = static_cast<Scheduler *>(self);
	auto      &initializer = scheduler->config_.workerThread.initializer;

	Thread::setName("Thread<%.2u>", static_cast<unsigned>(index));
	if (initializer)
		initializer(static_cast<int>(index));
	bound() = scheduler;
}

inline Scheduler::Scheduler(const Config &config) : config_(config)
{
	const Config::WorkerThread &threads = config_.workerThread;
	sennit_config               c = {};
	sennit_allocator            memory = detail::native(config_.allocator);

	c.size = sizeof(c);
	c.workers = threads.count > 0 ? static_cast<uint32_t>(threads.count)
				      : SENNIT_WORKERS_NONE;
	c.stack_size = detail::stack_size(config_.fiberStackSize);
	c.thread_init = begin_thread;
	c.thread_init_context = this;
	if (config_.allocator != Allocator::Default)
		c.allocator = &memory;

	std::unique_ptr<detail::Masks> masks;

	if (threads.affinityPolicy && threads.count > 0) {
		masks.reset(new detail::Masks(threads.count,
					      *threads.affinityPolicy,
					      config_.allocator));
		c.affinity = SENNIT_AFFINITY_MASKS;
		c.masks = masks->data();
		c.mask_count = static_cast<size_t>(threads.count);
	}
	detail::Blocks::retain();

	int error = sennit_scheduler_create(&native_, &c);

	if (error)
		fatal("marl: no scheduler with %d worker threads: error %d\n",
		      threads.count, -error);
}

inline Scheduler::~Scheduler()
{
	detail::require(!sennit_scheduler_shutdown(native_, SENNIT_NEVER),
			"a scheduler could not end");
	detail::Blocks::release();
}

inline void Scheduler::bind()
{
	detail::require(!sennit_bind(native_), "no memory to bind a thread");
	bound() = this;
}

inline void Scheduler::unbind()
{
	sennit_unbind();
	bound() = nullptr;
}

inline void Scheduler::enqueue(Task &&task)
{
	uint32_t flags = task.is(Task::Flags::SameThread)
				 ? SENNIT_TASK_SAME_THREAD
				 : 0;

	detail::require(config_.workerThread.count > 0 || sennit_current(),
			"a task for a scheduler without worker threads from a "
			"thread without scheduler. Did you forget to call "
			"marl::Scheduler::bind()?");
	detail::post(native_, std::move(task), flags);
}

inline Scheduler::Fiber *Scheduler::Fiber::current()
{
	sennit_fiber *native = sennit_fiber_current();

	if (!native)
		return nullptr;

	uint32_t                number = sennit_fiber_id(native);
	std::unique_ptr<Fiber> &fiber = known()[number];

	if (!fiber)
		fiber.reset(new Fiber(number));
	if (fiber->native_ != native)
		fiber->native_ = native;
	return fiber.get();
}

inline bool Scheduler::Fiber::suspend(marl::lock &lock, const Predicate &holds,
				      sennit_time deadline)
{
	detail::CalledByC<const Predicate> predicate(holds);

	detail::require(native_ == sennit_fiber_current(),
			"a fiber waits that does not run");
	bool result = sennit_fiber_wait(lock.guarded()->native_handle(),
					predicate.call, &predicate, deadline);

	lock.guarded()->entered();
	predicate.rethrow();
	return result;
}

inline bool Scheduler::Fiber::wait_until(marl::lock      &lock,
					 const Predicate &holds,
					 sennit_time      deadline)
{
	Waiting waiting(*this);

	return suspend(lock, holds, deadline);
}

inline bool Scheduler::Fiber::wait_until(sennit_time deadline)
{
	marl::lock lock(mutex_);

	notified_ = false;
	waits_++;

	bool result = suspend(
		lock, [this] { return notified_; }, deadline);

	waits_--;
	return result;
}

inline void Scheduler::Fiber::wait(marl::lock &lock, const Predicate &holds)
{
	(void)wait_until(lock, holds, SENNIT_UNCANCELLED);
}

template <typename Clock, typename Duration>
inline bool Scheduler::Fiber::wait(
	marl::lock                                     &lock,
	const std::chrono::time_point<Clock, Duration> &timeout,
	const Predicate                                &holds)
{
	return wait_until(lock, holds, detail::until(timeout));
}

inline void Scheduler::Fiber::wait()
{
	(void)wait_until(SENNIT_UNCANCELLED);
}

template <typename Clock, typename Duration>
inline bool Scheduler::Fiber::wait(
	const std::chrono::time_point<Clock, Duration> &timeout)
{
	return wait_until(detail::until(timeout));
}

inline void Scheduler::Fiber::notify()
{
	marl::lock held(mutex_);

	notified_ = true;
	if (waits_)
		sennit_fiber_notify(native_);
}

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

/* Schedule function(arguments...) on the bound scheduler; both are copied now.
 */
template <typename Function, typename First, typename... Others>
inline void schedule(Function &&function, First &&first, Others &&...others)
{
	detail::post(nullptr, std::bind(std::forward<Function>(function),
					std::forward<First>(first),
					std::forward<Others>(others)...));
}

} // namespace marl

#endif
#endif
