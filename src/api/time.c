/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "sennit/base.h"

sennit_time sennit_now(void)
{
	return os_now();
}

sennit_time sennit_after(uint64_t nanoseconds)
{
	sennit_time now = os_now();

	return nanoseconds > SENNIT_NEVER - now ? SENNIT_NEVER
						: now + nanoseconds;
}
