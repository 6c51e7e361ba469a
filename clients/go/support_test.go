package callerstats

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	project = "docs"
	hangs   = time.Minute
)

// realServer is a caller-stats server with one project, in a folder of its own.
type realServer struct {
	folder, url, key, readingKey string
	process                      *exec.Cmd
}

// The server of all tests that do not stop it.
var shared *realServer

func TestMain(run *testing.M) {
	if os.Getenv("CHILD") != "" {
		child()
		return
	}
	status := 1
	defer func() { os.Exit(status) }()
	folder, err := os.MkdirTemp("", "caller-stats-go-")
	must(err)
	defer os.RemoveAll(folder)
	shared = newServer(folder)
	defer shared.kill()
	status = run.Run()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func newServer(folder string) *realServer {
	if _, err := os.Stat(mainFile()); err != nil {
		panic("The server is not built. Run: npm run build")
	}
	server := &realServer{folder: folder, url: "http://127.0.0.1:0"}
	server.command("project", "create", "Docs", "--id", project)
	makeKey := []string{"key", "create", "--project", project, "--name", "test", "--type"}
	server.key = server.command(append(makeKey, "recording")...)
	server.readingKey = server.command(append(makeKey, "reading")...)
	server.start()
	return server
}

func mainFile() string {
	path, err := filepath.Abs("../../dist/main.js")
	must(err)
	return path
}

func (server *realServer) command(arguments ...string) string {
	all := append([]string{mainFile()}, append(arguments, "--database", "sqlite:"+server.folder+"/test.db")...)
	out, err := exec.Command("node", all...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		panic(string(failed.Stderr))
	}
	must(err)
	return strings.TrimSpace(string(out))
}

// start uses the same port as before.
func (server *realServer) start() {
	address, err := url.Parse(server.url)
	must(err)
	server.process = exec.Command("node", mainFile(), "serve", "--port", address.Port(), "--database", "sqlite:"+server.folder+"/test.db")
	out, err := server.process.StdoutPipe()
	must(err)
	server.process.Stderr = server.process.Stdout
	must(server.process.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var line struct{ URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.URL != "" {
			server.url = line.URL
			// A pipe that is full would stop the server.
			go io.Copy(io.Discard, out)
			return
		}
	}
	panic("the server did not start")
}

func (server *realServer) kill() {
	_ = server.process.Process.Kill()
	_ = server.process.Wait()
}

// count is how many queries of a caller the server has counted.
func (server *realServer) count(t testing.TB, caller string) int {
	t.Helper()
	reader, err := NewReader(server.url, project, server.readingKey)
	check(t, err)
	callers, err := reader.Callers(t.Context(), Range{})
	check(t, err)
	for _, one := range callers {
		if one.Caller == caller {
			return int(one.Count)
		}
	}
	return 0
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t testing.TB, what string, found, expected T) {
	t.Helper()
	if found != expected {
		t.Errorf("%s: %v, not %v", what, found, expected)
	}
}

var tests atomic.Int64

// callerOf is one of its own for each test, so that the server's count of it is the count of the test.
func callerOf() string { return fmt.Sprintf("go-%d.%d", os.Getpid(), tests.Add(1)) }

func recorderFor(t testing.TB, options Options) *Recorder {
	t.Helper()
	if options.URL == "" {
		options.URL = shared.url
	}
	options.ProjectID = project
	if options.Key == "" {
		options.Key = shared.key
	}
	recorder, err := New(options)
	check(t, err)
	t.Cleanup(func() { _ = recorder.Close(canceled()) })
	return recorder
}

// front forwards requests to the server, unless answer does something else with one and returns false.
type front struct {
	url string
	mu  sync.Mutex
	all [][]byte
}

func newFront(t testing.TB, answer func(writer http.ResponseWriter, body []byte, number int) bool) *front {
	front := &front{}
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		front.mu.Lock()
		front.all = append(front.all, body)
		number := len(front.all) - 1
		front.mu.Unlock()
		if answer(writer, body, number) {
			response := forward(request, body)
			defer response.Body.Close()
			writer.WriteHeader(response.StatusCode)
			_, _ = io.Copy(writer, response.Body)
		}
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	front.url = server.URL
	return front
}

func forward(request *http.Request, body []byte) *http.Response {
	sent, err := http.NewRequest(request.Method, shared.url+request.URL.Path, bytes.NewReader(body))
	must(err)
	sent.Header = request.Header
	response, err := http.DefaultClient.Do(sent)
	must(err)
	return response
}

// idsIn are those of the queries of a request.
func idsIn(body []byte) []string {
	if len(body) > 0 && body[0] == 0x1f {
		reader, err := gzip.NewReader(bytes.NewReader(body))
		must(err)
		body, err = io.ReadAll(reader)
		must(err)
	}
	var queries []struct{ ID string }
	must(json.Unmarshal(body, &queries))
	var ids []string
	for _, one := range queries {
		ids = append(ids, one.ID)
	}
	return ids
}

func reply(writer http.ResponseWriter, status int, body string) bool {
	writer.WriteHeader(status)
	_, _ = io.WriteString(writer, body)
	return false
}

// cut resets the connection.
func cut(writer http.ResponseWriter) bool {
	connection, _, err := http.NewResponseController(writer).Hijack()
	must(err)
	_ = connection.(*net.TCPConn).SetLinger(0)
	_ = connection.Close()
	return false
}

// logged collects what goes to log/slog during a test.
func logged(t *testing.T) func() []string {
	var mu sync.Mutex
	var text bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(writerFunc(func(part []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(part)
	}), nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Split(strings.TrimSpace(text.String()), "\n")
	}
}

type writerFunc func([]byte) (int, error)

func (write writerFunc) Write(part []byte) (int, error) { return write(part) }

func freePort(t testing.TB) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	return fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
}
