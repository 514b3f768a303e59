// Package webhook says whether a webhook is ours. One function to copy; Go 1.17 or newer, no modules.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// Verify is true if the request was signed with secret within five minutes of now. The body is
// the bytes as they came. Panics if the secret is empty, as anybody could sign then.
func Verify(secret string, header http.Header, body []byte, now time.Time) bool {
	if secret == "" {
		panic("webhook: the secret is empty, so anybody could sign")
	}
	timestamp := header.Get("X-Webhook-Timestamp")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + header.Get("X-Webhook-Event") + "."))
	mac.Write(body)
	expected := "v1=" + hex.EncodeToString(mac.Sum(nil))
	if !hmac.Equal([]byte(expected), []byte(header.Get("X-Webhook-Signature"))) {
		return false
	}
	milliseconds, err := strconv.ParseInt(timestamp, 10, 64)
	age := now.Sub(time.UnixMilli(milliseconds))
	return err == nil && -5*time.Minute <= age && age <= 5*time.Minute
}
