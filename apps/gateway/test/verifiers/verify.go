// With go-jose. Arguments: URL of the key set, issuer, audience, tokens. Prints the `sub` of each token, null if it is invalid.
package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	jose "gopkg.in/square/go-jose.v2"
	"gopkg.in/square/go-jose.v2/jwt"
)

func subject(keys jose.JSONWebKeySet, issuer, audience, text string) (string, error) {
	token, err := jwt.ParseSigned(text)
	if err != nil {
		return "", err
	}
	found := keys.Key(token.Headers[0].KeyID)
	if len(found) != 1 || found[0].Algorithm != token.Headers[0].Algorithm {
		return "", errors.New("no key for this token")
	}
	claims := jwt.Claims{}
	if err := token.Claims(found[0].Key, &claims); err != nil {
		return "", err
	}
	expected := jwt.Expected{Issuer: issuer, Audience: jwt.Audience{audience}, Time: time.Now()}
	return claims.Subject, claims.ValidateWithLeeway(expected, 0)
}

func main() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	keys := jose.JSONWebKeySet{}
	if err := json.NewDecoder(response.Body).Decode(&keys); err != nil {
		panic(err)
	}
	subjects := []*string{}
	for _, token := range os.Args[4:] {
		if sub, err := subject(keys, os.Args[2], os.Args[3], token); err == nil {
			subjects = append(subjects, &sub)
		} else {
			subjects = append(subjects, nil)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(subjects); err != nil {
		panic(err)
	}
}
