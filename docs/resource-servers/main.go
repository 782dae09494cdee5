package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	url      = "http://127.0.0.1:3000/.well-known/jwks.json"
	maxAge   = 300 * time.Second
	issuer   = "https://accounts.example.com"
	audience = "https://api.example.com"
)

type key struct{ Kid, Alg, X, Y string }
type claims struct {
	Iss, Sub, Aud string
	Acr           string
	Exp, Nbf, Iat int64
	Jti           string
	Ver           int64
	AuthTime      int64 `json:"auth_time"`
	Roles         []string
}

var (
	client         = http.Client{Timeout: 5 * time.Second}
	mutex          sync.Mutex
	known          map[string]key
	fetched        time.Time
	isReachable    bool
	errRejected    = errors.New("rejected")
	errUnavailable = errors.New("the keys are unavailable")
)

func fetchKeys() (map[string]key, error) {
	response, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var set struct{ Keys []key }
	if err = json.NewDecoder(response.Body).Decode(&set); err != nil || response.StatusCode != 200 {
		return nil, errUnavailable
	}
	keys := map[string]key{}
	for _, each := range set.Keys {
		keys[each.Kid] = each
	}
	return keys, nil
}

func findKey(kid string) (key, error) {
	mutex.Lock()
	defer mutex.Unlock()
	found, exists := known[kid]
	if age := time.Since(fetched); age > maxAge || (age > 10*time.Second && !exists) {
		fetched = time.Now()
		keys, err := fetchKeys()
		if isReachable = err == nil; isReachable {
			known = keys
			found, exists = known[kid]
		}
	}
	if exists {
		return found, nil
	} else if isReachable {
		return found, errRejected
	}
	return found, errUnavailable
}

func decode(text string) []byte {
	bytes, _ := base64.RawURLEncoding.Strict().DecodeString(text)
	return bytes
}

func isSigned(k key, message, signature []byte) bool {
	switch {
	case k.Alg == "EdDSA" && len(decode(k.X)) == ed25519.PublicKeySize:
		return ed25519.Verify(decode(k.X), message, signature)
	case k.Alg == "ES256" && len(signature) == 64:
		number := func(bytes []byte) *big.Int { return new(big.Int).SetBytes(bytes) }
		public := ecdsa.PublicKey{Curve: elliptic.P256(), X: number(decode(k.X)), Y: number(decode(k.Y))}
		digest := sha256.Sum256(message)
		return ecdsa.Verify(&public, digest[:], number(signature[:32]), number(signature[32:]))
	}
	return false
}

func authenticate(header string) (c claims, err error) {
	parts := strings.Split(header[strings.Index(header, " ")+1:], ".")
	var head struct{ Alg, Kid string }
	if len(parts) != 3 || json.Unmarshal(decode(parts[0]), &head) != nil {
		return c, errRejected
	}
	k, err := findKey(head.Kid)
	if err != nil {
		return c, err
	}
	now := time.Now().Unix()
	if head.Alg != k.Alg || !isSigned(k, []byte(parts[0]+"."+parts[1]), decode(parts[2])) ||
		json.Unmarshal(decode(parts[1]), &c) != nil ||
		c.Iss != issuer || c.Aud != audience || c.Exp <= now-60 || c.Nbf > now+60 {
		return c, errRejected
	}
	return c, checkRevocation(c)
}

// With a key of ADMIN_EVENT_KEYS, bans, deletions and revocations arrive within two seconds; otherwise, when a token expires.
const (
	defaultEventsURL = "http://127.0.0.1:3001/admin/events"
	keep             = time.Hour + time.Minute // AUTH_TOKEN_EXPIRE_MINUTES, and a minute for clocks
)

type event struct {
	Type         string
	UserID       int64     `json:"user_id"`
	IsActive     bool      `json:"is_active"`
	TokenVersion int64     `json:"token_version"`
	KeptJti      string    `json:"kept_jti"`
	CreatedAt    time.Time `json:"created_at"`
}
type page struct {
	Items      []event
	NextCursor string `json:"next_cursor"`
}
type state struct {
	isActive  bool
	version   int64
	keptJti   string
	keptUntil time.Time
}

var (
	eventKey     = os.Getenv("LATCHKEY_EVENT_KEY")
	eventsClient = http.Client{Timeout: 35 * time.Second}
	eventsMutex  sync.RWMutex
	latest       = map[string]state{} // by user
	restoredAt   time.Time
	isCurrent    = eventKey == ""
)

type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

func readEvents(query string) (p page, err error) {
	target := os.Getenv("LATCHKEY_EVENTS_URL")
	if target == "" {
		target = defaultEventsURL
	}
	request, err := http.NewRequest("GET", target+"?limit=1000&"+query, nil)
	if err != nil {
		return p, err
	}
	request.Header.Set("Authorization", "Bearer "+eventKey)
	response, err := eventsClient.Do(request)
	if err != nil {
		return p, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case 200:
		return p, json.NewDecoder(response.Body).Decode(&p)
	case 410, 422:
		return p, nil
	}
	return p, statusError(response.StatusCode)
}

func apply(p page, hadCursor bool) {
	eventsMutex.Lock()
	defer eventsMutex.Unlock()
	for _, e := range p.Items {
		switch e.Type {
		case "user.created":
		case "database.restored":
			latest, restoredAt = map[string]state{}, e.CreatedAt
		default:
			user := strconv.FormatInt(e.UserID, 10)
			latest[user] = state{e.IsActive, e.TokenVersion, e.KeptJti, time.Now().Add(keep)}
		}
	}
	if p.NextCursor == "" { // the cursor has expired
		isCurrent = false
	} else if hadCursor && len(p.Items) == 0 {
		isCurrent = true
	}
}

func forgetOld() {
	eventsMutex.Lock()
	defer eventsMutex.Unlock()
	for user, s := range latest {
		if time.Now().After(s.keptUntil) {
			delete(latest, user)
		}
	}
}

func followEvents() {
	cursor, swept := "", time.Now()
	for {
		query := fmt.Sprintf("since=%d", int(keep.Seconds()))
		if cursor != "" {
			wait := 0
			if isCurrent {
				wait = 25
			}
			query = fmt.Sprintf("after=%s&wait=%d", cursor, wait)
		}
		p, err := readEvents(query)
		if err != nil {
			if err == statusError(404) { // the service records no events
				eventsMutex.Lock()
				isCurrent = true
				eventsMutex.Unlock()
			}
			log.Print("events: ", err)
			time.Sleep(time.Second)
			continue
		}
		apply(p, cursor != "")
		cursor = p.NextCursor
		if time.Since(swept) > time.Minute {
			forgetOld()
			swept = time.Now()
		}
	}
}

func checkRevocation(c claims) error {
	eventsMutex.RLock()
	defer eventsMutex.RUnlock()
	s, isKnown := latest[c.Sub]
	switch {
	case !isCurrent:
		return errUnavailable
	case time.Unix(c.Iat, 0).Before(restoredAt), isKnown && !s.isActive:
		return errRejected
	case isKnown && c.Ver < s.version && (c.Jti == "" || c.Jti != s.keptJti):
		return errRejected
	}
	return nil
}

func handle(role string, body func(claims) string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		c, err := authenticate(request.Header.Get("Authorization"))
		allowed := role == ""
		for _, each := range c.Roles {
			allowed = allowed || each == role
		}
		switch {
		case err == errUnavailable:
			response.WriteHeader(503)
		case err != nil:
			response.Header().Set("WWW-Authenticate", "Bearer")
			response.WriteHeader(401)
		case !allowed:
			response.WriteHeader(403)
		default:
			json.NewEncoder(response).Encode(body(c))
		}
	}
}

func requireFactors(maxAge int64, body func(claims) string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		c, err := authenticate(request.Header.Get("Authorization"))
		if err == nil && (c.Acr != "2fa" || time.Now().Unix()-c.AuthTime > maxAge) {
			challenge := `Bearer error="insufficient_user_authentication", acr_values="2fa", max_age=%d`
			response.Header().Set("WWW-Authenticate", fmt.Sprintf(challenge, maxAge))
			response.WriteHeader(401)
			return
		}
		handle("", body)(response, request)
	}
}

func main() {
	if eventKey != "" {
		go followEvents()
	}
	http.HandleFunc("/me", handle("", func(c claims) string { return c.Sub }))
	http.HandleFunc("/admin", handle("admin", func(claims) string { return "welcome" }))
	http.HandleFunc("/transfer", requireFactors(300, func(claims) string { return "done" }))
	http.ListenAndServe(":8000", nil)
}
