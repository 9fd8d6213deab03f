# SPDX-License-Identifier: Apache-2.0
# test/fuzz/<x>.c is one program, fuzz_<x>, run by tools/fuzz.

file(GLOB files CONFIGURE_DEPENDS test/fuzz/*.c)
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	sennit_program(fuzz_${name} ${file})
	target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()
target_link_options(fuzz_quota PRIVATE LINKER:--wrap=fopen)
