/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - os.h on Windows: a vectored exception handler. It
 * runs before the program's frame-based handlers.
 *
 * It runs on the stack that faulted. Of a stack that has overflowed only the
 * guard pages are left, which is enough to dispatch the exception and no more.
 * So the handler calls its observer on the thread's alternate stack, the memory
 * of os_fault_stack_use. A thread without one has no observer.
 */
#include "base/compiler.h"
#include "os/os.h"

#include <stdio.h>
#include <unistd.h>
#include <windows.h>

/* Lies at the low end of the alternate stack. */
struct fault_stack {
	char          *top;
	const CONTEXT *interrupted; /* NULL: the thread is not in the handler */
};

static DWORD slot = TLS_OUT_OF_INDEXES; /* fixed after os_faults_watch: the
					 * thread's struct fault_stack */
static void (*watcher)(uintptr_t address, uintptr_t stack_pointer);

static struct fault_stack *own(void)
{
	return slot == TLS_OUT_OF_INDEXES ? NULL : TlsGetValue(slot);
}

/* --- the handler -------------------------------------------------------- */

/* Whether the exception is a fault on memory. */
static bool is_fault(DWORD code)
{
	return code == EXCEPTION_ACCESS_VIOLATION ||
	       code == EXCEPTION_IN_PAGE_ERROR ||
	       code == EXCEPTION_STACK_OVERFLOW || code == EXCEPTION_GUARD_PAGE;
}

/* The address that was accessed. The system may report an overflow without
 * it. */
static uintptr_t address_of(const EXCEPTION_POINTERS *e)
{
	const EXCEPTION_RECORD *r = e->ExceptionRecord;

	return r->NumberParameters >= 2 ? r->ExceptionInformation[1]
					: e->ContextRecord->Rsp;
}

static void observe(const EXCEPTION_POINTERS *e)
{
	watcher(address_of(e), e->ContextRecord->Rsp);
}

/* Call observe(e) on the stack that ends at `top`. */
static void observe_on(char *top, const EXCEPTION_POINTERS *e)
{
	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %[top], %%rsp\n\t"
			 "sub $32, %%rsp\n\t" /* the callee's words */
			 "call *%[observe]\n\t"
			 "mov %%rbx, %%rsp"
			 : "+c"(e)
			 : [top] "r"(top), [observe] "r"(observe)
			 : "rax", "rbx", "rdx", "r8", "r9", "r10", "r11",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "cc",
			   "memory");
}

static LONG CALLBACK fault(EXCEPTION_POINTERS *e)
{
	struct fault_stack *other;

	if (!is_fault(e->ExceptionRecord->ExceptionCode))
		return EXCEPTION_CONTINUE_SEARCH;
	other = own();
	if (other && !other->interrupted) {
		other->interrupted = e->ContextRecord;
		observe_on(other->top, e);
		other->interrupted = NULL;
	}
	return EXCEPTION_CONTINUE_SEARCH;
}

/* Handlers that the program added before run afterwards. */
void os_faults_watch(void (*look)(uintptr_t address, uintptr_t stack_pointer))
{
	watcher = look;
	slot = TlsAlloc();
	AddVectoredExceptionHandler(1, fault);
}

/* --- backtraces --------------------------------------------------------- */

/* One frame up. Returns false where the frames end. */
static bool walk(CONTEXT *at)
{
	DWORD64           image;
	PRUNTIME_FUNCTION f = RtlLookupFunctionEntry(at->Rip, &image, NULL);
	void             *data;
	DWORD64           frame;

	if (f) {
		RtlVirtualUnwind(UNW_FLAG_NHANDLER, image, at->Rip, f, at,
				 &data, &frame, NULL);
	} else { /* a leaf function, or no code */
		at->Rip = *(const DWORD64 *)at->Rsp;
		at->Rsp += sizeof(DWORD64);
	}
	return at->Rip;
}

/* What walks the frames is loaded with every program. */
void os_backtrace_prepare(void)
{
}

/* In the handler, the frames of the code that faulted. */
void os_write_backtrace(int fd)
{
	const struct fault_stack *other = own();
	CONTEXT                   at;
	char                      name[160];

	if (other && other->interrupted)
		at = *other->interrupted;
	else
		RtlCaptureContext(&at);
	for (int i = 0; i < 64; i++) {
		os_function_name(at.Rip, name, sizeof(name));
		os_print(fd, "%s\n", name);
		if (!walk(&at))
			break;
	}
}

/* --- the alternate stack ------------------------------------------------ */

/* Room for a message, and for a backtrace of long names. */
size_t os_fault_stack_size(void)
{
	return 64 * 1024;
}

bool os_fault_stack_use(void *memory, size_t size)
{
	struct fault_stack *mine = memory;

	if (slot == TLS_OUT_OF_INDEXES || own())
		return false;
	mine->top = (char *)memory + size;
	mine->interrupted = NULL;
	return TlsSetValue(slot, mine);
}

void os_fault_stack_drop(const void *memory)
{
	if (memory && own() == memory)
		TlsSetValue(slot, NULL);
}

/* --- windows cxx exceptions ----------------------------------------------- */

/* A weak name is resolved within one program or one DLL. So it finds the C++
 * runtime if both the runtime and the library are linked into the program.
 * Otherwise the runtime is a DLL, or the program exports what is looked for. */

typedef struct cxx_globals *get_globals(void);

extern struct cxx_globals *__cxa_get_globals(void) __attribute__((weak));

static get_globals *find_in(const char *module)
{
	HMODULE loaded = GetModuleHandleA(module); /* NULL: the program */
	union {
		FARPROC      any;
		get_globals *get;
	} found = { NULL };

	if (loaded)
		found.any = GetProcAddress(loaded, "__cxa_get_globals");
	return found.get;
}

/* Not kept: the program may load the runtime later. gcc 12 makes a name weak
 * only where it is called. */
struct cxx_globals *sn_cxx_globals(void)
{
	static struct cxx_globals none; /* never written */
	get_globals              *get;

	if (__cxa_get_globals)
		return __cxa_get_globals();
	get = find_in(NULL);
	if (!get)
		get = find_in("libstdc++-6.dll");
	return get ? get() : &none;
}

static void say(void)
{
	char who[256];

	sn_check_who(who, sizeof(who));
	os_print(STDERR_FILENO,
		 "sennit: an exception leaves a task or callback [%s]\n", who);
}

/* The handler of functions with ARCH_BARRIER. The system calls it during the
 * search for a handler, and once more if frames below are unwound. */
EXCEPTION_DISPOSITION sn_cxx_barrier(EXCEPTION_RECORD *exception, void *frame,
				     CONTEXT *context, void *dispatcher);

/* To continue makes the C++ runtime's throw return to its caller, which then
 * calls std::terminate. */
__attribute__((used)) EXCEPTION_DISPOSITION sn_cxx_barrier(
	EXCEPTION_RECORD *exception, void *frame, CONTEXT *context,
	void *dispatcher)
{
	const DWORD thrown =
		0x20474343; /* by gcc's unwinder: STATUS_GCC_THROW */

	(void)frame;
	(void)context;
	(void)dispatcher;
	if (exception->ExceptionCode != thrown || exception->ExceptionFlags)
		return ExceptionContinueSearch;
	say();
	return ExceptionContinueExecution;
}
