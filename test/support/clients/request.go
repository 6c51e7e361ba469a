// Sends the requests that standard input lists with Go's client, and prints the responses: see clients.ts.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// The fields of a line: client, method, URL, bytes, framing, headers.
func send(fields []string) (int, string, error) {
	length, err := strconv.Atoi(fields[3])
	if err != nil {
		return 0, "", err
	}
	var body io.Reader = bytes.NewReader(bytes.Repeat([]byte(" "), length))
	if fields[4] == "chunked" {
		body = io.MultiReader(body)
	}
	request, err := http.NewRequest(fields[1], fields[2], body)
	if err != nil {
		return 0, "", err
	}
	for _, header := range fields[5:] {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	request.Close = request.Header.Get("Connection") == "close"
	client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		status, body, err := send(strings.Split(lines.Text(), "\t"))
		if err != nil {
			status, body = 0, err.Error()
		}
		fmt.Printf("%d\t%s\n", status, body)
	}
}
