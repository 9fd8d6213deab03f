/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_inline.h - Scheduler and its Fiber, implemented by calls of
 * sennit. */
#ifndef marl_detail_scheduler_inline_h
#define marl_detail_scheduler_inline_h

#include "../scheduler.h"

#include "closure.h"
#include "config.h"
#include "deadline.h"
#include "predicate.h"

#include "sennit/fiber.h"
#include "sennit/task.h"

#include <memory>
#include <utility>

namespace marl
{

inline void Scheduler::begin_thread(void *self, uint32_t index)
{
	Scheduler *scheduler = static_cast<Scheduler *>(self);
	auto      &initializer = scheduler->config_.workerThread.initializer;

	Thread::setName("Thread<%.2u>", static_cast<unsigned>(index));
	if (initializer)
		initializer(static_cast<int>(index));
}

inline Scheduler *Scheduler::get()
{
	return static_cast<Scheduler *>(
		sennit_scheduler_owner(sennit_scheduler_current(), owner()));
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
	c.max_blocking_threads = config_.maxBlockingThreads;
	c.blocking_fail_ms = config_.blockingFailMs;
	c.order = static_cast<uint32_t>(config_.order);
	c.placement = static_cast<uint32_t>(config_.placement);
	c.owner = this;
	c.owner_type = owner();
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
	detail::require(!sennit_thread_bind(native_),
			"no memory to bind a thread");
}

inline void Scheduler::unbind()
{
	sennit_thread_unbind();
}

inline void Scheduler::enqueue(Task &&task)
{
	uint32_t flags = task.is(Task::Flags::SameThread)
				 ? SENNIT_TASK_SAME_THREAD
				 : 0;

	detail::require(config_.workerThread.count > 0 ||
				sennit_scheduler_current(),
			"a task for a scheduler without worker threads from a "
			"thread without scheduler. Did you forget to call "
			"marl::Scheduler::bind()?");
	detail::post(native_, std::move(task), flags);
}

inline Scheduler::Fiber::Table &Scheduler::Fiber::known()
{
	MARL_ENDS_LATE_BEGIN
	static thread_local Table table;
	MARL_ENDS_LATE_END

	return table;
}

/* Return the Fiber for the running fiber. */
inline Scheduler::Fiber *Scheduler::Fiber::known(sennit_fiber *native)
{
	uint32_t                number = sennit_fiber_number(native);
	std::unique_ptr<Fiber> &fiber = known()[number];

	if (!fiber)
		fiber.reset(new Fiber(number));
	if (fiber->native_ != native)
		fiber->native_ = native;
	return fiber.get();
}

/* The Fiber that the scheduler's maker knows: all others that use the scheduler
 * must get the same. */
inline Scheduler::Fiber *Scheduler::Fiber::current()
{
	sennit_fiber *native = sennit_fiber_current();

	if (!native)
		return nullptr;

	Scheduler *scheduler = Scheduler::get();

	return scheduler ? scheduler->fiber_(native) : known(native);
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

} // namespace marl

#endif
