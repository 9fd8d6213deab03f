/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.hpp - schedulers, and binding of threads to them.
 *
 *	sennit::scheduler s(sennit::config().with_workers(4));
 *	sennit::binding   b(s);
 *	sennit::schedule([] { ... });
 */
#ifndef SENNIT_CPP_SCHEDULER_HPP
#define SENNIT_CPP_SCHEDULER_HPP

#include "sennit/cpp/handle.hpp"
#include "sennit/cpp/outcome.hpp"
#include "sennit/cpp/task.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/report.h"
#include "sennit/stack_use.h"
#include "sennit/scheduler.h"

SENNIT_CPP_BEGIN

/* A sennit_config with its size set. All fields may be changed. */
struct config : sennit_config {
	config() noexcept : sennit_config()
	{
		size = sizeof(sennit_config);
	}

	/* 0: one per CPU; SENNIT_WORKERS_NONE: none. */
	config &with_workers(std::uint32_t n) noexcept
	{
		workers = n;
		return *this;
	}
	config &with_stack_size(std::size_t bytes) noexcept
	{
		stack_size = bytes;
		return *this;
	}
	config &with_guard_size(std::size_t bytes) noexcept
	{
		guard_size = bytes;
		return *this;
	}
	/* Share the CPUs of r with other schedulers. */
	config &with_resources(sennit_resources *r, std::uint32_t least = 0,
			       std::uint32_t most = 0,
			       std::uint32_t priority = 0) noexcept
	{
		resources = r;
		resources_min = least;
		resources_max = most;
		resources_priority = priority;
		return *this;
	}
	/* The text is used only until the scheduler has been created. */
	config &with_name(const char *text) noexcept
	{
		name = text;
		return *this;
	}
};

namespace detail
{

/* Return the scheduler of a handle that must refer to one. */
inline sennit_scheduler *needed(sennit_scheduler *s, const char *call) noexcept
{
	return needed(s, call,
		      "the sennit::scheduler is empty: made by default, moved "
		      "from, or shut down");
}

/* Throw the error of a creation, with the field of the config that is to
 * blame. */
inline void check_creation(int err, const sennit_config &c)
{
	const char *field = nullptr;
	char        what[80] = "sennit::scheduler";

	if (!err)
		return;
	if (sennit_config_check(&c, &field) && field)
		std::snprintf(what, sizeof(what),
			      "sennit::scheduler: sennit::config::%s", field);
	check(err, what);
}

} // namespace detail

/* A reference to a scheduler, or none. Copies are further references. After the
 * last reference is destroyed, bindings included, the scheduler finishes its
 * work and ends. The destructor does not wait for that; shutdown() does.
 *
 * `sennit::scheduler s;` refers to none, like a handle that was moved from or
 * shut down. To schedule on it, to bind to it or to query it is misuse, which
 * is reported. `sennit::scheduler s{ sennit::config() };` creates a scheduler
 * with a worker for each CPU. */
class scheduler
    : public detail::handle<sennit_scheduler, sennit_scheduler_retain,
			    sennit_scheduler_release>
{
public:
	scheduler() noexcept = default;

	/* Create a scheduler. Throws std::bad_alloc or std::system_error, whose
	 * what() names the field of an invalid config. */
	explicit scheduler(const sennit_config &c)
	{
		detail::check_creation(sennit_scheduler_create(&object_, &c),
				       c);
	}

	/* Take another reference to s, which may be NULL. */
	explicit scheduler(sennit_scheduler *s) noexcept : handle(retained(s))
	{
	}

	/* Take over the caller's reference to s, which may be NULL, for example
	 * one that sennit_scheduler_create() has stored. */
	[[nodiscard]] static scheduler adopt(sennit_scheduler *s) noexcept
	{
		scheduler adopted;

		adopted.object_ = s;
		return adopted;
	}

	/* Create a scheduler and store it in `out`, or return the error and
	 * leave `out` unchanged. */
	[[nodiscard]] static std::error_code try_create(
		scheduler &out, const sennit_config &c = config())
	{
		scheduler made;
		const int err = sennit_scheduler_create(&made.object_, &c);

		if (!err)
			out.swap(made);
		return detail::code_of(err);
	}

	/* Return the scheduler that the caller is bound to or runs a task of,
	 * or none. */
	static scheduler current() noexcept
	{
		return scheduler(sennit_scheduler_current());
	}

	/* Like sennit::schedule(), on this scheduler, from any thread from
	 * which sennit_schedule_task_on() may be called. */
	template <typename F, typename... Args>
	void schedule(F &&f, Args &&...args) const
	{
		detail::check(
			detail::schedule_on(
				detail::needed(object_,
					       "sennit::scheduler::schedule"),
				0,
				detail::make_call(std::forward<F>(f),
						  std::forward<Args>(args)...)),
			"schedule");
	}
	template <typename F, typename... Args>
	[[nodiscard]] std::error_code try_schedule(F &&f, Args &&...args) const
	{
		return detail::code_of(detail::schedule_on(
			detail::needed(object_,
				       "sennit::scheduler::try_schedule"),
			0,
			detail::make_call(std::forward<F>(f),
					  std::forward<Args>(args)...)));
	}

	/* Run f as a task, and wait until it has ended (sennit_scheduler_run).
	 * Returns what f returns, and throws what f throws. */
	template <typename F> detail::result_of<F> run(F &&f) const
	{
		static_assert(std::is_invocable_v<F>,
			      "sennit: run needs a function without arguments");

		detail::outcome<detail::result_of<F>> out;
		auto                                  call = [&] {
                        out.set_by(detail::given<>(std::forward<F>(f)));
		};

		detail::check(sennit_scheduler_run(
				      detail::needed(object_,
						     "sennit::scheduler::run"),
				      [](void *argument) {
					      (*static_cast<decltype(call) *>(
						      argument))();
				      },
				      &call),
			      "run");
		return out.take();
	}

	std::uint32_t workers() const noexcept
	{
		return sennit_scheduler_workers(
			detail::needed(object_, "sennit::scheduler::workers"));
	}
	void set_workers(std::uint32_t n)
	{
		detail::check(sennit_scheduler_set_workers(
				      detail::needed(
					      object_,
					      "sennit::scheduler::set_workers"),
				      n),
			      "set_workers");
	}
	sennit_stats stats() const noexcept
	{
		sennit_stats answer{};

		answer.size = sizeof(answer);
		sennit_scheduler_get_stats(
			detail::needed(object_, "sennit::scheduler::stats"),
			&answer);
		return answer;
	}
	/* Write the report (report.h) to a file descriptor. Throw if that
	 * fails. */
	void print_report(int fd) const
	{
		detail::check(
			sennit_report_print(
				detail::needed(
					object_,
					"sennit::scheduler::print_report"),
				fd),
			"sennit::scheduler::print_report");
	}

	/* Write how much stack each function has used, if it is measured
	 * (stack_use.h), to a file descriptor. Throw if that fails. */
	void print_stack_use(int fd) const
	{
		detail::check(
			sennit_stack_use_print(
				detail::needed(
					object_,
					"sennit::scheduler::print_stack_use"),
				fd),
			"sennit::scheduler::print_stack_use");
	}

	/* Release this reference, and wait until the scheduler has ended. */
	void shutdown()
	{
		static_cast<void>(shut(SENNIT_NEVER));
	}

	/* Release this reference, and wait until the scheduler has ended or the
	 * time has passed. Returns whether it has ended in time. If not, the
	 * handle keeps its reference. */
	template <typename Rep, typename Period>
	[[nodiscard]] bool shutdown_for(
		const std::chrono::duration<Rep, Period> &d)
	{
		return shut(detail::after(d)) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool shutdown_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::until(t, [this](sennit_time deadline) {
			       return shut(deadline);
		       }) == 0;
	}

private:
	int shut(sennit_time deadline)
	{
		const int err = sennit_scheduler_shutdown(
			detail::needed(object_, "sennit::scheduler::shutdown"),
			deadline);

		if (!err)
			object_ = nullptr;
		return err;
	}
};

/* Create a scheduler, run f as a task of it, and return when that task, all
 * tasks that it has started and the scheduler have ended (sennit_run): in
 * place of a scheduler, a binding and a shutdown. Returns what f returns, and
 * throws what f throws, and what the constructor of a scheduler throws.
 *
 *	int main()
 *	{
 *		return sennit::run([] { ...; return 0; });
 *	}
 */
template <typename F>
detail::result_of<F> run(F &&f, const sennit_config &c = config())
{
	static_assert(std::is_invocable_v<F>,
		      "sennit: run needs a function without arguments");

	detail::outcome<detail::result_of<F>> out;
	auto call = [&] { out.set_by(detail::given<>(std::forward<F>(f))); };

	detail::check_creation(
		sennit_run(
			[](void *argument) {
				(*static_cast<decltype(call) *>(argument))();
				return 0;
			},
			&call, &c, nullptr),
		c);
	return out.take();
}

/* A scope in which the calling thread is bound to a scheduler. The destructor
 * runs the tasks that are queued on the thread and waits for its fibers. */
class binding
{
public:
	explicit binding(const scheduler &s)
	{
		detail::check(sennit_thread_bind(detail::needed(
				      s.get(), "sennit::binding")),
			      "binding");
	}
	binding(const binding &) = delete;
	binding &operator=(const binding &) = delete;
	~binding()
	{
		sennit_thread_unbind();
	}
};

SENNIT_CPP_END

#endif
