/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - threads of the system: their CPUs and their names. */
#ifndef marl_thread_h
#define marl_thread_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "containers.h"
#include "detail/system.h"
#include "export.h"

#include "sennit/scheduler.h"

#include <pthread.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <thread>
#include <utility>

namespace marl
{

class Thread
{
public:
	using Func = std::function<void()>;

	/* One of the system's logical CPUs. */
	struct Core {
		struct Windows {
			uint8_t group;
			uint8_t index;
		};
		struct Pthread {
			uint16_t index;
		};
		union {
			Windows windows;
			Pthread pthread;
		};

		bool operator==(Core other) const
		{
			return pthread.index == other.pthread.index;
		}
		bool operator<(Core other) const
		{
			return pthread.index < other.pthread.index;
		}
	};

	/* A list of cores. */
	struct Affinity {
		static constexpr bool supported = true;

		using Cores = containers::vector<Core, 32>;

		/* Returns the cores on which the thread with a given number
		 * runs. */
		class Policy
		{
		public:
			virtual ~Policy() = default;

			/* Every thread runs on any of these cores. */
			static inline std::shared_ptr<Policy> anyOf(
				Affinity &&affinity,
				Allocator *allocator = Allocator::Default);

			/* Thread i runs on core i modulo their number. */
			static inline std::shared_ptr<Policy> oneOf(
				Affinity &&affinity,
				Allocator *allocator = Allocator::Default);

			virtual Affinity get(uint32_t   threadId,
					     Allocator *allocator) const = 0;
		};

		Affinity(Allocator *allocator) : cores(allocator)
		{
		}
		Affinity(Affinity &&other) : cores(std::move(other.cores))
		{
		}
		Affinity(const Affinity &other, Allocator *allocator)
		    : cores(other.cores, allocator)
		{
		}
		Affinity(std::initializer_list<Core> list, Allocator *allocator)
		    : cores(allocator)
		{
			for (Core core : list)
				cores.push_back(core);
		}
		Affinity(const Cores &list, Allocator *allocator)
		    : cores(list, allocator)
		{
		}
		Affinity(const Affinity &) = delete;
		Affinity &operator=(Affinity &&other)
		{
			cores = std::move(other.cores);
			return *this;
		}

		/* Return the cores on which the calling thread may run. */
		static inline Affinity all(
			Allocator *allocator = Allocator::Default);

		size_t count() const
		{
			return cores.size();
		}
		Core operator[](size_t index) const
		{
			return cores[index];
		}

		/* Add the cores of other that are not here yet, and sort all in
		 * ascending order. */
		Affinity &add(const Affinity &other)
		{
			for (Core core : other.cores)
				if (!contains(core))
					cores.push_back(core);
			std::sort(cores.begin(), cores.end());
			return *this;
		}

		/* Remove all of other's cores. */
		Affinity &remove(const Affinity &other)
		{
			Cores left(cores.allocator);

			for (Core core : cores)
				if (!other.contains(core))
					left.push_back(core);
			cores = std::move(left);
			return *this;
		}

	private:
		bool contains(Core core) const
		{
			return std::find(cores.begin(), cores.end(), core) !=
			       cores.end();
		}

		Cores cores;
	};

	Thread() = default;

	/* Start a thread that runs func on these cores. With no cores it runs
	 * where the thread that starts it may run. */
	Thread(Affinity &&affinity, Func &&func)
	{
		auto cores = std::make_shared<Affinity>(std::move(affinity));
		auto run = std::make_shared<Func>(std::move(func));

		thread_ = std::thread([cores, run] {
			set(*cores);
			(*run)();
		});
	}
	Thread(Thread &&) = default;
	Thread(const Thread &) = delete;
	Thread &operator=(const Thread &) = delete;
	Thread &operator=(Thread &&other)
	{
		finished();
		thread_ = std::move(other.thread_);
		return *this;
	}
	/* A thread that was started must have been joined. */
	~Thread()
	{
		finished();
	}

	/* Wait until the function has returned. This blocks the calling thread
	 * with all its fibers. */
	void join()
	{
		if (thread_.joinable())
			thread_.join();
	}

	/* Name the calling thread by a printf format. The name is cut to 15
	 * bytes. */
	static void setName(const char *format, ...)
	{
		char    name[16];
		va_list arguments;

		va_start(arguments, format);
		std::vsnprintf(name, sizeof(name), format, arguments);
		va_end(arguments);
		pthread_setname_np(pthread_self(), name);
	}

	/* Return the number of CPUs that this process may use, by affinity and
	 * by quota. */
	static unsigned int numLogicalCPUs()
	{
		return sennit_cpu_count();
	}

private:
	class AnyOf;
	class OneOf;

	void finished() const
	{
		detail::require(!thread_.joinable(),
				"a Thread ends before it was joined");
	}

	static inline void set(const Affinity &affinity);

	std::thread thread_;
};

class Thread::AnyOf : public Thread::Affinity::Policy
{
public:
	explicit AnyOf(Affinity &&affinity) : affinity_(std::move(affinity))
	{
	}
	Affinity get(uint32_t, Allocator *allocator) const override
	{
		return Affinity(affinity_, allocator);
	}

private:
	const Affinity affinity_;
};

class Thread::OneOf : public Thread::Affinity::Policy
{
public:
	explicit OneOf(Affinity &&affinity) : affinity_(std::move(affinity))
	{
	}
	Affinity get(uint32_t threadId, Allocator *allocator) const override
	{
		size_t count = affinity_.count();

		if (count == 0)
			return Affinity(allocator);
		return Affinity({ affinity_[threadId % count] }, allocator);
	}

private:
	const Affinity affinity_;
};

inline std::shared_ptr<Thread::Affinity::Policy>
Thread::Affinity::Policy::anyOf(Affinity &&affinity, Allocator *allocator)
{
	return allocator->make_shared<AnyOf>(std::move(affinity));
}

inline std::shared_ptr<Thread::Affinity::Policy>
Thread::Affinity::Policy::oneOf(Affinity &&affinity, Allocator *allocator)
{
	return allocator->make_shared<OneOf>(std::move(affinity));
}

inline Thread::Affinity Thread::Affinity::all(Allocator *allocator)
{
	Affinity result(allocator);

	for (size_t cpus = 1024; cpus <= 65536; cpus *= 2) {
		detail::CpuSet set(cpus);

		if (!set.read())
			continue; /* the kernel knows more CPUs than that */
		for (size_t i = 0; i < cpus; ++i) {
			Core core;

			if (!set.has(i))
				continue;
			core.pthread.index = static_cast<uint16_t>(i);
			result.cores.push_back(core);
		}
		break;
	}
	return result;
}

inline void Thread::set(const Affinity &affinity)
{
	detail::CpuSet set(65536);

	if (affinity.count() == 0)
		return;
	for (size_t i = 0; i < affinity.count(); ++i)
		set.add(affinity[i].pthread.index);
	set.apply();
}

} // namespace marl

#endif
#endif
