# SPDX-License-Identifier: Apache-2.0
# apps/http/*.c are compiled once, for both programs.
#	sennit-httpd   apps/httpd/*.c
#	sennit-proxy   apps/proxy/*.c
# They need libsennit-io and libhttp-parser; TLS needs OpenSSL.

set(SENNIT_APPS_BUILT OFF)
find_path(SENNIT_HTTP_PARSER_H http_parser.h)
find_library(SENNIT_HTTP_PARSER http_parser)
mark_as_advanced(SENNIT_HTTP_PARSER_H SENNIT_HTTP_PARSER)
if(NOT SENNIT_APPS OR NOT TARGET sennit_io)
	return()
endif()
if(NOT SENNIT_HTTP_PARSER_H OR NOT SENNIT_HTTP_PARSER)
	message(STATUS "libhttp-parser not found: sennit-httpd and "
		"sennit-proxy are left out")
	return()
endif()
set(SENNIT_APPS_BUILT ON)
find_package(OpenSSL QUIET COMPONENTS SSL Crypto)

# Static, so that the programs can be copied.
file(GLOB files CONFIGURE_DEPENDS apps/http/*.c)
add_library(sennit_http STATIC ${files})
target_include_directories(sennit_http PUBLIC
	apps PRIVATE ${SENNIT_HTTP_PARSER_H})
target_link_libraries(sennit_http PUBLIC sennit::io_static
	PRIVATE sennit_flags PUBLIC ${SENNIT_HTTP_PARSER})
if(OPENSSL_FOUND)
	target_compile_definitions(sennit_http PRIVATE HAVE_OPENSSL)
	target_link_libraries(sennit_http PUBLIC OpenSSL::SSL OpenSSL::Crypto)
else()
	message(STATUS "OpenSSL not found: sennit-httpd without TLS")
endif()

foreach(name httpd proxy)
	file(GLOB files CONFIGURE_DEPENDS apps/${name}/*.c)
	if(files)
		add_executable(sennit-${name} ${files})
		target_link_libraries(sennit-${name} PRIVATE
			sennit_http sennit_flags)
		sennit_install_command(sennit-${name})
	endif()
endforeach()
