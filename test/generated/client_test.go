// Package generated uses the client that oapi-codegen makes of the OpenAPI document: npm run test:clients.
package generated

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
)

func withKey(key string) ClientOption {
	return WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv(key))
		return nil
	})
}

func client(t *testing.T, key string) *ClientWithResponses {
	t.Helper()
	made, err := NewClientWithResponses(os.Getenv("URL"), withKey(key))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestClient(t *testing.T) {
	ctx := context.Background()
	caller := os.Getenv("CALLER")
	at := "2026-03-28T12:00:00Z"
	var body Queries
	if err := body.FromQueries1(Queries1{
		{Id: caller + "-1", Caller: caller, OccurredAt: &at},
		{Id: caller + "-2", Caller: caller, OccurredAt: &at},
	}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []RecordResult{{Recorded: 2}, {Duplicates: 2}} {
		answer, err := client(t, "KEY").RecordQueriesWithResponse(ctx, "docs", body)
		if err != nil || answer.JSON200 == nil || *answer.JSON200 != want {
			t.Fatalf("recorded %+v, %v instead of %+v", answer, err, want)
		}
	}
	reader := client(t, "READING_KEY")
	counts, err := reader.GetCallerStatsWithResponse(ctx, "docs", &GetCallerStatsParams{Caller: &caller})
	if err != nil || counts.JSON200 == nil || counts.JSON200.Total != 2 {
		t.Fatalf("counted %+v, %v", counts, err)
	}
	from, to, interval := "2026-03-28", "2026-03-31", GetCallerStatsSeriesParamsIntervalDay
	series, err := reader.GetCallerStatsSeriesWithResponse(ctx, "docs", &GetCallerStatsSeriesParams{
		DateFrom: &from, DateTo: &to, Interval: &interval, Caller: &caller,
	})
	if err != nil || series.JSON200 == nil || len(series.JSON200.Buckets) != 3 || series.JSON200.Buckets[0].Total != 2 {
		t.Fatalf("counted %+v, %v", series, err)
	}
	wrong := "2026-02-30"
	refused, err := reader.GetCallerStatsWithResponse(ctx, "docs", &GetCallerStatsParams{DateFrom: &wrong})
	if err != nil || refused.JSON400 == nil || !strings.Contains(refused.JSON400.Error, "February") {
		t.Fatalf("refused %+v, %v", refused, err)
	}
}
