package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// How a check goes.
type options struct {
	workers int           // how many pages are fetched at once
	each    time.Duration // how long a try may take
	tries   int           // how often a page is tried
	stall   time.Duration // the check ends if nothing comes for so long
}

type set map[string]bool

// What a check has found.
type report struct {
	fetched        int
	skipped        set
	broken         map[string]error
	from           map[string]set // which pages have a link to this one
	ended          error
	shown, leftOut int
}

// A page that a worker has tried.
type done struct {
	path    string
	skipped bool
	links   []string
	err     error
}

var errStalled = errors.New("nothing came any more")

// Checks every page that can be reached from root.
func check(parent context.Context, address, root string, o options) *report {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	f := &fetcher{address: address, each: o.each, tries: o.tries}
	jobs, results := make(chan string, o.workers), make(chan done, o.workers)
	messages, shown := show()

	pool := new(errgroup.Group)
	pool.SetLimit(o.workers)
	for range o.workers {
		pool.Go(func() error { return work(ctx, f, jobs, results) })
	}

	// Each result sets it back.
	watchdog := time.AfterFunc(o.stall, func() { cancel(errStalled) })
	c := &collector{backlog: []string{root}}
	c.skipped, c.broken, c.from = set{}, map[string]error{}, map[string]set{root: {}}
	c.run(ctx, jobs, results, func() { watchdog.Reset(o.stall) }, messages)
	watchdog.Stop()
	close(jobs) // the workers see the end of their channel
	if err := pool.Wait(); err != nil && c.ended == nil {
		c.ended = err
		if ctx.Err() != nil {
			c.ended = context.Cause(ctx)
		}
	}
	close(messages)
	c.shown = <-shown
	return &c.report
}

// A worker: takes paths until there are no more.
func work(ctx context.Context, f *fetcher, jobs <-chan string, results chan<- done) error {
	for path := range jobs {
		d := done{path: path}
		allowed, err := f.isAllowed(ctx, path)
		switch {
		case err != nil:
			d.err = err
		case allowed:
			d.links, d.err = f.fetch(ctx, path)
		default:
			d.skipped = true
		}
		if ctx.Err() != nil {
			return errCanceled
		}
		select {
		case results <- d:
		case <-ctx.Done():
			return errCanceled
		}
	}
	return nil
}

// A goroutine that shows messages as they come. How many it has shown, when the channel is closed.
func show() (chan<- string, <-chan int) {
	messages, shown := make(chan string, 1), make(chan int, 1)
	go func() {
		n := 0
		for message := range messages {
			n++
			if _, verbose := os.LookupEnv("VERBOSE"); verbose {
				fmt.Fprintln(os.Stderr, message)
			}
		}
		shown <- n
	}()
	return messages, shown
}

// The one goroutine that knows what was seen: it needs no lock.
type collector struct {
	report
	backlog []string
	pending int // how many pages the workers have
}

// Gives paths to the workers and takes what comes back, until nothing is left or the context ends.
func (c *collector) run(ctx context.Context, jobs chan<- string, results <-chan done, alive func(), messages chan<- string) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for c.pending > 0 || len(c.backlog) > 0 {
		// A nil channel: without a path there is nothing to send.
		var send chan<- string
		var next string
		if n := len(c.backlog); n > 0 {
			send, next = jobs, c.backlog[n-1]
		}
		select {
		case send <- next:
			c.backlog = c.backlog[:len(c.backlog)-1]
			c.pending++
		case d := <-results:
			alive()
			c.pending--
			c.take(d)
		case <-ticker.C:
			c.tell(messages)
		case <-ctx.Done():
			c.ended = context.Cause(ctx)
			return
		}
	}
}

func (c *collector) take(d done) {
	switch {
	case d.skipped:
		c.skipped[d.path] = true
	case d.err != nil:
		c.broken[d.path] = d.err
	default:
		c.fetched++
		for _, link := range d.links {
			if c.from[link] == nil {
				c.backlog = append(c.backlog, link)
				c.from[link] = set{}
			}
			c.from[link][d.path] = true
		}
	}
}

// Never waits: a message that the other has no time for is left out.
func (c *collector) tell(messages chan<- string) {
	select {
	case messages <- fmt.Sprintf("%d fetched, %d pending", c.fetched, c.pending):
	default:
		c.leftOut++
	}
}
