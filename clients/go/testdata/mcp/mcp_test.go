// Package mcptest asks questions of servers of the official SDK. The tests of the client run it, which has no dependencies.
package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	callerstats "caller-stats.example/clients/go"
)

type question struct {
	Question string `json:"question"`
}

func about(_ context.Context, _ *mcp.CallToolRequest, asked question) (*mcp.CallToolResult, any, error) {
	if asked.Question == "fails" {
		return nil, nil, errors.New("no")
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "About " + asked.Question}}}, nil, nil
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve starts a server, and returns its URL, and a function that counts the queries of a caller.
func serve(t *testing.T, options *mcp.StreamableHTTPOptions) (string, func(string) int64) {
	server := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	for _, name := range []string{"ask", "search"} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, about)
	}
	url, key := os.Getenv("URL"), os.Getenv("KEY")
	recorder, err := callerstats.New(callerstats.Options{URL: url, ProjectID: "docs", Key: key})
	check(t, err)
	rules := callerstats.CallerRules{SiteOrigins: []string{"https://docs.test"}}
	middleware, err := callerstats.MCPMiddleware(recorder, callerstats.MCPOptions{Tools: []string{"ask"}, Rules: rules})
	check(t, err)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options)
	front := httptest.NewServer(middleware(handler))
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	return front.URL, func(caller string) int64 {
		check(t, recorder.Close(t.Context()))
		reader, err := callerstats.NewReader(url, "docs", os.Getenv("READING_KEY"))
		check(t, err)
		callers, err := reader.Callers(t.Context(), callerstats.Range{})
		check(t, err)
		for _, one := range callers {
			if one.Caller == caller {
				return one.Count
			}
		}
		return 0
	}
}

func name(t *testing.T) string {
	return os.Getenv("CALLER") + strings.ReplaceAll(t.Name()[4:], "/", " ")
}

func slug(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "-")) }

var kinds = map[string]*mcp.StreamableHTTPOptions{
	"events": {}, "json": {JSONResponse: true}, "stateless": {Stateless: true}, "stateless json": {Stateless: true, JSONResponse: true},
}

func TestAnswers(t *testing.T) {
	for kind, options := range kinds {
		t.Run(kind, func(t *testing.T) {
			url, counted := serve(t, options)
			client := mcp.NewClient(&mcp.Implementation{Name: name(t), Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
			check(t, err)
			tools, err := session.ListTools(t.Context(), nil)
			check(t, err)
			if len(tools.Tools) != 2 {
				t.Error(tools)
			}
			for _, call := range []struct {
				tool       string
				question   any
				isAnswered bool
			}{
				{"search", "not a question", true}, {"ask", "fails", false}, {"ask", 7, false}, {"none", "a", false},
				{"ask", "install", true}, {"ask", "install", true},
			} {
				given := map[string]any{"question": call.question}
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: given})
				if (err == nil && !result.IsError) != call.isAnswered {
					t.Error(call, err, result)
				}
			}
			check(t, session.Close())
			if count := counted(slug(name(t))); count != 2 {
				t.Errorf("%d, not 2", count)
			}
		})
	}
}

// open sends plain JSON-RPC in a session, and returns a function that calls the tool.
func open(t *testing.T, url, client string) func(id any, headers ...string) {
	named := map[string]string{}
	post := func(message map[string]any, headers ...string) *http.Response {
		message["jsonrpc"] = "2.0"
		body, err := json.Marshal(message)
		check(t, err)
		request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		check(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		for name, value := range named {
			request.Header.Set(name, value)
		}
		for at := 0; at < len(headers); at += 2 {
			request.Header.Set(headers[at], headers[at+1])
		}
		response, err := http.DefaultClient.Do(request)
		check(t, err)
		return response
	}
	const revision = "2025-06-18"
	info := map[string]any{"name": client, "version": "1"}
	given := map[string]any{"protocolVersion": revision, "capabilities": map[string]any{}, "clientInfo": info}
	response := post(map[string]any{"id": 0, "method": "initialize", "params": given})
	_, err := io.Copy(io.Discard, response.Body)
	check(t, err)
	named["Mcp-Protocol-Version"] = revision
	if session := response.Header.Get("Mcp-Session-Id"); session != "" {
		named["Mcp-Session-Id"] = session
	}
	post(map[string]any{"method": "notifications/initialized"}).Body.Close()
	return func(id any, headers ...string) {
		params := map[string]any{"name": "ask", "arguments": map[string]any{"question": "install"}}
		response := post(map[string]any{"id": id, "method": "tools/call", "params": params}, headers...)
		text, err := io.ReadAll(response.Body)
		check(t, err)
		if !strings.Contains(string(text), "About install") {
			t.Errorf("%s", text)
		}
	}
}

func TestRepeatedCalls(t *testing.T) {
	for kind, options := range kinds {
		t.Run(kind, func(t *testing.T) {
			url, counted := serve(t, options)
			if options.Stateless {
				caller := "web"
				before := counted(caller)
				url, counted := serve(t, options)
				call := open(t, url, name(t))
				for _, id := range []string{fmt.Sprint(name(t), 1), fmt.Sprint(name(t), 1), "", ""} {
					call(1, "Referer", "https://docs.test/page", "X-Request-Id", id)
				}
				if count := counted(caller) - before; count != 3 {
					t.Errorf("%d, not 3", count)
				}
				return
			}
			for session := 0; session < 2; session++ {
				call := open(t, url, name(t))
				for _, id := range []any{1, 1, "1", 2, 1} {
					call(id)
				}
			}
			if count := counted(slug(name(t))); count != 6 {
				t.Errorf("%d, not 6", count)
			}
		})
	}
}
