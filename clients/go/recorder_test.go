package callerstats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func within(t testing.TB, duration time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), duration)
	t.Cleanup(cancel)
	return ctx
}

func recordDirectly(t *testing.T, body []byte) {
	request, err := http.NewRequest(http.MethodPost, shared.url+"/v1/analytics/docs/assistant/queries", strings.NewReader(string(body)))
	check(t, err)
	request.Header.Set("Authorization", "Bearer "+shared.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	check(t, err)
	_ = response.Body.Close()
	equal(t, "status", response.StatusCode, http.StatusOK)
}

func TestInvalidOptions(t *testing.T) {
	for _, one := range []struct {
		name    string
		options Options
	}{
		{"URL", Options{URL: "stats.test"}},
		{"URL", Options{URL: "file:///stats"}},
		{"URL", Options{URL: "http://stats.test/?a"}},
		{"URL", Options{URL: "http://stats.test:port"}},
		{"URL", Options{URL: "http://user:secret@stats.test"}},
		{"Key", Options{Key: "two keys secret"}},
		{"Key", Options{Key: "kéysecret"}},
		{"Key", Options{Key: "cs_recording_\nsecret"}},
		{"BatchMax", Options{BatchMax: -1}},
		{"BatchMax", Options{BatchMax: 10_001}},
		{"QueueMax", Options{QueueMax: -1}},
		{"Delay", Options{Delay: -1}},
		{"Timeout", Options{Timeout: -1}},
		{"CloseTimeout", Options{CloseTimeout: -1}},
		{"Spool", Options{Spool: "not/there"}},
	} {
		if one.options.URL == "" {
			one.options.URL = "http://127.0.0.1:1"
		}
		if one.options.Key == "" {
			one.options.Key = "key"
		}
		one.options.ProjectID = project
		_, err := New(one.options)
		if err == nil || !strings.HasPrefix(err.Error(), "callerstats: "+one.name+": ") {
			t.Errorf("%s: %v", one.name, err)
		}
		if one.name == "Key" && strings.Contains(fmt.Sprint(err), "secret") {
			t.Error("the key is in the error")
		}
	}
}

func TestMissingConfigurationIsLoggedOnce(t *testing.T) {
	lines := logged(t)
	var codes []string
	recorder, err := New(Options{Key: "key", OnDrop: func(_ []Query, why DropReason) { codes = append(codes, why.Code) }})
	check(t, err)
	for _, id := range []string{"a", "b", "c"} {
		recorder.Record(Query{ID: id, Caller: "web"})
	}
	check(t, recorder.Flush(t.Context()))
	check(t, recorder.Close(t.Context()))
	check(t, recorder.Close(t.Context()))
	equal(t, "codes", strings.Join(codes, " "), "unconfigured unconfigured unconfigured")
	equal(t, "lines", len(lines()), 1)
	if !strings.Contains(lines()[0], "caller-stats: no query is counted: New was given no URL, ProjectID") {
		t.Error(lines())
	}
	equal(t, "stats", recorder.Stats(), Stats{Dropped: 3})
}

func TestWhatIsNoQueryAndWhatComesAfterClose(t *testing.T) {
	caller := callerOf()
	var codes []string
	recorder := recorderFor(t, Options{
		Key:     shared.key + "\n",
		OnDrop:  func(_ []Query, why DropReason) { codes = append(codes, why.Code); panic("ours") },
		OnError: func(error) { panic("ours") },
	})
	recorder.Record(Query{})
	recorder.Record(Query{ID: caller, Caller: caller})
	check(t, recorder.Close(within(t, hangs)))
	check(t, recorder.Close(within(t, hangs)))
	recorder.Record(Query{ID: caller + "2", Caller: caller})
	equal(t, "codes", strings.Join(codes, " "), "invalid closed")
	equal(t, "stats", recorder.Stats(), Stats{Recorded: 1, Dropped: 2})
	equal(t, "counted", shared.count(t, caller), 1)
}

func TestAFullQueueAndAServerThatAsksToWait(t *testing.T) {
	front := newFront(t, func(writer http.ResponseWriter, _ []byte, _ int) bool {
		writer.Header().Set("Retry-After", "3600")
		return reply(writer, http.StatusServiceUnavailable, "")
	})
	codes := map[string]int{}
	recorder := recorderFor(t, Options{
		URL:      front.url,
		QueueMax: 10,
		OnDrop:   func(queries []Query, why DropReason) { codes[why.Code] += len(queries) },
	})
	for at := 0; at < 15; at++ {
		recorder.Record(Query{ID: fmt.Sprint(at), Caller: "web"})
	}
	equal(t, "queued", recorder.Stats().Queued, 10)
	equal(t, "flushed", recorder.Flush(canceled()), context.Canceled)
	// A second call has the same answer, although its time was over before.
	for _, ctx := range []context.Context{within(t, 10*time.Millisecond), canceled(), canceled(), canceled(), canceled()} {
		err := recorder.Close(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "10 queries were not acknowledged") {
			t.Error(err)
		}
	}
	equal(t, "codes", fmt.Sprint(codes), "map[closed:10 queue-full:5]")
}

func TestCloseIsBoundedWhenTheServerNeverAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { listener.Close() })
	lines := logged(t)
	recorder := recorderFor(t, Options{URL: "http://" + listener.Addr().String(), CloseTimeout: time.Millisecond})
	recorder.Record(Query{ID: "1", Caller: "web"})
	var others sync.WaitGroup
	for at := 0; at < 3; at++ {
		others.Add(1)
		go func() {
			defer others.Done()
			if recorder.Close(context.Background()) == nil {
				t.Error("closed")
			}
		}()
	}
	others.Wait()
	<-recorder.ended
	if all := strings.Join(lines(), "\n"); !strings.Contains(all, "1 query is not counted (closed)") {
		t.Error(all)
	}
}

func TestFailuresAreLoggedOnceForEachCause(t *testing.T) {
	lines := logged(t)
	caller := callerOf()
	front := newFront(t, func(writer http.ResponseWriter, _ []byte, number int) bool {
		writer.Header().Set("Retry-After", "0")
		switch {
		case number < 3:
			return reply(writer, http.StatusTooManyRequests, `{"error":"Slowly."}`)
		case number < 5:
			return reply(writer, http.StatusServiceUnavailable, "<html>busy</html>")
		}
		return true
	})
	recorder := recorderFor(t, Options{URL: front.url})
	recorder.Record(Query{ID: caller, Caller: caller})
	// Not by Close, which tells of losses only.
	check(t, recorder.Flush(within(t, hangs)))
	check(t, recorder.Close(within(t, hangs)))
	expected := []string{
		"failed: Slowly. Queries wait.",
		"failed: The server answered 503, not as caller-stats does: <html>busy</html> Queries wait.",
		"work again.",
	}
	equal(t, "lines", len(lines()), len(expected))
	for at, line := range lines() {
		if !strings.Contains(line, expected[min(at, len(expected)-1)]) {
			t.Error(line)
		}
	}
	equal(t, "counted", shared.count(t, caller), 1)
}

func TestAKeyThatExpiresSoonIsLoggedOnce(t *testing.T) {
	lines := logged(t)
	tomorrow := time.Now().UTC().Add(24 * time.Hour).Format(time.RFC3339)
	makeKey := []string{"key", "create", "--project", project, "--name", "short", "--type", "recording", "--expires", tomorrow}
	recorder := recorderFor(t, Options{Key: shared.command(makeKey...)})
	for _, id := range []string{"1", "2"} {
		recorder.Record(Query{ID: callerOf() + id, Caller: "web"})
		check(t, recorder.Flush(within(t, hangs)))
	}
	equal(t, "lines", len(lines()), 1)
	if !strings.Contains(lines()[0], "the key for project docs expires at "+tomorrow[:16]) {
		t.Error(lines())
	}
}

func TestDropsAreToldBeforeFlushReturns(t *testing.T) {
	held := make(chan struct{})
	front := newFront(t, func(writer http.ResponseWriter, _ []byte, _ int) bool {
		<-held
		return reply(writer, http.StatusBadRequest, `{"error":"No.","details":[{"message":"queries[0]: id: is bad"}]}`)
	})
	var recorder *Recorder
	waiting := func() int {
		recorder.mu.Lock()
		defer recorder.mu.Unlock()
		return len(recorder.waiters)
	}
	told := make(chan int, 1)
	recorder = recorderFor(t, Options{URL: front.url, OnDrop: func([]Query, DropReason) { told <- waiting() }, OnError: func(error) {}})
	recorder.Record(Query{ID: callerOf(), Caller: "web"})
	flushed := make(chan error)
	go func() { flushed <- recorder.Flush(within(t, hangs)) }()
	for waiting() == 0 {
		runtime.Gosched()
	}
	close(held)
	check(t, <-flushed)
	equal(t, "waiting", <-told, 1)
}

func TestRedirectsAreNamedAndNotFollowed(t *testing.T) {
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	t.Cleanup(elsewhere.Close)
	front := newFront(t, func(writer http.ResponseWriter, _ []byte, _ int) bool {
		writer.Header().Set("Location", elsewhere.URL+"/login?token=secret")
		return reply(writer, http.StatusTemporaryRedirect, "")
	})
	problems := make(chan error, 100)
	recorder := recorderFor(t, Options{URL: front.url, OnError: func(err error) { problems <- err }, OnDrop: func([]Query, DropReason) {}})
	recorder.Record(Query{ID: "1", Caller: "web"})
	problem := (<-problems).Error()
	if !strings.Contains(problem, "redirects to "+elsewhere.URL+"/login, and redirects are not followed") || followed.Load() {
		t.Error(problem)
	}
}

func TestCloseRacesWithRecord(t *testing.T) {
	for round := 0; round < 20; round++ {
		caller := callerOf()
		var closed atomic.Int64
		recorder := recorderFor(t, Options{OnDrop: func(queries []Query, why DropReason) {
			equal(t, "code", why.Code, Closed)
			closed.Add(int64(len(queries)))
		}})
		var group sync.WaitGroup
		for worker := 0; worker < 4; worker++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for at := 0; at < 100; at++ {
					recorder.Record(Query{ID: fmt.Sprintf("%s-%d-%d", caller, worker, at), Caller: caller})
					if at == 25*worker {
						_ = recorder.Flush(canceled())
						runtime.Gosched()
					}
				}
			}()
		}
		check(t, recorder.Close(within(t, hangs)))
		group.Wait()
		stats := recorder.Stats()
		equal(t, "calls", stats.Recorded+stats.Dropped, 400)
		equal(t, "dropped", int64(stats.Dropped), closed.Load())
		equal(t, "counted", shared.count(t, caller), stats.Recorded)
	}
}

// A server that closes idle connections does so at any moment, also while the next request is on its way.
func TestIdleConnectionsThatTheServerClosedAreNoFailures(t *testing.T) {
	caller := callerOf()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		response := forward(request, body)
		defer response.Body.Close()
		writer.WriteHeader(response.StatusCode)
		_, _ = io.Copy(writer, response.Body)
	}))
	var idle sync.Map
	server.Config.ConnState = func(connection net.Conn, state http.ConnState) {
		if state == http.StateIdle {
			idle.Store(connection, true)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	recorder := recorderFor(t, Options{URL: server.URL})
	for at := 0; at < 150; at++ {
		recorder.Record(Query{ID: fmt.Sprintf("%s-%d", caller, at), Caller: caller})
		check(t, recorder.Flush(within(t, hangs)))
		idle.Range(func(connection, _ any) bool {
			idle.Delete(connection)
			_ = connection.(net.Conn).Close()
			return true
		})
	}
	check(t, recorder.Close(within(t, hangs)))
	equal(t, "stats", recorder.Stats(), Stats{Recorded: 150})
}

func TestAServerThatIsKilledAndRestartedUnderLoad(t *testing.T) {
	server := newServer(t.TempDir())
	t.Cleanup(func() { server.kill() })
	caller := callerOf()
	recorder := recorderFor(t, Options{URL: server.url, Key: server.key, Delay: time.Millisecond, OnError: func(error) {}})
	var group sync.WaitGroup
	const workers, each = 4, 5000
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for at := 0; at < each; at++ {
				recorder.Record(Query{ID: fmt.Sprintf("%s-%d-%d", caller, worker, at), Caller: caller})
				if at%1000 == 0 {
					_ = recorder.Flush(within(t, 10*time.Millisecond))
				}
			}
		}()
	}
	for round := 0; round < 3; round++ {
		server.kill()
		server.start()
	}
	group.Wait()
	check(t, recorder.Close(within(t, hangs)))
	stats := recorder.Stats()
	equal(t, "acknowledged", stats.Recorded+stats.Duplicates, workers*each)
	equal(t, "counted", server.count(t, caller), workers*each)
}

func TestReader(t *testing.T) {
	caller := callerOf()
	recorder := recorderFor(t, Options{})
	for at := 1; at <= 3; at++ {
		when := time.Date(2026, time.January, at, 12, 0, 0, 0, time.UTC)
		recorder.Record(Query{fmt.Sprintf("%s-%d", caller, at), caller, when})
	}
	check(t, recorder.Close(within(t, hangs)))
	reader, err := NewReader(shared.url, project, shared.readingKey)
	check(t, err)
	span := Range{From: "2026-01-02", To: "2026-01-04", Compare: "previous", Caller: caller}
	counts, err := reader.Counts(t.Context(), span)
	check(t, err)
	equal(t, "other, total and previous", fmt.Sprint(counts.Other, counts.Total, counts.Previous.Total), "2 2 1")
	span.Compare = ""
	buckets, err := reader.Series(t.Context(), "day", span)
	check(t, err)
	equal(t, "buckets", len(buckets), 2)
	equal(t, "the first bucket", fmt.Sprint(buckets[0].Start, buckets[0].Total), "2026-01-02T00:00:00.000+00:001")
	_, err = reader.Counts(t.Context(), Range{TimeZone: "Nowhere"})
	var failed *Error
	if !errors.As(err, &failed) || failed.Status != http.StatusBadRequest || !strings.Contains(failed.Error(), "timeZone") {
		t.Error(err)
	}
	front := newFront(t, func(writer http.ResponseWriter, _ []byte, _ int) bool { return reply(writer, http.StatusOK, "{}") })
	other, err := NewReader(front.url, project, shared.readingKey)
	check(t, err)
	if _, err := other.Counts(t.Context(), Range{}); err == nil {
		t.Error("the answer of another program is not an error")
	}
}

func BenchmarkRecord(b *testing.B) {
	recorder := recorderFor(b, Options{QueueMax: 1 << 30, OnError: func(error) {}, OnDrop: func([]Query, DropReason) {}})
	id := newUUID()
	b.ReportAllocs()
	b.ResetTimer()
	for at := 0; at < b.N; at++ {
		recorder.Record(Query{ID: id, Caller: "web"})
	}
}
