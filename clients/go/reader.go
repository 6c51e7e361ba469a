package callerstats

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Reader reads the counts of a project. It may be used by several goroutines. Its errors are of the type *Error, except those of
// an invalid argument of NewReader.
type Reader struct{ operations *operations }

// NewReader returns an error if an argument is malformed. The key is a reading key of the project, or an admin key.
func NewReader(url, projectID, key string) (*Reader, error) {
	operations, err := newOperations(url, projectID, key)
	if err != nil {
		return nil, err
	}
	return &Reader{operations}, nil
}

// Range says what to count. The fields are the parameters of the HTTP API. Empty ones are left out.
type Range struct{ From, To, Period, TimeZone, WeekStart, Compare, Caller string }

// Counts are numbers of queries, with the counterpart for which Range.Compare asks.
type Counts struct {
	Web, API, Other, Total int64
	Previous               *Counts
}

// Bucket is a part of a series. Start is included, End is not.
type Bucket struct {
	Start, End string
	Counts
}

// CallerCount is the number of queries of one caller.
type CallerCount struct {
	Caller, Type string
	Count        int64
}

// Counts returns the numbers of one range.
func (reader *Reader) Counts(ctx context.Context, span Range) (Counts, error) {
	var counts Counts
	err := reader.get(ctx, "caller-stats", span, "", "total", &counts)
	return counts, err
}

// Series returns the numbers of each bucket of a range, in order of time. The interval is day, month, …
func (reader *Reader) Series(ctx context.Context, interval string, span Range) ([]Bucket, error) {
	var answer struct{ Buckets []Bucket }
	err := reader.get(ctx, "caller-stats/series", span, interval, "buckets", &answer)
	return answer.Buckets, err
}

// Callers returns the numbers of all callers, largest first.
func (reader *Reader) Callers(ctx context.Context, span Range) ([]CallerCount, error) {
	var answer struct{ Callers []CallerCount }
	err := reader.get(ctx, "callers", span, "", "callers", &answer)
	return answer.Callers, err
}

func (reader *Reader) get(ctx context.Context, operation string, span Range, interval, expected string, answer any) error {
	asked := url.Values{}
	for name, value := range map[string]string{
		"dateFrom": span.From, "dateTo": span.To, "period": span.Period, "timeZone": span.TimeZone,
		"weekStart": span.WeekStart, "compare": span.Compare, "caller": span.Caller, "interval": interval,
	} {
		if value != "" {
			asked.Set(name, value)
		}
	}
	header := map[string]string{"Accept": "application/json"}
	body, failed := reader.operations.send(ctx, http.MethodGet, operation+"?"+asked.Encode(), header, nil)
	if failed != nil {
		return failed
	}
	var found map[string]json.RawMessage
	if json.Unmarshal(body, &found) != nil || found[expected] == nil || json.Unmarshal(body, answer) != nil {
		return &Error{Status: http.StatusOK, message: otherAnswer(http.StatusOK, body)}
	}
	return nil
}
