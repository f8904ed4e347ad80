// Package webhooks tells whether a webhook comes from us.
package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

const toleranceSeconds = 300

// Verify takes X-SVC-Signature, the raw body as it came, the whole secret as it was shown, and the Unix time.
func Verify(secret, header string, body []byte, now int64) bool {
	var stamps, signatures []string
	for _, part := range strings.Split(header, ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			stamps = append(stamps, value)
		case "v1":
			signatures = append(signatures, value)
		}
	}
	if len(stamps) != 1 || strings.Trim(stamps[0], "0123456789") != "" {
		return false
	}
	at, err := strconv.ParseInt(stamps[0], 10, 64)
	if err != nil || now-at > toleranceSeconds || at-now > toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamps[0] + "."))
	mac.Write(body)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	matches := false
	for _, signature := range signatures {
		// hmac.Equal compares in constant time.
		matches = hmac.Equal(expected, []byte(signature)) || matches
	}
	return matches
}
