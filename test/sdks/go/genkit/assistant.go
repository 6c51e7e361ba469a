package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"
)

var kit = genkit.Init(context.Background(), genkit.WithPlugins(&openai.OpenAI{
	APIKey: "none",
	Opts:   []option.RequestOption{option.WithBaseURL(os.Getenv("OPENAI_BASE_URL"))},
}))

// toolTakes is how long the tool works.
var toolTakes, _ = time.ParseDuration(os.Getenv("TOOL_MS") + "ms")

type query struct {
	Query string `json:"query"`
	Input string `json:"input"`
}

var search = genkit.DefineTool(kit, "search", "Searches the documentation.", func(*ai.ToolContext, query) (string, error) {
	// Longer than the exporter waits: what came before is sent while the tool runs.
	time.Sleep(toolTakes)
	return "npm install", nil
})

var research = genkit.DefineTool(kit, "research", "Asks another agent.", func(ctx *ai.ToolContext, _ query) (string, error) {
	return generate(ctx, "Research")
})

// answer does what the first word of the question says.
func answer(ctx context.Context, question string, to io.Writer) error {
	var options []ai.GenerateOption
	switch strings.Fields(question)[0] {
	case "stream":
		options = append(options, ai.WithStreaming(func(_ context.Context, part *ai.ModelResponseChunk) error {
			_, err := io.WriteString(to, part.Text())
			return err
		}))
	case "tool":
		options = append(options, ai.WithTools(search))
	case "team":
		options = append(options, ai.WithTools(research))
	case "title":
		titled := make(chan error)
		go func() {
			titled <- inSpan(context.Background(), noQuestion, func(ctx context.Context) error {
				_, err := generate(ctx, "A title")
				return err
			})
		}()
		defer func() { <-titled }()
	}
	text, err := generate(ctx, question, options...)
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, text)
	return err
}

func generate(ctx context.Context, question string, options ...ai.GenerateOption) (string, error) {
	options = append(options, ai.WithModelName("openai/gpt-4o-mini"), ai.WithPrompt(question))
	response, err := genkit.Generate(ctx, kit, options...)
	if err != nil {
		return "", err
	}
	return response.Text(), nil
}
