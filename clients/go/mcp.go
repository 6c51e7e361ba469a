package callerstats

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// MCPOptions say which calls of an MCP server are queries, and whose.
type MCPOptions struct {
	// Tools are the names of the tools that answer queries.
	Tools []string
	// Rules detect the caller; APIHeaders are not used. Fallback is that of clients without a name: mcp if it is empty.
	Rules CallerRules
}

// MCPMiddleware returns a function that wraps the handler of an MCP server over HTTP, such as a StreamableHTTPHandler of the
// official SDK. A query counts once when one of the tools has answered without an error; a call that the client repeats in its
// session is the same query. It returns an error if there are no tools or the rules are invalid.
func MCPMiddleware(recorder *Recorder, options MCPOptions) (func(http.Handler) http.Handler, error) {
	problems := options.Rules.Problems()
	if len(options.Tools) == 0 {
		problems = append(problems, "Tools: is empty")
	}
	if len(problems) > 0 {
		return nil, errors.New("callerstats: " + strings.Join(problems, "; "))
	}
	calls := &mcpCalls{recorder: recorder, options: options, tools: map[string]bool{}}
	for _, name := range options.Tools {
		calls.tools[name] = true
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) { calls.serve(next, writer, request) })
	}, nil
}

const (
	mcpCaller     = "mcp"
	mcpSession    = "Mcp-Session-Id"
	mcpBytesMax   = 16 << 20
	mcpOpenMax    = 10_000
	mcpInitialize = "initialize"
)

var notOfCaller = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// mcpClient is a client as it names itself.
type mcpClient struct{ Name string }

type mcpMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name       string
		ClientInfo mcpClient
		Meta       struct {
			ClientInfo mcpClient `json:"io.modelcontextprotocol/clientInfo"`
		} `json:"_meta"`
	}
	Error  json.RawMessage
	Result *struct {
		IsError    bool
		ResultType string
	}
}

type mcpCalls struct {
	recorder *Recorder
	options  MCPOptions
	tools    map[string]bool
	// Calls without an answer, by session and number: an answer may come in a stream that the client opens again.
	open bounded[Query]
	// The names of clients, by session.
	clients bounded[string]
}

func (calls *mcpCalls) serve(next http.Handler, writer http.ResponseWriter, request *http.Request) {
	askedAt, session := time.Now(), request.Header.Get(mcpSession)
	noted := &mcpWriter{notingWriter: notingWriter{ResponseWriter: writer}}
	prefix := session
	if session == "" {
		// What has no session is answered in the same response.
		prefix = newUUID()
	}
	initialized, asked := "", []string(nil)
	for _, message := range readMCP(request) {
		name := message.Params.Meta.ClientInfo.Name
		if message.Method == mcpInitialize {
			initialized = message.Params.ClientInfo.Name
		} else if message.Method == "tools/call" && len(message.ID) > 0 && calls.tools[message.Params.Name] {
			if name == "" && session != "" {
				name, _ = calls.clients.get(session)
			}
			query := Query{ID: mcpID(request, session, message.ID), Caller: calls.caller(request, name), OccurredAt: askedAt}
			calls.open.put(prefix+string(message.ID), query)
			asked = append(asked, string(message.ID))
		}
	}
	noted.see = func(message mcpMessage) {
		if message.Method != "" {
			return // The server asks the client.
		}
		if query, has := calls.open.take(prefix + string(message.ID)); has && message.isAnswer() {
			calls.recorder.Record(query)
		}
	}
	next.ServeHTTP(noted, request)
	noted.end()
	if session == "" {
		for _, number := range asked {
			calls.open.take(prefix + number)
		}
	}
	if session := writer.Header().Get(mcpSession); initialized != "" && session != "" {
		calls.clients.put(session, initialized)
	}
}

// isAnswer knows that a tool that first asks the client back has not answered yet.
func (message mcpMessage) isAnswer() bool {
	return message.Result != nil && !message.Result.IsError && message.Result.ResultType != "input_required"
}

func (calls *mcpCalls) caller(request *http.Request, name string) string {
	rules := calls.options.Rules
	rules.APIHeaders, rules.Fallback = []string{}, mcpCaller
	if found := DetectCaller(request.Header, rules); found != mcpCaller {
		return found
	}
	if found := callerOfClient(name); found != "" {
		return found
	}
	if calls.options.Rules.Fallback != "" {
		return calls.options.Rules.Fallback
	}
	return mcpCaller
}

// callerOfClient is the caller that the name of an MCP client means: Claude Desktop is claude-desktop. It is empty if nothing of the
// name can be kept.
func callerOfClient(name string) string {
	kept := notOfCaller.ReplaceAllString(name, "-")
	return strings.Trim(strings.ToLower(kept[:min(len(kept), 64)]), "-")
}

// mcpID hashes the session, whose name lets anybody continue it.
func mcpID(request *http.Request, session string, number json.RawMessage) string {
	if session == "" {
		if id := request.Header.Get("X-Request-Id"); id != "" {
			return id
		}
		return newUUID()
	}
	text, _ := json.Marshal([]any{session, number})
	hash := sha256.Sum256(text)
	return "mcp-" + hex.EncodeToString(hash[:16])
}

// readMCP reads the messages of a request, and leaves its body as it was.
func readMCP(request *http.Request) []mcpMessage {
	if request.Method != http.MethodPost || request.Body == nil {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(request.Body, mcpBytesMax))
	rest := request.Body
	request.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), rest), rest}
	if err != nil {
		return nil
	}
	return parseMCP(body)
}

// parseMCP takes a message or a list of them.
func parseMCP(text []byte) []mcpMessage {
	var one mcpMessage
	if json.Unmarshal(text, &one) == nil {
		return []mcpMessage{one}
	}
	var all []mcpMessage
	if json.Unmarshal(text, &all) == nil {
		return all
	}
	return nil
}

// mcpWriter sees the messages of a response: JSON, or the data of server-sent events.
type mcpWriter struct {
	notingWriter
	see     func(mcpMessage)
	waiting []byte
}

func (writer *mcpWriter) Write(part []byte) (int, error) {
	// Before it is sent: the client may ask for the counts when it has the answer.
	writer.read(part)
	return writer.notingWriter.Write(part)
}

func (writer *mcpWriter) ReadFrom(source io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{writer}, source)
}

func (writer *mcpWriter) read(part []byte) {
	if len(writer.waiting)+len(part) > mcpBytesMax {
		writer.waiting = nil
		return
	}
	writer.waiting = append(writer.waiting, part...)
	if !strings.HasPrefix(writer.Header().Get("Content-Type"), "text/event-stream") {
		return
	}
	for {
		line, rest, has := bytes.Cut(writer.waiting, []byte("\n"))
		if !has {
			return
		}
		writer.waiting = rest
		if data, isData := bytes.CutPrefix(line, []byte("data:")); isData {
			writer.tell(data)
		}
	}
}

func (writer *mcpWriter) end() {
	writer.tell(writer.waiting)
	writer.waiting = nil
}

func (writer *mcpWriter) tell(text []byte) {
	for _, message := range parseMCP(text) {
		writer.see(message)
	}
}

// bounded forgets the oldest values when there are too many.
type bounded[Value any] struct {
	mu     sync.Mutex
	values map[string]Value
	order  []string
}

func (bounded *bounded[Value]) put(key string, value Value) {
	bounded.mu.Lock()
	defer bounded.mu.Unlock()
	if bounded.values == nil {
		bounded.values = map[string]Value{}
	}
	if _, has := bounded.values[key]; !has {
		bounded.order = append(bounded.order, key)
	}
	bounded.values[key] = value
	for len(bounded.values) > mcpOpenMax {
		delete(bounded.values, bounded.order[0])
		bounded.order = bounded.order[1:]
	}
	if len(bounded.order) > 2*mcpOpenMax {
		// Most of them were taken.
		bounded.order = slices.DeleteFunc(bounded.order, func(key string) bool { return !bounded.has(key) })
	}
}

func (bounded *bounded[Value]) has(key string) bool {
	_, has := bounded.values[key]
	return has
}

func (bounded *bounded[Value]) get(key string) (Value, bool) {
	bounded.mu.Lock()
	defer bounded.mu.Unlock()
	value, has := bounded.values[key]
	return value, has
}

func (bounded *bounded[Value]) take(key string) (Value, bool) {
	bounded.mu.Lock()
	defer bounded.mu.Unlock()
	value, has := bounded.values[key]
	delete(bounded.values, key)
	return value, has
}
