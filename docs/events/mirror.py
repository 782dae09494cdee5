import json
import os
import sqlite3
from http.client import HTTPException
from time import sleep
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = os.environ.get("LATCHKEY_ADMIN_URL", "http://127.0.0.1:3001")
KEY = os.environ["LATCHKEY_READ_KEY"]
db = sqlite3.connect("mirror.db")
db.execute("create table if not exists users (id integer primary key, email text, is_active integer)")
db.execute("create table if not exists feed (cursor text)")


def get(path):
    request = Request(URL + path, headers={"Authorization": f"Bearer {KEY}"})
    with urlopen(request, timeout=40) as response:
        return json.load(response)


def read(user_id):
    try:
        return get(f"/admin/users/{user_id}")
    except HTTPError as error:
        if error.code == 404:
            return {"id": user_id, "is_deleted": True}
        raise


def store(users, cursor):
    with db:  # both or neither
        for user in users:
            db.execute("delete from users where id = :id", user)
            if "is_deleted" not in user:
                db.execute("insert into users values (:id, :email, :is_active)", user)
        db.execute("delete from feed")
        db.execute("insert into feed values (?)", [cursor])


def copy_all():
    start = get("/admin/events?after=now")["next_cursor"]  # first: what changes from here on is an event
    seen, cursor = set(), ""
    while cursor is not None:
        page = get(f"/admin/users?limit=100&cursor={cursor}")
        store(page["items"], None)
        seen.update(user["id"] for user in page["items"])
        cursor = page["next_cursor"]
    known = [user_id for (user_id,) in db.execute("select id from users")]
    store([read(user_id) for user_id in known if user_id not in seen], start)
    return start


def follow(cursor):
    while True:
        try:
            cursor = cursor or copy_all()
            page = get(f"/admin/events?after={cursor}&limit=1000&wait=25")
            changed = {event["user_id"] for event in page["items"]}
            if None in changed:  # database.restored
                cursor = None
                continue
            store([read(user_id) for user_id in changed], page["next_cursor"])
            cursor = page["next_cursor"]
        except (OSError, HTTPException, ValueError) as error:
            if isinstance(error, HTTPError) and error.code in (410, 422):  # the cursor has expired
                cursor = None
                continue
            print(error, flush=True)
            sleep(1)


follow((db.execute("select cursor from feed").fetchone() or [None])[0])
