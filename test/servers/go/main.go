// A server that is not Touchstone's, in Go: notes by name, over standard input and output or, with the argument "http", over
// streamable HTTP on a free port of 127.0.0.1, whose address is the first line of its standard error.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type note struct {
	Name string `json:"name"`
	Text string `json:"text"`
}
type name struct {
	Name string `json:"name"`
}

var (
	lock  sync.Mutex
	notes = map[string]string{}
)

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func write(_ context.Context, _ *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
	lock.Lock()
	defer lock.Unlock()
	notes[in.Name] = in.Text
	return said(fmt.Sprintf("Wrote %d characters to %s.", len(in.Text), in.Name)), nil, nil
}

func read(_ context.Context, _ *mcp.CallToolRequest, in name) (*mcp.CallToolResult, any, error) {
	lock.Lock()
	defer lock.Unlock()
	text, there := notes[in.Name]
	if !there {
		return nil, nil, errors.New("no note of that name")
	}
	return said(text), nil, nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "write_note", Description: "Write a note."}, write)
	mcp.AddTool(server, &mcp.Tool{Name: "read_note", Description: "Read a note."}, read)
	if len(os.Args) > 1 && os.Args[1] == "http" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(os.Stderr, "http://%s/mcp\n", listener.Addr())
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
		panic(http.Serve(listener, handler))
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}
