package callerstats

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	sampleCount = 8
	module      = `module samples

go 1.24

require caller-stats.example/clients/go v0.0.0

replace caller-stats.example/clients/go => %s
`
	// What the samples leave to the reader.
	left = `package samples

import (
	"context"
	"net/http"

	callerstats "caller-stats.example/clients/go"
)

var (
	ctx      context.Context
	handler  http.Handler
	id       string
	message  struct{ ID string }
	recorder *callerstats.Recorder
	request  *http.Request
	rules    callerstats.CallerRules
	server   *http.Server
)

func use(...any) {}
`
)

var (
	samples  = regexp.MustCompile("(?s)```go.*?\n(.*?)```")
	imports  = regexp.MustCompile(`(?s)^import (?:\(.*?\n\)|\S+ \S+)\n`)
	declared = regexp.MustCompile(`(?m)^(\w+)(?:, err)? :=`)
)

// The samples of the docs compile with what they leave to the reader.
func TestSamples(t *testing.T) {
	here, err := filepath.Abs(".")
	check(t, err)
	folder := t.TempDir()
	files := map[string]string{"go.mod": fmt.Sprintf(module, here), "left.go": left}
	for _, page := range []string{"README.md", "../../docs/guides/record/client.md"} {
		text, err := os.ReadFile(page)
		check(t, err)
		for _, found := range samples.FindAllStringSubmatch(string(text), -1) {
			code := imports.ReplaceAllString(found[1], "")
			for _, name := range declared.FindAllStringSubmatch(code, -1) {
				if !strings.Contains(code, "return recorder.Close") {
					code += fmt.Sprintf("use(%s)\n", name[1])
				}
			}
			if !strings.Contains(code, "return recorder.Close") {
				code += "return nil\n"
			}
			name := fmt.Sprintf("sample%d", len(files))
			files[name+".go"] = fmt.Sprintf("package samples\n%s\nfunc %s() error {\n%s}\n", imports.FindString(found[1]), name, code)
		}
	}
	equal(t, "samples", len(files)-2, sampleCount)
	for name, text := range files {
		check(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	command := exec.Command("go", "build", "./...")
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}
