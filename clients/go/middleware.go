package callerstats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// MiddlewareOptions say which requests are queries, and whose. The functions are called when the handler has answered.
type MiddlewareOptions struct {
	// Rules detect the caller.
	Rules CallerRules
	// IsQuestion is whether a request is a query to the assistant. Nil means that all are, except HEAD and OPTIONS.
	IsQuestion func(*http.Request) bool
	// Caller is the caller; the one that Rules find, if it is nil or returns nothing.
	Caller func(*http.Request) string
	// ID is the id of the message or turn, which a retry must return again. If it is nil or returns nothing, it is the one of
	// SetID, X-Request-Id or else a random one.
	ID func(*http.Request) string
}

// Middleware returns a function that wraps a handler. A query counts once when the handler has answered it with a status below
// 400, also if the reader leaves early or the handler panics later. Its time is the arrival of the request. A connection that the
// handler takes over, such as for a WebSocket, is not a query. It returns an error if the rules are invalid.
func Middleware(recorder *Recorder, options MiddlewareOptions) (func(http.Handler) http.Handler, error) {
	if problems := options.Rules.Problems(); len(problems) > 0 {
		return nil, errors.New("callerstats: " + strings.Join(problems, "; "))
	}
	questions := &questions{recorder: recorder, options: options}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			if request.Method == http.MethodHead || request.Method == http.MethodOptions {
				next.ServeHTTP(writer, request)
				return
			}
			questions.serve(next, writer, request)
		})
	}, nil
}

// SetID tells the middleware the id of the query of this request, when the handler knows it.
func SetID(request *http.Request, id string) {
	if known, has := request.Context().Value(markKey{}).(*mark); has {
		known.mu.Lock()
		known.id = id
		known.mu.Unlock()
	}
}

type markKey struct{}

// mark is of one request, for all middleware around its handler.
type mark struct {
	mu sync.Mutex
	id string
	// The recorders that have decided about the query: the inner middleware comes first.
	decided []*Recorder
}

type questions struct {
	recorder *Recorder
	options  MiddlewareOptions
	warning  sync.Once
}

func (questions *questions) serve(next http.Handler, writer http.ResponseWriter, request *http.Request) {
	askedAt := time.Now()
	known, has := request.Context().Value(markKey{}).(*mark)
	if !has {
		known = &mark{}
		request = request.WithContext(context.WithValue(request.Context(), markKey{}, known))
	}
	noted := &notingWriter{ResponseWriter: writer}
	hasReturned := false
	// Not recovered, so that a panic goes on as if there were no middleware.
	defer func() {
		isAnswered := noted.status != 0 || hasReturned
		if isAnswered && noted.status < http.StatusBadRequest && !noted.isHijacked && known.isFirst(questions.recorder) {
			questions.record(request, known, askedAt)
		}
	}()
	next.ServeHTTP(noted, request)
	hasReturned = true
}

func (known *mark) isFirst(recorder *Recorder) bool {
	known.mu.Lock()
	defer known.mu.Unlock()
	for _, one := range known.decided {
		if one == recorder {
			return false
		}
	}
	known.decided = append(known.decided, recorder)
	return true
}

func (questions *questions) record(request *http.Request, known *mark, askedAt time.Time) {
	options := questions.options
	if options.IsQuestion != nil {
		isQuestion := false
		if problem := callSafely(func() { isQuestion = options.IsQuestion(request) }); problem != "" {
			warn(fmt.Sprintf("the option IsQuestion failed: %s. The query is not counted.", problem))
		}
		if !isQuestion {
			return
		}
	}
	query := Query{OccurredAt: askedAt, Caller: questions.call("Caller", options.Caller, request)}
	if query.Caller == "" {
		query.Caller = DetectCaller(request.Header, options.Rules)
	}
	query.ID = questions.call("ID", options.ID, request)
	if query.ID == "" {
		known.mu.Lock()
		query.ID = known.id
		known.mu.Unlock()
	}
	if query.ID == "" {
		query.ID = request.Header.Get("X-Request-Id")
	}
	if query.ID == "" {
		query.ID = newUUID()
	}
	questions.recorder.Record(query)
}

func (questions *questions) call(name string, option func(*http.Request) string, request *http.Request) (value string) {
	if option == nil {
		return ""
	}
	problem := callSafely(func() { value = option(request) })
	if problem != "" {
		problem = "failed: " + problem
	} else if value == "" && name == "ID" {
		problem = "returned nothing"
	}
	if problem != "" {
		questions.warning.Do(func() {
			warn(fmt.Sprintf("the option %s %s. The query counts with its default.", name, problem))
		})
	}
	return value
}

// notingWriter notes the status. It can do what the server's own writer can: net/http finds that with Unwrap, and other packages
// ask for Flush, Hijack and ReadFrom.
type notingWriter struct {
	http.ResponseWriter
	status     int
	isHijacked bool
}

func (writer *notingWriter) Unwrap() http.ResponseWriter { return writer.ResponseWriter }

func (writer *notingWriter) WriteHeader(status int) {
	// Others are followed by the real one.
	if writer.status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		writer.status = status
	}
	writer.ResponseWriter.WriteHeader(status)
}

func (writer *notingWriter) begin() {
	if writer.status == 0 {
		writer.status = http.StatusOK
	}
}

func (writer *notingWriter) Write(part []byte) (int, error) {
	writer.begin()
	return writer.ResponseWriter.Write(part)
}

func (writer *notingWriter) ReadFrom(source io.Reader) (int64, error) {
	writer.begin()
	return io.Copy(writer.ResponseWriter, source)
}

func (writer *notingWriter) Flush() { _ = writer.FlushError() }

func (writer *notingWriter) FlushError() error {
	writer.begin()
	return http.NewResponseController(writer.ResponseWriter).Flush()
}

func (writer *notingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	connection, buffered, err := http.NewResponseController(writer.ResponseWriter).Hijack()
	writer.isHijacked = writer.isHijacked || err == nil
	return connection, buffered, err
}
