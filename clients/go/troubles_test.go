//go:build unix

package callerstats

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var isDeep = os.Getenv("CALLER_STATS_TEST_DEEP") != ""

// lasting is longer in the deep run.
func lasting(short, deep time.Duration) time.Duration {
	if isDeep {
		return deep
	}
	return short
}

// ask runs a process that asks for so long, and returns what it logs.
func ask(url, key, caller string, lasts time.Duration) (string, error) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "CHILD=ask", "URL="+url, "KEY="+key, "CALLER="+caller, "LASTS="+lasts.String())
	var logged bytes.Buffer
	command.Stderr = &logged
	err := command.Run()
	return logged.String(), err
}

func TestTroublesThatLast(t *testing.T) {
	for what, trouble := range map[string]struct {
		said   string
		answer func(http.ResponseWriter) bool
	}{
		"503 of a proxy": {"answered 503", func(writer http.ResponseWriter) bool {
			writer.Header().Set("Retry-After", "1")
			return reply(writer, http.StatusServiceUnavailable, "<h1>Busy</h1>")
		}},
		"429 for longer than Close waits": {"Slow down.", func(writer http.ResponseWriter) bool {
			writer.Header().Set("Retry-After", "3600")
			return reply(writer, http.StatusTooManyRequests, `{"error":"Slow down."}`)
		}},
		"connections that are cut": {"No response from", cut},
		"a key that is wrong": {"The key is revoked. Check Key", func(writer http.ResponseWriter) bool {
			return reply(writer, http.StatusUnauthorized, `{"error":"The key is revoked."}`)
		}},
		"a sign-in page": {"answered 200, not as caller-stats does: <html>", func(writer http.ResponseWriter) bool {
			return reply(writer, http.StatusOK, "<html>Log in</html>")
		}},
		"a redirect": {"redirects to https://new.test/v1/analytics/x, and redirects are not followed", func(writer http.ResponseWriter) bool {
			writer.Header().Set("Location", "https://new.test/v1/analytics/x")
			return reply(writer, http.StatusMovedPermanently, "")
		}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			lasts, caller := lasting(1500*time.Millisecond, 6*time.Second), callerOf()
			var ends time.Time
			front := newFront(t, func(writer http.ResponseWriter, _ []byte, number int) bool {
				if number == 0 {
					// A busy machine starts the process late.
					ends = time.Now().Add(lasts)
				}
				return time.Now().After(ends) || trouble.answer(writer)
			})
			logged, err := ask(front.url, shared.key, caller, lasts+500*time.Millisecond)
			check(t, err)
			equal(t, "counted", shared.count(t, caller), asked)
			lines := strings.Split(strings.TrimSpace(logged), "\n")
			if len(lines) != 2 || !strings.Contains(lines[0], trouble.said) || !strings.Contains(lines[1], "work again") {
				t.Error(logged)
			}
		})
	}
}

func TestAServerThatIsAway(t *testing.T) {
	t.Parallel()
	server, caller, lasts := newServer(t.TempDir()), callerOf(), lasting(time.Second, 30*time.Second)
	t.Cleanup(func() { server.kill() })
	server.kill()
	address, asking := server.url, make(chan error)
	go func() {
		_, err := ask(address, server.key, caller, lasts+2*time.Second)
		asking <- err
	}()
	time.Sleep(lasts)
	server.start()
	check(t, <-asking)
	equal(t, "counted", server.count(t, caller), asked)
}

func TestWhatNeverAnswersIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { listener.Close() })
	for url, said := range map[string]string{
		"http://" + listener.Addr().String(): "No response from http://" + listener.Addr().String() + ": no answer in 300ms",
		"http://stats.invalid":               "No response from http://stats.invalid: ",
	} {
		lines := logged(t)
		recorder := recorderFor(t, Options{URL: url, Timeout: 300 * time.Millisecond, CloseTimeout: time.Second})
		recorder.Record(Query{ID: "1", Caller: "web"})
		if recorder.Close(t.Context()) == nil {
			t.Error("closed")
		}
		all := strings.Join(lines(), "\n")
		if !strings.Contains(all, said) || !strings.Contains(all, "1 query is not counted (closed)") {
			t.Error(all)
		}
	}
}

// leaveBy starts a process that records, and ends it so.
func (one spooled) leaveBy(t *testing.T, url, kind, name string, before []string, end func(*os.Process)) {
	all := append(append([]string{}, before...), os.Args[0])
	command := one.command(url, all[0], all[1:]...)
	command.Env = append(command.Env, "CHILD="+kind, "NAME="+name)
	out, err := command.StdoutPipe()
	check(t, err)
	check(t, command.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() || len(before) > 0 && lines.Text() != "ready 1" {
		t.Error("the process said: " + lines.Text())
	}
	end(command.Process)
	// In a container, the recorder outlives the process that was killed by a moment, and keeps its spool.
	for lines.Scan() {
	}
	_ = command.Wait()
}

func kill(process *os.Process) { _ = process.Kill() }

func TestProcessesThatEndWithoutAWord(t *testing.T) {
	one, away := newSpooled(t), "http://127.0.0.1:"+freePort(t)
	one.leaveBy(t, away, "record", "killed", nil, kill)
	one.leaveBy(t, away, "record", "frozen", nil, func(process *os.Process) {
		check(t, process.Signal(syscall.SIGSTOP))
		kill(process)
	})
	one.leaveBy(t, away, "exit", "exited", nil, func(*os.Process) {})
	one.send(t, nil, 0)
	equal(t, "counted", shared.count(t, one.caller), 150)
	files, err := os.ReadDir(one.folder)
	check(t, err)
	equal(t, "files", len(files), 0)
}

// send runs a process that takes what others left, and lasts for some time.
func (one spooled) send(t *testing.T, before []string, lasts time.Duration) {
	all := append(append([]string{}, before...), os.Args[0])
	command := one.command(shared.url, all[0], all[1:]...)
	command.Env = append(command.Env, "CHILD=adopt", "LASTS="+lasts.String())
	check(t, command.Run())
}

// Both are killed while the server is away. A third process, in a container of its own, sends what they left.
func TestTwoContainersWithOneProcessID(t *testing.T) {
	container := strings.Fields("unshare --map-root-user --user --pid --fork --kill-child --mount-proc")
	if exec.Command(container[0], append(container[1:], "true")...).Run() != nil {
		// Where that is not allowed, at least the folder is shared.
		container = nil
	}
	one := spooled{filepath.Join(t.TempDir(), "spool"), callerOf()}
	for _, name := range []string{"a", "b"} {
		one.leaveBy(t, "http://127.0.0.1:"+freePort(t), "record", name, container, kill)
	}
	one.send(t, container, 0)
	equal(t, "counted", shared.count(t, one.caller), 100)
}
