package callerstats

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// How many questions a process asks, most of them while there is trouble.
const asked = 20

// child is another process of the tests. It asks questions for some seconds; or it records, says so, and waits until it is killed
// or exits without closing; or it sends what others left.
func child() {
	kind, caller := os.Getenv("CHILD"), os.Getenv("CALLER")
	options := Options{URL: os.Getenv("URL"), ProjectID: project, Key: os.Getenv("KEY"), Spool: os.Getenv("SPOOL")}
	if options.Spool != "" {
		options.OnError = func(error) {}
	}
	recorder, err := New(options)
	must(err)
	record := func(at int) {
		recorder.Record(Query{ID: fmt.Sprintf("%s-%s-%d-%d", caller, os.Getenv("NAME"), os.Getpid(), at), Caller: caller})
	}
	switch kind {
	case "ask":
		lasts, err := time.ParseDuration(os.Getenv("LASTS"))
		must(err)
		for at := 0; at < asked; at++ {
			record(at)
			time.Sleep(lasts / asked)
		}
	case "record", "exit":
		for at := 0; at < 50; at++ {
			record(at)
		}
		fmt.Println("ready", os.Getpid())
		if kind == "exit" {
			os.Exit(0)
		}
		select {}
	case "adopt":
		lasts, err := time.ParseDuration(os.Getenv("LASTS"))
		must(err)
		time.Sleep(lasts)
	}
	if err := recorder.Close(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type spooled struct{ folder, caller string }

func (one spooled) command(url, name string, arguments ...string) *exec.Cmd {
	command := exec.Command(name, arguments...)
	command.Env = append(os.Environ(), "URL="+url, "PROJECT="+project, "KEY="+shared.key, "SPOOL="+one.folder, "CALLER="+one.caller)
	command.Stderr = os.Stderr
	return command
}

// leave runs a process that records 50 queries, and kills it.
func (one spooled) leave(t *testing.T, url string) {
	command := one.command(url, os.Args[0])
	command.Env = append(command.Env, "CHILD=record")
	out, err := command.StdoutPipe()
	check(t, err)
	check(t, command.Start())
	if !bufio.NewScanner(out).Scan() {
		t.Error("the process did not record")
	}
	check(t, command.Process.Kill())
	_ = command.Wait()
}

func newSpooled(t *testing.T) spooled {
	return spooled{filepath.Join(t.TempDir(), "spool"), callerOf()}
}

func TestKilledProcesses(t *testing.T) {
	one := newSpooled(t)
	away := "http://127.0.0.1:" + freePort(t)
	for at := 0; at < 3; at++ {
		one.leave(t, away)
	}
	one.leave(t, shared.url)
	command := one.command(shared.url, os.Args[0])
	command.Env = append(command.Env, "CHILD=send")
	check(t, command.Run())
	equal(t, "counted", shared.count(t, one.caller), 200)
	files, err := os.ReadDir(one.folder)
	check(t, err)
	equal(t, "files", len(files), 0)
}

const javascript = `
import { createRecorder } from '../javascript/dist/index.js';
import { openSpool } from '../javascript/dist/spool.js';
const { URL: url, PROJECT: projectId, KEY: key, CALLER: caller, SPOOL } = process.env;
const recorder = createRecorder({ url, projectId, key, spool: openSpool(SPOOL) });
`

func TestJavaScriptAndGoShareAFolder(t *testing.T) {
	one := newSpooled(t)
	away := "http://127.0.0.1:" + freePort(t)
	leave := javascript + "for (let at = 0; at < 20; at++) recorder.record({ id: `${caller}-js-${at}`, caller });\nprocess.kill(process.pid, 'SIGKILL');"
	_ = one.command(away, "node", "--input-type=module", "--eval", leave).Run()
	recorder := recorderFor(t, Options{Spool: one.folder})
	check(t, recorder.Close(within(t, hangs)))
	equal(t, "counted", shared.count(t, one.caller), 20)
	one.leave(t, away)
	check(t, one.command(shared.url, "node", "--input-type=module", "--eval", javascript+"await recorder.close();").Run())
	equal(t, "counted", shared.count(t, one.caller), 70)
}

func TestWhatIsNotSentBeforeCloseStaysInTheSpool(t *testing.T) {
	one := newSpooled(t)
	var codes []string
	recorder := recorderFor(t, Options{
		URL: "http://127.0.0.1:" + freePort(t), Spool: one.folder, OnError: func(error) {},
		OnDrop: func(_ []Query, why DropReason) { codes = append(codes, why.Code) },
	})
	recorder.Record(Query{ID: one.caller, Caller: one.caller, OccurredAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if recorder.Close(canceled()) == nil {
		t.Error("closed")
	}
	equal(t, "codes", strings.Join(codes, " "), Spooled)
	files, err := filepath.Glob(one.folder + "/*")
	check(t, err)
	equal(t, "files", len(files), 1)
	text, err := os.ReadFile(files[0])
	check(t, err)
	equal(t, "the file", string(text), fmt.Sprintf("{\"id\":\"%s\",\"caller\":\"%s\",\"occurredAt\":\"2026-01-01T00:00:00.000Z\"}\n", one.caller, one.caller))
	for _, path := range append(files, one.folder) {
		info, err := os.Stat(path)
		check(t, err)
		equal(t, "rights of others", info.Mode().Perm()&0o077, 0)
	}
}

func (spool *spool) left(t *testing.T) int {
	files, err := filepath.Glob(spool.folder + "/*.ndjson")
	check(t, err)
	lines := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		lines += strings.Count(string(text), "\n")
	}
	return lines
}

func TestFilesAreRemovedWhenTheirQueriesAreSettled(t *testing.T) {
	spool, err := openSpool(filepath.Join(t.TempDir(), "spool"), project)
	check(t, err)
	for at := 0; at < 25_000; at++ {
		check(t, spool.append(queued{id: fmt.Sprint(at), caller: "web"}, at))
	}
	for _, one := range [][2]int{{9_999, 25_000}, {20_000, 5_000}, {25_000, 0}} {
		check(t, spool.settle(one[0]))
		equal(t, "lines", spool.left(t), one[1])
	}
	check(t, spool.close())
	files, err := os.ReadDir(spool.folder)
	check(t, err)
	equal(t, "files", len(files), 0)
}

func TestAnOwnerWhoseLockWasTakenGoesOnUnderANewName(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "spool")
	first, err := openSpool(folder, project)
	check(t, err)
	check(t, first.append(queued{id: "1", caller: "web"}, 0))
	second, err := openSpool(folder, project)
	check(t, err)
	adopted := 0
	take := func(queries []queued) int { adopted += len(queries); return adopted }
	check(t, second.adopt(take))
	equal(t, "adopted of a process that runs", adopted, 0)
	long := time.Now().Add(-time.Hour)
	check(t, os.Chtimes(first.lockPath(first.owner), long, long))
	check(t, second.adopt(take))
	equal(t, "adopted of a process that sleeps", adopted, 1)
	first.beatAt = long
	owner := first.owner
	check(t, first.append(queued{id: "2", caller: "web"}, 1))
	equal(t, "the same name", first.owner == owner, false)
	check(t, first.settle(2))
	equal(t, "lines", first.left(t), 1)
}

func TestASpoolThatFailsIsNamedAndQueriesAreSent(t *testing.T) {
	lines := logged(t)
	one := newSpooled(t)
	recorder := recorderFor(t, Options{Spool: one.folder})
	recorder.mu.Lock()
	recorder.spool.beatAt = time.Time{}
	check(t, os.RemoveAll(one.folder))
	recorder.mu.Unlock()
	recorder.Record(Query{ID: one.caller, Caller: one.caller})
	check(t, recorder.Close(within(t, hangs)))
	equal(t, "counted", shared.count(t, one.caller), 1)
	all := strings.Join(lines(), "\n")
	if strings.Count(all, "the spool failed") != 1 || !strings.Contains(all, "Queries are sent, but a crash loses them.") {
		t.Error(all)
	}
}
