// Sends an exception and a message to each DSN of its standard input, as an application does.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"os"
	"time"

	"github.com/getsentry/sentry-go"
)

func pick() {
	sentry.CaptureException(errors.New("no apples left"))
}

func main() {
	var dsns []string
	if err := json.NewDecoder(os.Stdin).Decode(&dsns); err != nil {
		log.Fatal(err)
	}
	for _, dsn := range dsns {
		if err := sentry.Init(sentry.ClientOptions{Dsn: dsn, Release: "orchard@1.0", Environment: "autumn"}); err != nil {
			log.Fatal(err)
		}
		pick()
		sentry.CaptureMessage("the harvest is late")
		if !sentry.Flush(5 * time.Second) {
			log.Fatal("not all was sent")
		}
	}
}
