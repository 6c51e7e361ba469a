package callerstats

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../vectors/" + name + ".json")
	check(t, err)
	check(t, json.Unmarshal(text, into))
}

func TestCallers(t *testing.T) {
	var vectors struct {
		Known   []KnownCaller
		Clients []struct{ Name, Caller string }
		Cases   []struct {
			What    string
			Headers map[string]string
			Rules   CallerRules
			Caller  string
		}
	}
	readVectors(t, "callers", &vectors)
	if !reflect.DeepEqual(vectors.Known, KnownCallers()) {
		t.Error("other known callers than in the vectors")
	}
	for _, one := range vectors.Clients {
		equal(t, one.Name, callerOfClient(one.Name), one.Caller)
	}
	for _, one := range vectors.Cases {
		header := http.Header{}
		for name, value := range one.Headers {
			header.Set(name, value)
		}
		equal(t, one.What, DetectCaller(header, one.Rules), one.Caller)
	}
}

func TestProblemsOfCallerRules(t *testing.T) {
	rules := CallerRules{
		SiteOrigins: []string{"https://docs.example.com", "docs.example.com", "https://*"},
		Known:       []KnownCaller{{Caller: "Bot", UserAgent: "a"}, {Caller: "bot"}, {Caller: "bot", UserAgent: "a", Value: "1"}},
		Fallback:    "else where",
	}
	places := []string{"SiteOrigins[1]", "SiteOrigins[2]", "Known[0].Caller", "Known[1]", "Known[2]", "Fallback"}
	for at, problem := range rules.Problems() {
		equal(t, problem, strings.SplitN(problem, ":", 2)[0], places[at])
	}
	equal(t, "problems", len(rules.Problems()), len(places))
	equal(t, "problems of none", len(CallerRules{Known: KnownCallers()}.Problems()), 0)
}

func TestQueries(t *testing.T) {
	var vectors struct {
		Cases []struct {
			What                   string
			ID, Caller, OccurredAt json.RawMessage
			Wrong                  string
		}
		Clocks []struct {
			Ms         int64
			OccurredAt string
		}
	}
	readVectors(t, "queries", &vectors)
	repeated := regexp.MustCompile(`(?s)(.)\{(\d+)\}`)
	unfold := func(raw json.RawMessage) (string, bool) {
		var text string
		// Half of a surrogate pair is not valid text in Go.
		if json.Unmarshal(raw, &text) != nil || string(raw) == "null" {
			return "", false
		}
		text = strings.ReplaceAll(text, "\ufffd", "\xed\xa0\x80")
		return repeated.ReplaceAllStringFunc(text, func(found string) string {
			parts := repeated.FindStringSubmatch(found)
			count, _ := strconv.Atoi(parts[2])
			return strings.Repeat(parts[1], count)
		}), true
	}
	for _, one := range vectors.Cases {
		id, isText := unfold(one.ID)
		caller, isName := unfold(one.Caller)
		when, hasTime := unfold(one.OccurredAt)
		// The compiler refuses other kinds of values, and what is not a time.
		if !isText && one.Wrong == "id" || !isName && one.Wrong == "caller" || one.Wrong == "occurredAt" {
			continue
		}
		query := Query{ID: id, Caller: caller}
		if hasTime {
			var err error
			query.OccurredAt, err = time.Parse(time.RFC3339, when)
			check(t, err)
		}
		_, wrong := toQueued(query, time.Now())
		equal(t, one.What, strings.SplitN(wrong, ":", 2)[0], one.Wrong)
	}
	for _, clock := range vectors.Clocks {
		for _, query := range []Query{{ID: "1", Caller: "web"}, {"1", "web", time.UnixMilli(clock.Ms)}} {
			one, _ := toQueued(query, time.UnixMilli(clock.Ms))
			equal(t, "the time", string(one.appendJSON(nil)), fmt.Sprintf(`{"id":"1","caller":"web","occurredAt":"%s"}`, clock.OccurredAt))
		}
	}
	_, wrong := toQueued(Query{"1", "web", time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, time.Now())
	equal(t, "a year of five digits", wrong, "occurredAt: the year 10000 is not in RFC 3339")
}

func TestAnswers(t *testing.T) {
	var vectors struct {
		URL   string
		Cases []struct {
			What     string
			Status   int
			Headers  map[string]string
			Body     string
			Failures int
			Message  *string
			WaitMs   *[2]int64
		}
	}
	readVectors(t, "answers", &vectors)
	address, err := url.Parse(vectors.URL)
	check(t, err)
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, one := range vectors.Cases {
		header := http.Header{}
		for name, value := range one.Headers {
			header.Set(name, value)
		}
		failed := parseAnswer(address, one.Status, header, []byte(one.Body), now)
		if failed == nil || one.Message == nil {
			equal(t, one.What, failed == nil, one.Message == nil)
			continue
		}
		if !strings.Contains(failed.Error(), *one.Message) {
			t.Errorf("%s: %s, not %s", one.What, failed, *one.Message)
		}
		equal(t, one.What, failed.Status, one.Status)
		var waits *[2]int64
		if !failed.isRejection() {
			least, most := failed.waitToRetry(one.Failures, 0), failed.waitToRetry(one.Failures, 1)
			waits = &[2]int64{least.Milliseconds(), most.Milliseconds()}
		}
		if !reflect.DeepEqual(waits, one.WaitMs) {
			t.Errorf("%s: waits %v, not %v", one.What, waits, one.WaitMs)
		}
	}
}

func TestSpools(t *testing.T) {
	var vectors struct {
		Project string
		Cases   []struct {
			What  string
			Age   int
			Files map[string]string
			Found []string
		}
	}
	readVectors(t, "spools", &vectors)
	fill := strings.NewReplacer("{A}", newUUID(), "{B}", newUUID(), "{me}", fmt.Sprint(os.Getppid()),
		"{dead}", fmt.Sprint(1<<22+1), "{here}", placeOfProcess()).Replace
	for _, one := range vectors.Cases {
		folder := t.TempDir()
		then := time.Now().Add(-time.Duration(one.Age) * time.Second)
		for name, text := range one.Files {
			path := filepath.Join(folder, fill(name))
			check(t, os.WriteFile(path, []byte(fill(text)), 0o600))
			check(t, os.Chtimes(path, then, then))
		}
		spool, err := openSpool(folder, vectors.Project)
		check(t, err)
		found := []string{}
		check(t, spool.adopt(func(queries []queued) int {
			for _, query := range queries {
				found = append(found, query.id)
			}
			return len(found)
		}))
		sort.Strings(found)
		if !reflect.DeepEqual(found, one.Found) {
			t.Errorf("%s: %v, not %v", one.What, found, one.Found)
		}
		check(t, spool.close())
	}
}

// rule is what a server does with a request of the vectors.
type rule struct {
	Cut, Lost bool
	Status    int
	Headers   map[string]string
	Body      string
	AtMost    int
	Only      string
	Refuse    string
}

func (one *rule) UnmarshalJSON(text []byte) error {
	type fields rule
	switch string(text) {
	case `"cut"`:
		one.Cut = true
	case `"lost"`:
		one.Lost = true
	default:
		return json.Unmarshal(text, (*fields)(one))
	}
	return nil
}

func (one *rule) follow(writer http.ResponseWriter, sent string) bool {
	switch {
	case one.Cut:
		return cut(writer)
	case one.Status != 0:
		for name, value := range one.Headers {
			writer.Header().Set(name, value)
		}
		return reply(writer, one.Status, one.Body)
	case one.AtMost > 0 && len(sent) > one.AtMost:
		return reply(writer, http.StatusRequestEntityTooLarge, `{"error":"Too large."}`)
	case one.Only != "" && strings.Contains(sent, one.Only):
		return reply(writer, http.StatusBadRequest, `{"error":"No."}`)
	}
	var details []string
	for at, id := range sent {
		if strings.ContainsRune(one.Refuse, id) {
			details = append(details, fmt.Sprintf(`{"message":"queries[%d]: id: is bad"}`, at))
		}
	}
	if details != nil {
		return reply(writer, http.StatusBadRequest, `{"error":"No.","details":[`+strings.Join(details, ",")+`]}`)
	}
	return true
}

func TestDeliveries(t *testing.T) {
	var vectors struct {
		Cases []struct {
			What     string
			Answers  []rule
			Always   rule
			Recorded string
			Dropped  map[string]string
		}
	}
	readVectors(t, "deliveries", &vectors)
	for _, one := range vectors.Cases {
		t.Run(one.What, func(t *testing.T) {
			t.Parallel()
			caller := callerOf()
			front := newFront(t, func(writer http.ResponseWriter, body []byte, number int) bool {
				sent := ""
				for _, id := range idsIn(body) {
					sent += id[len(id)-1:]
				}
				if number >= len(one.Answers) {
					return one.Always.follow(writer, sent)
				}
				if one.Answers[number].Lost {
					recordDirectly(t, body)
					return cut(writer)
				}
				return one.Answers[number].follow(writer, sent)
			})
			dropped := map[string]string{}
			recorder := recorderFor(t, Options{
				URL: front.url,
				OnDrop: func(queries []Query, why DropReason) {
					for _, query := range queries {
						dropped[query.ID[len(query.ID)-1:]] = why.Code
					}
				},
				OnError: func(error) {},
			})
			for _, id := range []string{"a", "b", "c", "d"} {
				recorder.Record(Query{ID: caller + "-" + id, Caller: caller})
			}
			check(t, recorder.Close(within(t, hangs)))
			if !reflect.DeepEqual(dropped, one.Dropped) {
				t.Errorf("dropped %v, not %v", dropped, one.Dropped)
			}
			stats := recorder.Stats()
			equal(t, "acknowledged", stats.Recorded+stats.Duplicates, len(one.Recorded))
			equal(t, "counted", shared.count(t, caller), len(one.Recorded))
		})
	}
}
