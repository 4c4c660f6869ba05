package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

var (
	errNotFound = errors.New("not found")
	errTimeout  = errors.New("deadline has elapsed")
	errCanceled = errors.New("canceled")
)

type errStatus string

func (e errStatus) Error() string { return "status " + string(e) }

// Fetches pages of one server.
type fetcher struct {
	address string
	each    time.Duration
	tries   int
	flights singleflight.Group

	// sync.OnceValues would keep an error: here the next that asks tries again.
	mu        sync.Mutex
	forbidden []string
}

// The page's links. Several goroutines that want the same page share one fetch.
func (f *fetcher) fetch(ctx context.Context, path string) ([]string, error) {
	found, err, _ := f.flights.Do(path, func() (any, error) { return f.fetchAgain(ctx, path) })
	links, _ := found.([]string)
	return links, err
}

// May this page be fetched? The first that asks fetches the list; the others wait for it.
func (f *fetcher) isAllowed(ctx context.Context, path string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.forbidden == nil {
		forbidden, err := f.fetchAgain(ctx, "/robots")
		if err != nil && !errors.Is(err, errNotFound) {
			return false, err
		}
		f.forbidden = append([]string{}, forbidden...)
	}
	for _, start := range f.forbidden {
		if strings.HasPrefix(path, start) {
			return false, nil
		}
	}
	return true, nil
}

func (f *fetcher) fetchAgain(ctx context.Context, path string) ([]string, error) {
	wait := time.Millisecond
	for left := f.tries - 1; left >= 0; left-- {
		limited, cancel := context.WithTimeout(ctx, f.each)
		links, err := f.fetchOnce(limited, path)
		switch {
		case err != nil && ctx.Err() != nil:
			err = errCanceled
		case err != nil && limited.Err() != nil:
			err = errTimeout
		}
		cancel()
		_, isStatus := err.(errStatus)
		if left == 0 || !isStatus && err != errTimeout {
			return links, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, errCanceled
		}
		wait *= 2
	}
	return nil, errCanceled
}

func (f *fetcher) fetchOnce(ctx context.Context, path string) ([]string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", f.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// A read of a connection does not look at a context.
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })
	defer stop()
	if _, err := fmt.Fprintln(conn, path); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return nil, err
	}
	status, rest, found := strings.Cut(string(text), "\n")
	switch {
	case !found:
		return nil, errCanceled
	case status == "200":
		return strings.Fields(rest), nil
	case status == "404":
		return nil, errNotFound
	default:
		return nil, errStatus(status)
	}
}
