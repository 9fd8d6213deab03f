# SPDX-License-Identifier: Apache-2.0
# test/fuzz/<x>.c is one program, fuzz_<x>, run by tools/fuzz.

file(GLOB files CONFIGURE_DEPENDS test/fuzz/*.c)
if(NOT SENNIT_HTTP_PARSER_H OR NOT SENNIT_HTTP_PARSER)
	message(STATUS "libhttp-parser not found: fuzz_http is left out")
	list(FILTER files EXCLUDE REGEX "/http\\.c$")
endif()
if(NOT TARGET sennit_trace_parts)
	message(STATUS "no sennit-trace: fuzz_trace_file is left out")
	list(FILTER files EXCLUDE REGEX "/trace_file\\.c$")
endif()
foreach(file IN LISTS files)
	get_filename_component(name ${file} NAME_WE)
	sennit_program(fuzz_${name} ${file})
	target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()
target_link_options(fuzz_quota PRIVATE LINKER:--wrap=fopen)

# sennit-httpd without its input and output, which libsennit-io has.
if(TARGET fuzz_http)
	foreach(part http/body http/date http/head http/host http/reader http/reason
		http/select http/target httpd/answer httpd/serve httpd/static)
		target_sources(fuzz_http PRIVATE programs/${part}.c)
	endforeach()
	target_include_directories(fuzz_http PRIVATE
		programs ${SENNIT_HTTP_PARSER_H})
	target_link_libraries(fuzz_http PRIVATE ${SENNIT_HTTP_PARSER})
endif()

if(TARGET fuzz_trace_file)
	target_link_libraries(fuzz_trace_file PRIVATE sennit_trace_parts)
endif()
