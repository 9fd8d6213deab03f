/* SPDX-License-Identifier: Apache-2.0 */
/* sennit.hpp - includes the headers of sennit for C++17 that programs use, in
 * reading order; dag.hpp, domain.hpp and weak.hpp are included one by one.
 *
 * Classes and templates over the C calls; headers only. The C headers
 * (sennit/x.h) say what each call does, from where it may be called and whether
 * it blocks. The C++ headers say only what differs:
 *
 *	deadlines   wait_for(duration) and wait_until(time), of any clock,
 *	            return whether the wait ended in time; try_ forms never
 *	            wait
 *	errors      exceptions: std::bad_alloc, sennit::cancelled if the
 *	            caller's group is cancelled, otherwise std::system_error;
 *	            try_ forms return errors. A call without a deadline and
 *	            without an error in C is noexcept
 *	lifetimes   scopes. A caller that returns from a wait may destroy the
 *	            object that it waited for, as in C
 *
 * Needs C++17. With C++20 there is also co_await.
 */
#ifndef SENNIT_HPP
#define SENNIT_HPP

#if __cplusplus < 201703L
#error "sennit.hpp needs C++17: compile with -std=c++17 or later"
#else

#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/cpp/resources.hpp"
#include "sennit/cpp/scheduler.hpp"
#include "sennit/cpp/task.hpp"
#include "sennit/cpp/fiber.hpp"
#include "sennit/cpp/event.hpp"
#include "sennit/cpp/wait_group.hpp"
#include "sennit/cpp/mutex.hpp"
#include "sennit/cpp/condition_variable.hpp"
#include "sennit/cpp/shared_mutex.hpp"
#include "sennit/cpp/semaphore.hpp"
#include "sennit/cpp/barrier.hpp"
#include "sennit/cpp/once.hpp"
#include "sennit/cpp/shared.hpp"
#include "sennit/cpp/ticket.hpp"
#include "sennit/cpp/future.hpp"
#include "sennit/cpp/wait_any.hpp"
#include "sennit/cpp/coroutine.hpp"
#include "sennit/cpp/channel.hpp"
#include "sennit/cpp/select.hpp"
#include "sennit/cpp/pool.hpp"
#include "sennit/cpp/blocking.hpp"
#include "sennit/cpp/local.hpp"
#include "sennit/cpp/group.hpp"
#include "sennit/cpp/parallel.hpp"
#include "sennit/cpp/parallel_sort.hpp"

#endif
#endif
