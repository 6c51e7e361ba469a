package callerstats

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

const (
	// How long before the end of Close the last try begins, if the server asked to wait for longer.
	lastTry       = time.Second
	compressedMin = 1024
)

var findRefused = regexp.MustCompile(`^queries\[(\d+)\]`)

// sender is the state of the goroutine alone. It sends in order, one request at a time. Each batch is repeated until the server
// acknowledges it, which is safe because an id counts once.
type sender struct {
	// The size of the next batch. Failures halve it, because a proxy may close the connection instead of answering that a batch
	// is too large. Successes double it again, up to batchMax.
	size, batchMax int
	failuresInRow  int
	sentAt         time.Time
	batch          []queued
	// Of the queries of the batch in the queue.
	positions []int
}

func (recorder *Recorder) run() {
	for recorder.waitForBatch() {
		recorder.deliver()
	}
	recorder.operations.client.CloseIdleConnections()
}

// waitForBatch returns false when the recorder is over. The first query after a pause goes at once; others wait for each other.
func (recorder *Recorder) waitForBatch() bool {
	for {
		recorder.mu.Lock()
		isOver, length := recorder.isOver, len(recorder.queue)
		isHurried := len(recorder.waiters) > 0 || !recorder.finishAt.IsZero()
		recorder.mu.Unlock()
		wait := time.Until(recorder.sender.sentAt.Add(recorder.options.Delay))
		switch {
		case isOver:
			return false
		case length == 0:
			recorder.rest(never, 1, true)
		case wait > 0 && length < recorder.sender.size && !isHurried:
			recorder.rest(wait, recorder.sender.size, true)
		default:
			recorder.sender.sentAt = time.Now()
			return true
		}
	}
}

// rest waits until the bell rings or the time is over, and looks after the spool.
func (recorder *Recorder) rest(wait time.Duration, wakeAt int, isIdle bool) {
	recorder.mu.Lock()
	hasSpool := recorder.spool != nil
	if recorder.isOver || len(recorder.queue) >= wakeAt || isIdle && len(recorder.waiters) > 0 {
		recorder.mu.Unlock()
		return
	}
	recorder.wakeAt = wakeAt
	recorder.mu.Unlock()
	if hasSpool {
		wait = min(wait, spoolBeat)
	}
	timer := time.NewTimer(wait)
	select {
	case <-recorder.bell:
	case <-timer.C:
	}
	timer.Stop()
	recorder.mu.Lock()
	recorder.wakeAt = never
	isDue := recorder.spool != nil && recorder.spool.beat() && len(recorder.queue) < recorder.options.QueueMax
	recorder.mu.Unlock()
	if isDue {
		recorder.adopt()
	}
}

// adopt queues what processes that are gone have left.
func (recorder *Recorder) adopt() {
	recorder.withSpool(func(spool *spool) error {
		return spool.adopt(func(queries []queued) int {
			recorder.queue = append(recorder.queue, queries...)
			return recorder.head + len(recorder.queue)
		})
	})
}

// withSpool uses the spool, if there is one. One that fails, such as on a full disk, must not stop sending.
func (recorder *Recorder) withSpool(use func(*spool) error) {
	recorder.mu.Lock()
	var err error
	if recorder.spool != nil {
		err = use(recorder.spool)
	}
	recorder.mu.Unlock()
	if err != nil {
		recorder.reports.spoolFailed(err)
	}
}

// deliver sends one batch and does what the answer asks for.
func (recorder *Recorder) deliver() {
	sender := &recorder.sender
	recorder.nextBatch()
	if len(sender.batch) == 0 {
		return
	}
	recorded, duplicates, failed := recorder.post()
	if failed != nil {
		recorder.mu.Lock()
		isOver, isFinishing := recorder.isOver, !recorder.finishAt.IsZero()
		if !isOver {
			recorder.stats.Failures++
		}
		recorder.mu.Unlock()
		switch {
		case isOver:
		case failed.isRejection():
			recorder.reports.failed(failed, !isFinishing)
			recorder.refuse(failed)
		default:
			recorder.reports.failed(failed, !isFinishing)
			sender.failuresInRow++
			// For a busy server that asked to wait, smaller batches would be more work.
			if !failed.hasRetryAfter {
				sender.size = (len(sender.batch) + 1) / 2
			}
			recorder.backOff(failed)
		}
		return
	}
	// Before Flush returns, after which a program may end.
	recorder.reports.succeeded()
	recorder.settle(sender.positions[len(sender.positions)-1]+1, recorded, duplicates)
	sender.failuresInRow = 0
	sender.size = min(2*sender.size, sender.batchMax)
}

func (recorder *Recorder) nextBatch() {
	sender := &recorder.sender
	sender.batch, sender.positions = sender.batch[:0], sender.positions[:0]
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	for at := 0; at < len(recorder.queue) && len(sender.batch) < sender.size; at++ {
		if recorder.queue[at].id != "" {
			sender.batch = append(sender.batch, recorder.queue[at])
			sender.positions = append(sender.positions, at)
		}
	}
}

// settle removes the oldest entries of the queue, and refused ones behind them.
func (recorder *Recorder) settle(count, recorded, duplicates int) {
	recorder.mu.Lock()
	if recorder.isOver {
		recorder.mu.Unlock()
		return
	}
	recorder.stats.Recorded += recorded
	recorder.stats.Duplicates += duplicates
	for count < len(recorder.queue) && recorder.queue[count].id == "" {
		count++
	}
	for at := 0; at < count; at++ {
		if recorder.queue[at].id == "" {
			recorder.refused--
		}
	}
	clear(recorder.queue[:count])
	recorder.queue = recorder.queue[count:]
	recorder.head += count
	var err error
	if recorder.spool != nil {
		err = recorder.spool.settle(recorder.head)
	}
	recorder.tellWaiters()
	recorder.mu.Unlock()
	if err != nil {
		recorder.reports.spoolFailed(err)
	}
}

// refuse drops the rejected queries, or makes the batch smaller to find them, or because it is too large.
func (recorder *Recorder) refuse(failed *Error) {
	sender := &recorder.sender
	whys := map[int]string{}
	for _, detail := range failed.Details {
		if found := findRefused.FindStringSubmatch(detail); found != nil {
			if at, err := strconv.Atoi(found[1]); err == nil && at < len(sender.batch) {
				whys[at] = detail
			}
		}
	}
	if len(whys) == 0 && len(sender.batch) == 1 {
		whys[0] = failed.message
	}
	if len(whys) == 0 {
		sender.size = (len(sender.batch) + 1) / 2
		if failed.Status == http.StatusRequestEntityTooLarge {
			sender.batchMax = sender.size
		}
		return
	}
	recorder.mu.Lock()
	if recorder.isOver {
		recorder.mu.Unlock()
		return
	}
	for at := range whys {
		recorder.queue[sender.positions[at]] = queued{}
		recorder.refused++
	}
	recorder.mu.Unlock()
	// Told before Flush and Close return: the process may end then.
	for at, one := range sender.batch {
		if why, isRefused := whys[at]; isRefused {
			recorder.drop([]Query{one.query()}, Refused, why)
		}
	}
	recorder.settle(0, 0, 0)
}

// backOff waits for the next try. A recorder that is closed in the meantime tries again at once, and then soon.
func (recorder *Recorder) backOff(failed *Error) {
	now := time.Now()
	wait := failed.waitToRetry(recorder.sender.failuresInRow, rand.Float64())
	retryAt := now.Add(wait)
	end, _ := recorder.finishing()
	wasFinishing := !end.IsZero()
	if wasFinishing {
		soon := now.Add(min(wait, time.Second))
		if last := end.Add(-lastTry); failed.hasRetryAfter && now.Before(last) {
			soon = last
		} else if failed.hasRetryAfter {
			soon = end
		}
		if soon.Before(retryAt) {
			retryAt = soon
		}
	}
	for {
		end, isOver := recorder.finishing()
		left := time.Until(retryAt)
		if isOver || left <= 0 || !end.IsZero() && !wasFinishing {
			return
		}
		recorder.rest(left, never, false)
	}
}

// finishing returns when what is left will be dropped, if the recorder closes, and whether that is over.
func (recorder *Recorder) finishing() (time.Time, bool) {
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	return recorder.finishAt, recorder.isOver
}

func (recorder *Recorder) post() (recorded, duplicates int, failed *Error) {
	batch := recorder.sender.batch
	body := make([]byte, 0, 128*len(batch))
	for at, one := range batch {
		separator := byte(',')
		if at == 0 {
			separator = '['
		}
		body = one.appendJSON(append(body, separator))
	}
	body = append(body, ']')
	header := map[string]string{"Content-Type": "application/json"}
	if len(body) >= compressedMin {
		var compressed bytes.Buffer
		writer := gzip.NewWriter(&compressed)
		_, _ = writer.Write(body)
		_ = writer.Close()
		body, header["Content-Encoding"] = compressed.Bytes(), "gzip"
	}
	late := fmt.Errorf("no answer in %v", recorder.options.Timeout)
	ctx, cancel := context.WithTimeoutCause(recorder.ctx, recorder.options.Timeout, late)
	defer cancel()
	answer, failed := recorder.operations.send(ctx, http.MethodPost, "queries", header, body)
	if failed != nil {
		return 0, 0, failed
	}
	var counts struct{ Recorded, Duplicates int }
	if json.Unmarshal(answer, &counts) != nil || counts.Recorded+counts.Duplicates != len(batch) {
		return 0, 0, &Error{Status: http.StatusOK, message: "The server answered 200, but not for these queries."}
	}
	return counts.Recorded, counts.Duplicates, nil
}
