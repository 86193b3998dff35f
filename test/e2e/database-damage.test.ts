import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  closeSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { signIn } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/*
 * The database is lost or damaged under a running gateway. The gateway must notice the damage within seconds, although
 * it serves known keys from memory. Their charges wait in the journal.
 */
const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };
const PAGE_BYTES = 4096;
const NOTICED_MS = 10_000;

const damages: readonly [name: string, damage: (gateway: TestGateway) => unknown, reason: RegExp][] = [
  ["whose beginning is overwritten", (gateway) => overwrite(gateway, 1), /SQLITE_(?:NOTADB|CORRUPT)/],
  ["without its WAL", (gateway) => unlinkSync(pathOf(gateway, "-wal")), /gateway\.sqlite-wal was removed/],
  [
    "that was replaced",
    (gateway) => renameSync(pathOf(gateway), pathOf(gateway, ".old")),
    /gateway\.sqlite was/,
  ],
  ["with a page that a reading finds damaged", damageRequestLog, /SQLITE_CORRUPT/],
];

test.each(damages)(
  "a database %s makes the gateway unready, with one error in the log",
  async (_, damage, reason) => {
    await using gateway = await startTestGateway();
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    await damage(gateway);
    const body = await until("the damage to be noticed", () => unreadiness(gateway, reason), NOTICED_MS);
    expect(body).toEqual({ status: "unready", reason: expect.stringContaining("the database is damaged: ") });
    const metrics = await (await gateway.call("/metrics")).text();
    expect(metrics).toMatch(/^gateway_database_up 0$/m);
    expect((await gateway.call("/v1/chat/completions", { body: CHAT })).status).toBe(200);
    expect(gateway.logs().filter(({ level, message }) => level === "error" && message !== "request")).toEqual(
      [
        expect.objectContaining({
          message: "the database is damaged: stop the gateway and run restore --force with a backup",
        }),
      ],
    );
  },
  30_000,
);

test("a database that is replaced by a copy under load loses no charge, however old its posted segments are", async () => {
  await using gateway = await startTestGateway();
  const [copy, kept] = [pathOf(gateway, ".copy"), pathOf(gateway, ".kept")];
  using database = new Database(pathOf(gateway));
  for (const target of [copy, kept]) database.run("VACUUM INTO ?", [target]);
  database.close();
  const load = startLoad(gateway);
  await load.more(40);
  await load.pause();
  await gateway.stop();
  await gateway.restart();
  load.resume();
  await load.more(40);
  renameSync(copy, pathOf(gateway));
  ageSegments(gateway);
  await until("the damage to be noticed", () => unreadiness(gateway, /gateway\.sqlite was/), NOTICED_MS);
  // SQLite would apply the old WAL to the new file. So the WAL must be moved away.
  expect(readdirSync(gateway.dataDirectory)).toContainEqual(
    expect.stringMatching(/^gateway\.sqlite\.replaced-.*-wal$/),
  );
  await load.more(40);
  await Bun.sleep(SWEEP_MS);
  const metrics = await (await gateway.call("/metrics")).text();
  expect(Number(/^gateway_ledger_backlog (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(40);
  const answered = await load.end();
  expect(await gateway.stop()).toBe(0);
  // Puts a copy of the database into the folder as the documents describe.
  for (const suffix of ["-wal", "-shm"]) rmSync(pathOf(gateway, suffix), { force: true });
  renameSync(kept, pathOf(gateway));
  await gateway.restart();
  await gateway.stop();
  const charged = (await gateway.ledger())
    .map((row) => row.request_id)
    .filter((id) => id.startsWith("load_"));
  expect(charged.toSorted()).toEqual([...answered].toSorted());
}, 60_000);

/**
 * A time longer than two intervals between removals of old segments, so that a removal happens even on a busy machine.
 */
const SWEEP_MS = 21_000;

test("a table that is gone for a time has one line in the log, and its return another", async () => {
  await using gateway = await startTestGateway();
  const rename = (from: string, to: string): void => {
    using database = new Database(pathOf(gateway));
    database.run(`ALTER TABLE ${from} RENAME TO ${to}`);
  };
  const lines = () => gateway.logs().filter(({ message }) => String(message).startsWith("the snapshot "));
  rename("revision", "hidden");
  await until("the loss in the log", () => lines().length > 0 || undefined);
  // Waits for four more polls.
  await Bun.sleep(2_000);
  expect(lines()).toHaveLength(1);
  rename("hidden", "revision");
  await until("the return in the log", () => lines().length > 1 || undefined);
  expect(lines().map(({ level, message }) => [level, message])).toEqual([
    ["warn", "the snapshot could not be refreshed"],
    ["info", expect.stringMatching(/^the snapshot is refreshed again after \d+\.\d s$/)],
  ]);
}, 30_000);

test("a command that meets damage names the file and how a backup is put in its place", async () => {
  await using gateway = await startTestGateway();
  await gateway.stop();
  for (const page of rootsOf(gateway, "audit")) overwrite(gateway, page);
  const output = await gateway.cli("audit", "list").catch(String);
  expect(output).toContain(`error: the database ${pathOf(gateway)} is damaged (`);
  expect(output).toContain("npm start -- restore FILE --force");
  expect(output).not.toContain("DATABASE_URL");
});

/** Pause between two requests of the load. The number of requests does not matter. */
const PAUSE_MS = 5;

/** Starts a client that sends requests and records the answered ones. */
function startLoad(gateway: TestGateway) {
  const answered = new Set<string>();
  let sent = 0;
  let client: Promise<void>;
  let over = new AbortController();
  const resume = () => {
    over = new AbortController();
    const { signal } = over;
    client = (async () => {
      while (!signal.aborted) {
        const id = `load_${(sent += 1)}`;
        const headers = { "x-request-id": id };
        const response = await gateway.call("/v1/chat/completions", { body: CHAT, headers });
        expect(response.status).toBe(200);
        await response.text();
        answered.add(id);
        await Bun.sleep(PAUSE_MS);
      }
    })();
  };
  const pause = async () => {
    over.abort();
    await client;
  };
  resume();
  return {
    resume,
    pause,
    async more(count: number) {
      const enough = answered.size + count;
      await until(`${count} more answers`, () => (answered.size >= enough ? true : undefined), 20_000);
    },
    async end() {
      await pause();
      return answered;
    },
  };
}

/** Makes posted segments older than the time for which they are kept. */
function ageSegments({ dataDirectory }: TestGateway): void {
  const folder = join(dataDirectory, "journal/posted");
  const old = Date.now() / 1000 - 61 * 60;
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".log"),
  );
  expect(names).not.toEqual([]);
  for (const name of names) utimesSync(join(folder, name), old, old);
}

/**
 * Returns the readiness response. Undefined until the response has the reason, because it may have another one first.
 */
async function unreadiness({ url }: TestGateway, reason: RegExp): Promise<unknown> {
  const response = await fetch(`${url}/readyz`);
  const text = await response.text();
  return response.status === 503 && reason.test(text) ? JSON.parse(text) : undefined;
}

/** Damages pages that only administration reads, and then reads these pages. */
async function damageRequestLog(gateway: TestGateway): Promise<void> {
  await gateway.stop();
  for (const page of rootsOf(gateway, "request_log")) overwrite(gateway, page);
  await gateway.restart();
  const admin = await signIn(gateway);
  expect((await admin.send("GET", "/requests")).status).toBe(503);
}

/** Returns the root pages of a table and its indexes. */
function rootsOf(gateway: TestGateway, table: string): number[] {
  using database = new Database(pathOf(gateway), { readonly: true });
  const query = database.query<{ rootpage: number }, [string]>(
    "SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?",
  );
  return query.all(table).map(({ rootpage }) => rootpage);
}

/** Overwrites a page of the database's file, without SQLite. The first page is 1. */
function overwrite(gateway: TestGateway, page: number): void {
  const file = openSync(pathOf(gateway), "r+");
  writeSync(file, new Uint8Array(PAGE_BYTES).fill(0x55), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  closeSync(file);
}

function pathOf({ dataDirectory }: TestGateway, suffix = ""): string {
  return join(dataDirectory, `gateway.sqlite${suffix}`);
}
