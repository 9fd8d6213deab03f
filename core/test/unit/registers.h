/* SPDX-License-Identifier: Apache-2.0 */
/* registers.h - fill_and_go() for the processors whose registers switch.c does
 * not fill by itself: a function in assembler that keeps its caller's
 * registers, fills those that a callee must keep from the first half of
 * `registers`, calls go(save, resume), and stores their contents to the second
 * half. REGISTERS is the size of one half in 64-bit words, of which libc's
 * swapcontext keeps the first PORTABLE_REGISTERS.
 */
#ifndef SN_TEST_REGISTERS_H
#define SN_TEST_REGISTERS_H

#include "arch/cpu.h"

void fill_and_go(uint64_t *registers,
		 void (*go)(arch_stack *save, arch_stack resume),
		 arch_stack *save, arch_stack resume);

#define FUNCTION_BEGIN                   \
	".text\n"                        \
	".p2align 4\n"                   \
	".globl fill_and_go\n"           \
	".type fill_and_go, %function\n" \
	"fill_and_go:\n"
#define FUNCTION_END ".size fill_and_go, . - fill_and_go\n"

/* The operation for each register: the n-th word of the memory at `base`. */
#define EACH(numbers, line) ".irp n," numbers "\n" line "\n.endr\n"

#if defined(__powerpc64__)
/* glibc's swapcontext skips v20 to v31 where VRSAVE is 0. */
#define PORTABLE_REGISTERS 36

#define REGISTERS   60
#define TO_31       "14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
#define V_TO_31     "20,21,22,23,24,25,26,27,28,29,30,31"
#define R(op, base) EACH(TO_31, op " \\n, (\\n - 14) * 8(" base ")")
#define F(op, base) EACH(TO_31, op " \\n, 144 + (\\n - 14) * 8(" base ")")
#define V(op, base) \
	EACH(V_TO_31, "li 0, 288 + (\\n - 20) * 16\n" op " \\n, " base ", 0")
__asm__(FUNCTION_BEGIN
	"mflr 0\n"
	"std 0, 16(1)\n"
	"stdu 1, -592(1)\n"
	"addi 9, 1, 96\n"
	"std 3, 40(1)\n" R("std", "9") F("stfd",
					 "9") V("stvx",
						"9") R("ld", "3") F("lfd", "3")
		V("lvx",
		  "3") "mtctr 4\n"
		       "mr 12, 4\n"
		       "mr 3, 5\n"
		       "mr 4, 6\n"
		       "std 2, 24(1)\n"
		       "bctrl\n"
		       "ld 2, 24(1)\n"
		       "ld 3, 40(1)\n"
		       "addi 3, 3, 480\n" R("std", "3") F("stfd", "3")
			       V("stvx", "3") "addi 9, 1, 96\n" R("ld", "9")
				       F("lfd", "9")
					       V("lvx",
						 "9") "addi 1, 1, 592\n"
						      "ld 0, 16(1)\n"
						      "mtlr 0\n"
						      "blr\n" FUNCTION_END);
#elif defined(__s390x__)
#define REGISTERS 16
#define F(op, base) \
	EACH("8,9,10,11,12,13,14,15", op " %f\\n, 64 + (\\n - 8) * 8(" base ")")
__asm__(FUNCTION_BEGIN
	"stmg %r6, %r15, 48(%r15)\n"
	"aghi %r15, -304\n"
	"stg %r2, 296(%r15)\n" F("std", "%r15") "lmg %r6, %r13, 0(%r2)\n" F(
		"ld", "%r2") "lgr %r1, %r3\n"
			     "lgr %r2, %r4\n"
			     "lgr %r3, %r5\n"
			     "lay %r15, -160(%r15)\n"
			     "basr %r14, %r1\n"
			     "lay %r15, 160(%r15)\n"
			     "lg %r2, 296(%r15)\n"
			     "aghi %r2, 128\n"
			     "stmg %r6, %r13, 0(%r2)\n" F("std", "%r2")
				     F("ld",
				       "%r15") "lmg %r6, %r15, 352(%r15)\n"
					       "br %r14\n" FUNCTION_END);
#elif defined(__riscv)
#define REGISTERS   24
#define TO_11       "0,1,2,3,4,5,6,7,8,9,10,11"
#define S(op, base) EACH(TO_11, op " s\\n, \\n * 8(" base ")")
#define F(op, base) EACH(TO_11, op " fs\\n, 96 + \\n * 8(" base ")")
__asm__(FUNCTION_BEGIN
	"addi sp, sp, -208\n"
	"sd ra, 192(sp)\n"
	"sd a0, 200(sp)\n" S("sd", "sp") F("fsd", "sp") S("ld", "a0")
		F("fld", "a0") "mv t0, a1\n"
			       "mv a0, a2\n"
			       "mv a1, a3\n"
			       "jalr t0\n"
			       "ld a0, 200(sp)\n"
			       "addi a0, a0, 192\n" S("sd", "a0") F("fsd", "a0")
				       S("ld", "sp")
					       F("fld",
						 "sp") "ld ra, 192(sp)\n"
						       "addi sp, sp, 208\n"
						       "ret\n" FUNCTION_END);
#elif defined(__i386__)
#define REGISTERS    2
/* clang-format off */
#define R(op) \
	op("%ebx", "0") op("%esi", "4") op("%edi", "8") op("%ebp", "12")
/* clang-format on */
#define LOAD(r, at)  "mov " at "(%eax), " r "\n"
#define STORE(r, at) "mov " r ", " at "(%eax)\n"
__asm__(FUNCTION_BEGIN "push %ebx\n"
		       "push %esi\n"
		       "push %edi\n"
		       "push %ebp\n"
		       "mov 20(%esp), %eax\n"
		       "mov 24(%esp), %ecx\n"
		       "sub $4, %esp\n"
		       "push 36(%esp)\n" /* resume */
		       "push 36(%esp)\n" /* save */
	R(LOAD) "call *%ecx\n"
		"add $12, %esp\n"
		"mov 20(%esp), %eax\n"
		"add $16, %eax\n" R(STORE) "pop %ebp\n"
					   "pop %edi\n"
					   "pop %esi\n"
					   "pop %ebx\n"
					   "ret\n" FUNCTION_END);
#elif defined(__arm__)
#define REGISTERS 12
__asm__(".syntax unified\n"
	".arm\n"
	".fpu vfp\n" FUNCTION_BEGIN "push {r0, r4-r11, lr}\n"
	"vpush {d8-d15}\n"
	"vldmia r0!, {d8-d15}\n"
	"ldmia r0, {r4-r11}\n"
	"mov ip, r1\n"
	"mov r0, r2\n"
	"mov r1, r3\n"
	"blx ip\n"
	"ldr r0, [sp, #64]\n"
	"add r0, r0, #96\n"
	"vstmia r0!, {d8-d15}\n"
	"stmia r0, {r4-r11}\n"
	"vpop {d8-d15}\n"
	"pop {r0, r4-r11, pc}\n" FUNCTION_END);
#elif defined(__mips64)
#define REGISTERS 18
#define S(op, base)                                                           \
	EACH("16,17,18,19,20,21,22,23", op " $\\n, (\\n - 16) * 8(" base ")") \
	op " $28, 64(" base ")\n" op " $30, 72(" base ")\n"
#define F(op, base)                     \
	EACH("24,25,26,27,28,29,30,31", \
	     op " $f\\n, 80 + (\\n - 24) * 8(" base ")")
__asm__(FUNCTION_BEGIN
	"daddiu $29, $29, -160\n"
	"sd $31, 144($29)\n"
	"sd $4, 152($29)\n" S("sd", "$29") F("sdc1", "$29") S("ld", "$4")
		F("ldc1",
		  "$4") "move $25, $5\n"
			"move $4, $6\n"
			"move $5, $7\n"
			"jalr $25\n"
			"ld $4, 152($29)\n"
			"daddiu $4, $4, 144\n" S("sd", "$4") F("sdc1", "$4")
				S("ld", "$29")
					F("ldc1",
					  "$29") "ld $31, 144($29)\n"
						 "daddiu $29, $29, 160\n"
						 "jr $31\n" FUNCTION_END);
#elif defined(__loongarch64)
#define REGISTERS 18
#define R(op, base)                           \
	EACH("22,23,24,25,26,27,28,29,30,31", \
	     op " $r\\n, " base ", (\\n - 22) * 8")
#define F(op, base)                     \
	EACH("24,25,26,27,28,29,30,31", \
	     op " $f\\n, " base ", 80 + (\\n - 24) * 8")
__asm__(FUNCTION_BEGIN
	"addi.d $sp, $sp, -176\n"
	"st.d $ra, $sp, 144\n"
	"st.d $a0, $sp, 152\n" R("st.d", "$sp") F("fst.d", "$sp") R("ld.d",
								    "$a0")
		F("fld.d",
		  "$a0") "move $t0, $a1\n"
			 "move $a0, $a2\n"
			 "move $a1, $a3\n"
			 "jirl $ra, $t0, 0\n"
			 "ld.d $a0, $sp, 152\n"
			 "addi.d $a0, $a0, 144\n" R("st.d", "$a0")
				 F("fst.d", "$a0") R("ld.d", "$sp")
					 F("fld.d",
					   "$sp") "ld.d $ra, $sp, 144\n"
						  "addi.d $sp, $sp, 176\n"
						  "jr $ra\n" FUNCTION_END);
#endif

#if defined(REGISTERS) && !defined(PORTABLE_REGISTERS)
#define PORTABLE_REGISTERS REGISTERS
#endif

#endif
