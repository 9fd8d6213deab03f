/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "sennit/base.h"

sennit_time sennit_now(void)
{
	return os_now();
}

sennit_time sennit_after(uint64_t nanoseconds)
{
	return os_after(nanoseconds);
}
