// Package webhooks verifies the signatures of webhooks.
package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

const toleranceSeconds = 300

// Verify reports whether the signature is valid. header is X-SVC-Signature, body the raw bytes of the body, secret the
// whole secret as it was shown, and now the Unix time in seconds.
func Verify(secret, header string, body []byte, now int64) bool {
	var timestamps, signatures []string
	for _, part := range strings.Split(header, ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			timestamps = append(timestamps, value)
		case "v1":
			signatures = append(signatures, value)
		}
	}
	if len(timestamps) != 1 || strings.Trim(timestamps[0], "0123456789") != "" {
		return false
	}
	at, err := strconv.ParseInt(timestamps[0], 10, 64)
	if err != nil || now-at > toleranceSeconds || at-now > toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamps[0] + "."))
	mac.Write(body)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	matches := false
	for _, signature := range signatures {
		// hmac.Equal compares in constant time.
		matches = hmac.Equal(expected, []byte(signature)) || matches
	}
	return matches
}
