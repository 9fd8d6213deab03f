/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.h - reads and writes that transfer all bytes. */
#ifndef FILE_TRANSFER_H
#define FILE_TRANSFER_H

#include <stddef.h>
#include <sys/types.h>

/* Read until the buffer is full or the input ends. Returns the number of bytes
 * or a negative errno value. */
ssize_t file_read(int fd, void *bytes, size_t size);

/* Write all bytes. Returns 0 or a negative errno value. */
int file_write(int fd, const void *bytes, size_t size);

#endif
