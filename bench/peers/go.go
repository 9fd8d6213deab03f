// SPDX-License-Identifier: Apache-2.0

// go.go - goroutines: the rows of bench/peers/peer.h in Go, with the harness
// they need: a process per row and number of workers (GOMAXPROCS), one run to
// warm up, five for the record.
//
// Left out: W4b, as nothing keeps two goroutines on two threads that stay
// awake.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	runs    = 5
	stride  = 611953
	piece   = 1000
	samples = 500
	gap     = 2 * time.Millisecond
)

// One run of a row; bytes 0: the peak of the process.
type run struct {
	n       int
	workers int
	values  [3]float64
	bytes   float64
}

type row struct {
	names   []string
	n       int
	workers []int
	do      func(r *run)
}

func check(ok bool, what string) {
	if !ok {
		fmt.Fprintln(os.Stderr, "go:", what)
		os.Exit(2)
	}
}

func (r *run) elapsed(i int, begin time.Time) {
	r.values[i] = float64(time.Since(begin).Nanoseconds()) / float64(r.n)
}

// --- spawn and join ---------------------------------------------------------

func spawnFlat(r *run) {
	var left sync.WaitGroup
	begin := time.Now()

	left.Add(r.n)
	for i := 0; i < r.n; i++ {
		go left.Done()
	}
	left.Wait()
	r.elapsed(0, begin)
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	var half sync.WaitGroup
	var other int
	half.Add(1)
	go func() {
		other = fib(n - 1)
		half.Done()
	}()
	mine := fib(n - 2)
	half.Wait()
	return mine + other
}

func forkJoin(r *run) {
	begin := time.Now()
	result := fib(27)
	r.elapsed(0, begin)
	check(result == 196418, "fib: wrong result")
}

func sumOf(first, leaves uint64) uint64 {
	if leaves == 1 {
		return first
	}
	var sums [10]uint64
	var left sync.WaitGroup
	leaves /= 10
	left.Add(10)
	for i := range sums {
		go func(i int) {
			sums[i] = sumOf(first+uint64(i)*leaves, leaves)
			left.Done()
		}(i)
	}
	left.Wait()
	var sum uint64
	for _, s := range sums {
		sum += s
	}
	return sum
}

func skynet(r *run) {
	begin := time.Now()
	sum := sumOf(0, 1000000)
	r.elapsed(0, begin)
	check(sum == 999999*500000, "skynet: wrong sum")
}

// As in core/bench/shapes.h.
func mix(x uint64) uint64 {
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xd6e8feb86659fd93
	return x ^ (x >> 32)
}

func countAll(number uint64, children int) uint64 {
	var left sync.WaitGroup
	counts := make([]uint64, children)
	left.Add(children)
	for i := range counts {
		go func(i int) {
			counts[i] = countNode(mix(number + uint64(i) + 1))
			left.Done()
		}(i)
	}
	left.Wait()
	sum := uint64(1)
	for _, c := range counts {
		sum += c
	}
	return sum
}

func countNode(number uint64) uint64 {
	if number>>32 >= 714396226 {
		return 1
	}
	return countAll(number, 6)
}

func unbalancedTree(r *run) {
	begin := time.Now()
	count := countAll(mix(176), 2000)
	r.elapsed(0, begin)
	check(count == 2845527, "tree: wrong count")
}

const fullBoard = 1<<12 - 1

func solve(columns, left, right uint32) uint64 {
	var solutions [12]uint64
	var placed sync.WaitGroup
	free := fullBoard &^ (columns | left | right)
	count := 0
	for ; free != 0; free &= free - 1 {
		placed.Add(1)
		go func(i int, queen uint32) {
			solutions[i] = solve(columns|queen, (left|queen)<<1,
				(right|queen)>>1)
			placed.Done()
		}(count, free&-free)
		count++
	}
	placed.Wait()
	var sum uint64
	if columns == fullBoard {
		sum = 1
	}
	for _, s := range solutions[:count] {
		sum += s
	}
	return sum
}

func nqueens(r *run) {
	begin := time.Now()
	solutions := solve(0, 0, 0)
	r.elapsed(0, begin)
	check(solutions == 14200, "queens: wrong number")
}

var elements [10000000]float32

func forEach(r *run) {
	var left sync.WaitGroup
	begin := time.Now()
	for i := 0; i < len(elements); i += piece {
		left.Add(1)
		go func(part []float32) {
			for j := range part {
				part[j] = part[j]*0.5 + 1
			}
			left.Done()
		}(elements[i : i+piece])
	}
	left.Wait()
	r.elapsed(0, begin)
}

// --- hand-overs: unbuffered channels ----------------------------------------

func pingPong(r *run) {
	ping, pong := make(chan bool), make(chan bool)
	var players sync.WaitGroup
	players.Add(2)
	begin := time.Now()
	go func() {
		for i := 0; i < r.n/2; i++ {
			pong <- true
			<-ping
		}
		players.Done()
	}()
	go func() {
		for i := 0; i < r.n/2; i++ {
			<-pong
			ping <- true
		}
		players.Done()
	}()
	players.Wait()
	r.elapsed(0, begin)
}

func ring(r *run) {
	const places = 503
	var tokens [places]chan bool
	for i := range tokens {
		tokens[i] = make(chan bool)
	}
	var left sync.WaitGroup
	left.Add(places)
	begin := time.Now()
	for i := range tokens {
		go func(i int) {
			for j := 0; j < r.n/places; j++ {
				<-tokens[i]
				if i+1 < places || j+1 < r.n/places {
					tokens[(i+1)%places] <- true
				}
			}
			left.Done()
		}(i)
	}
	tokens[0] <- true
	left.Wait()
	r.elapsed(0, begin)
}

// --- many that wait ---------------------------------------------------------

// Resident bytes of the process, page tables included.
func resident() float64 {
	var sum, kib float64
	f, err := os.Open("/proc/self/status")
	check(err == nil, "no /proc/self/status")
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "VmRSS:") ||
			strings.HasPrefix(s.Text(), "VmPTE:") {
			fmt.Sscan(strings.Fields(s.Text())[1], &kib)
			sum += kib * 1024
		}
	}
	return sum
}

func blockAndWake(r *run) {
	var arriving, leaving sync.WaitGroup
	debug.FreeOSMemory()
	before := resident()
	gate := make(chan bool)
	arriving.Add(r.n)
	leaving.Add(r.n)
	begin := time.Now()
	for i := 0; i < r.n; i++ {
		go func() {
			arriving.Done()
			<-gate
			leaving.Done()
		}()
	}
	arriving.Wait()
	r.elapsed(0, begin)
	r.bytes = math.Max(1, (resident()-before)/float64(r.n))
	begin = time.Now()
	close(gate)
	leaving.Wait()
	r.elapsed(1, begin)
	r.values[2] = math.NaN()
}

func contend(r *run) {
	var mutex sync.Mutex
	var left sync.WaitGroup
	counter := 0
	left.Add(64)
	begin := time.Now()
	for i := 0; i < 64; i++ {
		go func() {
			for j := 0; j < r.n/64; j++ {
				mutex.Lock()
				counter++
				mutex.Unlock()
			}
			left.Done()
		}()
	}
	left.Wait()
	r.elapsed(0, begin)
	check(counter == r.n, "mutex: lost updates")
}

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func percentile(late []time.Duration, percent int) float64 {
	sort.Slice(late, func(a, b int) bool { return late[a] < late[b] })
	return float64(late[(len(late)-1)*percent/100])
}

func sleepAll(r *run) {
	var left sync.WaitGroup
	late := make([]time.Duration, r.n)
	left.Add(r.n)
	begin := cpu()
	for i := range late {
		go func(i int) {
			delay := time.Millisecond + time.Duration(i*7919%r.n*9990)
			due := time.Now().Add(delay)
			time.Sleep(time.Until(due))
			late[i] = time.Since(due)
			left.Done()
		}(i)
	}
	left.Wait()
	r.values[0] = (cpu() - begin) / float64(r.n)
	r.values[1] = percentile(late, 50)
	r.values[2] = percentile(late, 99)
}

// --- timers -----------------------------------------------------------------

var timers []*time.Timer

func farAway(i int) time.Duration {
	return time.Hour + time.Duration(i)*3600*time.Microsecond
}

func armAll() {
	for i := len(timers); i < 1000000; i++ {
		timers = append(timers, time.NewTimer(farAway(i)))
	}
}

func lastArmed(r *run) {
	armAll()
	mine := time.NewTimer(time.Minute)
	begin := time.Now()
	for i := 0; i < r.n; i++ {
		mine.Reset(time.Minute)
		mine.Stop()
	}
	r.elapsed(0, begin)
}

func anyArmed(r *run) {
	armAll()
	at := 0
	begin := time.Now()
	for i := 0; i < r.n; i++ {
		at = (at + stride) % len(timers)
		timers[at].Stop()
		timers[at].Reset(farAway(at))
	}
	r.elapsed(0, begin)
}

// --- from outside: a goroutine that keeps a thread to itself ----------------

var ran atomic.Int64
var start = time.Now()

func ranNow() {
	ran.Store(int64(time.Since(start)))
}

func sample(r *run, wake func()) {
	late := make([]time.Duration, samples)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range late {
		ran.Store(0)
		pause()
		begin := time.Since(start)
		wake()
		for ran.Load() == 0 {
			pause()
		}
		late[i] = time.Duration(ran.Load()) - begin
	}
	r.values[0] = percentile(late, 50)
	r.values[1] = percentile(late, 99)
}

// The thread sleeps, not the goroutine: nothing of Go is awake.
func pause() {
	t := syscall.NsecToTimespec(int64(gap))
	syscall.Nanosleep(&t, nil)
}

func submits(r *run) {
	sample(r, func() { go ranNow() })
}

var bell chan bool

func wakes(r *run) {
	if bell == nil {
		bell = make(chan bool, 1)
		go func() {
			for range bell {
				ranNow()
			}
		}()
	}
	sample(r, func() { bell <- true })
}

// --- the harness ------------------------------------------------------------

var each = []int{1, 2, 4, 8, 16}
var none, one, two = []int{0}, []int{1}, []int{2}

func block(n int) row {
	return row{[]string{"W6a-block/go/first-touch", "W6c-wake/go/first-touch",
		"W6b-memory/go/per-fiber"}, n, each, blockAndWake}
}

var rows = []row{
	{[]string{"W1-spawn/go"}, 1000000, each, spawnFlat},
	{[]string{"W2-fib/go"}, 317810, each, forkJoin},
	{[]string{"W3-skynet/go"}, 1111110, each, skynet},
	{[]string{"W4a-ping-pong/go"}, 2000000, one, pingPong},
	{[]string{"W5-ring/go"}, 503 * 2000, each, ring},
	block(10000),
	block(100000),
	{[]string{"W7-mutex/go"}, 640000, each, contend},
	{[]string{"W8-sleep/go/cpu", "W8-sleep/go/late-p50",
		"W8-sleep/go/late-p99"}, 100000, each, sleepAll},
	{[]string{"W9-unbalanced-tree/go"}, 2845527, each, unbalancedTree},
	{[]string{"W10a-nqueens/go"}, 856188, each, nqueens},
	{[]string{"W10b-parallel-for/go"}, len(elements), each, forEach},
	{[]string{"W11a-submit/go/p50", "W11a-submit/go/p99"}, samples, two,
		submits},
	{[]string{"W11b-wake-fiber/go/p50", "W11b-wake-fiber/go/p99"}, samples,
		two, wakes},
	{[]string{"W13-timeout/go/wheel-last-armed"}, 1000000, none, lastArmed},
	{[]string{"W13-timeout/go/wheel-any-armed"}, 1000000, none, anyArmed},
	{[]string{"R1-fft/go"}, 2 * fftSide, each, fft},
	{[]string{"R2-ray/go"}, rayWidth * rayHeight, each, ray},
	{[]string{"R3-merge/go"}, mergeRuns * mergeRun, each, merge},
	{[]string{"R4-b-tree/go"}, bInserts, each, bTree},
	{[]string{"R5-cholesky/go"}, cholSteps, each, cholesky},
	{[]string{"R6-simulation/go"}, simCustomers * simVisits, one,
		simulation},
}

func peak() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Maxrss) * 1024
}

func print(value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return fmt.Sprintf("%.2f", value)
}

// The work of a child: all runs of one row, and its lines.
func runAll(w row, workers int) {
	var values [3][]float64
	var bytes []float64
	for i := -1; i < runs; i++ {
		r := run{n: w.n, workers: workers}
		w.do(&r)
		if r.bytes == 0 {
			r.bytes = peak()
		}
		if i < 0 {
			continue
		}
		bytes = append(bytes, r.bytes)
		for v := range values {
			values[v] = append(values[v], r.values[v])
		}
	}
	sort.Float64s(bytes)
	for v, name := range w.names {
		sort.Float64s(values[v])
		workload, variant, _ := strings.Cut(name, "/")
		fmt.Printf("%s\t%s\t%d\t%d\t%s\t%s\t%s\t%.0f\n", workload,
			variant, workers, w.n, print(values[v][runs/2]),
			print(values[v][0]), print(values[v][runs-1]), bytes[runs/2])
	}
}

func child(which, workers, limit int) bool {
	self, err := os.Executable()
	check(err == nil, "no executable")
	c := exec.Command(self, "-row", fmt.Sprint(which), "-workers",
		fmt.Sprint(workers))
	if workers > 0 {
		c.Env = append(os.Environ(),
			fmt.Sprint("GOMAXPROCS=", workers))
	}
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	timer := time.AfterFunc(time.Duration(limit)*time.Second,
		func() { c.Process.Kill() })
	out, err := c.Output()
	if !timer.Stop() {
		fmt.Printf("# no answer within %d s:\n", limit)
	}
	os.Stdout.Write(out)
	if err != nil {
		fmt.Printf("# failed: %s with %d workers\n", rows[which].names[0],
			workers)
	}
	return err == nil
}

func isWanted(w row, prefixes []string) bool {
	for _, p := range prefixes {
		for _, name := range w.names {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
	}
	return len(prefixes) == 0
}

func main() {
	limit := flag.Int("limit", 120, "seconds after which a row is killed")
	workers := flag.Int("workers", 16, "the most workers")
	which := flag.Int("row", -1, "run this row alone, here")
	flag.Parse()
	if *which >= 0 {
		runAll(rows[*which], *workers)
		return
	}
	fmt.Println("# peer: Go, " + runtime.Version())
	failed := false
	for i, w := range rows {
		for _, count := range w.workers {
			if isWanted(w, flag.Args()) && count <= *workers &&
				count <= runtime.NumCPU() {
				failed = !child(i, count, *limit) || failed
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}
