/* SPDX-License-Identifier: Apache-2.0 */
/* once.h - one round, for a checker that tries all its executions. */
#ifndef LITMUS_ONCE_H
#define LITMUS_ONCE_H

/* The condition has no side effects: checkers turn it into an assumption. */
#define LITMUS_AWAIT(condition)      \
	do {                         \
		while (!(condition)) \
			;            \
	} while (0)

static void litmus_yield(void)
{
}

#define LITMUS_MAIN_2(before, first, second, after)              \
	int main(void)                                           \
	{                                                        \
		pthread_t a;                                     \
		pthread_t b;                                     \
                                                                 \
		before();                                        \
		assert(!pthread_create(&a, NULL, first, NULL));  \
		assert(!pthread_create(&b, NULL, second, NULL)); \
		assert(!pthread_join(a, NULL));                  \
		assert(!pthread_join(b, NULL));                  \
		after();                                         \
		return 0;                                        \
	}
#define LITMUS_MAIN_3(before, first, second, third, after)       \
	int main(void)                                           \
	{                                                        \
		pthread_t a;                                     \
		pthread_t b;                                     \
		pthread_t c;                                     \
                                                                 \
		before();                                        \
		assert(!pthread_create(&a, NULL, first, NULL));  \
		assert(!pthread_create(&b, NULL, second, NULL)); \
		assert(!pthread_create(&c, NULL, third, NULL));  \
		assert(!pthread_join(a, NULL));                  \
		assert(!pthread_join(b, NULL));                  \
		assert(!pthread_join(c, NULL));                  \
		after();                                         \
		return 0;                                        \
	}

#endif
