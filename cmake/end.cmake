# SPDX-License-Identifier: Apache-2.0
# How the end of a scheduler is detected: SENNIT_END. With `count` the macro
# SENNIT_END_COUNT chooses, in src/core/gate.h and the files that say so.

if(NOT SENNIT_END MATCHES "^(gate|count)$")
	message(FATAL_ERROR "SENNIT_END: ${SENNIT_END} is not known here")
endif()

# Removes the tests of the other technique from a list of files. All other tests
# are the same for both.
set(end_tests_gate unit/gate unit/domain stress/gate_last_out litmus/gate)
set(end_tests_count unit/gate_count litmus/gate_count)
function(sennit_end_tests files_of)
	set(result ${${files_of}})
	foreach(technique gate count)
		if(technique STREQUAL SENNIT_END)
			continue()
		endif()
		foreach(test IN LISTS end_tests_${technique})
			list(FILTER result EXCLUDE REGEX "/test/${test}\\.c$")
		endforeach()
	endforeach()
	set(${files_of} ${result} PARENT_SCOPE)
endfunction()
