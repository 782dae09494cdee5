import http.client
import json
import os
from datetime import datetime
from threading import Lock, Thread
from time import monotonic, sleep, time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import jwt
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPBearer

URL = "http://127.0.0.1:3000/.well-known/jwks.json"
MAX_AGE = 300
expected = {
    "algorithms": ["ES256", "EdDSA"],
    "issuer": "https://accounts.example.com",
    "audience": "https://api.example.com",
    "leeway": 60,
}
lock = Lock()
known = {}
fetched = float("-inf")
is_reachable = False


def find_key(kid):
    global known, fetched, is_reachable
    with lock:
        age = monotonic() - fetched
        if age > MAX_AGE or (age > 10 and kid not in known):
            fetched = monotonic()
            try:
                with urlopen(URL, timeout=5) as response:
                    keys = jwt.PyJWKSet.from_dict(json.load(response)).keys
                known, is_reachable = {key.key_id: key.key for key in keys}, True
            except (OSError, ValueError, http.client.HTTPException, jwt.PyJWTError):
                is_reachable = False
        if kid not in known and not is_reachable:
            raise HTTPException(503)
        return known[kid]


# With a key of ADMIN_EVENT_KEYS, bans, deletions and revocations arrive within two seconds; otherwise, when a token expires.
EVENT_KEY = os.environ.get("LATCHKEY_EVENT_KEY")
EVENTS_URL = os.environ.get("LATCHKEY_EVENTS_URL", "http://127.0.0.1:3001/admin/events")
KEEP_SECONDS = 60 * 60 + 60  # AUTH_TOKEN_EXPIRE_MINUTES, and a minute for clocks
latest = {}  # the latest event of each user, in the order of their arrival
restored_at = 0
is_current = EVENT_KEY is None


def apply_event(event):
    global restored_at
    if event["type"] == "database.restored":
        latest.clear()
        restored_at = datetime.fromisoformat(event["created_at"].replace("Z", "+00:00")).timestamp()
    elif event["type"] != "user.created":
        kept_until = monotonic() + KEEP_SECONDS
        latest.pop(event["user_id"], None)
        latest[event["user_id"]] = (event["is_active"], event["token_version"], event["kept_jti"], kept_until)


def read_events(query):
    global is_current
    request = Request(f"{EVENTS_URL}?limit=1000&{query}", headers={"Authorization": f"Bearer {EVENT_KEY}"})
    try:
        with urlopen(request, timeout=35) as response:
            return json.load(response)
    except HTTPError as error:
        if error.code == 404:  # the service records no events
            is_current = True
        if error.code in (410, 422):
            return {"items": [], "next_cursor": None}
        raise


def follow_events():
    global is_current
    cursor = None
    while True:
        try:
            wait = 25 if is_current else 0
            page = read_events(f"after={cursor}&wait={wait}" if cursor else f"since={KEEP_SECONDS}")
            for event in page["items"]:
                apply_event(event)
            if not page["next_cursor"]:  # the cursor has expired
                is_current = False
            elif cursor and not page["items"]:
                is_current = True
            cursor = page["next_cursor"]
            now = monotonic()
            for user_id in [user_id for user_id, event in latest.items() if event[3] < now]:
                del latest[user_id]
        except Exception as error:  # whatever it is: without this thread, revoked tokens are accepted
            print("Events:", error)
            sleep(1)


if EVENT_KEY:
    Thread(target=follow_events, daemon=True).start()


def is_revoked(claims):
    if claims.get("iat", 0) < restored_at:
        return True
    event = latest.get(int(claims["sub"]))
    if event is None:
        return False
    is_active, version, kept_jti, _ = event
    is_kept = kept_jti is not None and claims.get("jti") == kept_jti
    return not is_active or (claims.get("ver", 0) < version and not is_kept)


def authenticate(bearer=Depends(HTTPBearer(auto_error=False))):
    rejection = HTTPException(401, headers={"WWW-Authenticate": "Bearer"})
    try:
        key = find_key(jwt.get_unverified_header(bearer.credentials)["kid"])
        claims = jwt.decode(bearer.credentials, key, **expected)
    except (jwt.PyJWTError, AttributeError, KeyError, TypeError):
        raise rejection
    if not is_current:
        raise HTTPException(503)
    if is_revoked(claims):
        raise rejection
    return claims


def require_admin(claims=Depends(authenticate)):
    if "admin" not in claims.get("roles", []):
        raise HTTPException(403)


def require_factors(max_age):
    def check(claims=Depends(authenticate)):
        if claims.get("acr") != "2fa" or time() - claims.get("auth_time", 0) > max_age:
            error = f'error="insufficient_user_authentication", acr_values="2fa", max_age={max_age}'
            raise HTTPException(401, headers={"WWW-Authenticate": f"Bearer {error}"})

    return check


app = FastAPI()


@app.get("/me")
def me(claims=Depends(authenticate)):
    return claims["sub"]


@app.get("/transfer", dependencies=[Depends(require_factors(300))])
def transfer():
    return "done"


@app.get("/admin", dependencies=[Depends(require_admin)])
def admin():
    return "welcome"
