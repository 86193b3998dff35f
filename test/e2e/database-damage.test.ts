import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { signIn } from "../support/administration.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

/*
 * A database that is lost or damaged under a running gateway is noticed within seconds, though requests may go on well
 * from memory: their charges wait in the journal.
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

test("a command that meets damage names the file and how a backup is put in its place", async () => {
  await using gateway = await startTestGateway();
  await gateway.stop();
  for (const page of rootsOf(gateway, "audit")) overwrite(gateway, page);
  const output = await gateway.cli("audit", "list").catch(String);
  expect(output).toContain(`error: the database ${pathOf(gateway)} is damaged (`);
  expect(output).toContain("npm start -- restore FILE --force");
  expect(output).not.toContain("DATABASE_URL");
});

/** What the probe says once it names the reason: a statement may have failed before the check has found it. */
async function unreadiness({ url }: TestGateway, reason: RegExp): Promise<unknown> {
  const response = await fetch(`${url}/readyz`);
  const text = await response.text();
  return response.status === 503 && reason.test(text) ? JSON.parse(text) : undefined;
}

/** Damages pages that only a reading of administration needs, and reads them. */
async function damageRequestLog(gateway: TestGateway): Promise<void> {
  await gateway.stop();
  for (const page of rootsOf(gateway, "request_log")) overwrite(gateway, page);
  await gateway.restart();
  const admin = await signIn(gateway);
  expect((await admin.send("GET", "/requests")).status).toBe(503);
}

/** The first pages of a table and of its indexes. */
function rootsOf(gateway: TestGateway, table: string): number[] {
  using database = new Database(pathOf(gateway), { readonly: true });
  const query = database.query<{ rootpage: number }, [string]>(
    "SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?",
  );
  return query.all(table).map(({ rootpage }) => rootpage);
}

/** Overwrites a page, counted from 1, in the file and nowhere else. */
function overwrite(gateway: TestGateway, page: number): void {
  const file = openSync(pathOf(gateway), "r+");
  writeSync(file, new Uint8Array(PAGE_BYTES).fill(0x55), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  closeSync(file);
}

function pathOf({ dataDirectory }: TestGateway, suffix = ""): string {
  return join(dataDirectory, `gateway.sqlite${suffix}`);
}
