package callerstats

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestInvalidMCPOptions(t *testing.T) {
	for what, options := range map[string]MCPOptions{
		"Tools":          {},
		"SiteOrigins[0]": {Tools: []string{"ask"}, Rules: CallerRules{SiteOrigins: []string{"docs.test"}}},
	} {
		if _, err := MCPMiddleware(recorderFor(t, Options{}), options); err == nil || !strings.Contains(err.Error(), what) {
			t.Error(what, err)
		}
	}
}

// Servers and clients of the official SDK, in a module of their own because this one has no dependencies.
func TestMCPServers(t *testing.T) {
	command := exec.Command("go", "test", "-count=1", "./...")
	command.Dir = "testdata/mcp"
	command.Env = append(os.Environ(), "URL="+shared.url, "KEY="+shared.key, "READING_KEY="+shared.readingKey, "CALLER="+callerOf())
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}

// What a server may write around an answer changes nothing.
func TestStreamsOfMCPServers(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`
	for what, one := range map[string]struct {
		counted int
		stream  string
	}{
		"in one part":          {1, "event: message\ndata: " + answer + "\n\n"},
		"with CRLF":            {1, "data: " + answer + "\r\n\r\n"},
		"without a last line":  {1, "data:" + answer + "\n"},
		"behind a progress":    {1, `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}` + "\n\ndata: " + answer + "\n\n"},
		"behind a request":     {1, `data: {"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}` + "\n\ndata: " + answer + "\n\n"},
		"twice":                {1, "data: " + answer + "\n\ndata: " + answer + "\n\n"},
		"of another call":      {0, `data: {"jsonrpc":"2.0","id":8,"result":{}}` + "\n\n"},
		"an error":             {0, `data: {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"No."}}` + "\n\n"},
		"an error of the tool": {0, `data: {"jsonrpc":"2.0","id":7,"result":{"isError":true,"content":[]}}` + "\n\n"},
		"a question back":      {0, `data: {"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required"}}` + "\n\n"},
		"nothing":              {0, ": ping\n\n"},
		"no JSON":              {0, "data: {\n\n"},
	} {
		for _, size := range []int{1, 1 << 20} {
			recorder := recorderFor(t, Options{})
			middleware, err := MCPMiddleware(recorder, MCPOptions{Tools: []string{"ask"}})
			check(t, err)
			handler := middleware(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
				writer.Header().Set("Content-Type", "text/event-stream")
				for at := 0; at < len(one.stream); at += size {
					_, _ = writer.Write([]byte(one.stream[at:min(len(one.stream), at+size)]))
				}
			}))
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"%s"}}}}`, callerOf())
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(call)))
			check(t, recorder.Close(within(t, hangs)))
			equal(t, what, recorder.Stats().Recorded, one.counted)
		}
	}
}
