// The client for Go.
package main

import (
	"context"
	"os"

	callerstats "caller-stats.example/clients/go"
	"caller-stats/bench/soak/senders/ledger"
)

func main() {
	recorder, err := callerstats.New(callerstats.Options{
		URL: os.Getenv("URL"), ProjectID: os.Getenv("PROJECT"), Key: os.Getenv("KEY"), Spool: os.Getenv("SPOOL"),
		OnDrop: func(queries []callerstats.Query, reason callerstats.DropReason) {
			// The next process has it.
			if reason.Code == "spooled" {
				return
			}
			for _, query := range queries {
				ledger.Write("lost", []string{query.ID}, reason.Code+": "+reason.Message)
			}
		},
		OnError: func(error) {},
	})
	if err != nil {
		panic(err)
	}
	ledger.Run(
		func(id string) { recorder.Record(callerstats.Query{ID: id, Caller: "slack"}) },
		func() { recorder.Close(context.Background()) },
	)
}
