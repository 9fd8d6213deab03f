# SPDX-License-Identifier: Apache-2.0
# libsennit-diag: looking inside a running program.
# A deterministic build has none: its threads would take no turns.

if(NOT SENNIT_DIAG OR SENNIT_DETERMINISTIC)
	return()
endif()

# libdw finds the callers of frames and the names of functions.
set(SENNIT_DW "")
set(SENNIT_DW_PC "")
find_path(SENNIT_LIBDW_H elfutils/libdwfl.h)
find_library(SENNIT_LIBDW_LIBRARY dw)
mark_as_advanced(SENNIT_LIBDW_H SENNIT_LIBDW_LIBRARY)
if(SENNIT_LIBDW AND SENNIT_LIBDW_H AND SENNIT_LIBDW_LIBRARY)
	set(SENNIT_DW dw)
	set(SENNIT_DW_PC libdw)
	list(FILTER diag_sources EXCLUDE REGEX unwind_none)
else()
	message(STATUS "libdw left out: in libsennit-diag a stack is its first "
		"frame")
	list(FILTER diag_sources EXCLUDE REGEX unwind_libdw)
endif()

# As libsennit has it, for names that the program chose. It has another name, so
# that a program may contain both libraries' objects.
list(APPEND diag_sources src/base/text.c)
sennit_component(diag ${SENNIT_DW})
target_compile_definitions(sennit_diag_objects PRIVATE sn_escape=sn_diag_escape)
