/* SPDX-License-Identifier: Apache-2.0 */
/* task.hpp - scheduling of callables.
 *
 * A callable and its arguments, also move-only ones, are moved or copied into
 * the task, as std::thread does. Up to SENNIT_COPY_SMALL bytes in total need no
 * allocation. A callable that fits into a pointer, such as a lambda that
 * captures one reference, needs no memory at all.
 *
 * An exception that leaves a task ends the program (std::terminate). Run tasks
 * that may fail in a group or with async().
 */
#ifndef SENNIT_CPP_TASK_HPP
#define SENNIT_CPP_TASK_HPP

#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/error.hpp"

SENNIT_CPP_BEGIN

namespace detail
{

inline int place(sennit_scheduler *s, sennit_task_fn *run, void *argument,
		 std::uint32_t flags)
{
	sennit_task t{};

	if (!s && !flags)
		return sennit_schedule(run, argument);
	t.run = run;
	t.argument = argument;
	t.flags = flags;
	return s ? sennit_schedule_task_on(s, &t) : sennit_schedule_task(&t);
}

/* Schedule run(f), with f packed, on s, or on the bound scheduler if s is
 * NULL. */
template <typename F>
int schedule_run(sennit_scheduler *s, std::uint32_t flags, sennit_task_fn *run,
		 F &&f)
{
	using packed = std::decay_t<F>;
	void *argument;
	int   err = pack<packed>(s, std::forward<F>(f), argument);

	if (err)
		return err;
	err = place(s, run, argument, flags);
	if (err)
		drop<packed>(s, argument);
	return err;
}

/* Schedule f on s, or on the bound scheduler if s is NULL. */
template <typename F>
int schedule_on(sennit_scheduler *s, std::uint32_t flags, F &&f)
{
	return schedule_run(s, flags, run<std::decay_t<F>>, std::forward<F>(f));
}

} // namespace detail

/* Schedule f(args...) on the bound scheduler. Throws std::bad_alloc, or what
 * moving f or the arguments throws. Then nothing was scheduled, but f and the
 * arguments may have been moved from. */
template <typename F, typename... Args> void schedule(F &&f, Args &&...args)
{
	detail::check(detail::schedule_on(
			      nullptr, 0,
			      detail::make_call(std::forward<F>(f),
						std::forward<Args>(args)...)),
		      "schedule");
}

/* Like schedule(), but return the error. */
template <typename F, typename... Args>
[[nodiscard]] std::error_code try_schedule(F &&f, Args &&...args)
{
	return detail::code_of(detail::schedule_on(
		nullptr, 0,
		detail::make_call(std::forward<F>(f),
				  std::forward<Args>(args)...)));
}

/* Like schedule(), on the calling thread (SENNIT_TASK_SAME_THREAD). */
template <typename F, typename... Args>
void schedule_here(F &&f, Args &&...args)
{
	detail::check(detail::schedule_on(
			      nullptr, SENNIT_TASK_SAME_THREAD,
			      detail::make_call(std::forward<F>(f),
						std::forward<Args>(args)...)),
		      "schedule_here");
}

/* Like schedule(), to run when there is nothing else to do
 * (SENNIT_TASK_BACKGROUND). */
template <typename F, typename... Args>
void schedule_background(F &&f, Args &&...args)
{
	detail::check(detail::schedule_on(
			      nullptr, SENNIT_TASK_BACKGROUND,
			      detail::make_call(std::forward<F>(f),
						std::forward<Args>(args)...)),
		      "schedule_background");
}

SENNIT_CPP_END

#endif
