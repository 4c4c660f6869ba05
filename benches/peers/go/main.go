// The contender "Go": the rows' work in goroutines of Go's own runtime. The bench builds it where it finds Go.
//
//	contender WORKLOAD WORKERS WIDTH MICROS HOW
//
// It reads how many operations it is to do from its input, a round a line, and answers each with a line, as the others do.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What the row says.
type setup struct {
	workers, width int
	computes       time.Duration
	yields         bool
}

type tally struct {
	Count uint64 `json:"count"`
	Sum   uint64 `json:"sum"`
}

type sample struct {
	Tally   tally     `json:"tally"`
	Figures []float64 `json:"figures"`
}

var workloads = map[string]func(setup, uint64) sample{
	"yields": yields, "pingpong": pingpong, "pairs": pairs, "spawn_join": spawnJoin, "tree": tree,
	"sleeps": sleeps, "echo": echo, "echo_late": echoLate, "timers_late": timersLate, "blocked_late": blockedLate,
	"fan_out": fanOut, "last": last,
}

func main() {
	number := func(i int) int {
		n, err := strconv.Atoi(os.Args[i])
		must(err)
		return n
	}
	its := setup{number(2), number(3), time.Duration(number(4)) * time.Microsecond, os.Args[5] == "yields"}
	runtime.GOMAXPROCS(its.workers)
	work = measure(its.computes)
	does := workloads[os.Args[1]]
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		n, err := strconv.ParseUint(lines.Text(), 10, 64)
		must(err)
		// Not in the middle of a round that is timed, if that is to be had.
		debug.FreeOSMemory()
		answer, err := json.Marshal(does(its, n))
		must(err)
		fmt.Println(string(answer))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Of the whole process.
func cpu() time.Duration {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// How many goroutines there are at least, started at once, and what all of them gave.
func all[T any](n int, does func(int) T) []T {
	var waits sync.WaitGroup
	found := make([]T, n)
	for i := range found {
		waits.Add(1)
		go func() {
			defer waits.Done()
			found[i] = does(i)
		}()
	}
	waits.Wait()
	return found
}

func sum(found []uint64) (s uint64) {
	for _, n := range found {
		s += n
	}
	return s
}

// Nanoseconds an operation, by the clock and by the processor's.
func timed(count uint64, does func() uint64) sample {
	used, start := cpu(), time.Now()
	s := does()
	took, used := time.Since(start), cpu()-used
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(count) }
	return sample{tally{count, s}, []float64{each(took), each(used)}}
}

// The figures of LATE, in microseconds.
func late(found [][]time.Duration, s uint64) sample {
	var all []time.Duration
	for _, some := range found {
		all = append(all, some...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	at := func(per1000 int) float64 {
		return float64(all[min(len(all)*per1000/1000, len(all)-1)].Nanoseconds()) / 1e3
	}
	return sample{tally{uint64(len(all)), s}, []float64{at(990), at(500), at(999), at(1000)}}
}

func yields(its setup, n uint64) sample {
	each := n / uint64(its.width)
	return timed(each*uint64(its.width), func() uint64 {
		return sum(all(its.width, func(int) (s uint64) {
			for i := range each {
				runtime.Gosched()
				s += i
			}
			return s
		}))
	})
}

// The answers to all that is asked.
func asks(n uint64) (s uint64) {
	ping, pong := make(chan uint64, 1), make(chan uint64, 1)
	go func() {
		for i := range ping {
			pong <- i + 1
		}
	}()
	for i := range n {
		ping <- i
		s += <-pong
	}
	close(ping)
	return s
}

func pingpong(_ setup, n uint64) sample {
	return timed(n, func() uint64 { return asks(n) })
}

func pairs(its setup, n uint64) sample {
	each := n / uint64(its.width)
	return timed(each*uint64(its.width), func() uint64 {
		return sum(all(its.width, func(int) uint64 { return asks(each) }))
	})
}

func spawnJoin(_ setup, n uint64) sample {
	return timed(n, func() uint64 {
		var s atomic.Uint64
		var waits sync.WaitGroup
		waits.Add(int(n))
		for i := range n {
			go func() {
				s.Add(i)
				waits.Done()
			}()
		}
		waits.Wait()
		return s.Load()
	})
}

// A leaf is 1.
func grow(depth int) uint64 {
	if depth == 0 {
		return 1
	}
	left, right := make(chan uint64, 1), make(chan uint64, 1)
	go func() { left <- grow(depth - 1) }()
	go func() { right <- grow(depth - 1) }()
	return <-left + <-right
}

func tree(_ setup, n uint64) sample {
	return timed(n, func() uint64 { return grow(bits.Len64(n) - 1) })
}

// 1 to 10 ms, as the rows have them.
func times(n uint64) []time.Duration {
	found := make([]time.Duration, n)
	for i := range found {
		found[i] = time.Duration(1_000+i*7_919%9_000) * time.Microsecond
	}
	return found
}

func micros(times []time.Duration) (s uint64) {
	for _, t := range times {
		s += uint64(t.Microseconds())
	}
	return s
}

func sleep(t time.Duration) time.Duration {
	start := time.Now()
	time.Sleep(t)
	return time.Since(start) - t
}

func sleeps(_ setup, n uint64) sample {
	its, used := times(n), cpu()
	found := all(int(n), func(i int) time.Duration { return sleep(its[i]) })
	used = cpu() - used
	was := late([][]time.Duration{found}, micros(its))
	was.Figures = append([]float64{float64(used.Nanoseconds()) / float64(n)}, was.Figures...)
	return was
}

const message = 64

func trip(conn net.Conn, i uint64) uint64 {
	var sent, answer [message]byte
	for at := range sent {
		sent[at] = byte(i)
	}
	binary.LittleEndian.PutUint64(sent[:], i)
	_, err := conn.Write(sent[:])
	must(err)
	_, err = io.ReadFull(conn, answer[:])
	must(err)
	if answer != sent {
		panic("an echo")
	}
	return i
}

// So many connections to goroutines that send back what they read.
func connect(width int) []net.Conn {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	defer listener.Close()
	conns := make([]net.Conn, width)
	for i := range conns {
		conns[i], err = net.Dial("tcp", listener.Addr().String())
		must(err)
		served, err := listener.Accept()
		must(err)
		go func() {
			defer served.Close()
			var got [message]byte
			for {
				if _, err := io.ReadFull(served, got[:]); err != nil {
					return
				}
				_, err := served.Write(got[:])
				must(err)
			}
		}()
	}
	return conns
}

func closes(conns []net.Conn) {
	for _, conn := range conns {
		conn.Close()
	}
}

func echo(its setup, n uint64) sample {
	conns, each := connect(its.width), n/uint64(its.width)
	defer closes(conns)
	return timed(each*uint64(its.width), func() uint64 {
		return sum(all(its.width, func(client int) (s uint64) {
			for i := range each {
				s += trip(conns[client], i)
			}
			return s
		}))
	})
}

// How long the row's hogs compute.
var work uint64

func compute(steps uint64) {
	for i := uint64(0); i < steps; i++ {
		sink.Store(i)
	}
}

// What no compiler leaves out.
var sink atomic.Uint64

func measure(of time.Duration) uint64 {
	const steps = 10_000
	least := time.Hour
	for range 100 {
		start := time.Now()
		compute(steps)
		least = min(least, time.Since(start))
	}
	return uint64(steps * of / least)
}

// `others` goroutines do `again` until `does` is over.
func beside(others int, again func(), does func() sample) sample {
	var over atomic.Bool
	var waits sync.WaitGroup
	for range others {
		waits.Add(1)
		go func() {
			defer waits.Done()
			for !over.Load() {
				again()
			}
		}()
	}
	found := does()
	over.Store(true)
	waits.Wait()
	return found
}

func besideHogs(its setup, does func() sample) sample {
	switch {
	case its.computes == 0:
		return does()
	case its.yields:
		return beside(2*its.workers, func() { compute(work); runtime.Gosched() }, does)
	default:
		return beside(2*its.workers, func() { all(1, func(int) bool { compute(work); return true }) }, does)
	}
}

func echoLate(its setup, n uint64) sample {
	conns, each := connect(its.width), n/uint64(its.width)
	defer closes(conns)
	return besideHogs(its, func() sample {
		sums := make([]uint64, its.width)
		found := all(its.width, func(client int) (found []time.Duration) {
			for i := range each {
				start := time.Now()
				sums[client] += trip(conns[client], i)
				found = append(found, time.Since(start))
			}
			return found
		})
		return late(found, sum(sums))
	})
}

func slept(n uint64) sample {
	its := times(n)
	each := (len(its) + sleepers - 1) / sleepers
	found := all(sleepers, func(i int) (found []time.Duration) {
		for _, t := range its[min(i*each, len(its)):min((i+1)*each, len(its))] {
			found = append(found, sleep(t))
		}
		return found
	})
	return late(found, micros(its))
}

// As the rows have them.
const (
	sleepers = 20
	blockers = 4
	habit    = 100
)

func timersLate(its setup, n uint64) sample {
	return besideHogs(its, func() sample { return slept(n) })
}

func blockedLate(_ setup, n uint64) sample {
	blocks := func() {
		t := syscall.NsecToTimespec(time.Millisecond.Nanoseconds())
		_ = syscall.Nanosleep(&t, nil)
	}
	return beside(blockers, blocks, func() sample { return slept(n) })
}

func fanOut(its setup, n uint64) sample {
	conns := connect(its.width)
	defer closes(conns)
	var found []time.Duration
	for i := range n {
		start := time.Now()
		for _, answer := range all(its.width, func(server int) uint64 { return trip(conns[server], i) }) {
			if answer != i {
				panic("the answer to another request")
			}
		}
		found = append(found, time.Since(start))
	}
	return late([][]time.Duration{found}, n*(n-1)/2)
}

func last(_ setup, n uint64) sample {
	type sent struct {
		i  uint64
		at time.Time
	}
	ping, pong, over := make(chan sent, 1), make(chan uint64, 1), make(chan []time.Duration)
	go func() {
		var found []time.Duration
		for it := range ping {
			if it.at.IsZero() {
				pong <- it.i
			} else {
				found = append(found, time.Since(it.at))
			}
		}
		over <- found
	}()
	steps, s := measure(time.Millisecond), uint64(0)
	for range n {
		for i := range uint64(habit) {
			ping <- sent{i: i}
			s += <-pong
		}
		ping <- sent{habit, time.Now()}
		compute(steps)
	}
	close(ping)
	return late([][]time.Duration{<-over}, s)
}
