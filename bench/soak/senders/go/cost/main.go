// What the client for Go costs: bench/clients.ts.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	callerstats "caller-stats.example/clients/go"
)

const rows = 100_000

func recorderFor(url string) *callerstats.Recorder {
	recorder, err := callerstats.New(callerstats.Options{
		URL: url, ProjectID: os.Args[2], Key: os.Args[3], QueueMax: 1_000_000,
		OnError: func(error) {}, OnDrop: func([]callerstats.Query, callerstats.DropReason) {},
	})
	if err != nil {
		panic(err)
	}
	return recorder
}

func id() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x-%x-4%x-a%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])[:36]
}

func resident() int {
	debug.FreeOSMemory()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	var size, pages int
	fmt.Sscan(string(data), &size, &pages)
	return pages * os.Getpagesize()
}

func main() {
	ctx, end := context.WithTimeout(context.Background(), time.Hour)
	defer end()
	// First, while the process is small.
	away := recorderFor("http://127.0.0.1:9")
	before := resident()
	for range rows {
		away.Record(callerstats.Query{ID: id(), Caller: "web"})
	}
	bytes := resident() - before
	now, cancel := context.WithCancel(ctx)
	cancel()
	away.Close(now)

	recorder := recorderFor(os.Args[1])
	ids := make([]string, rows)
	for at := range ids {
		ids[at] = id()
	}
	times := make([]int64, rows)
	runtime.GC()
	started := time.Now()
	for at, id := range ids {
		begin := time.Now()
		recorder.Record(callerstats.Query{ID: id, Caller: "web"})
		times[at] = time.Since(begin).Nanoseconds()
	}
	if err := recorder.Flush(ctx); err != nil {
		panic(err)
	}
	seconds := time.Since(started).Seconds()
	slices.Sort(times)
	fmt.Printf(`{"median":%d,"p99":%d,"rate":%f,"bytes":%d}`, times[rows/2], times[rows*99/100], rows/seconds, bytes)
	recorder.Close(ctx)
}
