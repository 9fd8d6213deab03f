# SPDX-License-Identifier: Apache-2.0
# libsennit-diag, with its tests and examples.

file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/*.c)
# libdw finds the lines of frames, and their callers and functions on each
# processor; SENNIT_LIBDW_LIBRARY=OFF leaves it out.
find_path(SENNIT_LIBDW_H elfutils/libdwfl.h)
find_library(SENNIT_LIBDW_LIBRARY dw)
find_library(SENNIT_LIBELF_LIBRARY elf) # of the same package
mark_as_advanced(SENNIT_LIBDW_H SENNIT_LIBDW_LIBRARY
	SENNIT_LIBELF_LIBRARY)
if(SENNIT_LIBDW_H AND SENNIT_LIBDW_LIBRARY AND SENNIT_LIBELF_LIBRARY)
	set(SENNIT_DW dw elf)
	set(SENNIT_DW dw elf PARENT_SCOPE)
	set(SENNIT_DW_PC "libdw libelf" PARENT_SCOPE)
	list(FILTER sources EXCLUDE REGEX unwind_tables)
else()
	message(STATUS "libdw left out: in libsennit-diag frames have no lines; "
		"on processors other than x86 and arm64 a stack is its first frame")
	list(FILTER sources EXCLUDE REGEX unwind_libdw)
endif()

# As libsennit has it, for names that the program chose. It has another name, so
# that a program may contain both libraries' objects.
list(APPEND sources ${core_src}/base/text.c)
sennit_component(diag ${SENNIT_DW})
target_compile_definitions(sennit_diag_objects PRIVATE sn_escape=sn_diag_escape)
# SENNIT_DEBUG finds it in programs that do not call it, too.
target_link_options(sennit_diag_static INTERFACE
	LINKER:-u,sennit_stacks_print)
