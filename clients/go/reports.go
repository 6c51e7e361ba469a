package callerstats

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Why queries were dropped.
const (
	Invalid      = "invalid"      // it is not a valid query
	QueueFull    = "queue-full"   // QueueMax queries were waiting already
	Refused      = "refused"      // the server refused the query, and would refuse it again
	Unconfigured = "unconfigured" // URL, ProjectID or Key is missing
	Closed       = "closed"       // the recorder was closed before the call or before the answer; it may have been counted
	Spooled      = "spooled"      // like Closed, but the query is on disk, and is sent by the next process that has the spool
)

// DropReason says why queries were dropped: one of the codes above, and a message for people.
type DropReason struct{ Code, Message string }

// A failure that comes back is logged again after this time: a server that is sometimes busy must not fill a log.
const quiet = time.Hour

// The kind of failures that are not of a request.
const ofSpool = -1

// What to check after a response with this status. A redirect says so itself.
var remedies = map[int]string{
	0:                       "URL, and that the server runs",
	http.StatusOK:           "URL",
	http.StatusUnauthorized: "Key",
	http.StatusForbidden:    "Key",
	http.StatusNotFound:     "ProjectID and URL",
}

var wrongField = regexp.MustCompile(`^(?:queries\[\d+\]: )?(\w+):`)

// reports says what fails and what is lost: to the callbacks, or else to the log, once for each cause.
type reports struct {
	options Options

	mu         sync.Mutex
	droppedFor map[string]bool
	// When each kind of failure was logged.
	failedAt    map[int]time.Time
	lastFailure string
	// Whether the log has the failures of requests, and not yet that they are over.
	isOpen bool
	// When the key expires, as it was logged.
	expiresAt string
}

// failed tells of a request. It is not logged if what is lost will be logged soon, with this reason.
func (reports *reports) failed(err *Error, isLogged bool) {
	reports.mu.Lock()
	reports.lastFailure = "; the last request failed: " + err.message
	reports.mu.Unlock()
	if reports.options.OnError != nil {
		reports.call("OnError", func() { reports.options.OnError(err) })
	} else if isLogged && !err.isRejection() && reports.isNew(err.Status) {
		reports.mu.Lock()
		reports.isOpen = true
		reports.mu.Unlock()
		end, advice := ".", ""
		if strings.HasSuffix(err.message, ".") || strings.HasSuffix(err.message, ">") {
			end = ""
		}
		if remedy := remedies[err.Status]; remedy != "" {
			advice = fmt.Sprintf(" Check %s.", remedy)
		}
		warn(fmt.Sprintf("a request to %s for project %s failed: %s%s%s Queries wait.",
			reports.options.URL, reports.options.ProjectID, err.message, end, advice))
	}
}

func (reports *reports) spoolFailed(err error) {
	if reports.options.OnError != nil {
		reports.call("OnError", func() { reports.options.OnError(err) })
	} else if reports.isNew(ofSpool) {
		warn(fmt.Sprintf("the spool failed: %v. Queries are sent, but a crash loses them.", err))
	}
}

// keyExpires is not for a callback, because nothing has failed yet.
func (reports *reports) keyExpires(at string) {
	reports.mu.Lock()
	isKnown := reports.expiresAt == at
	reports.expiresAt = at
	reports.mu.Unlock()
	if !isKnown {
		warn(fmt.Sprintf("the key for project %s expires at %s.", reports.options.ProjectID, at))
	}
}

func (reports *reports) isNew(kind int) bool {
	reports.mu.Lock()
	defer reports.mu.Unlock()
	_, isKnown := reports.failedAt[kind]
	if !isKnown {
		reports.failedAt[kind] = time.Now()
	}
	return !isKnown
}

func (reports *reports) succeeded() {
	reports.mu.Lock()
	reports.lastFailure = ""
	for kind, at := range reports.failedAt {
		if time.Since(at) > quiet {
			delete(reports.failedAt, kind)
		}
	}
	wasOpen := reports.isOpen
	if wasOpen {
		reports.isOpen = false
		delete(reports.droppedFor, QueueFull+" ")
	}
	reports.mu.Unlock()
	if wasOpen {
		warn(fmt.Sprintf("requests to %s work again.", reports.options.URL))
	}
}

func (reports *reports) dropped(queries []Query, code, why string) {
	// What is invalid or refused begins with the field that is wrong.
	cause, message := code+" ", why
	if found := wrongField.FindStringSubmatch(why); found != nil {
		cause += found[1]
	}
	onDrop := reports.options.OnDrop
	reports.mu.Lock()
	if code == Closed || code == QueueFull || code == Spooled {
		message += reports.lastFailure
	}
	isLogged := (onDrop == nil || code == Unconfigured) && !reports.droppedFor[cause]
	if isLogged {
		reports.droppedFor[cause] = true
	}
	reports.mu.Unlock()
	if onDrop != nil {
		reports.call("OnDrop", func() { onDrop(queries, DropReason{code, message}) })
	}
	if !isLogged {
		return
	}
	what := fmt.Sprintf("%d queries are not counted (%s)", len(queries), code)
	if code == Unconfigured {
		what = "no query is counted"
	} else if len(queries) == 1 {
		what = fmt.Sprintf("1 query is not counted (%s)", code)
	}
	if cause == Refused+" occurredAt" {
		message += ". Is the clock right?"
	}
	warn(what + ": " + message)
}

// call runs the user's code, whose panics must not stop sending.
func (reports *reports) call(name string, run func()) {
	if problem := callSafely(run); problem != "" {
		warn(fmt.Sprintf("%s failed: %s.", name, problem))
	}
}

func callSafely(run func()) (problem string) {
	defer func() {
		if panicked := recover(); panicked != nil {
			problem = fmt.Sprint("panic: ", panicked)
		}
	}()
	run()
	return ""
}

func warn(message string) { slog.Warn("caller-stats: " + message) }
