# SPDX-License-Identifier: Apache-2.0
# test/cachelines: the library once more, compiled so that each access to memory
# calls a function (-fsanitize=thread, without the sanitizer's library) and for
# one thread at a time. It counts cache lines that move between processors.
# gcc only: clang offers no way to be asked without saying that the sanitizer is
# there, which changes the library.

if(NOT CMAKE_C_COMPILER_ID STREQUAL GNU OR SENNIT_SANITIZE OR system
	OR CMAKE_CROSSCOMPILING)
	message(STATUS "not gcc for this machine: left out: test/cachelines")
	return()
endif()

set(traced ${sources})
list(FILTER traced EXCLUDE REGEX "base/determinism")
add_library(sennit_traced OBJECT ${traced} test/cachelines/operations.c)
file(GLOB files CONFIGURE_DEPENDS test/cachelines/*.c)
list(FILTER files EXCLUDE REGEX "/operations.c$")
add_executable(test_cachelines ${files} $<TARGET_OBJECTS:sennit_traced>)
foreach(target sennit_traced test_cachelines)
	target_link_libraries(${target} PRIVATE sennit_flags)
	target_compile_definitions(${target} PRIVATE SENNIT_DETERMINISTIC
		SENNIT_USUAL_LIMITS NDEBUG)
	target_compile_options(${target} PRIVATE
		$<$<COMPILE_LANGUAGE:C>:-USENNIT_TORTURE> -O2 -fno-pie)
endforeach()
target_compile_options(sennit_traced PRIVATE $<$<COMPILE_LANGUAGE:C>:
	-fsanitize=thread -U__SANITIZE_THREAD__ -Wno-tsan>)
target_link_options(test_cachelines PRIVATE -no-pie)
target_link_libraries(test_cachelines PRIVATE Threads::Threads m
	${CMAKE_DL_LIBS})
set_target_properties(test_cachelines PROPERTIES
	RUNTIME_OUTPUT_DIRECTORY test OUTPUT_NAME cachelines)
