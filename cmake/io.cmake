# SPDX-License-Identifier: Apache-2.0
# libsennit-io: input and output for fibers, on the seam of sennit/poller.h.
# It needs epoll, and uses io_uring where liburing is there when it is built. In
# a deterministic build it has neither, but a network in memory.

set(SENNIT_URING "")
set(SENNIT_URING_PC "")
if(NOT SENNIT_IO)
	return()
endif()
include(CheckSymbolExists)
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)

find_path(SENNIT_LIBURING_H liburing.h)
find_library(SENNIT_LIBURING uring)
mark_as_advanced(SENNIT_LIBURING_H SENNIT_LIBURING)
if(SENNIT_LIBURING_H AND SENNIT_LIBURING)
	set(CMAKE_REQUIRED_INCLUDES ${SENNIT_LIBURING_H})
	set(CMAKE_REQUIRED_LIBRARIES ${SENNIT_LIBURING})
	check_symbol_exists(IORING_SETUP_DEFER_TASKRUN liburing.h
		SENNIT_HAS_DEFER_TASKRUN)
	check_symbol_exists(io_uring_submit_and_get_events liburing.h
		SENNIT_HAS_SUBMIT_AND_GET_EVENTS)
	unset(CMAKE_REQUIRED_INCLUDES)
	unset(CMAKE_REQUIRED_LIBRARIES)
endif()
unset(CMAKE_REQUIRED_DEFINITIONS)

if(SENNIT_DETERMINISTIC)
	message(STATUS "deterministic: the kernel takes no turns, libsennit-io "
		"has a simulated network")
elseif(SENNIT_HAS_DEFER_TASKRUN AND SENNIT_HAS_SUBMIT_AND_GET_EVENTS)
	set(SENNIT_URING uring)
	set(SENNIT_URING_PC liburing)
else()
	message(STATUS "liburing 2.3 is not there: the ring left out, "
		"libsennit-io waits by epoll")
endif()

sennit_component(io ${SENNIT_URING})
if(SENNIT_URING)
	target_compile_definitions(sennit_io_objects PRIVATE SENNIT_HAVE_URING)
endif()
