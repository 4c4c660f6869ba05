package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A page: links, after so many failures; or slow, without links.
type page struct {
	links []string
	fails atomic.Int64
	slow  time.Duration
}

type site map[string]*page

func links(to ...string) *page { return &page{links: to} }

// A server, until its context ends.
type server struct {
	address     string
	answered    atomic.Int64
	connections sync.WaitGroup
}

func serve(ctx context.Context, pages site) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{address: listener.Addr().String()}
	context.AfterFunc(ctx, func() { listener.Close() })
	s.connections.Add(1)
	go func() {
		defer s.connections.Done()
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			go func() {
				defer s.connections.Done()
				defer conn.Close()
				// A client that is gone is no error of the server's.
				if answered, err := answer(ctx, conn, pages); err == nil && answered {
					s.answered.Add(1)
				}
			}()
		}
	}()
	return s, nil
}

// Reads a request and answers it. False: the context ended before.
func answer(ctx context.Context, conn net.Conn, pages site) (bool, error) {
	path, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return false, err
	}
	text := "404\n"
	if p, ok := pages[strings.TrimSuffix(path, "\n")]; ok {
		switch {
		case p.slow > 0:
			select {
			case <-time.After(p.slow):
			case <-ctx.Done():
				return false, nil
			}
			text = "200\n"
		case p.fails.Add(-1) >= 0:
			text = "503\n"
		default:
			text = "200\n"
			for _, link := range p.links {
				text += link + "\n"
			}
		}
	}
	_, err = fmt.Fprint(conn, text)
	return true, err
}
