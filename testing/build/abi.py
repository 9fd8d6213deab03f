# SPDX-License-Identifier: Apache-2.0
"""abi.py TREE - tools/abi_list.py judges one change of the headers after the
other, each in the copy TREE: those that break programs, those that only add
something, and those that change nothing.

A change is a library, a header, what is replaced (once, a regular expression)
and by what.
"""
import glob
import os
import re
import sys

TREE = sys.argv[1]
sys.path.insert(0, os.path.join(TREE, "tools"))
import abi_list  # noqa: E402

S, IO, DIAG = "libsennit", "libsennit-io", "libsennit-diag"
BREAKS = [
    # calls
    (S, "base.h", r"SENNIT_API sennit_time sennit_now\(void\);", ""),
    (S, "base.h", r"sennit_time sennit_now", "void sennit_now"),
    (S, "base.h", r"sennit_after\(uint64_t", "sennit_after(uint32_t"),
    (S, "base.h", r"sennit_now\(void\)", "sennit_now(int clock)"),
    (S, "event.h", r"void sennit_event_set\(", "int sennit_event_set("),
    (S, "event.h", r"(sennit_event_init\(sennit_event \*e, )uint32_t",
     r"\1int"),
    (S, "event.h", r"sennit_event_destroy\(sennit_event \*e\)",
     "sennit_event_end(sennit_event *e)"),
    (S, "task.h", r"sennit_schedule_copy\((sennit_task_fn \*run,\s+)const void",
     r"sennit_schedule_copy(\1void"),
    (S, "mutex.h", r"(sennit_mutex_lock_until\(sennit_mutex \*\w+,\s+)"
     "sennit_time", r"\1double"),
    (S, "detail/debugger.h", r"extern SENNIT_API const struct sennit_debug_context",
     "extern SENNIT_API struct sennit_debug_context"),
    (IO, "io.h", r"int64_t( +)at,", r"int\1at,"),
    (IO, "net.h", r"SENNIT_API int sennit_shutdown\(int fd, int how\);", ""),
    (DIAG, "symbol.h", r"sennit_symbol_print\(const void",
     "sennit_symbol_print(void"),
    # inline functions
    (S, "mutex.h", r"static inline bool sennit_mutex_try_lock\(",
     "static inline bool sennit_mutex_try("),
    (S, "semaphore.h", r"(sennit_semaphore_try_acquire\(\s+sennit_semaphore "
     r"\*s,\s+)uint32_t", r"\1uint16_t"),
    # types of functions
    (S, "task.h", r"typedef void sennit_task_fn", "typedef int sennit_task_fn"),
    (S, "group.h", r"sennit_member_fn\(void \*argument\)",
     "sennit_member_fn(void *argument, int index)"),
    (S, "once.h", r"typedef void sennit_once_fn\(void \*argument\);",
     "typedef void sennit_once_fn(const void *argument);"),
    # other types
    (S, "base.h", r"typedef uint64_t sennit_time", "typedef int64_t sennit_time"),
    (S, "base.h", r"_Atomic\(uint32_t\) value_", "_Atomic(uint64_t) value_"),
    # members
    (S, "event.h", r"typedef struct sennit_event {", r"\g<0>\n\tint more_;"),
    (S, "event.h", r"\n\tvoid +\*waiters_;", ""),
    (S, "event.h", r"(\tuint32_t +mode_;[^\n]*\n)(\tvoid +\*waiters_;\n)",
     r"\2\1"),
    (S, "event.h", r"mode_;", "how_;"),
    (S, "event.h", r"uint32_t +mode_;", "int32_t mode_;"),
    (S, "event.h", r"uint32_t +mode_;", "uint32_t mode_ : 31;"),
    (S, "task.h", r"size_t +copy_size;", "uint32_t copy_size; uint32_t odd_;"),
    (S, "task.h", r"uint32_t +reserved_;", "uint16_t reserved_, later_;"),
    (S, "trace_format.h", r"uint16_t detail;", "uint16_t more;"),
    (S, "trace_format.h", r"uint64_t a, b;", "uint64_t b, a;"),
    (S, "trace_format.h", r"uint16_t kind;", "int16_t kind;"),
    (S, "trace_format.h", r"(uint32_t fiber;[^}]*?)uint64_t a, b;",
     r"\1uint64_t a, b, c;"),
    (S, "trace_format.h", r"char     magic\[8\]", "char     magic[4]"),
    (S, "base.h", r"(typedef struct sennit_allocator \{)",
     r"\1\n\t_Alignas(32)"),
    (S, "trace.h", r"int crash_fd;", "long crash_fd;"),
    (IO, "watch.h", r"(typedef struct sennit_watch_event \{)", r"\1 int odd;"),
    (DIAG, "stacks.h", r"uint32_t +source;", "uint16_t source, odd;"),
    # enumerators
    (S, "event.h", "SENNIT_EVENT_AUTO = 1", "SENNIT_EVENT_AUTO = 2"),
    (S, "event.h", ", SENNIT_EVENT_AUTO = 1", ""),
    (S, "event.h", "SENNIT_EVENT_AUTO = 1 }",
     "SENNIT_EVENT_AUTO = 1, SENNIT_EVENT_FAR = 0x7fffffffffff }"),
    (S, "trace_format.h", "SENNIT_TRACE_RING_BOUND = 1",
     "SENNIT_TRACE_RING_BOUND = 3"),
    (S, "trace_format.h", "SENNIT_TRACE_SECTION_STRINGS = 2",
     "SENNIT_TRACE_SECTION_STRINGS = 9"),
    (S, "trace_format.h", "SENNIT_TRACE_STRING_NAME = 2",
     "SENNIT_TRACE_STRING_NAME = 3"),
    (S, "trace_format.h", "SENNIT_TRACE_WAKE_TIMER = 1,",
     "SENNIT_TRACE_WAKE_CLOCK = 1,"),
    (S, "trace_format.h", "SENNIT_TRACED_WAIT = 4", "SENNIT_TRACED_WAIT = 40"),
    (S, "trace_format.h", r"SENNIT_TRACED_RESUME = 6,", ""),
    (S, "config.h", "SENNIT_ORDER_OLDEST = 2", "SENNIT_ORDER_OLDEST = 7"),
    (S, "report.h", r"SENNIT_REPORT_BLOCKED\b", "SENNIT_REPORT_WAITING"),
    (DIAG, "stacks.h", "SENNIT_STACKS_TEXT", "SENNIT_STACKS_PLAIN"),
    # macros
    (S, "task.h", r"#define SENNIT_TASK_BACKGROUND UINT32_C\(2\)",
     "#define SENNIT_TASK_BACKGROUND UINT32_C(4)"),
    (S, "task.h", r"#define SENNIT_COPY_SMALL 48\n", ""),
    (S, "base.h", r"#define SENNIT_NEVER UINT64_MAX",
     "#define SENNIT_NEVER INT64_MAX"),
    (S, "event.h", r"(SENNIT_EVENT_INIT\(mode\) \{ \{) 0 \}", r"\1 1 }"),
    (S, "event.h", r"SENNIT_EVENT_INIT\(mode\)", "SENNIT_EVENT_INIT(mode, set)"),
    (S, "workers.h", r"uint64_t fibers;", r"uint64_t new_; \g<0>"),
    (S, "config.h", r"uint32_t spin_ns;", r"uint32_t new_; \g<0>"),
    (S, "workers.h", r"uint64_t idle_ns;", "uint64_t idle;"),
    (S, "trace_format.h", r'"sennittr"', '"sennitTR"'),
    (S, "detail/fork_join_inside.h", "SENNIT_FORK_VERSION_ 2",
     "SENNIT_FORK_VERSION_ 3"),
    (DIAG, "live.h", r"(#define SENNIT_LIVE_CLIENTS) \d+", r"\1 9"),
]
MORE = [
    (S, "base.h", r"SENNIT_API sennit_time sennit_now",
     r"SENNIT_API int sennit_new(void);\n\g<0>"),
    (S, "event.h", "SENNIT_EVENT_AUTO = 1",
     "SENNIT_EVENT_AUTO = 1, SENNIT_EVENT_NEW = 2"),
    (S, "task.h", "#define SENNIT_COPY_SMALL", r"#define SENNIT_NEW 1\n\g<0>"),
    (IO, "io.h", "SENNIT_BEGIN",
     r"\g<0>\nstruct sennit_new { int member; };"),
    (S, "workers.h", r"\} sennit_worker_view;", r"uint64_t new_; \g<0>"),
    (S, "config.h", r"\} sennit_config;", r"uint64_t new_; \g<0>"),
]
SAME = [
    (S, "base.h", r"uint64_t nanoseconds", "uint64_t from_now"),
    (S, "base.h", r"/\* Return the current", "/* Return the"),
    (S, "event.h", r"(SENNIT_API void sennit_event_clear[^;]*;)([\s\S]*?)"
     r"(SENNIT_API bool sennit_event_is_set[^;]*;)", r"\3\2\1"),
    (S, "base.h", r"#ifndef SENNIT_BASE_H\n#define SENNIT_BASE_H",
     "#ifndef SENNIT_BASIS_H\n#define SENNIT_BASIS_H"),
]


def judged(old, library, header, pattern, new):
    path, = glob.glob(os.path.join("*/include/sennit", header))
    with open(path, encoding="utf-8") as file:
        whole = file.read()
    text, count = re.subn(pattern, new, whole, count=1)
    if not count or text == whole:
        return "%s is not in it" % pattern, []
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return abi_list.judge(old[library], abi_list.interface(library, "0"))
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(whole)


def main():
    os.chdir(TREE)
    old = {name: abi_list.interface(name, "0") for name in (S, IO, DIAG)}
    bad = 0
    for wanted, changes in (("breaks", BREAKS), ("more", MORE),
                            ("same", SAME)):
        for change in changes:
            verdict, said = judged(old, *change)
            if verdict != wanted or (wanted != "same") != bool(said):
                print("FAILED: %s, not %s: %s" % (verdict, wanted, change[1:]))
                print("\n".join(said[:5]))
                bad += 1
    print("%d changes, %d judged wrongly" % (
        len(BREAKS) + len(MORE) + len(SAME), bad))
    return 1 if bad else 0


sys.exit(main())
