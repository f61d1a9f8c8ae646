// Verifies webhooks of the Conversation Connection Service. One file, standard library only.
//
// Copy VerifyWebhook into your backend. Run against the vectors:  go run verify.go ../vectors/webhook-signature.json
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxHeaderLength = 4096
	maxSignatures   = 20
)

// The reasons why a webhook is not to be trusted.
var (
	ErrMissingSignature   = errors.New("missing-signature")
	ErrMalformedSignature = errors.New("malformed-signature")
	ErrTruncatedSignature = errors.New("truncated-signature")
	ErrUnsupportedScheme  = errors.New("unsupported-scheme")
	ErrNoMatch            = errors.New("no-match")
	ErrStale              = errors.New("stale")
	ErrFuture             = errors.New("future")
	ErrInvalidJSON        = errors.New("invalid-json")
	ErrNotAnEvent         = errors.New("not-an-event")
)

var (
	unixSeconds = regexp.MustCompile(`^[0-9]{1,11}$`)
	cutOffHex   = regexp.MustCompile(`^[0-9a-fA-F]{0,63}$`)
)

// Event is what a webhook's body holds. Drop duplicates by DeliveryID: retries of one delivery keep it.
type Event struct {
	Event      *string         `json:"event"`
	Payload    json.RawMessage `json:"payload"`
	DeliveryID *string         `json:"deliveryId"`
}

// parseSignature reads t=<unix seconds>,v1=<hmac hex>[,v1=...]; unknown schemes are ignored.
func parseSignature(header string) (timestamp string, signatures [][]byte, err error) {
	if strings.TrimSpace(header) == "" {
		return "", nil, ErrMissingSignature
	}
	if len(header) > maxHeaderLength {
		return "", nil, ErrMalformedSignature
	}
	count, cutOff := 0, false
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, found := strings.Cut(part, "=")
		if !found || name == "" {
			return "", nil, ErrMalformedSignature
		}
		switch name {
		case "t":
			if !unixSeconds.MatchString(value) || (timestamp != "" && timestamp != value) {
				return "", nil, ErrMalformedSignature
			}
			timestamp = value
		case "v1":
			count++
			cutOff = cutOff || cutOffHex.MatchString(value)
			if signature, err := hex.DecodeString(value); err == nil && len(signature) == sha256.Size {
				signatures = append(signatures, signature)
			}
		}
	}
	switch {
	case timestamp == "" || count > maxSignatures:
		return "", nil, ErrMalformedSignature
	case count == 0:
		return "", nil, ErrUnsupportedScheme
	case len(signatures) == 0 && cutOff:
		return "", nil, ErrTruncatedSignature
	case len(signatures) == 0:
		return "", nil, ErrMalformedSignature
	}
	return timestamp, signatures, nil
}

// VerifyWebhook returns the event of a genuine webhook. rawBody is the body exactly as it came, header the value of
// X-Service-Signature, now and toleranceSeconds (usually 300) are in Unix seconds.
func VerifyWebhook(rawBody []byte, header string, secrets []string, toleranceSeconds, now int64) (*Event, error) {
	timestamp, signatures, err := parseSignature(header)
	if err != nil {
		return nil, err
	}
	matched := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(timestamp + "."))
		mac.Write(rawBody)
		expected := mac.Sum(nil)
		for _, signature := range signatures {
			matched = hmac.Equal(expected, signature) || matched
		}
	}
	if !matched {
		return nil, ErrNoMatch
	}
	signedAt, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil, ErrMalformedSignature
	}
	if now-signedAt > toleranceSeconds {
		return nil, ErrStale
	}
	if signedAt-now > toleranceSeconds {
		return nil, ErrFuture
	}
	if !utf8.Valid(rawBody) || !json.Valid(rawBody) {
		return nil, ErrInvalidJSON
	}
	var event Event
	if json.Unmarshal(rawBody, &event) != nil || event.Event == nil || event.DeliveryID == nil ||
		!strings.HasPrefix(string(event.Payload), "{") {
		return nil, ErrNotAnEvent
	}
	return &event, nil
}

type vector struct {
	Name             string   `json:"name"`
	Secrets          []string `json:"secrets"`
	ToleranceSeconds int64    `json:"toleranceSeconds"`
	Now              int64    `json:"now"`
	Signature        string   `json:"signature"`
	Body             string   `json:"body"`
	BodyBase64       []byte   `json:"bodyBase64"`
	Expect           string   `json:"expect"`
	Diagnosis        string   `json:"diagnosis"`
	DeliveryID       string   `json:"deliveryId"`
}

// check tells what a vector gives: valid, the reason of the refusal, or the wrong delivery.
func check(v vector) string {
	body := []byte(v.Body)
	if v.BodyBase64 != nil {
		body = v.BodyBase64
	}
	event, err := VerifyWebhook(body, v.Signature, v.Secrets, v.ToleranceSeconds, v.Now)
	if err != nil {
		return err.Error()
	}
	if *event.DeliveryID != v.DeliveryID {
		return "another deliveryId"
	}
	return "valid"
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	failed := 0
	for _, v := range file.Vectors {
		if result := check(v); result != v.Expect && (v.Diagnosis == "" || result != v.Diagnosis) {
			failed++
			fmt.Printf("%s: %s instead of %s\n", v.Name, result, v.Expect)
		}
	}
	fmt.Printf("%d of %d vectors as expected\n", len(file.Vectors)-failed, len(file.Vectors))
	if failed > 0 {
		os.Exit(1)
	}
}
