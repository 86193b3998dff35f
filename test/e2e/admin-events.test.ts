import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { signIn, type Administrator } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/* The console's live events: the changes that are sent, their receivers, and their end with the session. */
let gateway: TestGateway;
let admin: Administrator;
beforeAll(async () => {
  gateway = await startTestGateway();
  admin = await signIn(gateway);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Follows the events. `text` contains all that was received. */
async function follow(cookie: string) {
  const abort = new AbortController();
  const response = await fetch(`${gateway.url}/admin/v1/events`, {
    headers: { cookie, "sec-fetch-site": "same-origin" },
    signal: abort.signal,
  });
  const following = { status: response.status, text: "", hasEnded: false, stop: () => abort.abort() };
  void (async () => {
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) following.text += decoder.decode(piece, { stream: true });
  })()
    .catch(() => {})
    .finally(() => (following.hasEnded = true));
  return following;
}

test("a job's change and the counts of requests are told to whoever follows", async () => {
  const following = await follow(admin.cookie);
  expect(following.status).toBe(200);
  await until("the beginning", () => following.text.includes(": following") || undefined);
  // Waits for the gateway's first look, which only remembers the state. Later looks report changes since then.
  await Bun.sleep(300);
  const submitted = await gateway.call("/api/jobs", {
    body: { model: "sandbox-a", prompt: "a harbour" },
  });
  const { id } = (await submitted.json()) as { id: string };
  await until("the job's end", () => told(following.text, "jobs", id, "completed"));
  await until("the counts", () => told(following.text, "requests", '"requests":1'));
  following.stop();
}, 30_000);

const told = (text: string, kind: string, ...parts: string[]) =>
  text
    .split("\n\n")
    .some((frame) => frame.startsWith(`event: ${kind}\n`) && parts.every((part) => frame.includes(part))) ||
  undefined;

test("a target that another process takes out of service is told", async () => {
  const following = await follow(admin.cookie);
  await until("the beginning", () => following.text.includes(": following") || undefined);
  await Bun.sleep(300);
  using database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  database.run("PRAGMA busy_timeout = 5000");
  const now = Date.now();
  database.run(
    `INSERT INTO ejected_targets (process_id, target, organization_id, reason, since, seen_at)
      VALUES ('another', 'sandbox/sandbox-a', '', 'overload', ?, ?)`,
    [now, now],
  );
  await until("the channel", () => told(following.text, "channels", '"ejected":["sandbox"]'));
  following.stop();
}, 30_000);

test("a member of some organizations is told that channels changed, without their names", async () => {
  const password = "twelve or more characters";
  await admin.act("POST", "/organizations", { id: "acme", name: "Acme" });
  await admin.act("POST", "/members", { name: "some", role: "owner", organizations: ["acme"], password });
  const following = await follow((await signIn(gateway, { name: "some", password })).cookie);
  await until("the beginning", () => following.text.includes(": following") || undefined);
  await Bun.sleep(300);
  using database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  database.run("PRAGMA busy_timeout = 5000");
  database.run("DELETE FROM ejected_targets WHERE process_id = 'another'");
  await until("the change", () => told(following.text, "channels", "{}"));
  following.stop();
}, 30_000);

test("they need a session, are bounded for each member, and end with the session", async () => {
  expect((await follow("")).status).toBe(401);
  const another = await signIn(gateway);
  const all = await Promise.all(Array.from({ length: 12 }, () => follow(another.cookie)));
  const refused = all.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(2);
  await another.act("DELETE", "/session");
  await until("their ends", () => all.every(({ hasEnded }) => hasEnded) || undefined, 25_000);
}, 40_000);
