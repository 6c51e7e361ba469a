// The client for Go.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	callerstats "caller-stats.example/clients/go"
)

func write(word string, queries []callerstats.Query, why string) {
	var lines strings.Builder
	for _, query := range queries {
		fmt.Fprintf(&lines, "%s %s %s\n", word, query.ID, strings.ReplaceAll(why, "\n", " "))
	}
	ledger, err := os.OpenFile(os.Getenv("LEDGER"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = ledger.WriteString(lines.String())
		ledger.Close()
	}
	if err != nil {
		panic(err)
	}
}

func main() {
	recorder, err := callerstats.New(callerstats.Options{
		URL: os.Getenv("URL"), ProjectID: os.Getenv("PROJECT"), Key: os.Getenv("KEY"), Spool: os.Getenv("SPOOL"),
		OnDrop: func(queries []callerstats.Query, reason callerstats.DropReason) {
			// The next process has it.
			if reason.Code != "spooled" {
				write("lost", queries, reason.Code+": "+reason.Message)
			}
		},
		OnError: func(error) {},
	})
	if err != nil {
		panic(err)
	}
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for number := 0; ; {
		var queries []callerstats.Query
		for range 1 + rand.IntN(3) {
			queries = append(queries, callerstats.Query{ID: fmt.Sprintf("%s-%d", os.Getenv("NAME"), number), Caller: "slack"})
			number++
		}
		write("asked", queries, "")
		for _, query := range queries {
			recorder.Record(query)
		}
		write("kept", queries, "")
		select {
		case <-time.After(700 * time.Millisecond):
		case <-ended.Done():
			recorder.Close(context.Background())
			return
		}
	}
}
