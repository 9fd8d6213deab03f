/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.pml - src/worker/recorder.c: two threads start and stop the
 * recording; a worker learns it from a note in its mailbox.
 *
 * There is one note. A thread puts it only if the worker is not told yet. When
 * nobody acts any more, the worker must be as `on` says, and the note must
 * never have been put twice.
 *
 *	M_LOOKFIRST   mutant: the worker looks, and then takes back `told`
 *	M_CLEARFIRST  mutant: the worker takes back `told` before the note
 *	M_LATE        mutant: the thread tells, and then changes `on`
 */
bool on, told, traced;
byte notes; /* in the mailbox */
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
	on = value;
	tell();
#endif
	done++
}

active proctype worker()
{
	do
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
	:: done == 2 && notes == 0 ->
		assert(traced == on);
		break
	od
}

init {
	run changer(true);
	run changer(false)
}
