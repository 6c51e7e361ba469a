package callerstats

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Query is a query to the assistant.
type Query struct {
	// ID is your id of the message or turn, unique within the project: 1 to 128 characters. The same id counts once.
	ID string
	// Caller is web, api, or the name of an integration or SDK: 1 to 64 of a-z 0-9 . _ -
	Caller string
	// OccurredAt is when the query was sent. The zero time means now.
	OccurredAt time.Time
}

// queued is a query that waits. One that was refused before older ones were settled has no id.
type queued struct {
	id, caller string
	// In milliseconds since 1970, unless there is a text, from a spool, that milliseconds cannot express.
	atMs int64
	text string
}

const timeFormat = "2006-01-02T15:04:05.000Z"

// The year that RFC 3339 cannot express any more.
const yearEnd = 10_000

// toQueued returns what is wrong with an invalid query. Its rules are those of the server: the shared vectors compare them.
func toQueued(query Query, now time.Time) (queued, string) {
	if !isID(query.ID) {
		return queued{}, fmt.Sprintf("id: %s is not a text of 1 to 128 characters", show(query.ID))
	}
	if !isCaller(query.Caller) {
		return queued{}, fmt.Sprintf(`caller: %s is not "web", "api" or a name of 1 to 64 of a-z 0-9 . _ -`, show(query.Caller))
	}
	at := query.OccurredAt
	if at.IsZero() {
		at = now
	} else if year := at.UTC().Year(); year < 0 || year >= yearEnd {
		return queued{}, fmt.Sprintf("occurredAt: the year %d is not in RFC 3339", year)
	}
	return queued{id: query.ID, caller: query.Caller, atMs: at.UnixMilli()}, ""
}

func isID(id string) bool {
	if len(id) == 0 || len(id) > 128*utf8.UTFMax || strings.IndexByte(id, 0) >= 0 {
		return false
	}
	return utf8.ValidString(id) && (len(id) <= 128 || utf8.RuneCountInString(id) <= 128)
}

func isCaller(caller string) bool {
	for at := 0; at < len(caller); at++ {
		one := caller[at]
		if !(one >= 'a' && one <= 'z' || one >= '0' && one <= '9' || one == '.' || one == '_' || one == '-') {
			return false
		}
	}
	return len(caller) >= 1 && len(caller) <= 64
}

func (one queued) query() Query {
	at := time.UnixMilli(one.atMs).UTC()
	if one.text != "" {
		at, _ = time.Parse(time.RFC3339, one.text)
	}
	return Query{one.id, one.caller, at}
}

func toQueries(all []queued) []Query {
	queries := make([]Query, len(all))
	for at, one := range all {
		queries[at] = one.query()
	}
	return queries
}

// appendJSON appends the query as the server and the files of a spool have it.
func (one queued) appendJSON(to []byte) []byte {
	to = appendString(append(to, `{"id":`...), one.id)
	to = append(append(append(to, `,"caller":"`...), one.caller...), `","occurredAt":`...)
	if one.text != "" {
		to = appendString(to, one.text)
	} else {
		to = append(to, '"')
		to = append(time.UnixMilli(one.atMs).UTC().AppendFormat(to, timeFormat), '"')
	}
	return append(to, '}')
}

func appendString(to []byte, text string) []byte {
	for at := 0; at < len(text); at++ {
		if one := text[at]; one < ' ' || one > '~' || one == '"' || one == '\\' {
			quoted, _ := json.Marshal(text)
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

// parseLine reads a line of a spool.
func parseLine(line []byte) (queued, bool) {
	var read struct{ ID, Caller, OccurredAt *string }
	if json.Unmarshal(line, &read) != nil || read.ID == nil || read.Caller == nil || read.OccurredAt == nil || *read.ID == "" {
		return queued{}, false
	}
	one := queued{id: *read.ID, caller: *read.Caller, text: *read.OccurredAt}
	if at, err := time.Parse(timeFormat, one.text); err == nil && at.Format(timeFormat) == one.text {
		one.atMs, one.text = at.UnixMilli(), ""
	}
	return one, true
}

// show is a value for a message.
func show(value string) string {
	characters := []rune(value)
	return fmt.Sprintf("%q", string(characters[:min(len(characters), 64)]))
}
