/* SPDX-License-Identifier: Apache-2.0 */
/* uring_stream.h - streams by one request each that receives all that comes. */
#ifndef SN_IO_URING_STREAM_H
#define SN_IO_URING_STREAM_H

#include "io/backend.h"

#ifdef SENNIT_HAVE_URING

/* As backend.h says of io_stream_ops. */
extern const struct io_stream_ops sn_io_uring_stream_ops;

#endif
#endif
