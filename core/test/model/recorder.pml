/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.pml - core/src/observe/trace.c: two threads start and stop the
 * recording; a worker learns it from a note in its mailbox.
 *
 * There is one note. A thread puts it only if `told` is not set yet. The
 * thread that starts the recording then leaves a task, in the mailbox or with
 * another worker. When no thread acts any more, the worker must be as `on` says,
 * and the note must never have been put twice. A task that begins while no thread
 * stops the recording must be recorded.
 *
 *	M_LOOKFIRST   mutant: the worker looks, and then takes back `told`
 *	M_CLEARFIRST  mutant: the worker takes back `told` before the note
 *	M_LATE        mutant: the thread puts the note, and then changes `on`
 *	M_NOTESFIRST  mutant: the worker looks for notes, and then for tasks in
 *		      its mailbox
 *	M_STOLEN      mutant: the worker begins a stolen task without a look
 */
bool on, told, traced;
bool stops; /* a thread may have stopped the recording */
byte notes; /* in the mailbox */
byte tasks, elsewhere;
byte done;

inline tell()
{
	bool was;

	atomic { was = told; told = true }
	if
	:: was
	:: else ->
		assert(notes == 0);
		notes++
	fi
}

proctype changer(bool value)
{
#ifdef M_LATE
	tell();
	on = value;
#else
	if
	:: !value -> stops = true
	:: else
	fi;
	on = value;
	tell();
#endif
	if
	:: value -> tasks++
	:: value -> elsewhere++
	:: else
	fi;
	done++
}

/* Take the note, if there is one. */
inline look()
{
	if
	:: notes > 0 ->
#ifdef M_CLEARFIRST
		told = false;
		notes--;
		traced = on
#else
		notes--;
#ifdef M_LOOKFIRST
		traced = on;
		told = false
#else
		told = false;
		traced = on
#endif
#endif
	:: else
	fi
}

inline begin()
{
	assert(traced || stops)
}

active proctype worker()
{
	byte taken;

	do
	:: /* sn_worker_collect */
#ifdef M_NOTESFIRST
		look();
		atomic { taken = tasks; tasks = 0 };
#else
		atomic { taken = tasks; tasks = 0 };
		look();
#endif
		if
		:: taken > 0 -> begin()
		:: else
		fi;
		/* sn_idle: a steal, and sn_hook_update */
		if
		:: elsewhere > 0 ->
			elsewhere--;
#ifndef M_STOLEN
			traced = on;
#endif
			begin()
		:: else
		fi
	:: done == 2 && notes == 0 && tasks == 0 && elsewhere == 0 ->
		assert(traced == on);
		break
	od
}

init {
	run changer(true);
	run changer(false)
}
