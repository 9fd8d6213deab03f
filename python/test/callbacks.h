/* SPDX-License-Identifier: Apache-2.0 */
/* callbacks.h - what callbacks.c exports. stage.py has cffi read it, too: it
 * contains prototypes and no directive of the preprocessor. */
int  counted(void);
void count(void *unused);
int  square(void *number);
int  fail(void *unused);
int  text(void *unused, void **value);
int  on_fiber(void *unused);
int  unbound(void);
int  wait_for(void *wait_group);
int  stay(void *unused);
int  send_ten(void *channel);
void refuse_threads(int how);
