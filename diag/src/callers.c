/* SPDX-License-Identifier: Apache-2.0 */
#include "callers.h"

#include "base/compiler.h"
#include "sennit/detail/debugger.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

/* The walk follows only the stack pointer, the frame pointer and, in a frame
 * that calls nothing, the return address. All other registers are known only in
 * the first frame. Compilers use others to find a frame only while the frame is
 * being set up. */

/* DWARF register numbers of the stack pointer. */
enum { SP_X86_64 = 7, SP_I386 = 4, SP_AARCH64 = 31 };

struct machine {
	uint8_t fp, ra;
};

static struct machine machine_of(const struct call_frame *f)
{
	return f->sp == SP_X86_64 ? (struct machine){ .fp = 6, .ra = 16 }
	       : f->sp == SP_I386 ? (struct machine){ .fp = 5, .ra = 8 }
				  : (struct machine){ .fp = 29, .ra = 30 };
}

unsigned sn_callers_stack_pointer(uint32_t machine)
{
	return machine == EM_X86_64    ? SP_X86_64
	       : machine == EM_386     ? SP_I386
	       : machine == EM_AARCH64 ? SP_AARCH64
				       : 0;
}

/* How a register of the caller is found. */
enum { SAME, UNDEFINED, AT, EXPRESSION, OTHER };

/* --- the stack ---------------------------------------------------------- */

/* The frames belong to other functions, so sanitizers would report the
 * reads. */
NO_SANITIZE static bool load(const struct call_frame_memory *m,
			     uintptr_t address, uintptr_t *value)
{
	const uintptr_t at = address - m->low;

	if (address < m->low || m->size < sizeof(*value) ||
	    at > m->size - sizeof(*value) || at % sizeof(*value))
		return false;
	*value = *(const volatile uintptr_t *)(m->copy + at);
	return true;
}

static bool is_register_known(const struct call_frame *f, unsigned number)
{
	return number < CALL_FRAME_REGISTERS && f->known >> number & 1;
}

/* --- bytes of a table --------------------------------------------------- */

struct bytes {
	const uint8_t *at, *end;
};

static uint64_t take_uint(struct bytes *b, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->at = b->end;
		return 0;
	}
	for (unsigned i = 0; i < size; i++) /* little-endian, as both are */
		value |= (uint64_t)b->at[i] << 8 * i;
	b->at += size;
	return value;
}

static int64_t take_signed(struct bytes *b, unsigned size)
{
	const unsigned shift = 64 - 8 * size;

	return (int64_t)(take_uint(b, size) << shift) >> shift;
}

/* Read a LEB128 number, seven bits per byte. *sign becomes the bits above them
 * if the number is negative. */
static uint64_t take_leb(struct bytes *b, uint64_t *sign)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t  byte;

	do {
		byte = (uint8_t)take_uint(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	*sign = byte & 64 && shift < 64 ? ~UINT64_C(0) << shift : 0;
	return value;
}

static uint64_t take_uleb(struct bytes *b)
{
	uint64_t sign;

	return take_leb(b, &sign);
}

static int64_t take_sleb(struct bytes *b)
{
	uint64_t sign;
	uint64_t value = take_leb(b, &sign);

	return (int64_t)(value | sign);
}

static struct bytes take_block(struct bytes *b)
{
	uint64_t     size = take_uleb(b);
	struct bytes block = { b->at, b->end };

	if (size < (size_t)(b->end - b->at))
		block.end = b->at + size;
	b->at = block.end;
	return block;
}

/* Read a pointer in one of the encodings of the Linux Standard Base. Pointers
 * to personalities and language data are only skipped, so `indirect` is never
 * followed. */
static uintptr_t take_pointer(struct bytes *b, uint8_t encoding)
{
	const uintptr_t here = (uintptr_t)b->at;
	uint64_t        value;

	switch (encoding & 15) {
	case 0: /* absptr */
		value = take_uint(b, sizeof(uintptr_t));
		break;
	case 4:  /* udata8 */
	case 12: /* sdata8 */
		value = take_uint(b, 8);
		break;
	case 1:
		value = take_uleb(b);
		break;
	case 2:
		value = take_uint(b, 2);
		break;
	case 3:
		value = take_uint(b, 4);
		break;
	case 9:
		value = (uint64_t)take_sleb(b);
		break;
	case 10:
		value = (uint64_t)take_signed(b, 2);
		break;
	default: /* sdata4 */
		value = (uint64_t)take_signed(b, 4);
	}
	if ((encoding & 0x70) == 0x10) /* pcrel */
		value += here;
	return (uintptr_t)value;
}

/* --- the description of a function -------------------------------------- */

struct description {
	uintptr_t    begin, size;
	uint64_t     code_align;
	int64_t      data_align;
	struct bytes common, own; /* instructions */
	uint8_t      encoding;    /* of addresses */
	bool         has_data;
	bool         is_signal;
};

/* Read the letters that describe the data of a common part (CIE). Returns false
 * if a letter is not known. */
static bool read_letters(struct description *d, const char *letter,
			 struct bytes data)
{
	for (; *letter; letter++) {
		if (*letter == 'R')
			d->encoding = (uint8_t)take_uint(&data, 1);
		else if (*letter == 'L')
			(void)take_uint(&data, 1);
		else if (*letter == 'P')
			(void)take_pointer(&data, (uint8_t)take_uint(&data, 1));
		else if (*letter == 'S')
			d->is_signal = true;
		else if (*letter != 'B' && *letter != 'G') /* 64-bit ARM */
			return false;
	}
	return true;
}

/* Read the common part of descriptions (CIE). */
static bool read_common(struct description *d, struct bytes b, uint8_t ra)
{
	const char *letters;
	uint8_t     version;

	(void)take_uint(&b, 4); /* the CIE mark */
	version = (uint8_t)take_uint(&b, 1);
	letters = (const char *)b.at;
	while (take_uint(&b, 1))
		;
	d->code_align = take_uleb(&b);
	d->data_align = take_sleb(&b);
	if ((version == 1 ? take_uint(&b, 1) : take_uleb(&b)) != ra)
		return false;
	d->has_data = *letters == 'z';
	if (d->has_data && !read_letters(d, letters + 1, take_block(&b)))
		return false;
	d->common = b;
	return d->has_data || !*letters;
}

/* Return the entry whose length is at `at`, without the length. */
static struct bytes entry_at(const uint8_t *at, const uint8_t *end)
{
	struct bytes b = { at, end };
	uint64_t     size = take_uint(&b, 4);

	if (size < (size_t)(b.end - b.at))
		b.end = b.at + size;
	return b;
}

/* Read the description that begins at `at` (FDE). */
static bool read_description(struct description *d, const uint8_t *at,
			     const uint8_t *low, const uint8_t *end, uint8_t ra)
{
	struct bytes   b = entry_at(at, end);
	const uint8_t *mark = b.at;
	uint64_t       back = take_uint(&b, 4);

	*d = (struct description){ .encoding = 0 };
	if (!back || back > (size_t)(mark - low) ||
	    !read_common(d, entry_at(mark - back, end), ra))
		return false;
	d->begin = take_pointer(&b, d->encoding);
	d->size = take_pointer(&b, d->encoding & 15);
	if (d->has_data)
		(void)take_block(&b);
	d->own = b;
	return true;
}

/* --- the table of a file ------------------------------------------------ */

/* The sorted table that linkers put in .eh_frame_hdr: pairs of the address of a
 * function and that of its description, relative to the header. */
#define TABLE_HEADER   12u
#define TABLE_ENCODING 0x3b /* datarel, sdata4 */

static int32_t pair_at(const uint8_t *header, size_t i, unsigned word)
{
	int32_t value;

	__builtin_memcpy(&value, header + TABLE_HEADER + 8 * i + 4 * word, 4);
	return value;
}

static const uint8_t *search(const uint8_t *header, uintptr_t pc)
{
	const int64_t offset = (intptr_t)(pc - (uintptr_t)header);
	uint32_t      low = 0, high;

	if (header[0] != 1 || header[2] != 3 || header[3] != TABLE_ENCODING)
		return NULL;
	__builtin_memcpy(&high, header + 8, sizeof(high));
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (pair_at(header, middle, 0) <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? header + pair_at(header, low - 1, 1) : NULL;
}

struct unwind_file {
	const uint8_t *low, *end; /* where the file is mapped */
	const uint8_t *header;    /* NULL: it has no table */
};

#ifdef DLFO_STRUCT_HAS_EH_DBASE
/* _dl_find_object takes no lock, in glibc 2.35 and later. */
static bool find_file(struct unwind_file *file, uintptr_t pc)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)pc, &found))
		return false;
	file->low = found.dlfo_map_start;
	file->end = found.dlfo_map_end;
	file->header = found.dlfo_eh_frame;
	return true;
}
#else
/* Without _dl_find_object only code with a frame pointer can be walked, as long
 * as the callers have one, too. */
static bool find_file(struct unwind_file *file, uintptr_t pc)
{
	*file = (struct unwind_file){ .header = NULL };
	return pc >= 4096;
}
#endif

static bool find_description(struct description *d, uintptr_t pc, uint8_t ra)
{
	struct unwind_file file;
	const uint8_t     *at;

	if (!find_file(&file, pc) || !file.header)
		return false;
	at = search(file.header, pc);
	return at >= file.low && at < file.end &&
	       read_description(d, at, file.low, file.end, ra) &&
	       pc - d->begin < d->size;
}

/* --- instructions ------------------------------------------------------- */

struct rules {
	unsigned     cfa_from; /* a register, unless: */
	bool         cfa_is_expression;
	int64_t      cfa_at;
	struct bytes cfa;
	struct {
		uint8_t      how;
		int64_t      at;
		struct bytes expression;
	} fp, ra;
	bool is_signed;
};

#define STATES 4

struct run {
	const struct description *d;
	struct machine            machine;
	struct rules              now, begin, states[STATES];
	unsigned                  count; /* of states */
	uintptr_t                 pc;    /* for which the rules hold */
	bool                      ok;
};

static void set(struct run *r, uint64_t number, uint8_t how, int64_t at,
		struct bytes expression)
{
	if (number == r->machine.fp) {
		r->now.fp.how = how;
		r->now.fp.at = at;
		r->now.fp.expression = expression;
	} else if (number == r->machine.ra) {
		r->now.ra.how = how;
		r->now.ra.at = at;
		r->now.ra.expression = expression;
	}
}

static void set_at(struct run *r, uint64_t number, int64_t at)
{
	set(r, number, AT, at, (struct bytes){ NULL, NULL });
}

static void set_plain(struct run *r, uint64_t number, uint8_t how)
{
	set(r, number, how, 0, (struct bytes){ NULL, NULL });
}

static void restore(struct run *r, uint64_t number)
{
	if (number == r->machine.fp)
		r->now.fp = r->begin.fp;
	else if (number == r->machine.ra)
		r->now.ra = r->begin.ra;
}

static void set_cfa(struct run *r, unsigned from, int64_t at)
{
	r->now.cfa_is_expression = false;
	r->now.cfa_from = from;
	r->now.cfa_at = at;
}

static void remember(struct run *r)
{
	if (r->count < STATES)
		r->states[r->count++] = r->now;
	else
		r->ok = false;
}

static void recall(struct run *r)
{
	if (r->count)
		r->now = r->states[--r->count];
	else
		r->ok = false;
}

/* Run an instruction that sets the CFA rule. Returns false for others. */
static bool run_cfa(struct run *r, uint8_t code, struct bytes *b)
{
	const int64_t align = r->d->data_align;
	unsigned      number;

	switch (code) {
	case 0x0c: /* def_cfa */
		number = (unsigned)take_uleb(b);
		set_cfa(r, number, (int64_t)take_uleb(b));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(r, (unsigned)take_uleb(b), r->now.cfa_at);
		return true;
	case 0x0e: /* def_cfa_offset */
		set_cfa(r, r->now.cfa_from, (int64_t)take_uleb(b));
		return true;
	case 0x0f: /* def_cfa_expression */
		r->now.cfa_is_expression = true;
		r->now.cfa = take_block(b);
		return true;
	case 0x12: /* def_cfa_sf */
		number = (unsigned)take_uleb(b);
		set_cfa(r, number, take_sleb(b) * align);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		set_cfa(r, r->now.cfa_from, take_sleb(b) * align);
		return true;
	default:
		return false;
	}
}

/* Run an instruction that sets a register rule. Returns false for others. */
static bool run_register(struct run *r, uint8_t code, struct bytes *b)
{
	const int64_t align = r->d->data_align;
	uint64_t      number;

	if ((code < 0x05 || code > 0x09) && code != 0x10 && code != 0x11 &&
	    (code < 0x14 || code > 0x16) && code != 0x2f)
		return false;
	number = take_uleb(b);
	if (code == 0x05) /* offset_extended */
		set_at(r, number, (int64_t)take_uleb(b) * align);
	else if (code == 0x11) /* offset_extended_sf */
		set_at(r, number, take_sleb(b) * align);
	else if (code == 0x2f) /* GNU_negative_offset_extended */
		set_at(r, number, -(int64_t)take_uleb(b) * align);
	else if (code == 0x06) /* restore_extended */
		restore(r, number);
	else if (code == 0x07 || code == 0x08)
		set_plain(r, number, code == 0x07 ? UNDEFINED : SAME);
	else if (code == 0x10)
		set(r, number, EXPRESSION, 0, take_block(b));
	else { /* another register, or a value that is not stored */
		if (code == 0x16)
			(void)take_block(b);
		else
			(void)take_uleb(b);
		set_plain(r, number, OTHER);
	}
	return true;
}

static void run_other(struct run *r, uint8_t code, struct bytes *b)
{
	if (code == 0x0a)
		remember(r);
	else if (code == 0x0b)
		recall(r);
	else if (code == 0x2d) /* AARCH64_negate_ra_state */
		r->now.is_signed = !r->now.is_signed;
	else if (code == 0x2e) /* GNU_args_size */
		(void)take_uleb(b);
	else if (code)
		r->ok = false;
}

/* Return how far the instruction advances the code address; 0: it does not. */
static bool run_advance(struct run *r, uint8_t code, struct bytes *b)
{
	uint64_t by;

	if (code >> 6 == 1)
		by = code & 63;
	else if (code == 0x02)
		by = take_uint(b, 1);
	else if (code == 0x03)
		by = take_uint(b, 2);
	else if (code == 0x04)
		by = take_uint(b, 4);
	else
		return false;
	r->pc += (uintptr_t)(by * r->d->code_align);
	return true;
}

/* Run the instructions that apply to the code up to `pc`. */
static void run(struct run *r, struct bytes b, uintptr_t pc)
{
	while (b.at < b.end && r->ok) {
		uint8_t code = (uint8_t)take_uint(&b, 1);

		if (run_advance(r, code, &b)) {
			if (r->pc > pc)
				return;
		} else if (code >> 6 == 2) {
			set_at(r, code & 63,
			       (int64_t)take_uleb(&b) * r->d->data_align);
		} else if (code >> 6 == 3) {
			restore(r, code & 63);
		} else if (!run_cfa(r, code, &b) &&
			   !run_register(r, code, &b)) {
			run_other(r, code, &b);
		}
	}
}

static bool find_rules(struct rules *out, const struct description *d,
		       struct machine machine, uintptr_t pc)
{
	struct run r = {
		.d = d, .machine = machine, .pc = d->begin, .ok = true
	};

	run(&r, d->common, UINTPTR_MAX);
	r.begin = r.now;
	run(&r, d->own, pc);
	*out = r.now;
	return r.ok;
}

/* --- expressions -------------------------------------------------------- */

#define OPERANDS 8u

struct operands {
	uintptr_t values[OPERANDS];
	unsigned  count;
	bool      ok;
};

static void push(struct operands *o, uintptr_t value)
{
	if (o->count < OPERANDS)
		o->values[o->count++] = value;
	else
		o->ok = false;
}

static uintptr_t pop(struct operands *o)
{
	if (o->count)
		return o->values[--o->count];
	o->ok = false;
	return 0;
}

static void push_register(struct operands *o, const struct call_frame *f,
			  unsigned number, int64_t offset)
{
	uintptr_t value = 0;

	if (f->sp != SP_AARCH64 && number == machine_of(f).ra)
		value = f->pc;
	else if (is_register_known(f, number))
		value = f->registers[number];
	else
		o->ok = false;
	push(o, value + (uintptr_t)offset);
}

static void compute(struct operands *o, uint8_t code, uintptr_t b, uintptr_t a)
{
	if (code == 0x1a)
		push(o, a & b);
	else if (code == 0x1c)
		push(o, a - b);
	else if (code == 0x22)
		push(o, a + b);
	else if (code == 0x24)
		push(o, a << (b & (8 * sizeof(a) - 1)));
	else if (code == 0x2a)
		push(o, (intptr_t)a >= (intptr_t)b);
	else
		o->ok = false;
}

/* Evaluate the operations that compilers, linkers and libc use: for aligned
 * frames, entries of the procedure linkage table, and signal frames. */
static bool evaluate(struct bytes b, const struct call_frame *f,
		     const struct call_frame_memory *m, uintptr_t begin,
		     bool has_begin, uintptr_t *out)
{
	struct operands o = { .ok = true };

	if (has_begin)
		push(&o, begin);
	while (b.at < b.end && o.ok) {
		uint8_t   code = (uint8_t)take_uint(&b, 1);
		uintptr_t value = 0;

		if (code >= 0x70 && code <= 0x8f) { /* breg */
			push_register(&o, f, code - 0x70, take_sleb(&b));
		} else if (code >= 0x30 && code <= 0x4f) { /* lit */
			push(&o, code - 0x30);
		} else if (code == 0x06) { /* deref */
			o.ok &= load(m, pop(&o), &value);
			push(&o, value);
		} else if (code == 0x23) { /* plus_uconst */
			push(&o, pop(&o) + (uintptr_t)take_uleb(&b));
		} else if (code >= 0x08 && code <= 0x0f) { /* const */
			unsigned size = 1u << (code - 0x08) / 2;

			push(&o, (uintptr_t)(code % 2 ? (uint64_t)take_signed(
								&b, size)
						      : take_uint(&b, size)));
		} else if (code == 0x10 || code == 0x11) {
			push(&o, code == 0x10 ? (uintptr_t)take_uleb(&b)
					      : (uintptr_t)take_sleb(&b));
		} else {
			value = pop(&o);
			compute(&o, code, value, pop(&o));
		}
	}
	*out = pop(&o);
	return o.ok;
}

/* --- a step ------------------------------------------------------------- */

enum step_end { GOES_ON, OUTERMOST, LOST };

/* Where the registers of the caller are. */
struct caller {
	uintptr_t cfa, pc, fp;
	bool      has_fp;
};

/* Get the value of a register that is found in the way `how`. */
static bool fetch(const struct call_frame *f, const struct call_frame_memory *m,
		  uint8_t how, uintptr_t cfa, int64_t at, struct bytes e,
		  unsigned number, uintptr_t *out)
{
	uintptr_t where;

	if (how == AT)
		return load(m, cfa + (uintptr_t)at, out);
	if (how == EXPRESSION)
		return evaluate(e, f, m, cfa, true, &where) &&
		       load(m, where, out);
	if (how != SAME || !is_register_known(f, number))
		return false;
	*out = f->registers[number];
	return true;
}

/* Make *f the frame of its caller. The stack pointer rises with each frame, so
 * walks end. Only the first frame may have an empty stack frame, because it may
 * call nothing. */
static bool move_to(struct call_frame *f, const struct caller *to, bool first)
{
	const struct machine machine = machine_of(f);
	const uintptr_t      sp = f->registers[f->sp];

	if (to->cfa < sp || (to->cfa == sp && !first))
		return false;
	f->pc = to->pc;
	f->registers[f->sp] = to->cfa;
	f->known = UINT64_C(1) << f->sp;
	if (to->has_fp) {
		f->registers[machine.fp] = to->fp;
		f->known |= UINT64_C(1) << machine.fp;
	}
	return true;
}

/* Return an address of 64-bit ARM without the bits that sign it. */
static uintptr_t without_signature(uintptr_t address, bool is_signed)
{
	return is_signed ? address & (uintptr_t)((UINT64_C(1) << 48) - 1)
			 : address;
}

static enum step_end step_by(struct call_frame              *f,
			     const struct call_frame_memory *m,
			     const struct rules *rules, bool first)
{
	const struct machine machine = machine_of(f);
	struct caller        to = { .cfa = 0 };

	if (rules->ra.how == UNDEFINED)
		return OUTERMOST;
	if (rules->cfa_is_expression) {
		if (!evaluate(rules->cfa, f, m, 0, false, &to.cfa))
			return LOST;
	} else {
		if (!is_register_known(f, rules->cfa_from))
			return LOST;
		to.cfa = f->registers[rules->cfa_from] +
			 (uintptr_t)rules->cfa_at;
	}
	if (!fetch(f, m, rules->ra.how, to.cfa, rules->ra.at,
		   rules->ra.expression, machine.ra, &to.pc))
		return LOST;
	to.pc = without_signature(to.pc, rules->is_signed);
	to.has_fp = fetch(f, m, rules->fp.how, to.cfa, rules->fp.at,
			  rules->fp.expression, machine.fp, &to.fp);
	if (!to.pc)
		return OUTERMOST;
	return move_to(f, &to, first) ? GOES_ON : LOST;
}

/* Step out of code without a table. It may have a frame pointer, which points
 * to the caller's frame pointer, just below the return address. */
static enum step_end step_by_pointer(struct call_frame              *f,
				     const struct call_frame_memory *m)
{
	const struct machine machine = machine_of(f);
	struct caller        to = { .has_fp = true };
	struct unwind_file   file;
	uintptr_t            fp;

	if (!is_register_known(f, machine.fp))
		return LOST;
	fp = f->registers[machine.fp];
	to.cfa = fp + 2 * sizeof(uintptr_t);
	if (!load(m, fp, &to.fp) || !load(m, fp + sizeof(uintptr_t), &to.pc))
		return LOST;
	if (!to.pc)
		return OUTERMOST;
	return find_file(&file, to.pc) && move_to(f, &to, false) ? GOES_ON
								 : LOST;
}

/* Step out of what is no code, as where a pointer to a function was NULL or
 * wild: the call has only stored its return address. */
static enum step_end step_by_call(struct call_frame              *f,
				  const struct call_frame_memory *m)
{
	const struct machine machine = machine_of(f);
	const uintptr_t      sp = f->registers[f->sp];
	struct caller        to = { .cfa = sp };
	struct unwind_file   file;

	if (f->sp == SP_AARCH64) {
		if (!is_register_known(f, machine.ra))
			return LOST;
		to.pc = f->registers[machine.ra];
	} else if (load(m, sp, &to.pc)) {
		to.cfa = sp + sizeof(uintptr_t);
	}
	to.has_fp = is_register_known(f, machine.fp);
	to.fp = f->registers[machine.fp];
	return find_file(&file, to.pc) && move_to(f, &to, true) ? GOES_ON
								: LOST;
}

/* --- recent steps ------------------------------------------------------ */

static bool fits_int32(int64_t value)
{
	return value == (int32_t)value;
}

/* Do not keep expressions: a later use would read them from a file that may be
 * unloaded by then. */
static void keep_step(struct caller_step *s, uintptr_t pc,
		      const struct rules *r, bool is_signal)
{
	if (r->cfa_is_expression || r->fp.how == EXPRESSION ||
	    r->ra.how == EXPRESSION || !fits_int32(r->cfa_at) ||
	    !fits_int32(r->fp.at) || !fits_int32(r->ra.at) ||
	    r->cfa_from >= CALL_FRAME_REGISTERS)
		return;
	*s = (struct caller_step){
		.pc = pc,
		.cfa_at = (int32_t)r->cfa_at,
		.fp_at = (int32_t)r->fp.at,
		.ra_at = (int32_t)r->ra.at,
		.cfa_from = (uint8_t)r->cfa_from,
		.fp = r->fp.how,
		.ra = r->ra.how,
		.is_signal = is_signal,
		.is_signed = r->is_signed,
	};
}

static void recall_rules(struct rules *r, const struct caller_step *s)
{
	*r = (struct rules){
		.cfa_from = s->cfa_from,
		.cfa_at = s->cfa_at,
		.fp = { .how = s->fp, .at = s->fp_at },
		.ra = { .how = s->ra, .at = s->ra_at },
		.is_signed = s->is_signed,
	};
}

/* Find the rules for the code at `pc`. Returns false if it has no table. */
static bool look_up_rules(struct callers *c, struct rules *r, uintptr_t pc,
			  struct machine machine, bool *is_signal)
{
	struct caller_step *s = &c->steps[(pc ^ pc >> 11) % CALLERS_REMEMBERED];
	struct description  d;

	if (pc && s->pc == pc) {
		recall_rules(r, s);
		*is_signal = s->is_signal;
		return true;
	}
	if (!find_description(&d, pc, machine.ra) ||
	    !find_rules(r, &d, machine, pc))
		return false;
	*is_signal = d.is_signal;
	keep_step(s, pc, r, d.is_signal);
	return true;
}

/* --- the walk ----------------------------------------------------------- */

void sn_callers_begin(struct call_frame *f, uintptr_t pc, uintptr_t sp,
		      uintptr_t fp)
{
	f->sp = sn_callers_stack_pointer(sennit_debug_interrupted.machine);
	f->pc = pc;
	f->registers[f->sp] = sp;
	f->registers[machine_of(f).fp] = fp;
	f->known = UINT64_C(1) << f->sp | UINT64_C(1) << machine_of(f).fp;
}

uint32_t sn_callers_walk(struct callers *c, struct call_frame *f,
			 const struct call_frame_memory *m, uintptr_t *frames,
			 uint32_t room, bool *whole)
{
	const struct machine machine = machine_of(f);
	struct unwind_file   file;
	enum step_end        end = GOES_ON;
	bool                 exact = true; /* pc is not a return address */
	uint32_t             count = 0;

	while (end == GOES_ON && count < room) {
		struct rules rules;
		bool         is_signal = false;

		frames[count] = f->pc;
		if (look_up_rules(c, &rules, exact ? f->pc : f->pc - 1, machine,
				  &is_signal))
			end = step_by(f, m, &rules, !count);
		else if (!count && !find_file(&file, f->pc))
			end = step_by_call(f, m);
		else
			end = step_by_pointer(f, m);
		exact = is_signal;
		count++;
	}
	*whole = end == OUTERMOST;
	return count;
}
