// Package callerstats records the queries that people send to an assistant with a caller-stats server, detects their callers,
// and reads their exact counts.
package callerstats

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
)

// Options are those of a recorder. What is zero has its default.
type Options struct {
	// URL is the server's, such as https://stats.example.com. If URL, ProjectID or Key is empty, as without the variables of
	// production, the recorder drops every query, and warns once.
	URL string
	// ProjectID is the id of the project.
	ProjectID string
	// Key is a recording key of the project, or an admin key with the scope write.
	Key string
	// BatchMax is the number of queries in one request, up to 10,000. Default: 1,000.
	BatchMax int
	// Delay is how long queries wait for others before another batch that is not full. Default: 1 s.
	Delay time.Duration
	// QueueMax is the maximum length of the queue; further queries are dropped. Default: 100,000.
	QueueMax int
	// Timeout is how long to wait for an answer before the request is repeated. Default: 10 s.
	Timeout time.Duration
	// CloseTimeout bounds Flush and Close if their context has no deadline. Default: 10 s.
	CloseTimeout time.Duration
	// OnDrop is called with dropped queries. Without it, log/slog has the first of each cause.
	OnDrop func([]Query, DropReason)
	// OnError is called with the *Error of each failed request, and if the spool fails. Without it, log/slog has the first of
	// each kind, and that requests work again.
	OnError func(error)
	// Spool is a folder that keeps queries until they are acknowledged; made if its parent exists.
	Spool string
}

// Stats are counts of a recorder. Each call of Record and each query from the spool is in exactly one of the first four.
type Stats struct {
	// Queued are queries that wait to be acknowledged, including those in the current request.
	Queued int
	// Recorded are queries that the server counted.
	Recorded int
	// Duplicates are queries that the server had already recorded.
	Duplicates int
	// Dropped are queries that were passed to OnDrop.
	Dropped int
	// Failures are requests that failed.
	Failures int
}

// Recorder queues queries, and sends them in batches by a goroutine. Its methods may be called at the same time.
type Recorder struct {
	options    Options
	missing    string
	operations *operations
	reports    *reports
	// Has an element if the goroutine is to look at the state. Never closed, because Record sends on it.
	bell   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	// Closed when Close is over.
	ended chan struct{}

	mu sync.Mutex
	// Oldest first. Queries stay in it until they are settled.
	queue []queued
	// The number of the oldest query in the queue.
	head int
	// How many queries in the queue were refused.
	refused int
	spool   *spool
	stats   Stats
	waiters []waiter
	// How many queries must wait for Record to ring the bell.
	wakeAt   int
	isClosed bool
	// While the recorder closes: when what is left will be dropped.
	finishAt time.Time
	// Whether what was left has been taken.
	isOver   bool
	closeErr error

	sender sender
}

// A pending Flush, and the number of the first query that it does not wait for.
type waiter struct {
	number int
	done   chan struct{}
}

const never = math.MaxInt

// New returns an error if an option is invalid, but not if URL, ProjectID or Key is empty.
func New(options Options) (*Recorder, error) {
	if err := complete(&options); err != nil {
		return nil, err
	}
	recorder := &Recorder{
		options: options,
		reports: &reports{options: options, droppedFor: map[string]bool{}, failedAt: map[int]time.Time{}},
		bell:    make(chan struct{}, 1),
		ended:   make(chan struct{}),
		wakeAt:  never,
		sender:  sender{batchMax: options.BatchMax, size: options.BatchMax},
	}
	var missing []string
	for _, one := range [][2]string{{"URL", options.URL}, {"ProjectID", options.ProjectID}, {"Key", options.Key}} {
		if one[1] == "" {
			missing = append(missing, one[0])
		}
	}
	recorder.missing = strings.Join(missing, ", ")
	if recorder.missing != "" {
		return recorder, nil
	}
	var err error
	if recorder.operations, err = newOperations(options.URL, options.ProjectID, options.Key); err != nil {
		return nil, err
	}
	recorder.operations.onExpiry = recorder.reports.keyExpires
	if options.Spool != "" {
		if recorder.spool, err = openSpool(options.Spool, options.ProjectID); err != nil {
			return nil, fmt.Errorf("callerstats: Spool: %w", err)
		}
	}
	recorder.adopt()
	recorder.ctx, recorder.cancel = context.WithCancel(context.Background())
	go recorder.run()
	return recorder, nil
}

func complete(options *Options) error {
	number := func(name string, value *int, fallback, most int) error {
		if *value == 0 {
			*value = fallback
		}
		if *value < 1 || *value > most {
			return fmt.Errorf("callerstats: %s: %d is not a number from 1 to %d", name, *value, most)
		}
		return nil
	}
	duration := func(name string, value *time.Duration, fallback time.Duration) error {
		if *value < 0 {
			return fmt.Errorf("callerstats: %s: %v is negative", name, *value)
		}
		if *value == 0 {
			*value = fallback
		}
		return nil
	}
	for _, err := range []error{
		number("BatchMax", &options.BatchMax, 1000, 10_000),
		number("QueueMax", &options.QueueMax, 100_000, math.MaxInt32),
		duration("Delay", &options.Delay, time.Second),
		duration("Timeout", &options.Timeout, 10*time.Second),
		duration("CloseTimeout", &options.CloseTimeout, 10*time.Second),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Record queues a query and returns at once. Invalid queries, and queries that do not fit, are dropped and reported. A call at
// the same time as Close is either before it, and sent, or after it, and dropped with the code Closed.
func (recorder *Recorder) Record(query Query) {
	one, wrong := toQueued(query, time.Now())
	if wrong != "" {
		recorder.drop([]Query{query}, Invalid, wrong)
		return
	}
	if recorder.missing != "" {
		recorder.drop([]Query{one.query()}, Unconfigured, "New was given no "+recorder.missing)
		return
	}
	recorder.mu.Lock()
	if recorder.isClosed {
		recorder.mu.Unlock()
		recorder.drop([]Query{one.query()}, Closed, "the recorder is closed")
		return
	}
	if len(recorder.queue) >= recorder.options.QueueMax {
		recorder.mu.Unlock()
		why := fmt.Sprintf("%d queries are waiting already", recorder.options.QueueMax)
		recorder.drop([]Query{one.query()}, QueueFull, why)
		return
	}
	recorder.queue = append(recorder.queue, one)
	var err error
	if recorder.spool != nil {
		err = recorder.spool.append(one, recorder.head+len(recorder.queue)-1)
	}
	isWanted := len(recorder.queue) >= recorder.wakeAt
	if isWanted {
		recorder.wakeAt = never
	}
	recorder.mu.Unlock()
	if isWanted {
		recorder.ring()
	}
	if err != nil {
		recorder.reports.spoolFailed(err)
	}
}

// Flush sends queued queries without delay. It returns nil when everything that was recorded before is acknowledged or dropped,
// and the error of the context if that takes longer; sending then continues.
func (recorder *Recorder) Flush(ctx context.Context) error {
	ctx, cancel := recorder.bound(ctx)
	defer cancel()
	return recorder.flush(ctx)
}

// Close stops accepting queries and flushes. Queries that remain are dropped or stay in the spool; it then returns an error.
func (recorder *Recorder) Close(ctx context.Context) error {
	ctx, cancel := recorder.bound(ctx)
	defer cancel()
	recorder.mu.Lock()
	isFirst := !recorder.isClosed
	recorder.isClosed = true
	if isFirst {
		// Retries are soon from now on: these may be the last chances.
		recorder.finishAt, _ = ctx.Deadline()
	}
	recorder.mu.Unlock()
	if recorder.missing != "" {
		return nil
	}
	if isFirst {
		recorder.ring()
		recorder.finish(recorder.flush(ctx))
		return recorder.closeErr
	}
	select {
	case <-recorder.ended:
		return recorder.closeErr
	default:
	}
	select {
	case <-recorder.ended:
		return recorder.closeErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stats returns the counts of this moment.
func (recorder *Recorder) Stats() Stats {
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	stats := recorder.stats
	stats.Queued = len(recorder.queue) - recorder.refused
	return stats
}

func (recorder *Recorder) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, recorder.options.CloseTimeout)
}

func (recorder *Recorder) flush(ctx context.Context) error {
	recorder.mu.Lock()
	if len(recorder.queue) == 0 {
		recorder.mu.Unlock()
		return nil
	}
	own := waiter{recorder.head + len(recorder.queue), make(chan struct{})}
	recorder.waiters = append(recorder.waiters, own)
	recorder.mu.Unlock()
	recorder.ring()
	select {
	case <-own.done:
		return nil
	case <-ctx.Done():
	}
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	for at, one := range recorder.waiters {
		if one.done == own.done {
			recorder.waiters = append(recorder.waiters[:at], recorder.waiters[at+1:]...)
			return ctx.Err()
		}
	}
	// It was settled at the same moment.
	return nil
}

// finish drops what is left after the last flush, and ends the goroutine.
func (recorder *Recorder) finish(flushErr error) {
	recorder.mu.Lock()
	recorder.isOver = true
	var left []queued
	for _, one := range recorder.queue {
		if one.id != "" {
			left = append(left, one)
		}
	}
	recorder.head += len(recorder.queue)
	recorder.queue, recorder.refused = nil, 0
	spool, spoolErr := recorder.spool, error(nil)
	if recorder.spool = nil; spool != nil {
		spoolErr = spool.close()
	}
	recorder.tellWaiters()
	recorder.mu.Unlock()
	recorder.cancel()
	recorder.ring()
	if spoolErr != nil {
		recorder.reports.spoolFailed(spoolErr)
	}
	if len(left) > 0 {
		code, why := Closed, "the recorder was closed before the server responded"
		if spool != nil {
			code, why = Spooled, "sent by the next process that has the spool"
		}
		recorder.drop(toQueries(left), code, why)
		recorder.closeErr = fmt.Errorf("callerstats: %d queries were not acknowledged (%s): %w", len(left), code, flushErr)
	}
	close(recorder.ended)
}

func (recorder *Recorder) drop(queries []Query, code, why string) {
	recorder.mu.Lock()
	recorder.stats.Dropped += len(queries)
	recorder.mu.Unlock()
	recorder.reports.dropped(queries, code, why)
}

func (recorder *Recorder) ring() {
	select {
	case recorder.bell <- struct{}{}:
	default:
	}
}

// tellWaiters needs the lock.
func (recorder *Recorder) tellWaiters() {
	waiting := recorder.waiters[:0]
	for _, one := range recorder.waiters {
		if recorder.head >= one.number {
			close(one.done)
		} else {
			waiting = append(waiting, one)
		}
	}
	recorder.waiters = waiting
}
