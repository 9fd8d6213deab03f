/* SPDX-License-Identifier: Apache-2.0 */
/* io.hpp - files, pipes, sockets, processes and signals as classes.
 *
 * In libsennit-io. sennit.hpp does not include this header: link to sennit::io.
 *
 *	sennit::io::listener l = sennit::io::listen_at("localhost:8080");
 *	sennit::io::socket   s = l.accept();
 *	sennit::io::reader   r(s);
 *
 *	while (auto line = r.read_line(30s))
 *		s.send_all(std::string(*line) + "\n");
 *
 *	objects     own a descriptor or a process, can be moved, and let go of
 *	            it at their end. A call on an empty one, made by default or
 *	            moved from, is misuse
 *	memory      mutable_buffer and const_buffer, made from strings, arrays
 *	            and containers
 *	how         the last arguments of each call: a duration or a time point
 *	            as the deadline, and a std::error_code, each or none. With
 *	            a std::error_code a call does not throw, but stores its
 *	            error there, or clears it, and returns an empty result.
 *	            Otherwise it throws sennit::timed_out, sennit::cancelled,
 *	            std::bad_alloc or std::system_error
 *	coroutines  co_await x.async_read(...): as x.read(...). If it can be
 *	            done at once, it is. Otherwise the coroutine gives up its
 *	            stack, and a small task waits, as a fiber, and resumes it,
 *	            as a member of the caller's group (coroutine.hpp)
 *
 * The calls suspend the fiber and never block its worker, as in C: io.h.
 */
#ifndef SENNIT_CPP_IO_HPP
#define SENNIT_CPP_IO_HPP

#include "sennit/cpp/descriptor.hpp"
#include "sennit/cpp/process.hpp"
#include "sennit/cpp/serve.hpp"
#include "sennit/cpp/socket.hpp"

#endif
