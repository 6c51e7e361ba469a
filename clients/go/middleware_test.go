package callerstats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// served runs a handler behind the middleware on a real server, sends a request, and returns what was recorded.
func served(t *testing.T, options MiddlewareOptions, handler http.HandlerFunc, request func(url string)) []Query {
	t.Helper()
	recorder, err := New(Options{URL: "http://127.0.0.1:" + freePort(t), ProjectID: project, Key: "key", OnError: func(error) {}, OnDrop: func([]Query, DropReason) {}})
	check(t, err)
	wrap, err := Middleware(recorder, options)
	check(t, err)
	server := httptest.NewUnstartedServer(wrap(handler))
	server.Config.ErrorLog = nil
	server.Start()
	request(server.URL)
	server.Close()
	recorder.mu.Lock()
	queries := toQueries(recorder.queue)
	recorder.mu.Unlock()
	_ = recorder.Close(canceled())
	return queries
}

func get(t *testing.T, method string) func(string) {
	return func(url string) {
		request, err := http.NewRequest(method, url, nil)
		check(t, err)
		request.Header.Set("Authorization", "Bearer a")
		request.Header.Set("X-Request-Id", "sent")
		if response, err := http.DefaultClient.Do(request); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	}
}

func TestWhatMiddlewareCounts(t *testing.T) {
	logged(t)
	for what, one := range map[string]struct {
		handler http.HandlerFunc
		counted int
	}{
		"nothing written":   {func(http.ResponseWriter, *http.Request) {}, 1},
		"a body":            {func(writer http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(writer, "answer") }, 1},
		"a redirect":        {func(writer http.ResponseWriter, _ *http.Request) { writer.WriteHeader(http.StatusFound) }, 1},
		"an error":          {func(writer http.ResponseWriter, _ *http.Request) { writer.WriteHeader(http.StatusBadRequest) }, 0},
		"a panic":           {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0},
		"hints, then error": {func(writer http.ResponseWriter, _ *http.Request) { writer.WriteHeader(103); writer.WriteHeader(500) }, 0},
		"hints, then body": {func(writer http.ResponseWriter, _ *http.Request) {
			writer.WriteHeader(103)
			_, _ = io.WriteString(writer, "a")
		}, 1},
		"a stream that breaks": {func(writer http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(writer, "part")
			writer.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, 1},
		"a copied body": {func(writer http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(writer, strings.NewReader("answer"))
		}, 1},
	} {
		found := served(t, MiddlewareOptions{}, one.handler, get(t, http.MethodGet))
		equal(t, what, len(found), one.counted)
		for _, query := range found {
			equal(t, what, query.ID+" "+query.Caller, "sent api")
		}
	}
	answer := func(http.ResponseWriter, *http.Request) {}
	for _, method := range []string{http.MethodHead, http.MethodOptions} {
		equal(t, method, len(served(t, MiddlewareOptions{}, answer, get(t, method))), 0)
	}
}

func TestPanicsPassThroughMiddleware(t *testing.T) {
	wrap, err := Middleware(recorderFor(t, Options{}), MiddlewareOptions{IsQuestion: func(*http.Request) bool { panic("option") }})
	check(t, err)
	own := errors.New("own")
	defer func() { equal[any](t, "the panic", recover(), own) }()
	wrap(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(writer, "part")
		panic(own)
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
}

func TestConnectionsThatAreTakenOverAreNoQueries(t *testing.T) {
	found := served(t, MiddlewareOptions{}, func(writer http.ResponseWriter, _ *http.Request) {
		connection, _, err := writer.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\n\r\nhello")
		_ = connection.Close()
	}, func(url string) {
		connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		check(t, err)
		fmt.Fprint(connection, "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: test\r\nConnection: upgrade\r\n\r\n")
		line, err := bufio.NewReader(connection).ReadString('\n')
		check(t, err)
		equal(t, "the answer", line, "HTTP/1.1 101 Switching Protocols\r\n")
	})
	equal(t, "counted", len(found), 0)
}

func TestTheServersWriterIsFoundBehindTheMiddleware(t *testing.T) {
	served(t, MiddlewareOptions{}, func(writer http.ResponseWriter, _ *http.Request) {
		controller := http.NewResponseController(writer)
		check(t, controller.SetWriteDeadline(time.Now().Add(hangs)))
		check(t, controller.EnableFullDuplex())
		check(t, controller.Flush())
	}, get(t, http.MethodGet))
	// One that cannot be taken over says so.
	_, _, err := (&notingWriter{ResponseWriter: httptest.NewRecorder()}).Hijack()
	if !errors.Is(err, http.ErrNotSupported) {
		t.Error(err)
	}
}

func TestOptionsOfMiddleware(t *testing.T) {
	lines := logged(t)
	if _, err := Middleware(nil, MiddlewareOptions{Rules: CallerRules{Fallback: "Else where"}}); err == nil {
		t.Error("invalid rules are accepted")
	}
	answer := func(_ http.ResponseWriter, request *http.Request) { SetID(request, "of the handler") }
	for expected, options := range map[string]MiddlewareOptions{
		"of the handler api": {},
		"own bot": {
			ID:     func(*http.Request) string { return "own" },
			Caller: func(*http.Request) string { return "bot" },
		},
		"of the handler elsewhere": {
			ID:     func(*http.Request) string { panic("broken") },
			Caller: func(*http.Request) string { panic("broken") },
			Rules:  CallerRules{APIHeaders: []string{}, Fallback: "elsewhere"},
		},
		"": {IsQuestion: func(request *http.Request) bool { return request.URL.Path == "/ask" }},
	} {
		found := ""
		for _, query := range served(t, options, answer, get(t, http.MethodGet)) {
			found = query.ID + " " + query.Caller
			if age := time.Since(query.OccurredAt); age < 0 || age > hangs {
				t.Error(query.OccurredAt)
			}
		}
		equal(t, "the query", found, expected)
	}
	equal(t, "lines", len(lines()), 1)
	SetID(httptest.NewRequest(http.MethodGet, "/", nil), "nowhere")
}

func TestMiddlewareThatIsUsedTwiceCountsOnce(t *testing.T) {
	recorder := recorderFor(t, Options{})
	caller := callerOf()
	outer, err := Middleware(recorder, MiddlewareOptions{Caller: func(*http.Request) string { return "outer" }})
	check(t, err)
	inner, err := Middleware(recorder, MiddlewareOptions{Caller: func(*http.Request) string { return caller }})
	check(t, err)
	handler := outer(inner(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	check(t, recorder.Close(within(t, hangs)))
	equal(t, "stats", recorder.Stats(), Stats{Recorded: 1})
	equal(t, "counted", shared.count(t, caller), 1)
}
