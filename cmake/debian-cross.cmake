# SPDX-License-Identifier: Apache-2.0
# Cross build with a compiler of Debian for SENNIT_TRIPLET, such as
# s390x-linux-gnu; SENNIT_EMULATOR, a part of qemu-user, runs the programs.
# Without it this processor runs them: i386 on x86-64.
set(SENNIT_TRIPLET "" CACHE STRING "The target, as Debian calls its compiler")
set(SENNIT_EMULATOR "" CACHE STRING "The program that runs its programs")
set(SENNIT_SYSROOT "" CACHE PATH "Unpacked packages of the target")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SENNIT_TRIPLET
	SENNIT_EMULATOR SENNIT_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${SENNIT_TRIPLET}")
set(CMAKE_C_COMPILER ${SENNIT_TRIPLET}-gcc)
set(CMAKE_ASM_COMPILER ${SENNIT_TRIPLET}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${SENNIT_TRIPLET})
if(SENNIT_TRIPLET MATCHES "^i686-")
	set(CMAKE_LIBRARY_ARCHITECTURE i386-linux-gnu)
endif()
set(CMAKE_FIND_ROOT_PATH /usr/${SENNIT_TRIPLET})
if(SENNIT_SYSROOT)
	list(PREPEND CMAKE_FIND_ROOT_PATH ${SENNIT_SYSROOT}/usr)
	# Headers of the processor's own, such as OpenSSL's.
	string(APPEND CMAKE_C_FLAGS_INIT
		" -isystem ${SENNIT_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}")
	# RPATH holds for the libraries that libraries need, RUNPATH does not.
	set(libraries ${SENNIT_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
	set(path ${libraries}:${SENNIT_SYSROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
	foreach(kind EXE SHARED)
		set(CMAKE_${kind}_LINKER_FLAGS_INIT "-L${libraries} \
-Wl,--disable-new-dtags,-rpath,${path}")
	endforeach()
endif()
if(SENNIT_EMULATOR)
	set(CMAKE_CROSSCOMPILING_EMULATOR
		${SENNIT_EMULATOR} -L /usr/${SENNIT_TRIPLET})
else()
	set(libraries /usr/${SENNIT_TRIPLET}/lib)
	string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-rpath,${libraries} \
-Wl,--dynamic-linker=${libraries}/ld-linux.so.2")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
