// Package ledger is what every sender writes down before anything can end it: a line for each query that it was asked, kept or lost.
package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Write writes "asked", "kept" or "lost".
func Write(word string, ids []string, why string) {
	var lines strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&lines, "%s %s %s\n", word, id, strings.ReplaceAll(why, "\n", " "))
	}
	file, err := os.OpenFile(os.Getenv("LEDGER"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(lines.String())
		file.Close()
	}
	if err != nil {
		panic(err)
	}
}

// Run asks until SIGTERM, and then ends.
func Run(ask func(id string), end func()) {
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for number := 0; ; {
		var ids []string
		for range 1 + rand.IntN(3) {
			ids = append(ids, fmt.Sprintf("%s-%d", os.Getenv("NAME"), number))
			number++
		}
		Write("asked", ids, "")
		for _, id := range ids {
			ask(id)
		}
		Write("kept", ids, "")
		select {
		case <-time.After(700 * time.Millisecond):
		case <-ended.Done():
			end()
			return
		}
	}
}
