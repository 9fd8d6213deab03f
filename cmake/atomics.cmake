# SPDX-License-Identifier: Apache-2.0
# Sets sennit_ATOMIC_BYTES: libatomic, where the compiler calls its functions
# for atomic operations on bytes (gcc 12 on riscv64). Tests use such bytes. The
# library does not, and no processor in src/arch/cpu.h needs libatomic for
# words of up to 64 bits.
include(CheckCSourceCompiles)
check_c_source_compiles("
#include <stdatomic.h>
static _Atomic(unsigned char) value;
int main(void)
{
	unsigned char no = 0;
	atomic_compare_exchange_strong(&value, &no, 1);
	return atomic_exchange(&value, 0) + atomic_fetch_add(&value, 1);
}" SENNIT_HAS_ATOMIC_BYTES)
set(sennit_ATOMIC_BYTES "")
if(NOT SENNIT_HAS_ATOMIC_BYTES)
	set(sennit_ATOMIC_BYTES atomic)
endif()
