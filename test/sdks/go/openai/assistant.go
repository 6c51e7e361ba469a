package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
)

var client = openai.NewClient()

// toolTakes is how long the tool works.
var toolTakes, _ = time.ParseDuration(os.Getenv("TOOL_MS") + "ms")

// answer does what the first word of the question says.
func answer(ctx context.Context, question string, to io.Writer) error {
	switch strings.Fields(question)[0] {
	case "stream":
		return stream(ctx, question, to)
	case "tool":
		if err := call(ctx, question, to); err != nil {
			return err
		}
		// Longer than the exporter waits: what came before is sent while the tool runs.
		time.Sleep(toolTakes)
		return call(ctx, "With its result: "+question, to)
	case "team":
		if err := call(ctx, "Rewrite: "+question, io.Discard); err != nil {
			return err
		}
	case "title":
		titled := make(chan error)
		go func() {
			titled <- inSpan(context.Background(), noQuestion, func(ctx context.Context) error { return call(ctx, "A title", io.Discard) })
		}()
		defer func() { <-titled }()
	}
	return call(ctx, question, to)
}

func completion(question string) openai.ChatCompletionNewParams {
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}
	return openai.ChatCompletionNewParams{Model: "gpt-5-mini", Messages: messages}
}

func call(ctx context.Context, question string, to io.Writer) error {
	return inSpan(ctx, asksModel, func(ctx context.Context) error {
		completed, err := client.Chat.Completions.New(ctx, completion(question))
		if err != nil {
			return err
		}
		_, err = io.WriteString(to, completed.Choices[0].Message.Content)
		return err
	})
}

func stream(ctx context.Context, question string, to io.Writer) error {
	return inSpan(ctx, asksModel, func(ctx context.Context) error {
		parts := client.Chat.Completions.NewStreaming(ctx, completion(question))
		for parts.Next() {
			for _, choice := range parts.Current().Choices {
				if _, err := io.WriteString(to, choice.Delta.Content); err != nil {
					return err
				}
			}
		}
		return parts.Err()
	})
}
