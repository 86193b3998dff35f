import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/storage/index.ts";
import { signIn, type Administrator } from "../support/administration.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { submit, untilStatus } from "../support/job-calls.ts";

/*
 * SQLite's locks are POSIX locks of the process. When the process closes any descriptor of a file, the kernel drops the
 * file's locks. Then another program could remove the WAL of a running gateway.
 */
const LOCKS = "/proc/locks";
const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };
const PICTURE = { model: "sandbox-a", prompt: "A house" };

const hasLocks = existsSync(LOCKS);
if (!hasLocks) console.warn(`SKIPPED: the locks of SQLite (there is no ${LOCKS})`);
const sqlite3 = Bun.which("sqlite3");
if (!sqlite3) console.warn("SKIPPED: a backup by sqlite3 (it is not on PATH)");

let gateway: TestGateway;
let admin: Administrator;
const path = (suffix = ""): string => join(gateway.dataDirectory, `gateway.sqlite${suffix}`);

beforeAll(async () => {
  gateway = await startTestGateway();
  admin = await signIn(gateway);
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

async function chat(requestId: string): Promise<void> {
  const response = await gateway.call("/v1/chat/completions", {
    body: CHAT,
    headers: { "x-request-id": requestId },
  });
  expect(response.status).toBe(200);
  await response.text();
}

const uses: readonly [name: string, use: () => Promise<unknown>][] = [
  ["its start", async () => {}],
  ["a posted chat", async () => (await chat("posted"), await gateway.charged("posted"))],
  [
    "an image",
    async () => expect((await gateway.call("/v1/images/generations", { body: PICTURE })).status).toBe(200),
  ],
  ["a job", async () => untilStatus(gateway, (await submit(gateway, PICTURE)).id)],
  ["an overview of usage", () => admin.act("GET", "/usage?groupBy=model")],
  ["a list of the ledger", () => admin.act("GET", "/ledger")],
  ["an export", () => admin.act("GET", "/export/ledger")],
  ["a verification", () => admin.act("GET", "/ledger/verify")],
  ["an administrative change", () => admin.act("POST", "/links/rotate", {})],
  ["a command beside it", () => gateway.cli("ledger", "list")],
  ["a job worker beside it", async () => (await gateway.startWorker())[Symbol.asyncDispose]()],
];

test.skipIf(!hasLocks).each(uses)("SQLite's locks are held after %s", async (_, use) => {
  await use();
  expect({ file: isLocked(path()), sharedMemory: isLocked(path("-shm")) }).toEqual({
    file: true,
    sharedMemory: true,
  });
});

test.skipIf(!hasLocks)(
  "SQLite's locks are held when their process opens the database once more",
  async () => {
    const file = path(".twice");
    const opened = [await openDatabase(file)];
    await opened[0]!.begin((sql) => sql`CREATE TABLE one (id BIGINT)`);
    opened.push(await openDatabase(file));
    const isHeld = isLocked(file, process.pid);
    await Promise.all(opened.map((database) => database.close()));
    expect(isHeld).toBe(true);
  },
);

test.skipIf(!sqlite3)("sqlite3 backs a running gateway up under load", async () => {
  await Promise.all([chat("before"), admin.act("GET", "/ledger")]);
  const wal = statSync(path("-wal")).ino;
  const answered: string[] = [];
  const over = new AbortController();
  const load = Promise.all([
    ...[1, 2].map(async (client) => {
      for (let turn = 0; !over.signal.aborted; turn++) {
        await chat(`load-${client}-${turn}`);
        answered.push(`load-${client}-${turn}`);
      }
    }),
    (async () => {
      while (!over.signal.aborted) await admin.act("GET", "/ledger");
    })(),
  ]);
  for (let round = 0; round < 3; round++) {
    const copy = path(`.copy-${round}`);
    const backup = Bun.spawn([sqlite3!, path(), `.backup ${copy}`], { stdout: "ignore", stderr: "inherit" });
    expect(await backup.exited).toBe(0);
    const seen = answered.length;
    while (answered.length < seen + 20) await Promise.race([load, Bun.sleep(5)]);
    expect(integrityOf(copy)).toBe("ok");
  }
  over.abort();
  await load;
  expect(statSync(path("-wal")).ino).toBe(wal);
  expect(await gateway.stop()).toBe(0);
  expect(integrityOf(path())).toBe("ok");
  const charges = Map.groupBy(await gateway.ledger(), ({ request_id }) => request_id);
  expect(answered.filter((id) => charges.get(id)?.length !== 1)).toEqual([]);
});

/** True when a process, by default the gateway, has a POSIX lock on the file. */
function isLocked(file: string, pid = gateway.pid): boolean {
  const { ino } = statSync(file);
  const lock = new RegExp(`POSIX .* ${pid} [0-9a-f]+:[0-9a-f]+:${ino} `);
  return readFileSync(LOCKS, "utf8")
    .split("\n")
    .some((line) => lock.test(line));
}

function integrityOf(file: string): unknown {
  using database = new Database(file);
  return database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get()?.integrity_check;
}
