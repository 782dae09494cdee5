import { createHmac } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

const { LATCHKEY_ADMIN_URL: url = "http://127.0.0.1:3001", LATCHKEY_EVENT_KEY: key } = process.env;
const { WEBHOOK_URL: target, WEBHOOK_SECRET } = process.env;
const secret = Buffer.from(WEBHOOK_SECRET.replace("whsec_", ""), "base64");

async function deliver(id, type, timestamp, data) {
  const body = JSON.stringify({ type, timestamp, data });
  for (let pauseMs = 1000; ; pauseMs = Math.min(2 * pauseMs, 60_000)) {
    const sentAt = Math.floor(Date.now() / 1000);
    const mac = createHmac("sha256", secret).update(`${id}.${sentAt}.${body}`).digest("base64");
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(sentAt),
      "webhook-signature": `v1,${mac}`,
    };
    const init = { method: "POST", headers, body, signal: AbortSignal.timeout(15_000) };
    const response = await fetch(target, init).catch((error) => error);
    if (response.ok) return;
    process.stderr.write(`${id}: ${response.status ?? response.message}\n`);
    await setTimeout(pauseMs);
  }
}

async function readEvents(cursor) {
  const query = cursor ? `after=${cursor}&wait=25` : "";
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/admin/events?${query}`, {
    headers,
    signal: AbortSignal.timeout(35_000),
  });
  if (response.status === 410 || response.status === 422) return null; // the cursor has expired
  if (!response.ok) throw new Error(`Events: status ${response.status}`);
  return response.json();
}

for (let cursor = await readFile("cursor", "utf8").catch(() => ""); ; ) {
  try {
    const page = await readEvents(cursor);
    if (page === null) await deliver(`missed-${Date.now()}`, "events.missed", new Date().toISOString(), {});
    for (const event of page?.items ?? [])
      await deliver(`event-${event.position}`, event.type, event.created_at, event);
    cursor = page?.next_cursor ?? "";
    await writeFile("cursor.new", cursor);
    await rename("cursor.new", "cursor");
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    await setTimeout(1000);
  }
}
