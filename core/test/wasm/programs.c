/* SPDX-License-Identifier: Apache-2.0 */
/* programs.c - the examples, as tests of one case. The build writes
 * programs.inc: a line for each, whose main() has another name. */
#include "testing/test.h"

#define REGISTER(name, run)                                            \
	__attribute__((constructor)) static void register_##name(void) \
	{                                                              \
		static struct test_part part = {                       \
			.file = "examples/" #name ".c",                \
			.program = run,                                \
		};                                                     \
                                                                       \
		test_register(&part);                                  \
	}
#define PLAIN(name)                                  \
	int        main_examples_##name(void);       \
	static int run_##name(int argc, char **argv) \
	{                                            \
		(void)argc;                          \
		(void)argv;                          \
		return main_examples_##name();       \
	}                                            \
	REGISTER(name, run_##name)
#define WITH_ARGUMENTS(name)                             \
	int main_examples_##name(int argc, char **argv); \
	REGISTER(name, main_examples_##name)
#include "programs.inc"
