# SPDX-License-Identifier: Apache-2.0
# sennit_install_command(TARGET): a program, with its page of the manual.
function(sennit_install_command target)
	if(NOT SENNIT_INSTALL)
		return()
	endif()
	install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	if(SENNIT_MANUAL AND SENNIT_PYTHON)
		install(FILES ${sennit_BINARY_DIR}/manual/man1/${target}.1
			DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
	endif()
endfunction()
