/* SPDX-License-Identifier: Apache-2.0 */
/* process.hpp - child processes and signals: process.h and signals.h.
 *
 * In libsennit-io.
 */
#ifndef SENNIT_CPP_PROCESS_HPP
#define SENNIT_CPP_PROCESS_HPP

#include "sennit/cpp/descriptor.hpp"
#include "sennit/process.h"
#include "sennit/signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <vector>

SENNIT_CPP_BEGIN

namespace io
{

/* What to start: a file, looked for in PATH unless it has a slash, and its
 * arguments.
 *
 *	sennit::io::command{ "sort", "-r" }.in(file).out(pipe.out)
 *
 * The descriptors stay the caller's, and must be open when the child is
 * started: no temporaries. */
class command
{
public:
	command(std::initializer_list<std::string> words) : words_(words)
	{
	}
	explicit command(std::vector<std::string> words)
	    : words_(std::move(words))
	{
	}

	/* A descriptor of the child; nullptr is /dev/null. A number that is
	 * given again replaces the one before. Of the caller's other
	 * descriptors, 0, 1 and 2 included, the child has those that are not
	 * closed on exec. */
	command &fd(int number, const descriptor &d)
	{
		return set(number, d.native_handle());
	}
	command &fd(int, const descriptor &&) = delete;
	command &fd(int number, std::nullptr_t)
	{
		return set(number, SENNIT_PROCESS_NULL);
	}

	/* The same for its descriptors 0, 1 and 2. */
	command &in(const descriptor &d)
	{
		return fd(STDIN_FILENO, d);
	}
	command &in(const descriptor &&) = delete;
	command &in(std::nullptr_t)
	{
		return fd(STDIN_FILENO, nullptr);
	}
	command &out(const descriptor &d)
	{
		return fd(STDOUT_FILENO, d);
	}
	command &out(const descriptor &&) = delete;
	command &out(std::nullptr_t)
	{
		return fd(STDOUT_FILENO, nullptr);
	}
	command &err(const descriptor &d)
	{
		return fd(STDERR_FILENO, d);
	}
	command &err(const descriptor &&) = delete;
	command &err(std::nullptr_t)
	{
		return fd(STDERR_FILENO, nullptr);
	}

	/* Where it starts; else in the caller's directory. */
	command &directory(std::string path)
	{
		directory_ = std::move(path);
		return *this;
	}
	/* Its environment, NAME=VALUE each; else the caller's. */
	command &environment(std::vector<std::string> all)
	{
		environment_ = std::move(all);
		return *this;
	}
	/* The environment, by default the caller's, with this. */
	command &with(const std::string &name, const std::string &value)
	{
		if (!environment_) {
			environment_.emplace();
			for (char **v = ::environ; v && *v; v++)
				environment_->push_back(*v);
		}
		const std::string begin = name + "=";
		for (std::string &old : *environment_)
			if (old.compare(0, begin.size(), begin) == 0) {
				old = begin + value;
				return *this;
			}
		environment_->push_back(begin + value);
		return *this;
	}

	/* It leads a process group of its own, or a session and a group, so
	 * that process::wait_or_end() and the destructor of a process end its
	 * children, too. The last of the two calls counts. */
	command &group()
	{
		flags_ = SENNIT_PROCESS_GROUP;
		return *this;
	}
	command &session()
	{
		flags_ = SENNIT_PROCESS_SESSION;
		return *this;
	}

private:
	friend class process;

	/* For exec: its words, and NULL. */
	static std::vector<char *> pointers(
		const std::vector<std::string> &words)
	{
		std::vector<char *> all;

		for (const std::string &word : words)
			all.push_back(const_cast<char *>(word.c_str()));
		all.push_back(nullptr);
		return all;
	}
	command &set(int number, int from)
	{
		for (sennit_process_fd &old : fds_)
			if (old.to == number) {
				old.from = from;
				return *this;
			}
		fds_.push_back({ from, number });
		return *this;
	}
	int start(pid_t &child) const
	{
		sennit_process_command c = {};
		const auto             argv = pointers(words_);
		const auto env = pointers(environment_ ? *environment_
						       : words_);

		c.size = sizeof(c);
		c.argv = argv.data();
		c.env = environment_ ? env.data() : nullptr;
		c.directory = directory_.empty() ? nullptr : directory_.c_str();
		c.fds = fds_.data();
		c.fd_count = static_cast<std::uint32_t>(fds_.size());
		c.flags = flags_;
		return sennit_process_spawn(&child, &c);
	}

	std::vector<std::string>                words_;
	std::optional<std::vector<std::string>> environment_;
	std::string                             directory_;
	std::vector<sennit_process_fd>          fds_;
	std::uint32_t                           flags_ = 0;
};

/* How a process ended. */
class exit_status
{
public:
	exit_status() noexcept = default;
	explicit exit_status(int status) noexcept : status_(status)
	{
	}

	/* Whether it has exited, with 0. */
	bool success() const noexcept
	{
		return status_ == 0;
	}
	/* What it returned; -1 if a signal ended it. */
	int code() const noexcept
	{
		return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
	}
	/* The signal that ended it, or 0. */
	int signal() const noexcept
	{
		return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
	}

private:
	int status_ = 0;
};

/* A child process. The destructor of one that was not waited for kills it
 * (SIGKILL), with the process group that it leads, and waits for its end: no
 * child outlives its object unless release() says so. */
class process
{
public:
	process() noexcept = default;
	/* Start a command. */
	template <typename... How>
	explicit process(const command &c, How &&...how)
	{
		pid_t     child = 0;
		const int err = c.start(child);

		if (!err)
			pid_ = child;
		detail::limit::of(how...).pass(err, "sennit::io::process");
	}
	process(process &&other) noexcept
	    : pid_(std::exchange(other.pid_, 0)), status_(other.status_)
	{
	}
	process &operator=(process &&other) noexcept
	{
		if (this != &other) {
			end();
			pid_ = std::exchange(other.pid_, 0);
			status_ = other.status_;
		}
		return *this;
	}
	~process()
	{
		end();
	}

	/* Its process ID. */
	pid_t id() const noexcept
	{
		return needed("sennit::io::process::id");
	}
	explicit operator bool() const noexcept
	{
		return pid_ > 0;
	}

	/* Wait for its end. One caller at a time. A call after one that has
	 * returned without an error returns the same. */
	template <typename... How> exit_status wait(How &&...how)
	{
		return wait_by(detail::limit::of(how...));
	}

	/* The same, and a wait that fails, because of its deadline or the
	 * caller's group, ends the child, with the process group that it leads
	 * (command::group): by SIGTERM, and after `grace` by SIGKILL. The call
	 * then throws as wait() does; a wait() after it returns how the child
	 * has ended. */
	template <typename Rep, typename Period, typename... How>
	exit_status wait_or_end(const std::chrono::duration<Rep, Period> &grace,
				How &&...how)
	{
		return wait_or_end_by(detail::nanoseconds_of(grace),
				      detail::limit::of(how...));
	}

	/* Send it a signal. Nothing happens if it has been waited for. */
	template <typename... How> void kill(int signal, How &&...how) const
	{
		static constexpr char call[] = "sennit::io::process::kill";
		const pid_t           pid = needed(call);
		const int err = !status_ && ::kill(pid, signal) ? -errno : 0;

		detail::limit::of(how...).pass(err, call);
	}

	/* Return the process ID of a child that goes on without this object.
	 * The caller must wait for it by sennit_process_wait(). */
	pid_t release() noexcept
	{
		needed("sennit::io::process::release");
		return std::exchange(pid_, 0);
	}

#if SENNIT_CPP_COROUTINES
	/* The same for co_await. */
	template <typename... How> auto async_wait(How &&...how)
	{
		return detail::io_awaiter(
			detail::limit::of(how...),
			[this](const detail::limit &l) { return wait_by(l); });
	}
#endif

private:
	pid_t needed(const char *call) const noexcept
	{
		if (!pid_)
			detail::misuse(call,
				       "the sennit::io::process is empty: made "
				       "by default, moved from or released");
		return pid_;
	}
	exit_status wait_by(const detail::limit &l)
	{
		static constexpr char call[] = "sennit::io::process::wait";
		const pid_t           pid = needed(call);
		int                   status = 0, err = 0;

		if (!status_) {
			err = sennit_process_wait(pid, &status, l.deadline());
			if (!err)
				status_ = exit_status(status);
		}
		l.pass(err, call);
		return status_ ? *status_ : exit_status(-1);
	}
	exit_status wait_or_end_by(std::uint64_t grace, const detail::limit &l)
	{
		static constexpr char call[] =
			"sennit::io::process::wait_or_end";
		const pid_t pid = needed(call);
		int         status = 0, err = 0;

		if (!status_) {
			err = sennit_process_wait_or_end(pid, &status, grace,
							 l.deadline());
			if (err != -ECHILD && err != -EPERM)
				status_ = exit_status(status);
		}
		l.pass(err, call);
		return err ? exit_status(-1) : *status_;
	}
	void end() noexcept
	{
		if (pid_ > 0 && !status_)
			static_cast<void>(!sennit_process_wait_or_end(
				pid_, nullptr, 0, 0));
	}

	pid_t                      pid_ = 0;
	std::optional<exit_status> status_;
};

/* Signals that a fiber waits for (signals.h). block() comes first, in main(),
 * before the scheduler or any thread is made. */
class signal_set
{
public:
	/* Block signals in the calling thread and those that it will start. */
	static void block(std::initializer_list<int> which)
	{
		const sigset_t set = set_of(which);

		detail::check(-::pthread_sigmask(SIG_BLOCK, &set, nullptr),
			      "sennit::io::signal_set::block");
	}

	explicit signal_set(std::initializer_list<int> which)
	{
		const sigset_t set = set_of(which);

		detail::check(sennit_signals_open(&s_, &set),
			      "sennit::io::signal_set");
	}
	signal_set(const signal_set &) = delete;
	signal_set &operator=(const signal_set &) = delete;
	~signal_set()
	{
		sennit_signals_close(s_);
	}

	/* Wait for one of the signals. Returns its number. */
	template <typename... How> int wait(How &&...how)
	{
		return wait_by(detail::limit::of(how...));
	}

	sennit_signals *native_handle() noexcept
	{
		return s_;
	}

#if SENNIT_CPP_COROUTINES
	/* The same for co_await. */
	template <typename... How> auto async_wait(How &&...how)
	{
		return detail::io_awaiter(
			detail::limit::of(how...),
			[this](const detail::limit &l) { return wait_by(l); });
	}
#endif

private:
	int wait_by(const detail::limit &l)
	{
		return l.pass(sennit_signals_wait(s_, nullptr, l.deadline()),
			      "sennit::io::signal_set::wait");
	}
	static sigset_t set_of(std::initializer_list<int> which)
	{
		sigset_t set;

		sigemptyset(&set);
		for (const int one : which)
			sigaddset(&set, one);
		return set;
	}

	sennit_signals *s_ = nullptr;
};

} // namespace io

SENNIT_CPP_END

#endif
