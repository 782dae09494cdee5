import { setTimeout } from "node:timers/promises";
import express from "express";
import { createRemoteJWKSet, customFetch, jwtVerify } from "jose";

let known; // the last keys
let isReachable = false;
async function fetchKeys(url, options) {
  try {
    const response = await fetch(url, options);
    isReachable = response.ok;
    if (isReachable) known = await response.json();
  } catch {
    isReachable = false;
  }
  return known ? Response.json(known) : Response.error();
}

const url = new URL("http://127.0.0.1:3000/.well-known/jwks.json");
const keys = createRemoteJWKSet(url, { cacheMaxAge: 300_000, [customFetch]: fetchKeys });
const expected = {
  algorithms: ["ES256", "EdDSA"],
  issuer: "https://accounts.example.com",
  audience: "https://api.example.com",
};

// With a key of ADMIN_EVENT_KEYS, bans, deletions and revocations arrive within two seconds; otherwise, when a token expires.
const { LATCHKEY_EVENT_KEY: eventKey } = process.env;
const { LATCHKEY_EVENTS_URL: eventsUrl = "http://127.0.0.1:3001/admin/events" } = process.env;
const keepSeconds = 60 * 60 + 60; // AUTH_TOKEN_EXPIRE_MINUTES, and a minute for clocks
const latest = new Map(); // the latest event of each user, in the order of their arrival
let restoredAt = 0;
let isCurrent = eventKey === undefined;

function apply(event) {
  if (event.type === "database.restored") {
    latest.clear();
    restoredAt = Date.parse(event.created_at) / 1000;
  } else if (event.type !== "user.created") {
    const { user_id, is_active, token_version, kept_jti } = event;
    const keptUntil = performance.now() + keepSeconds * 1000;
    latest.delete(user_id);
    latest.set(user_id, { isActive: is_active, version: token_version, keptJti: kept_jti, keptUntil });
  }
}

async function readEvents(query) {
  const response = await fetch(`${eventsUrl}?limit=1000&${query}`, {
    headers: { Authorization: `Bearer ${eventKey}` },
    signal: AbortSignal.timeout(35_000),
  });
  if (response.status === 404) isCurrent = true; // the service records no events
  if (response.status === 410 || response.status === 422) return { items: [], next_cursor: null };
  if (!response.ok) throw new Error(`Events: status ${response.status}`);
  return response.json();
}

async function followEvents() {
  for (let cursor = null; ; ) {
    try {
      const wait = isCurrent ? 25 : 0;
      const query = cursor ? `after=${cursor}&wait=${wait}` : `since=${keepSeconds}`;
      const { items, next_cursor } = await readEvents(query);
      items.forEach(apply);
      if (!next_cursor)
        isCurrent = false; // the cursor has expired
      else if (cursor && items.length === 0) isCurrent = true;
      cursor = next_cursor;
      for (const [id, { keptUntil }] of latest)
        if (keptUntil < performance.now()) latest.delete(id);
        else break;
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
      await setTimeout(1000);
    }
  }
}

function isRevoked({ sub, ver = 0, jti, iat }) {
  const event = latest.get(Number(sub));
  const isOld = event && ver < event.version && jti !== event.keptJti;
  return iat < restoredAt || (event && !event.isActive) || isOld;
}

async function authenticate(request, response, next) {
  const token = request.get("Authorization")?.replace(/^Bearer /i, "");
  try {
    request.claims = (await jwtVerify(token, keys, expected)).payload;
    if (!isCurrent) return response.status(503).end();
    if (isRevoked(request.claims)) throw new Error("revoked");
  } catch (error) {
    const isUnknown = error.code === "ERR_JOSE_GENERIC" || error.code === "ERR_JWKS_NO_MATCHING_KEY";
    if (isUnknown && !isReachable) return response.status(503).end();
    return response.status(401).set("WWW-Authenticate", "Bearer").end();
  }
  next();
}

const requireRole = (role) => (request, response, next) =>
  request.claims.roles?.includes(role) ? next() : response.status(403).end();

const requireFactors = (maxAge) => (request, response, next) => {
  const { acr, auth_time: loggedInAt = 0 } = request.claims;
  if (acr === "2fa" && Date.now() / 1000 - loggedInAt <= maxAge) return next();
  const challenge = `Bearer error="insufficient_user_authentication", acr_values="2fa", max_age=${maxAge}`;
  response.status(401).set("WWW-Authenticate", challenge).end();
};

if (eventKey) followEvents();
const app = express();
app.get("/me", authenticate, (request, response) => response.json(request.claims.sub));
app.get("/admin", authenticate, requireRole("admin"), (_request, response) => response.json("welcome"));
app.get("/transfer", authenticate, requireFactors(300), (_request, response) => response.json("done"));
app.listen(8000);
