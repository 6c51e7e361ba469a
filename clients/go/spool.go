package callerstats

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	spoolBeat  = 10 * time.Second
	spoolRenew = 30 * time.Second
	spoolGone  = 60 * time.Second
	segmentMax = 10_000
)

var spoolName = regexp.MustCompile(`^([\da-f-]{36})\.(?:lock|\d+\.([^.]*)\.ndjson)$`)

// spool stores queued queries in a folder until the server acknowledges them, so that they survive a crash. All clients have the
// same format: clients/spool.md of the repository. An owner's queries are in segments. One whose queries are all settled is
// removed, or emptied if it is the current one.
//
// Not for several goroutines at once. Queries have consecutive numbers, from the oldest to the newest.
type spool struct {
	folder, project, place, owner string
	// Of the next file.
	number int
	// The lock file, if this owner holds the lock of the kernel.
	lock *os.File
	// To which queries are appended, once there is one: the last of the segments.
	file     *os.File
	segments []segment
	// In the current file.
	lines int
	// Whether the last line may be incomplete, because writing it failed, such as on a full disk.
	isCut  bool
	beatAt time.Time
}

type segment struct {
	path string
	// The number behind that of the last query in it.
	end int
}

func openSpool(folder, projectID string) (*spool, error) {
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	project := strings.ReplaceAll(escape(projectID), ".", "%2E")
	opened := &spool{folder: absolute, project: project, place: placeOfProcess()}
	_, err = opened.writeLock()
	return opened, err
}

func (spool *spool) append(one queued, number int) error {
	if time.Since(spool.beatAt) > spoolRenew {
		if _, err := spool.writeLock(); err != nil {
			return err
		}
	}
	if spool.file == nil || spool.lines >= segmentMax {
		if err := spool.beginSegment(); err != nil {
			return err
		}
	}
	var line []byte
	if spool.isCut {
		line = append(line, '\n')
	}
	line = append(one.appendJSON(line), '\n')
	spool.isCut = true
	if _, err := spool.file.Write(line); err != nil {
		return err
	}
	spool.isCut = false
	spool.lines++
	spool.segments[len(spool.segments)-1].end = number + 1
	return nil
}

// settle knows that all queries before this number are settled.
func (spool *spool) settle(first int) error {
	for len(spool.segments) > 0 && spool.segments[0].end <= first {
		if len(spool.segments) == 1 && spool.file != nil {
			if spool.lines == 0 {
				return nil
			}
			spool.lines = 0
			return spool.file.Truncate(0)
		}
		path := spool.segments[0].path
		spool.segments = spool.segments[1:]
		if err := remove(path); err != nil {
			return err
		}
	}
	return nil
}

// adopt passes the queries of owners that are gone to take, which queues them and returns the number behind the last one. Even
// if one file cannot be taken, the others are.
func (spool *spool) adopt(take func([]queued) int) error {
	now, err := spool.writeLock()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(spool.folder)
	if err != nil {
		return err
	}
	var problem error
	gone := map[string]bool{spool.owner: false}
	for _, entry := range entries {
		found := spoolName.FindStringSubmatch(entry.Name())
		if found == nil {
			continue
		}
		owner, project := found[1], found[2]
		isGone, isKnown := gone[owner]
		if !isKnown {
			isGone, err = spool.removeIfGone(owner, now)
			gone[owner] = isGone
		}
		// The name of a lock has no project either.
		isOurs := strings.HasSuffix(entry.Name(), ".ndjson") && (project == "" || project == spool.project)
		if err == nil && isGone && isOurs {
			err = spool.take(entry.Name(), take)
		}
		problem = errors.Join(problem, err)
		err = nil
	}
	return problem
}

// beat writes the lock anew if it is time for that. It returns whether it was.
func (spool *spool) beat() bool {
	if time.Since(spool.beatAt) < spoolBeat {
		return false
	}
	_, err := spool.writeLock()
	return err == nil
}

// close leaves queries that are not settled to others.
func (spool *spool) close() error {
	isEmpty := spool.file != nil && spool.lines == 0
	spool.closeFile()
	var err error
	if isEmpty {
		err = remove(spool.segments[len(spool.segments)-1].path)
	}
	spool.unlock()
	return errors.Join(err, remove(spool.lockPath(spool.owner)))
}

func (spool *spool) unlock() {
	if spool.lock != nil {
		_ = spool.lock.Close()
	}
	spool.lock = nil
}

func (spool *spool) lockPath(owner string) string { return filepath.Join(spool.folder, owner+".lock") }

func (spool *spool) newPath() string {
	spool.number++
	return filepath.Join(spool.folder, fmt.Sprintf("%s.%d.%s.ndjson", spool.owner, spool.number, spool.project))
}

func (spool *spool) closeFile() {
	if spool.file != nil {
		_ = spool.file.Close()
	}
	spool.file, spool.lines, spool.isCut = nil, 0, false
}

func (spool *spool) beginSegment() error {
	spool.closeFile()
	path := spool.newPath()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	spool.file = file
	spool.segments = append(spool.segments, segment{path: path})
	return nil
}

// writeLock returns the time of this moment by the clock of the disk, which all owners share.
func (spool *spool) writeLock() (time.Time, error) {
	lock, err := os.OpenFile(spool.lockPath(spool.owner), os.O_WRONLY, 0)
	if spool.owner == "" || errors.Is(err, fs.ErrNotExist) {
		// This is the first time, or others have taken the files.
		spool.closeFile()
		spool.unlock()
		spool.segments = nil
		spool.owner = newUUID()
		lock, err = os.OpenFile(spool.lockPath(spool.owner), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil && tryLock(lock) {
			spool.lock = lock
		}
	}
	if err != nil {
		return time.Time{}, err
	}
	if lock != spool.lock {
		defer lock.Close()
	}
	text := fmt.Sprintf("%d %s", os.Getpid(), spool.place)
	if spool.lock != nil {
		text += " flock"
	}
	if _, err := lock.WriteString(text); err != nil {
		return time.Time{}, err
	}
	spool.beatAt = time.Now()
	info, err := lock.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (spool *spool) removeIfGone(owner string, now time.Time) (bool, error) {
	path := spool.lockPath(owner)
	lock, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	text, err := io.ReadAll(io.LimitReader(lock, 4096))
	if err != nil {
		return false, err
	}
	info, err := lock.Stat()
	if err != nil {
		return false, err
	}
	words := append(strings.Split(string(text), " "), "", "", "")
	pid, pidErr := strconv.Atoi(words[0])
	isHere := words[1] != "" && words[1] == spool.place
	isGone := isHere && (pidErr != nil || !isRunning(pid)) || now.Sub(info.ModTime()) > spoolGone ||
		words[2] == "flock" && tryLock(lock)
	if !isGone {
		return false, nil
	}
	return true, remove(path)
}

// take renames a file to a name of this owner, unless another has done that.
func (spool *spool) take(name string, take func([]queued) int) error {
	path, old := spool.newPath(), filepath.Join(spool.folder, name)
	if err := os.Rename(old, path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		// Whoever can read it takes it later.
		return errors.Join(err, os.Rename(path, old))
	}
	var queries []queued
	for _, line := range bytes.Split(text, []byte("\n")) {
		if one, isQuery := parseLine(line); isQuery {
			queries = append(queries, one)
		}
	}
	// What is appended from now on is newer than what was adopted.
	spool.closeFile()
	spool.segments = append(spool.segments, segment{path, take(queries)})
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func newUUID() string {
	var bits [16]byte
	if _, err := rand.Read(bits[:]); err != nil {
		panic(err)
	}
	bits[6], bits[8] = bits[6]&0x0f|0x40, bits[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bits[:4], bits[4:6], bits[6:8], bits[8:10], bits[10:])
}

// escape is encodeURIComponent of JavaScript.
func escape(text string) string {
	var escaped strings.Builder
	for at := 0; at < len(text); at++ {
		one := text[at]
		if one >= 'a' && one <= 'z' || one >= 'A' && one <= 'Z' || one >= '0' && one <= '9' || strings.IndexByte("-_.!~*'()", one) >= 0 {
			escaped.WriteByte(one)
		} else {
			fmt.Fprintf(&escaped, "%%%02X", one)
		}
	}
	return escaped.String()
}
