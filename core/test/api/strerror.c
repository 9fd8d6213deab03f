/* SPDX-License-Identifier: Apache-2.0 */
/* strerror.c - sennit_strerror: the library's words where it has some, libc's
 * for all other errors.
 */
#include "testing/test.h"

#include <sennit.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <pthread.h>
#include <string.h>

static void assert_says(int error, const char *part)
{
	assert_non_null(strstr(sennit_strerror(error), part));
}

TEST(what_ends_a_wait_is_said_in_words_of_the_library)
{
	assert_says(-ECANCELED, "group was cancelled");
	assert_says(-ETIMEDOUT, "deadline");
	assert_says(-EPIPE, "channel");
	assert_says(-ESHUTDOWN, "scheduler");
	assert_says(0, "no error");
}

TEST(the_sign_makes_no_difference)
{
	char text[100];

	for (int error = 0; error < 200; error++) {
		/* That of a number that no one knows lasts until the next. */
		snprintf(text, sizeof(text), "%s", sennit_strerror(-error));
		assert_string_equal(text, sennit_strerror(error));
	}
}

TEST(other_errors_have_the_text_of_libc)
{
	assert_string_equal(sennit_strerror(-EACCES), strerror(EACCES));
	assert_string_equal(sennit_strerror(ENOMEM), strerror(ENOMEM));
}

TEST(a_number_that_no_one_knows_has_a_text)
{
	assert_true(*sennit_strerror(99999));
	assert_true(*sennit_strerror(INT_MIN));
}

static void *ask(void *unused)
{
	for (int error = -150; error < 150; error++)
		if (!*sennit_strerror(error))
			return (void *)sennit_strerror(error);
	return NULL;
}

TEST(texts_stay_while_other_threads_ask)
{
	const char *texts[64];
	pthread_t   threads[4];
	void       *failed;

	for (int i = 0; i < 64; i++)
		texts[i] = sennit_strerror(-i);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, NULL),
				 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	for (int i = 0; i < 64; i++)
		if (i != 41 && i != 58) /* which no error has */
			assert_ptr_equal(texts[i], sennit_strerror(-i));
}
