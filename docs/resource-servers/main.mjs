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

async function authenticate(request, response, next) {
  const token = request.get("Authorization")?.replace(/^Bearer /i, "");
  try {
    request.claims = (await jwtVerify(token, keys, expected)).payload;
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

const app = express();
app.get("/me", authenticate, (request, response) => response.json(request.claims.sub));
app.get("/admin", authenticate, requireRole("admin"), (_request, response) => response.json("welcome"));
app.get("/transfer", authenticate, requireFactors(300), (_request, response) => response.json("done"));
app.listen(8000);
