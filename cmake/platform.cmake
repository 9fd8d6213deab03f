# SPDX-License-Identifier: Apache-2.0
# What the library is built for: `arch`, the folder of core/src/arch with the context
# switch; `system`, empty for Linux; `system_sources`, the files of core/src/os and
# core/src/arch for both.

set(core_src ${sennit_root}/core/src)

# --- the processor: SENNIT_ARCH, or what core/src/arch/cpu.h says of the target -----

file(GLOB known RELATIVE ${core_src}/arch
	${core_src}/arch/*/switch.[cS])
list(TRANSFORM known REPLACE "/.*" "")
set_property(CACHE SENNIT_ARCH PROPERTY STRINGS auto ${known})

# The conditions of cpu.h, with names for the headers.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
	${core_src}/arch/cpu.h)
file(READ ${core_src}/arch/cpu.h probe)
string(REGEX REPLACE "#include \"arch/([a-z0-9_]+)/cpu.h\""
	"#define NAME \"\\1\"" probe "${probe}")
string(REGEX REPLACE "#include \"[^\n]*" "" probe "${probe}")

# What is compiled for the target cannot be run here, but read. It is not
# linked, and includes nothing: that could need what is not there.
function(sennit_find_processor)
	set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
	set(folder ${sennit_build}/processor)
	file(WRITE ${folder}/processor.c "
${probe}
#if defined(__x86_64__) && defined(__ILP32__)
#define NAME \"x32\"
#elif !defined(NAME)
#define NAME \"portable\"
#endif
extern const char processor[];
const char processor[] = \"sennit processor \" NAME \":\";
")
	try_compile(works ${folder} ${folder}/processor.c
		COPY_FILE ${folder}/processor OUTPUT_VARIABLE output)
	if(NOT works)
		message(FATAL_ERROR "the compiler does not work: ${output}")
	endif()
	file(STRINGS ${folder}/processor found REGEX "sennit processor ")
	string(REGEX MATCH "sennit processor ([a-z0-9_]+):" found "${found}")
	set(SENNIT_PROCESSOR ${CMAKE_MATCH_1} CACHE INTERNAL
		"The compiler's target")
endfunction()

if(NOT SENNIT_PROCESSOR)
	sennit_find_processor()
endif()
if(SENNIT_PROCESSOR STREQUAL "x32")
	message(FATAL_ERROR "x32 (-mx32) is not supported: its pointers have 32 "
		"bits and its registers 64. Build for x86-64 or, with -m32, "
		"for i386")
endif()
set(arch ${SENNIT_ARCH})
if(arch STREQUAL "auto")
	set(arch ${SENNIT_PROCESSOR})
endif()
if(NOT arch IN_LIST known)
	message(FATAL_ERROR "SENNIT_ARCH: ${arch} is not known here")
endif()

# --- the system ----------------------------------------------------------------

set(system "")
set(system_files posix/backtrace posix/cxx_exceptions posix/memory_libc
	posix/posix posix/threads) # of core/src/os, beside its own folder's
set(system_folder linux) # of core/src/os: all its files
set(system_other_fork fork_windows) # of kernel/life: not for this system
# How the shared library is linked: it stays loaded after dlclose(), because
# threads may still run its code, and what the loader fills in is read-only
# afterwards.
set(system_loaded LINKER:-z,nodelete LINKER:-z,relro LINKER:-z,now)
# What sennit.pc says beside what is the same everywhere.
set(system_pc_flags "")
set(system_pc_libraries "-lm -ldl")

if(WIN32)
	set(system windows)
	set(system_files "")
	set(system_folder windows)
	set(system_other_fork fork)
	if(NOT arch STREQUAL "x86_64_windows" OR NOT MINGW)
		message(FATAL_ERROR "Windows: only x86-64, by mingw-w64")
	endif()
	# gcc 12 fails with it here; the ABI has probes of its own.
	set(SENNIT_HAS_fstack_clash_protection OFF)
	set(system_pc_flags " -DESHUTDOWN=10058")
	set(system_pc_libraries -lsynchronization)
	set(system_loaded -static-libgcc) # one DLL less to carry along
	message(STATUS "Windows: libsennit-io, -tls, -http, -diag and -mpi left out")
	set(with_io OFF)
	set(with_tls OFF)
	set(with_http OFF)
	set(with_mpi OFF)
	set(with_diag OFF)
	set(build_apps OFF)
	set(build_tools OFF)
elseif(arch STREQUAL "x86_64_windows")
	message(FATAL_ERROR "SENNIT_ARCH: ${arch} is of Windows alone")
elseif(EMSCRIPTEN)
	set(system emscripten)
	set(system_files posix/cxx_exceptions posix/memory_libc
		posix/threads)
	set(system_folder emscripten)
	if(NOT arch STREQUAL "wasm")
		message(FATAL_ERROR "emscripten: SENNIT_ARCH must be wasm")
	endif()

	# What the checks of compiler.cmake would find: a program takes
	# emscripten several seconds to link.
	foreach(flag -std=gnu11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow
		-Wstrict-prototypes -Wmissing-prototypes -Wvla)
		string(MAKE_C_IDENTIFIER "SENNIT_HAS${flag}" has)
		set(${has} ON)
	endforeach()
	foreach(flag -fno-plt -fno-semantic-interposition -fstack-clash-protection
		-fasynchronous-unwind-tables -fcf-protection=branch
		-mbranch-protection=bti)
		string(MAKE_C_IDENTIFIER "SENNIT_HAS${flag}" has)
		set(${has} OFF)
	endforeach()
	foreach(has GETCONTEXT EXECINFO_H EPOLL_PWAIT2 PWRITEV2 STATX)
		set(SENNIT_HAS_${has} OFF)
	endforeach()
	set(SENNIT_HAS_ATOMIC_BYTES ON)
	set(SENNIT_VALGRIND_H OFF)
	set(SENNIT_SDT_H OFF)
	set(CMAKE_HAVE_LIBC_PTHREAD ON)

	# Threads share one memory, so every file must be compiled for that.
	add_compile_options(-pthread)
	add_link_options(-pthread)
	set(system_loaded "")
	set(make_shared OFF)
	message(STATUS "emscripten: libsennit-io, -tls, -http, -diag and -mpi left out")
	set(with_io OFF)
	set(with_tls OFF)
	set(with_http OFF)
	set(with_mpi OFF)
	set(with_diag OFF)
	set(build_apps OFF)
	set(build_tools OFF)

	# What programs need. main() runs in a thread of its own, because the first one
	# must not block: it starts the others. See core/src/os/emscripten/pages.c for
	# --wrap.
	set(emscripten_link_options -pthread -sASYNCIFY -sPROXY_TO_PTHREAD
		-sEXIT_RUNTIME "SHELL:-Wl,--wrap=pthread_create"
		"SHELL:-Wl,--wrap=__call_main")
endif()
set(system_sources "")
if(system_folder)
	file(GLOB system_sources CONFIGURE_DEPENDS
		${core_src}/os/${system_folder}/*.c)
endif()
list(APPEND system_files deterministic_threads give_way print)
foreach(file IN LISTS system_files)
	list(APPEND system_sources ${core_src}/os/${file}.c)
endforeach()
file(GLOB switch ${core_src}/arch/${arch}/switch.[cS])
list(APPEND system_sources ${switch} ${core_src}/arch/${arch}/saved.c
	${core_src}/arch/interrupted.c)

# The library's own files. Windows 10 is the oldest that has what they call.
# winpthreads hides its format attributes' kind behind the C library's: the
# compiler would check formats as those of another printf().
function(sennit_system_flags target)
	set(first ${core_src}/os/windows/posix.h)
	if(WIN32)
		target_compile_definitions(${target} INTERFACE
			_WIN32_WINNT=0x0A00 __USE_MINGW_ANSI_STDIO=1
			ESHUTDOWN=10058)
		target_compile_options(${target} INTERFACE
			"SHELL:$<$<COMPILE_LANGUAGE:C>:-include ${first}>"
			-Wno-attributes -Wno-format -Wno-conversion)
	endif()
endfunction()

# What programs need too. The value is that of Winsock, WSAESHUTDOWN.
function(sennit_system_library target)
	if(WIN32)
		target_compile_definitions(${target} PUBLIC ESHUTDOWN=10058)
		target_link_libraries(${target} PUBLIC synchronization)
	elseif(EMSCRIPTEN)
		target_link_options(${target} PUBLIC
			${emscripten_link_options})
		if(target STREQUAL "sennit") # would be an archive of that name
			set_target_properties(sennit PROPERTIES
				OUTPUT_NAME sennit-shared)
		endif()
	endif()
endfunction()
