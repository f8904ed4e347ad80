package webhooks

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

// VerifyEd25519 reports whether an Ed25519 signature is valid. publicKey begins with whpk_, body contains the raw bytes
// of the body, and now is the Unix time in seconds.
func VerifyEd25519(publicKey string, header http.Header, body []byte, now int64) bool {
	timestamp := header.Get("webhook-timestamp")
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now-at > 300 || at-now > 300 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(publicKey, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	signed := append([]byte(header.Get("webhook-id")+"."+timestamp+"."), body...)
	for _, part := range strings.Split(header.Get("webhook-signature"), " ") {
		version, text, _ := strings.Cut(part, ",")
		signature, err := base64.StdEncoding.DecodeString(text)
		if version == "v1a" && err == nil && ed25519.Verify(key, signed, signature) {
			return true
		}
	}
	return false
}
