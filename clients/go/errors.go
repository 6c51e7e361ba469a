package callerstats

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	retryAfterMax = time.Hour
	retryBase     = 500 * time.Millisecond
	retryMax      = 30 * time.Second
)

// Error is a request that failed. Its text is the server's, with all details.
type Error struct {
	// Status is the HTTP status; 0 without a response.
	Status int
	// Details are the server's: one message for each problem, which starts with the parameter or field that it is about.
	Details []string
	// RetryAfter is how long the server asked to wait; at most one hour.
	RetryAfter time.Duration

	hasRetryAfter bool
	message       string
	cause         error
}

func (err *Error) Error() string { return err.message }

// Unwrap returns why there was no response.
func (err *Error) Unwrap() error { return err.cause }

// isRejection is whether queries were refused for good, which is told for each of them, or the batch is too large.
func (err *Error) isRejection() bool {
	return err.Status == http.StatusBadRequest || err.Status == http.StatusRequestEntityTooLarge
}

// waitToRetry is exponential backoff with full jitter, so that clients that failed together do not retry together.
// Retry-After is obeyed, plus jitter. A rejected key or project takes time to fix.
func (err *Error) waitToRetry(failures int, chance float64) time.Duration {
	temporary := err.Status == 0 || err.Status == http.StatusRequestTimeout ||
		err.Status == http.StatusTooManyRequests || err.Status >= http.StatusInternalServerError
	switch {
	case err.hasRetryAfter:
		return err.RetryAfter + time.Duration(chance*float64(retryBase))
	case temporary:
		return time.Duration(chance * float64(min(retryMax, retryBase<<min(failures-1, 10))))
	default:
		return time.Duration((1 + chance) * float64(retryMax) / 2)
	}
}

// parseAnswer returns why an answer is no JSON with a status of success.
func parseAnswer(address *url.URL, status int, header http.Header, body []byte, now time.Time) *Error {
	var answer any
	isJSON := json.Unmarshal(body, &answer) == nil && answer != nil
	if status >= 200 && status < 300 && isJSON {
		return nil
	}
	failed := &Error{Status: status}
	if status >= 300 && status < 400 {
		failed.message = redirectMessage(address, header.Get("Location"))
		return failed
	}
	failed.RetryAfter, failed.hasRetryAfter = parseRetryAfter(header.Get("Retry-After"), now)
	object, _ := answer.(map[string]any)
	details, _ := object["details"].([]any)
	for _, one := range details {
		if detail, isObject := one.(map[string]any); isObject {
			failed.Details = append(failed.Details, fmt.Sprint(detail["message"]))
		}
	}
	failed.message = strings.Join(failed.Details, " ")
	if failed.message == "" && object["error"] != nil {
		failed.message = fmt.Sprint(object["error"])
	}
	if failed.message == "" {
		failed.message = otherAnswer(status, body)
	}
	return failed
}

func otherAnswer(status int, body []byte) string {
	text := []rune(string(body[:min(len(body), 800)]))
	return fmt.Sprintf("The server answered %d, not as caller-stats does: %s", status, string(text[:min(len(text), 200)]))
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// parseRetryAfter reads a number of seconds or a date (RFC 9110, 10.2.3).
func parseRetryAfter(value string, now time.Time) (time.Duration, bool) {
	if digits.MatchString(value) {
		seconds, err := strconv.Atoi(value)
		if err != nil || seconds > int(retryAfterMax/time.Second) {
			return retryAfterMax, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(date.Sub(now), 0), retryAfterMax), true
}

// redirectMessage names the target without its query, which may hold secrets.
func redirectMessage(from *url.URL, location string) string {
	address := ""
	if target, err := from.Parse(location); err == nil && location != "" && target.Host != "" {
		address = target.Scheme + "://" + target.Host + target.EscapedPath()
	}
	advice := "Something else than caller-stats answers there."
	if server, rest, _ := strings.Cut(address, "/v1/analytics/"); rest != "" {
		advice = fmt.Sprintf("Use the address %s instead.", server)
	}
	if address == "" {
		address = "another address"
	}
	return fmt.Sprintf("%s redirects to %s, and redirects are not followed. %s", origin(from), address, advice)
}

func origin(address *url.URL) string { return address.Scheme + "://" + address.Host }
