package callerstats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const (
	answerBytesMax = 64 << 20
	idleMax        = 30 * time.Second
)

var (
	serverURL = regexp.MustCompile(`(?i)^https?://[^?#\s]+$`)
	keyText   = regexp.MustCompile(`^[!-~]+$`)
)

// operations are those of one project, with one key.
type operations struct {
	base          string
	authorization string
	client        *http.Client
	// Called when the server says that the key expires soon.
	onExpiry func(at string)
}

// newOperations returns an error if an argument is malformed. It does not contain the key.
func newOperations(server, projectID, key string) (*operations, error) {
	parsed, err := url.Parse(server)
	if err != nil || !serverURL.MatchString(server) || parsed.Hostname() == "" || parsed.User != nil {
		return nil, fmt.Errorf("callerstats: URL: %q is not a URL such as https://stats.example.com", server)
	}
	// Files usually end with a line break.
	bare := strings.TrimSpace(key)
	if !keyText.MatchString(bare) {
		return nil, errors.New("callerstats: Key: is not a key")
	}
	if projectID == "" {
		return nil, errors.New("callerstats: ProjectID: is empty")
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		IdleConnTimeout:     idleMax,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	// Following a redirect drops the key if the address differs, and sends a POST as a GET.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &operations{
		base:          strings.TrimRight(server, "/") + "/v1/analytics/" + url.PathEscape(projectID) + "/assistant/",
		authorization: "Bearer " + bare,
		client:        &http.Client{Transport: transport, CheckRedirect: stay},
	}, nil
}

// send returns the body of a successful answer, which is JSON.
func (operations *operations) send(
	ctx context.Context, method, operation string, header map[string]string, body []byte,
) ([]byte, *Error) {
	request, err := http.NewRequestWithContext(ctx, method, operations.base+operation, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{message: "The request cannot be made: " + err.Error(), cause: err}
	}
	request.Header.Set("Authorization", operations.authorization)
	request.Header.Set("User-Agent", "caller-stats-go")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	// Not sent, because it has no value. It lets the transport repeat a request for which the server closed the idle connection.
	request.Header["Idempotency-Key"] = nil
	response, err := operations.client.Do(request)
	var answer []byte
	if err == nil {
		defer response.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	}
	if err != nil {
		return nil, noResponse(ctx, request.URL, err)
	}
	if failed := parseAnswer(request.URL, response.StatusCode, response.Header, answer, time.Now()); failed != nil {
		return nil, failed
	}
	if at := response.Header.Get("Caller-Stats-Key-Expires"); at != "" && operations.onExpiry != nil {
		operations.onExpiry(at)
	}
	return answer, nil
}

func noResponse(ctx context.Context, address *url.URL, err error) *Error {
	cause := err
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		cause = wrapped.Err
	}
	why := cause.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		why = "no answer in time"
		if told := context.Cause(ctx); told != nil && told != context.DeadlineExceeded {
			why = told.Error()
		}
	}
	return &Error{message: fmt.Sprintf("No response from %s: %s", origin(address), why), cause: cause}
}
