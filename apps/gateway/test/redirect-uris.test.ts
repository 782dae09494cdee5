/** Redirect URIs are compared character by character, except the port at a loopback address. */
import { expect, test } from "bun:test";
import { findRedirectUri } from "../src/redirect-uris.ts";

const URIS = [
  "https://app.example.com/callback",
  "http://127.0.0.1/callback",
  "http://[::1]:3000/callback?x",
  "com.example.app:/callback",
];

test.each([
  ...URIS,
  "http://127.0.0.1:1/callback",
  "http://127.0.0.1:65535/callback",
  "http://[::1]/callback?x",
  "http://[::1]:49152/callback?x",
])("%s belongs to the application", (uri) => {
  expect(findRedirectUri(URIS, uri)).toBeString();
});

test.each([
  "",
  "https://app.example.com/callback/",
  "https://app.example.com/callback?x",
  "https://app.example.com/callback#x",
  "https://app.example.com/Callback",
  "https://APP.example.com/callback",
  "https://app.example.com/%63allback",
  "https://app.example.com/x/../callback",
  "https://app.example.com:443/callback",
  "https://app.example.com:444/callback",
  "https://x@app.example.com/callback",
  "https://app.example.com@evil.example/callback",
  "https://app.example.com.evil.example/callback",
  "https://\u0430pp.example.com/callback",
  "https:\\\\app.example.com/callback",
  "//app.example.com/callback",
  "http://app.example.com/callback",
  " https://app.example.com/callback",
  "https://app.example.com/callback\n",
  "javascript:alert(1)//https://app.example.com/callback",
  "com.example.app:1/callback",
  "http://localhost/callback",
  "http://127.0.0.2/callback",
  "http://127.1/callback",
  "http://127.0.0.1:/callback",
  "http://127.0.0.1:080/callback",
  "http://127.0.0.1:99999/callback",
  "http://127.0.0.1:1/callback#x",
  "http://127.0.0.1:1/callback/x",
  "http://127.0.0.1:1@evil.example/callback",
  "http://127.0.0.1.evil.example/callback",
  "http://127.0.0.1:1\\@evil.example/callback",
  "https://127.0.0.1:1/callback",
  "http://[::1]/callback",
  "http://[::2]:3000/callback?x",
])("%j does not", (uri) => {
  expect(findRedirectUri(URIS, uri)).toBeUndefined();
});
