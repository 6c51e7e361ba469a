// Package alerts evaluates integrations/prometheus/alerts.yaml with Prometheus's own engine: npm run test:alerts.
package alerts

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"go.yaml.in/yaml/v2"
)

type rule struct {
	Alert string
	Expr  string
}

// rules reads the rules by name.
func rules(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../integrations/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, one := range file.Groups[0].Rules {
		found[one.Alert] = one.Expr
	}
	return found
}

const info = `caller_stats_build_info{job="stats",instance="a"} `

// Two hours of samples, one a minute. `fires` has the labels of the alerts at the end, in order.
var cases = []struct {
	alert, name, series, fires string
}{
	{"CallerStatsMissing", "no server", `up{job="stats",instance="a"} 0x120`, `{}`},
	{"CallerStatsMissing", "a server", info + `1x120`, ``},
	{"CallerStatsInstanceDown", "one of two servers", info + `1x120
		up{job="stats",instance="a"} 1x120
		up{job="stats",instance="b"} 1x100 0x20
		up{job="other",instance="c"} 0x120`, `{__name__="up", instance="b", job="stats"}`},
	{"CallerStatsInstanceDown", "none of two servers", info + `1x120
		up{job="stats",instance="a"} 1x120
		up{job="stats",instance="b"} 1x120`, ``},
	{"CallerStatsDatabaseDown", "no database", `caller_stats_database_up{instance="a"} 1x100 0x20`, `{__name__="caller_stats_database_up", instance="a"}`},
	{"CallerStatsNotRecording", "a full disk", `caller_stats_recording_up{instance="a"} 0x120
		caller_stats_database_up{instance="a"} 1x120`, `{__name__="caller_stats_recording_up", instance="a"}`},
	{"CallerStatsNotRecording", "no database, which has an alert of its own", `caller_stats_recording_up{instance="a"} 0x120
		caller_stats_database_up{instance="a"} 0x120`, ``},
	{"CallerStatsServerDown", "a server of a cluster", `caller_stats_database_server_up{job="stats",instance="a",server="w1"} 0x120
		caller_stats_database_server_up{job="stats",instance="a",server="w2"} 1x120`, `{job="stats", server="w1"}`},
	{"CallerStatsErrors", "two failures of a hundred", `caller_stats_http_requests_total{job="stats",instance="a",status="200"} 0+98x120
		caller_stats_http_requests_total{job="stats",instance="a",status="500"} 0+2x120`, `{instance="a", job="stats"}`},
	{"CallerStatsErrors", "none", `caller_stats_http_requests_total{job="stats",instance="a",status="200"} 0+98x120
		caller_stats_http_requests_total{job="stats",instance="a",status="500"} 7x120`, ``},
	{"CallerStatsNothingMatches", "nothing that matches", unmatched, `{job="stats"}`},
	{"CallerStatsNothingMatches", "nothing that matches, and refused requests", unmatched + `
		caller_stats_ingested_total{job="stats",signal="traces",outcome="refused"} 0+1x120`, `{job="stats"}`},
	{"CallerStatsNothingMatches", "a repeated query", unmatched + `
		caller_stats_ingested_total{job="stats",signal="traces",outcome="duplicate"} 0+1x120`, ``},
	{"CallerStatsNothingMatches", "queries that are recorded in another way", unmatched + `
		caller_stats_ingested_total{job="stats",signal="queries",outcome="recorded"} 0+1x120`, `{job="stats"}`},
	{"CallerStatsKeyExpires", "a week before", `caller_stats_key_expiry_seconds{job="stats",instance="a",project="p",key="k"} 604800x120`, `{job="stats", key="k", project="p"}`},
	{"CallerStatsQueriesRefused", "an expired key", `caller_stats_refused_requests_total{job="stats",signal="queries",reason="key-expired"} 0+1x120
		caller_stats_refused_requests_total{job="stats",signal="queries",reason="overload"} 0+1x120`, `{job="stats", reason="key-expired"}`},
	{"CallerStatsGuessing", "two hundred failures", `caller_stats_account_events_total{job="stats",event="failure"} 0+70x120`, `{job="stats"}`},
	{"CallerStatsQueueFilling", "three quarters", `caller_stats_queue_queries{instance="a"} 75x120
		caller_stats_queue_queries_limit{instance="a"} 100x120`, `{instance="a"}`},
	{"CallerStatsEventLoopLate", "a late loop, but of another program", `nodejs_eventloop_lag_p99_seconds{job="other",instance="a"} 1x120
		` + info + `1x120`, ``},
	{"CallerStatsRestarting", "three starts", `process_start_time_seconds{job="stats",instance="a"} 1x117 2 3 4
		` + info + `1x120`, `{instance="a", job="stats"}`},
}

const unmatched = `caller_stats_ingested_total{job="stats",signal="traces",outcome="recorded"} 9x120
	caller_stats_ingested_total{job="stats",signal="traces",outcome="unmatched"} 0+5x120`

func TestAlerts(t *testing.T) {
	exprs := rules(t)
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	for _, one := range cases {
		t.Run(one.alert+" with "+one.name, func(t *testing.T) {
			lines := strings.ReplaceAll(one.series, "\t", "")
			storage := promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(lines, "\n", "\n  ")+"\n")
			expr := exprs[one.alert]
			end := time.Unix(0, 0).Add(2 * time.Hour)
			query, err := engine.NewInstantQuery(context.Background(), storage, nil, expr, end)
			if err != nil {
				t.Fatal(err)
			}
			defer query.Close()
			result := query.Exec(context.Background())
			vector, err := result.Vector()
			if err != nil {
				t.Fatal(err)
			}
			if fires := labelsOf(vector); fires != one.fires {
				t.Errorf("fires for %q instead of %q", fires, one.fires)
			}
		})
	}
}

func labelsOf(vector promql.Vector) string {
	var all []string
	for _, sample := range vector {
		all = append(all, sample.Metric.String())
	}
	return strings.Join(all, " ")
}

// All rules are PromQL that the engine knows, with or without a case.
func TestRulesParse(t *testing.T) {
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	storage := promqltest.LoadedStorage(t, "")
	for name, expr := range rules(t) {
		query, err := engine.NewInstantQuery(context.Background(), storage, nil, expr, time.Unix(0, 0))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		query.Close()
	}
}
