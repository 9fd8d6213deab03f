# SPDX-License-Identifier: Apache-2.0
# Build for musl on a glibc system, by the compiler wrapper of Debian's
# musl-tools. The programs run on this machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_ASM_COMPILER musl-gcc)

option(SENNIT_MUSL_STATIC "Programs are linked statically, with musl too" OFF)

# The folder with libraries that are built for musl, such as cmocka. Nothing
# else is looked at: what the system has is for glibc.
set(SENNIT_SYSROOT "" CACHE PATH "Libraries for musl")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SENNIT_SYSROOT
	SENNIT_MUSL_STATIC SENNIT_KERNEL_HEADERS)
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/nothing)
if(SENNIT_SYSROOT)
	set(CMAKE_FIND_ROOT_PATH ${SENNIT_SYSROOT})
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The wrapper leaves out /usr/include, which has the headers of glibc, and with
# them those of the kernel. They are the same for both libraries: a folder has
# links to them alone.
if(NOT SENNIT_KERNEL_HEADERS)
	set(SENNIT_KERNEL_HEADERS ${CMAKE_BINARY_DIR}/kernel-headers)
	file(MAKE_DIRECTORY ${SENNIT_KERNEL_HEADERS})
	foreach(name linux asm asm-generic)
		foreach(folder /usr/include
			/usr/include/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
			if(EXISTS ${folder}/${name})
				file(CREATE_LINK ${folder}/${name}
					${SENNIT_KERNEL_HEADERS}/${name}
					SYMBOLIC)
			endif()
		endforeach()
		if(NOT EXISTS ${SENNIT_KERNEL_HEADERS}/${name})
			message(FATAL_ERROR "<${name}/...> not found: install "
				"linux-libc-dev, or set SENNIT_KERNEL_HEADERS")
		endif()
	endforeach()
endif()
set(CMAKE_C_FLAGS_INIT "-idirafter ${SENNIT_KERNEL_HEADERS}")
if(SENNIT_SYSROOT)
	set(libraries ${SENNIT_SYSROOT}/lib)
	string(APPEND CMAKE_C_FLAGS_INIT " -isystem ${SENNIT_SYSROOT}/include")
	foreach(kind EXE SHARED)
		set(CMAKE_${kind}_LINKER_FLAGS_INIT
			"-L${libraries} -Wl,-rpath,${libraries}")
	endforeach()
endif()
if(SENNIT_MUSL_STATIC)
	string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -static")
endif()
