# SPDX-License-Identifier: Apache-2.0
# How the end of a scheduler is detected: SENNIT_END. A file of
# src/end/<SENNIT_END>/<room>/ takes the place of the one with the same name in
# src/<room>/. For `gate` there are none.

set(end_folder "")
if(NOT SENNIT_END MATCHES "^(gate|count)$")
	message(FATAL_ERROR "SENNIT_END: ${SENNIT_END} is not known here")
elseif(NOT SENNIT_END STREQUAL "gate")
	set(end_folder ${PROJECT_SOURCE_DIR}/src/end/${SENNIT_END})
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
