# SPDX-License-Identifier: Apache-2.0
# Cross build for aarch64 with Debian's compiler; qemu runs the programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# The folder with the unpacked packages for that processor, such as cmocka.
set(SENNIT_SYSROOT "" CACHE PATH "Unpacked arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SENNIT_SYSROOT)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
if(SENNIT_SYSROOT)
	list(PREPEND CMAKE_FIND_ROOT_PATH ${SENNIT_SYSROOT}/usr)
	# RPATH holds for the libraries that libraries need, RUNPATH does not.
	set(libraries ${SENNIT_SYSROOT}/usr/lib/aarch64-linux-gnu)
	set(path ${libraries}:${SENNIT_SYSROOT}/lib/aarch64-linux-gnu)
	foreach(kind EXE SHARED)
		set(CMAKE_${kind}_LINKER_FLAGS_INIT "-L${libraries} \
-Wl,--disable-new-dtags,-rpath,${path}")
	endforeach()
endif()
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
