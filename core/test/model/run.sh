#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [MODEL...] - checks each model, or the named ones, and that every mutant
# of it is detected.
#
# Prints "model configuration states errors ok|FAIL" per run. Exit status: 0; 1
# after an unexpected result; 77 if spin is missing. SENNIT_MODEL_JOBS: number
# of runs at a time (one per processor). SENNIT_MODEL_DEEP=1 adds the
# configurations that take long and that no mutant needs.

here=$(cd "$(dirname "$0")" && pwd)
# Most of the time would go into compiling spin's output. clang needs half of
# what gcc needs, and tcc a twentieth of that.
optimiser=$(command -v clang || echo "${CC:-cc}")
cc=$(command -v tcc || echo "$optimiser")

# check FOLDER pass|fail|part MODEL [-DSWITCH ...]: one run, one line. part:
# must pass, too, but with a hash of 2^28 bits, which cannot hold all states.
check()
{
	top=$1 expect=$2 model=$3
	shift 3
	name=$(echo "$*" | tr -d ' ')
	folder=$top/$model$name
	mkdir -p "$folder" && cd "$folder" || return 1
	# Optimising takes longer than it saves, except for deep searches.
	flags=-O0 hash=22
	[ "${SENNIT_MODEL_DEEP:-0}" = 0 ] || cc=$optimiser flags=-O2
	[ $expect != part ] || flags='-O2 -DBITSTATE' hash=28
	if spin "$@" -a "$here/$model.pml" >out 2>&1 &&
	   "$cc" $flags -DSAFETY -w -o pan pan.c >>out 2>&1; then
		./pan -m100000 -w$hash >>out 2>&1
	fi
	states=$(awk '/states, stored/ { print $1 }' out)
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' out)
	verdict=FAIL
	if ! grep -q -e 'max search depth too small' -e 'out of memory' out; then
		case $expect:${errors:-none} in
		pass:0 | part:0)
			grep -q 'Search not completed' out || verdict=ok ;;
		fail:[1-9]*)
			# Detected means that a claim was violated, not that
			# spin stopped.
			grep -q -e 'assertion violated' -e 'invalid end state' \
				out && verdict=ok ;;
		esac
	fi
	printf '%-6s %-48s %10s %5s %s\n' "$model" "${*:--}" "${states:--}" \
		"${errors:--}" "$verdict"
	rm -f pan pan.*
	[ $verdict = ok ] || { tail -n 20 out; return 1; }
}

runs()
{
	grep -v '^$' <<-'END'
	pass park -DTASKS=2 -DPINNED=0 -DBACKPUT
	pass park -DTASKS=1 -DPINNED=1
	pass park -DTASKS=1 -DPINNED=1 -DMISS
	pass park -DTASKS=1 -DPINNED=0 -DCHILDREN=2
	pass park -DTASKS=0 -DPINNED=0 -DBACK=2
	pass park -DTASKS=0 -DPINNED=1 -DBACK=1
	fail park -DTASKS=2 -DPINNED=1 -DM_NOAWAIT
	fail park -DWORKERS=3 -DTASKS=2 -DPINNED=0 -DCHILDREN=1 -DM_TRUST
	fail park -DWORKERS=3 -DTASKS=0 -DPINNED=1 -DCHILDREN=2 -DM_TRUST
	fail park -DTASKS=1 -DM_NOCOLWAKE
	fail park -DTASKS=1 -DM_OWNINBOX
	fail park -DTASKS=1 -DM_NOPFENCE
	fail park -DTASKS=1 -DM_NOWFENCE
	fail park -DTASKS=1 -DM_NORECHECK
	fail park -DTASKS=1 -DM_PLAINCLEAR
	fail park -DTASKS=1 -DM_CLEARLATE
	fail park -DTASKS=1 -DM_PINANY
	fail park -DTASKS=1 -DM_PINTRUST
	fail park -DTASKS=1 -DM_NOCHAIN
	fail park -DTASKS=1 -DM_NOPASS
	fail park -DTASKS=1 -DM_STALEBIT
	fail park -DTASKS=1 -DM_NORESPIN
	fail park -DTASKS=1 -DPINNED=0 -DCHILDREN=1 -DM_NOBARRIER
	fail park -DTASKS=1 -DPINNED=0 -DCHILDREN=1 -DM_UNTIMED
	fail park -DTASKS=1 -DM_NOFILL
	fail park -DTASKS=1 -DM_FILLLATE
	fail park -DTASKS=1 -DM_EMPTYNOLOOK
	fail park -DTASKS=1 -DPINNED=0 -DCHILDREN=1 -DM_STAYEMPTY
	fail park -DTASKS=2 -DPINNED=0 -DBACKPUT -DM_NOREFILL
	fail park -DTASKS=1 -DPINNED=0 -DCHILDREN=1 -DM_SUREEARLY
	fail park -DTASKS=0 -DPINNED=0 -DBACK=1 -DM_NOBACK
	fail park -DTASKS=0 -DPINNED=0 -DBACK=2 -DM_BACKCHAIN
	fail park -DTASKS=0 -DPINNED=0 -DBACK=1 -DM_BACKFENCE
	fail park -DTASKS=0 -DPINNED=1 -DBACK=1 -DM_BACKWAKE

	pass trace_ring
	fail trace_ring -DM_EARLY
	fail trace_ring -DM_ONCE
	fail trace_ring -DM_FULL
	pass recorder
	fail recorder -DM_LOOKFIRST
	fail recorder -DM_CLEARFIRST
	fail recorder -DM_LATE
	fail recorder -DM_NOTESFIRST
	fail recorder -DM_STOLEN
	pass solo
	pass solo -DTIMED
	pass solo -DTHREADED
	pass solo -DTHREADED -DTIMED -DWAKERS=3
	fail solo -DM_NOPFENCE
	fail solo -DM_NOWFENCE
	fail solo -DM_NOLOOK
	fail solo -DM_CLEARLATE
	fail solo -DM_NOAWAIT
	fail solo -DTHREADED -DM_COUNTLATE
	fail solo -DM_NOFOUND

	pass gate -DPASSING=1
	pass gate -DBLOCKING=1 -DTIMED
	pass gate -DPLAIN=1 -DBLOCKING=1
	pass gate -DPLAIN=1 -DLATE
	pass gate -DPLAIN=1 -DTASKREL
	pass gate -DPLAIN=1 -DWAITED
	pass gate -DBLOCKING=1 -DWAITED
	pass gate -DBLOCKING=1 -DB_NOENTDIRTY
	pass gate -DPASSING=1 -DB_NOENTDIRTY
	pass gate -DPLAIN=1 -DLATE -DB_NOENTDIRTY
	pass gate -DWORKERS=3 -DPLAIN=1
	pass gate -DWORKERS=3 -DBLOCKING=1
	pass gate -DWORKERS=3 -DPLAIN=1 -DLATE
	pass gate -DPLAIN=2 -DSTART_LATE
	pass gate -DPASSING=1 -DSTART_LATE
	pass gate -DPLAIN=1 -DLATE -DSTART_LATE
	pass gate -DBLOCKING=1 -DSTART_LATE
	fail gate -DLATE -DM_NORELDIRTY
	fail gate -DLATE -DM_SPLIT
	fail gate -DLATE -DM_NOREFS
	fail gate -DLATE -DM_NOWAKE
	fail gate -DLATE -DM_NOINBOX
	fail gate -DLATE -DM_ENTSUSP
	fail gate -DLATE -DM_TOUCH
	fail gate -DLATE -DM_NOINSIDE
	fail gate -DLATE -DM_REREAD
	fail gate -DLATE -DM_RETDONE
	fail gate -DWORKERS=3 -DLATE -DM_NOINBOX
	fail gate -DWORKERS=3 -DBLOCKING=1 -DM_NOBLOCKED
	fail gate -DPLAIN=1 -DWAITED -DM_STILLWAITED
	fail gate -DBLOCKING=1 -DM_NOBLOCKED
	fail gate -DBLOCKING=1 -DM_NOPIN
	fail gate -DPLAIN=1 -DTASKREL -DM_NOPINPUSH
	fail gate -DPLAIN=1 -DSTART_LATE -DM_STARTLATE
	fail gate -DPLAIN=1 -DSTART_LATE -DTASKREL -DM_STARTDONE
	fail gate -DPLAIN=1 -DSTART_LATE -DM_RETIREIN
	fail gate -DPLAIN=2 -DSTART_LATE -DM_NOPASSON

	pass domain -DPLAIN=2
	pass domain -DPLAIN=1 -DTASKREL
	pass domain -DPARENT=2
	pass domain -DPARENT=1 -DWAITING=1
	pass domain -DPASSING=1 -DPLAIN=1
	pass domain -DPASSING=1 -DWAITING=1
	pass domain -DOPENING=1 -DPLAIN=1
	pass domain -DPASSING=1 -DB_ENTSUSP
	pass domain -DPASSING=1 -DB_NOREFS
	pass domain -DPASSING=1 -DB_NORELDIRTY
	fail domain -DPLAIN=1 -DTASKREL -DM_COUNTLATE
	fail domain -DPLAIN=1 -DM_OFFLATE
	fail domain -DPARENT=1 -DM_NOENTER
	fail domain -DWAITING=1 -DPLAIN=1 -DM_EACH
	fail domain -DPARENT=1 -DM_NOSUM
	fail domain -DPASSING=1 -DM_NOWAKE
	fail domain -DPASSING=1 -DPLAIN=1 -DM_NOINSIDE

	pass end
	pass end -DCLIENTS=3
	pass end -DLENDER
	fail end -DM_FIRSTONLY
	fail end -DM_NOFREE
	fail end -DM_NOCOUNT
	fail end -DM_STAY
	fail end -DM_JOINLATE
	fail end -DM_EARLY
	fail end -DM_LATELIST
	fail end -DM_TOUCH
	fail end -DM_LOOKEARLY
	fail end -DM_NOKEEP
	fail end -DM_RETDONE
	fail end -DLENDER -DM_LEFT
	fail end -DLENDER -DM_BLIND

	pass end_count -DPLAIN=2
	pass end_count -DPLAIN=1 -DPARENT=1
	pass end_count -DPLAIN=1 -DTASKREL
	pass end_count -DWAITING=1 -DPLAIN=1
	pass end_count -DWAITING=2
	pass end_count -DPASSING=1 -DPARENT=1
	pass end_count -DPASSING=1 -DWAITING=1
	pass end_count -DPLAIN=1 -DLATE
	pass end_count
	fail end_count -DPLAIN=1 -DTASKREL -DM_COUNTLATE
	fail end_count -DPARENT=1 -DM_OFFEARLY
	fail end_count -DWAITING=1 -DM_NOFIBER
	fail end_count -DPLAIN=1 -DM_TWOSTEPS
	fail end_count -DLATE -DM_RETZERO
	fail end_count -DPLAIN=1 -DM_LOOKFIRST
	fail end_count -DM_NOWAKE
	fail end_count -DM_NOKEPT
	fail end_count -DWAITING=1 -DM_NOPIN
	fail end_count -DPLAIN=1 -DTASKREL -DM_NOPINPUSH

	pass resize -DTASKS=1 -DRESIZES=1
	pass resize -DTASKS=1 -DFIBERS=1
	pass resize -DTASKS=1 -DREFUSE
	pass resize -DENDLESS
	pass resize -DLAZY
	pass resize -DLEAVE -DTASKS=1
	pass resize -DTASKS=0 -DSENDS=1 -DRESIZES=1
	pass resize -DTASKS=0 -DSENDS=1 -DRESIZES=1 -DREFUSE
	pass resize -DTASKS=0 -DSENDS=1 -DLAZY
	pass resize -DWORKERS=3 -DTASKS=0 -DSENDS=1 -DCLOSED
	fail resize -DWORKERS=3 -DTASKS=0 -DSENDS=1 -DCLOSED -DM_MISCOUNT
	fail resize -DTASKS=0 -DSENDS=1 -DRESIZES=1 -DM_SENDLATE
	fail resize -DTASKS=0 -DSENDS=1 -DRESIZES=1 -DM_CLOSEBLIND
	fail resize -DTASKS=0 -DSENDS=1 -DRESIZES=1 -DM_NOPINNED
	fail resize -DLEAVE -DTASKS=1 -DM_STAYIDLE
	fail resize -DLEAVE -DTASKS=1 -DM_IDLELATE
	fail resize -DLEAVE -DTASKS=1 -DM_NOLOOK
	fail resize -DTASKS=1 -DM_TWICE
	fail resize -DTASKS=1 -DM_STAYIN
	fail resize -DTASKS=1 -DM_UNLOCKED
	fail resize -DTASKS=1 -DM_BLIND
	fail resize -DENDLESS -DM_BITFIRST
	fail resize -DTASKS=1 -DFIBERS=1 -DM_FIBERS
	fail resize -DTASKS=1 -DREFUSE -DM_LASTONE
	fail resize -DENDLESS -DREFUSE -DM_NORELIEVE
	fail resize -DREFUSE -DM_NORETRUST
	fail resize -DTASKS=1 -DRESIZES=1 -DM_NOFLOOR
	fail resize -DTASKS=1 -DRESIZES=1 -DM_NOFORWARD

	pass slots
	pass slots -DGRIP
	pass slots -DCLOSING
	pass slots -DLAST
	fail slots -DM_KEEP
	fail slots -DGRIP -DM_NOCLOSE
	fail slots -DGRIP -DM_NOMARK
	fail slots -DM_LOSTGRANT
	fail slots -DGRIP -DM_INGATE
	fail slots -DM_EXITKEEP
	fail slots -DM_CLEARLATE
	fail slots -DFIBER -DPOLL -DM_NOROTATE
	fail slots -DLAST -DM_STAYIN
	fail slots -DM_NOAWAIT
	fail slots -DM_TWICE
	fail slots -DCLOSING -DM_NOLEND
	fail slots -DM_TOUCH

	pass wait
	pass wait -DFIBERS=3 -DROUNDS=1
	pass wait -DSIGNALS=3
	pass wait -DTIMED=1
	pass wait -DWORKERS=1
	pass wait -DSIGNALS=1 -DRELAY
	pass wait -DEVENT -DROUNDS=1 -DSIGNALS=1
	pass wait -DEVENT -DROUNDS=2 -DSIGNALS=1
	fail wait -DM_NOCLAIM
	fail wait -DM_EAT
	fail wait -DM_TOUCH
	fail wait -DM_NOLOCKRET
	fail wait -DM_NOUNLINK
	fail wait -DM_SPLIT
	fail wait -DM_UNPINNED
	fail wait -DM_BYCLOCK
	fail wait -DEVENT -DSIGNALS=1 -DM_NOCLAIM
	fail wait -DEVENT -DSIGNALS=1 -DM_TOUCH
	fail wait -DEVENT -DSIGNALS=1 -DM_NOLOCKRET
	fail wait -DEVENT -DSIGNALS=1 -DM_SPLIT
	fail wait -DEVENT -DSIGNALS=1 -DM_SETEARLY
	fail wait -DEVENT -DSIGNALS=1 -DM_WAKEEARLY
	fail wait -DEVENT -DSIGNALS=1 -DM_KEEPLOSER

	pass mutex
	pass mutex -DHOG=3
	pass mutex -DROUNDS=2 -DTIMED
	pass mutex -DWORKERS=3
	pass mutex -DWORKERS=3 -DTIMED
	pass mutex -DCANCEL -DTRY
	pass mutex -DTHREADS=2
	pass mutex -DWORKERS=3 -DBUSY
	pass mutex -DWORKERS=3 -DBUSY -DHOG=2
	pass mutex -DWORKERS=3 -DFIBERS=4 -DBUSY
	pass mutex -DWORKERS=3 -DSTOPS -DTIMED
	pass mutex -DWORKERS=3 -DSTOPS -DBUSY
	pass mutex -DWORKERS=3 -DSTOPS -DBUSY -DHOG=2
	fail mutex -DHOG=3 -DM_FRONT
	fail mutex -DHOG=3 -DM_NOCOUNT
	fail mutex -DM_STAYAWAKE
	fail mutex -DWORKERS=3 -DM_HIDE
	fail mutex -DWORKERS=3 -DM_NOLOOK
	fail mutex -DM_OPEN
	fail mutex -DTIMED -DM_NOBACK
	fail mutex -DWORKERS=3 -DSTOPS -DBUSY -DM_NORESUME
	fail mutex -DWORKERS=3 -DBUSY -DM_NOPOLL
	fail mutex -DWORKERS=3 -DBUSY -DHOG=2 -DM_KEEP
	fail mutex -DWORKERS=3 -DFIBERS=4 -DBUSY -DM_NOCHAIN

	pass keep
	pass keep -DSTOLEN=0
	pass keep -DOTHERS=2
	pass keep -DPLAIN=1
	pass keep -DPLAIN=1 -DOTHERS=2
	pass keep -DINLINE=0 -DSTOLEN=2
	pass keep -DINLINE=0 -DSTOLEN=2 -DALONE
	pass keep -DINLINE=2 -DSTOLEN=0 -DPLAIN=1
	pass keep -DSTOLEN=0 -DPLAIN=1 -DLATE
	pass keep -DPLAIN=1 -DLATE -DOTHERS=2
	pass keep -DADDERS
	pass keep -DADDERS -DNEAR
	pass keep -DADDERS -DPOLL
	pass keep -DADDERS -DPOLL -DNEAR
	pass keep -DADDERS -DPOLL -DSTOLEN=2 -DOTHERS=0
	pass keep -DADDERS -DPOLL -DSTOLEN=2 -DNEAR
	pass keep -DADDERS -DINLINE=0 -DSTOLEN=2 -DALONE -DNEAR
	fail keep -DADDERS -DPOLL -DM_TORN
	fail keep -DADDERS -DM_TORN
	fail keep -DADDERS -DPOLL -DM_KEPTFIRST
	fail keep -DADDERS -DM_BLINDADD
	fail keep -DSTOLEN=0 -DM_NOBARRIER
	fail keep -DSTOLEN=0 -DM_NOAWAIT
	fail keep -DSTOLEN=0 -DM_NOENDING
	fail keep -DSTOLEN=0 -DM_CHECKLATE
	fail keep -DSTOLEN=0 -DM_NOLOOK
	fail keep -DINLINE=0 -DSTOLEN=2 -DALONE -DM_DONEBLIND
	fail keep -DSTOLEN=0 -DPLAIN=1 -DLATE -DM_WAITONLY

	pass select
	pass select -DCROSSED
	pass select -DSAME
	pass select -DLONE
	pass select -DLONE -DTIMED
	pass select -DBOTH
	pass select -DBOTH -DTIMED
	pass select -DBOTH -DTIMED -DCLOSE
	pass select -DTWICE
	pass select -DTWICE -DTIMED
	pass select -DTHIRD
	pass select -DTIMED
	pass select -DCLOSE
	pass select -DTIMED -DCLOSE
	pass select -DSAME -DTHIRD -DTIMED
	pass select -DTHIRD -DTIMED -DCLOSE
	fail select -DTIMED -DM_NOCLAIM
	fail select -DTHIRD -DM_NOCLAIM
	fail select -DM_ONEBYONE
	fail select -DCROSSED -DM_ORDER
	fail select -DTHIRD -DM_NOUNLINK
	fail select -DTHIRD -DM_NOLOCKRET
	fail select -DTIMED -DCLOSE -DM_NOLOCKRET
	fail select -DM_COPYLATE
	fail select -DLONE -DM_WAKEEARLY
	fail select -DTHIRD -DCLOSE -DM_CLOSEHALF
	fail select -DBOTH -DM_BYINDEX
	fail select -DTWICE -DM_BYINDEX
	fail select -DBOTH -DM_TWIN
	fail select -DTWICE -DM_EQUAL

	pass scope
	pass scope -DTIMED=0
	pass scope -DNEST
	pass scope -DNEST -DINNER
	pass scope -DUNTIL
	fail scope -DUNTIL -DM_NOCLAIM
	fail scope -DUNTIL -DM_GIVEUP
	pass scope -DTHREAD
	pass scope -DTHREAD -DTIMED=0
	fail scope -DTHREAD -DM_LATE
	fail scope -DTHREAD -DM_LEFT
	fail scope -DTHREAD -DM_NOUNLINK
	fail scope -DM_NOLOOK
	fail scope -DM_LOOKEARLY
	fail scope -DNEST -DM_OWNONLY
	fail scope -DM_SLEEP
	fail scope -DM_STORE
	fail scope -DM_WAKEALL
	fail scope -DM_STAY
	fail scope -DNEST -DM_NOLINK
	fail scope -DNEST -DM_DANGLE
	fail scope -DNEST -DM_UNLOCKED
	fail scope -DM_NOUNLINK
	fail scope -DM_SPLIT
	fail scope -DM_PLAIN
	fail scope -DM_TOUCH

	pass poller
	pass poller -DPINNED=3
	pass poller -DOPS=0
	pass poller -DOPS=1 -DJOBS=2
	fail poller -DOPS=0 -DM_NOCOMPARE
	fail poller -DM_NOWAKE
	fail poller -DM_FUTEX
	fail poller -DM_WAKEFIRST
	fail poller -DM_DRAIN
	fail poller -DM_PLAIN
	fail poller -DM_DROP
	fail poller -DM_INSLEEP
	fail poller -DM_LOOKONLY
	fail poller -DPINNED=1 -DJOBS=1 -DM_NOBOUND
	fail poller -DPINNED=1 -DJOBS=2 -DM_BOUNDONCE
	fail poller -DPINNED=1 -DJOBS=1 -DM_ASKASLEEP

	pass poller_busy
	pass poller_busy -DOPS=1
	fail poller_busy -DM_NOFLUSH
	fail poller_busy -DM_NOTAKE
	fail poller_busy -DM_NOSUBMIT
	fail poller_busy -DM_LATE
	fail poller_busy -DM_ONCE

	pass operation
	fail operation -DM_RETURN
	fail operation -DM_ERROR
	fail operation -DM_NOCLAIM
	fail operation -DM_NODONE
	fail operation -DM_RACED
	fail operation -DM_NOASK

	pass watched
	fail watched -DM_NOKEEP
	fail watched -DM_NOUSE
	fail watched -DM_NOCHECK
	fail watched -DM_DRAINED
	pass closing
	fail closing -DM_NOTELL
	fail closing -DM_WAKE
	fail closing -DM_FIRST
	fail closing -DM_LATE
	fail closing -DM_NOUNTIL
	fail closing -DM_NOTLOOKED
	fail closing -DM_ALL
	fail closing -DM_NOLOOK

	pass counts
	fail counts -DM_STORE
	fail counts -DM_LOAD
	fail counts -DM_FIRST

	pass deque
	pass deque -DTASKS=5
	pass deque -DTASKS=4 -DRING=2
	pass deque -DTASKS=4 -DSTORES=3
	pass deque -DTHIEVES=2
	pass deque -DB_TOPONLY
	pass deque -DTHIEVES=2 -DB_TOPONLY
	fail deque -DM_NOBARRIER
	fail deque -DM_NOREREAD
	fail deque -DM_NOLOCK
	fail deque -DM_NORETREAT
	fail deque -DM_NORECHECK
	fail deque -DM_UNLOCKED
	fail deque -DM_PLAINSTORE
	fail deque -DM_PUBUNLOCKED
	fail deque -DM_CHECKFIRST
	fail deque -DM_SPLITALONE

	pass growth
	pass growth -DTASKS=5 -DSTART=2
	pass growth -DTASKS=3 -DTHIEVES=2
	fail growth -DM_SLOTSFIRST
	fail growth -DM_COPYPRIVATE
	fail growth -DM_LIMIT
	fail growth -DM_MASKAPART
	fail growth -DM_FREEOLD
	fail growth -DM_SLOTSBEFORE
	fail growth -DM_TRIMEARLY
	pass waited_lock -DAGAIN
	pass waited_lock
	fail waited_lock -DM_NOWAIT
	fail waited_lock -DM_ONEWALK
	fail waited_lock -DM_NOCONFIRM
	fail waited_lock -DAGAIN -DM_NOTURN
	END
	[ "${SENNIT_MODEL_DEEP:-0}" = 0 ] || cat <<-'END'
	pass park -DTASKS=1 -DPINNED=1 -DCHILDREN=1
	pass park -DWORKERS=3 -DTASKS=0 -DPINNED=1 -DCHILDREN=2
	pass park -DTASKS=2 -DPINNED=1
	pass park -DTASKS=1 -DPINNED=0 -DBACK=1
	pass park -DWORKERS=3 -DTASKS=1 -DPINNED=0
	pass park -DTASKS=2 -DPINNED=0 -DCHILDREN=1
	part park -DWORKERS=3 -DTASKS=2 -DPINNED=0 -DCHILDREN=1
	pass resize -DENDLESS -DREFUSE
	pass resize -DLEAVE
	pass resize -DTASKS=1 -DSENDS=1
	part resize -DSHARE -DRESIZES=1
	fail resize -DSHARE -DRESIZES=1 -DM_PUTBACK
	pass slots -DFIBER -DPOLL
	pass slots -DTASKS=2 -DGRIP
	pass resize -DTASKS=1 -DRESIZES=2
	pass gate -DPASSING=1 -DBLOCKING=1
	pass gate -DBLOCKING=1 -DLATE -DTIMED
	pass deque -DTASKS=4 -DTHIEVES=2
	pass growth -DTHIEVES=2
	pass scope -DSIGNALS=2
	pass scope -DTHREAD -DSIGNALS=2
	pass scope -DTIMED=2
	pass mutex -DWORKERS=3 -DROUNDS=2
	END
}

if [ "$1" = --check ]; then
	shift
	check "$@"
	exit
fi

command -v spin >/dev/null || { echo "run.sh: no spin" >&2; exit 77; }
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
[ $# -gt 0 ] || set -- "$here"/*.pml
for model; do
	name=$(basename "$model" .pml)
	runs | grep "^[a-z]* $name\( \|$\)" || echo "pass $name" # no run: once
done >"$top/runs"

# xargs exits with 123 if a run failed.
xargs -P "${SENNIT_MODEL_JOBS:-$(nproc)}" -I '{}' \
	sh -c 'exec sh "$0" --check "$1" $2' "$here/run.sh" "$top" '{}' \
	<"$top/runs"
[ $? = 0 ] || { echo "run.sh: not all as expected" >&2; exit 1; }
