// The program that ../main.rs is line by line: `go run .` with golang.org/x/sync in a go.mod prints the same.
package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"
	"time"
)

// Thirty pages that are fine, two that are not there, one that is too slow, one that works at the third try, and one that may not be
// fetched.
func pages() site {
	s := site{"/": links("/page/0", "/page/7", "/slow", "/flaky", "/missing", "/private/diary")}
	for n := range 30 {
		last := "/flaky"
		if n == 13 {
			last = "/gone"
		}
		s[fmt.Sprintf("/page/%d", n)] = links(fmt.Sprintf("/page/%d", (n+1)%30), fmt.Sprintf("/page/%d", n*7%30), "/", last)
	}
	s["/slow"] = &page{slow: time.Hour}
	s["/flaky"] = links("/page/3")
	s["/flaky"].fails.Store(2)
	s["/private/diary"] = links()
	s["/robots"] = links("/private/")
	return s
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := serve(ctx, pages())
	if err != nil {
		log.Fatal(err)
	}
	o := options{workers: 4, each: 200 * time.Millisecond, tries: 3, stall: 5 * time.Second}
	r := check(ctx, s.address, "/", o)
	cancel()
	s.connections.Wait()

	fmt.Printf("%d pages fetched by %d requests, %d skipped\n", r.fetched, s.answered.Load(), len(r.skipped))
	for _, path := range slices.Sorted(maps.Keys(r.broken)) {
		from := strings.Join(slices.Sorted(maps.Keys(r.from[path])), ", ")
		fmt.Printf("%s: %v; linked from %s\n", path, r.broken[path], from)
	}
	ended := "no"
	if r.ended != nil {
		ended = r.ended.Error()
	}
	fmt.Printf("%d messages shown, %d left out; ended early: %s\n", r.shown, r.leftOut, ended)
}
