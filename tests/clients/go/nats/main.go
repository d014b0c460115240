// NATS's client for Go, told what to do line by line.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
)

type step struct {
	Do       string `json:"do"`
	URL      string `json:"url"`
	RunID    string `json:"run_id"`
	Question string `json:"question"`
	Text     string `json:"text"`
	After    int    `json:"after"`
}

const patience = 60 * time.Second

var (
	client *nats.Conn
	heard  chan []byte
)

func linesOf(data []byte) [][]byte { return bytes.Split(bytes.TrimSpace(data), []byte("\n")) }

func ask(told step) error {
	lines := make(chan []byte, 1000)
	heard = lines
	if _, err := client.Subscribe("gw.event."+told.RunID, func(message *nats.Msg) {
		for _, line := range linesOf(message.Data) {
			lines <- line
		}
	}); err != nil {
		return err
	}
	asked, err := json.Marshal(map[string]string{"type": "question_asked", "question": told.Question})
	if err != nil {
		return err
	}
	stream, err := client.JetStream()
	if err != nil {
		return err
	}
	_, err = stream.Publish("gw.question_asked."+told.RunID, asked)
	return err
}

func until(text string) ([]json.RawMessage, error) {
	if text == "" {
		text = `"DONE"`
	}
	events := []json.RawMessage{}
	for {
		select {
		case line := <-heard:
			events = append(events, line)
			if bytes.Contains(line, []byte(text)) {
				return events, nil
			}
		case <-time.After(patience):
			return nil, fmt.Errorf("%q did not come", text)
		}
	}
}

func readBack(told step) ([]json.RawMessage, error) {
	inbox := nats.NewInbox()
	found, err := client.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer found.Unsubscribe()
	asked, err := json.Marshal(map[string]any{"seq": 1, "next_by_subj": "gw.event." + told.RunID, "batch": 1000})
	if err != nil {
		return nil, err
	}
	if err := client.PublishRequest("gw.events", inbox, asked); err != nil {
		return nil, err
	}
	events := []json.RawMessage{}
	for {
		message, err := found.NextMsg(patience)
		if err != nil {
			return nil, err
		}
		if message.Header.Get("Gw-First") == "" {
			return events[told.After:], nil
		}
		for _, line := range linesOf(message.Data) {
			events = append(events, line)
		}
	}
}

func do(told step) (any, error) {
	switch told.Do {
	case "open":
		var err error
		client, err = nats.Connect(told.URL)
		return nil, err
	case "ask":
		return nil, ask(told)
	case "until":
		return until(told.Text)
	case "cancel":
		return nil, client.Publish("gw.cancel."+told.RunID, nil)
	case "read_back":
		return readBack(told)
	case "close":
		client.Close()
		return nil, nil
	}
	return nil, fmt.Errorf("there is no step %q", told.Do)
}

func main() {
	said := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var told step
		if err := json.Unmarshal(lines.Bytes(), &told); err != nil {
			panic(err)
		}
		if found, err := do(told); err != nil {
			said.Encode(map[string]string{"failed": err.Error()})
		} else {
			said.Encode(map[string]any{"ok": found})
		}
	}
}
