/* SPDX-License-Identifier: Apache-2.0 */
/* domain.hpp - domain.h with handles that hold references.
 *
 *	{
 *		sennit::domain d(s, [&] { ended.set(); });
 *		d.schedule([] { ... });	// and the tasks that it schedules
 *	}
 *	ended.wait();
 */
#ifndef SENNIT_CPP_DOMAIN_HPP
#define SENNIT_CPP_DOMAIN_HPP

#include "sennit/cpp/scheduler.hpp"
#include "sennit/domain.h"

#include <memory>

SENNIT_CPP_BEGIN

namespace detail
{

/* Call and delete the function that is called once at an end. It was made by
 * new, since it may outlive the scheduler whose end it is called for. */
template <typename F> void tell(void *argument)
{
	std::unique_ptr<F> f(static_cast<F *>(argument));

	std::move (*f)();
}

template <typename F> auto make_told(F &&f)
{
	using callable = std::decay_t<decltype(make_call(std::forward<F>(f)))>;

	return std::make_unique<callable>(std::forward<F>(f));
}

} // namespace detail

/* A reference to a domain, or none. Copies are further references. */
class domain : public detail::handle<sennit_domain, sennit_domain_retain,
				     sennit_domain_release>
{
public:
	domain() noexcept = default;

	/* Create a domain whose end calls nothing, or on_end(). Throws
	 * std::bad_alloc. */
	explicit domain(const scheduler &s)
	{
		create(s, nullptr, nullptr);
	}
	template <typename F> domain(const scheduler &s, F &&on_end)
	{
		auto f = detail::make_told(std::forward<F>(on_end));

		create(s, detail::tell<typename decltype(f)::element_type>,
		       f.get());
		static_cast<void>(f.release());
	}

	/* Take another reference to d, which may be NULL. */
	explicit domain(sennit_domain *d) noexcept : handle(retained(d))
	{
	}

	/* Take over the caller's reference to d, which may be NULL. */
	[[nodiscard]] static domain adopt(sennit_domain *d) noexcept
	{
		domain adopted;

		adopted.object_ = d;
		return adopted;
	}

	/* Return the domain that the calling task belongs to, or none. */
	static domain current() noexcept
	{
		return domain(sennit_domain_current());
	}

	/* Like sennit::schedule(), in this domain. */
	template <typename F, typename... Args>
	void schedule(F &&f, Args &&...args) const
	{
		detail::check(try_place("sennit::domain::schedule",
					detail::make_call(
						std::forward<F>(f),
						std::forward<Args>(args)...)),
			      "schedule");
	}
	template <typename F, typename... Args>
	[[nodiscard]] std::error_code try_schedule(F &&f, Args &&...args) const
	{
		return detail::code_of(try_place(
			"sennit::domain::try_schedule",
			detail::make_call(std::forward<F>(f),
					  std::forward<Args>(args)...)));
	}

private:
	void create(const scheduler &s, sennit_end_fn *on_end, void *argument)
	{
		detail::check(sennit_domain_create(
				      &object_,
				      detail::needed(s.get(), "sennit::domain"),
				      on_end, argument),
			      "domain");
	}

	template <typename F> int try_place(const char *call, F &&f) const
	{
		using callable = std::decay_t<F>;
		sennit_scheduler *s = sennit_domain_scheduler(detail::needed(
			object_, call,
			"the sennit::domain is empty: made by default or moved "
			"from"));
		void             *argument;
		int err = detail::pack<callable>(s, std::forward<F>(f),
						 argument);

		if (err)
			return err;
		err = sennit_domain_schedule(object_, detail::run<callable>,
					     argument);
		if (err)
			detail::drop<callable>(s, argument);
		return err;
	}
};

SENNIT_CPP_END

#endif
