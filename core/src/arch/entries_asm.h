/* SPDX-License-Identifier: Apache-2.0 */
/* entries_asm.h - the functions of arch.h, from SAVE, RESUME and START, which
 * the .S file defines:
 *
 *	SWITCHES FP	arch_switch, arch_switch_shared
 *	STARTS FP	arch_start, arch_start_shared
 *
 * FP says whether floating-point control is saved; the shared functions never
 * save it.
 */
#ifndef SN_ENTRIES_ASM_H
#define SN_ENTRIES_ASM_H

.macro	SWITCHES fp
FUNC arch_switch
	SAVE	\fp
	RESUME	switch, \fp
END arch_switch

FUNC arch_switch_shared
	SAVE	0
	RESUME	switch_shared, 0
END arch_switch_shared
	.endm

	.macro	STARTS fp
FUNC arch_start
	START	start, \fp
END arch_start

FUNC arch_start_shared
	START	start_shared, 0
END arch_start_shared
	.endm

#endif
