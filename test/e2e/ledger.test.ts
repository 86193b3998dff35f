import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { signIn } from "../support/administration.ts";
import { startTestGateway } from "../support/gateway.ts";

const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };

test("the ledger finds a charge by the caller's request id", async () => {
  await using gateway = await startTestGateway();
  const response = await gateway.call("/v1/chat/completions", {
    headers: { "x-request-id": "order-4711" },
    body: CHAT,
  });
  expect(response.status).toBe(200);
  const [row] = await gateway.charged("order-4711");
  const listed = JSON.parse(await gateway.cli("ledger", "list", "--request", "order-4711", "--json"));
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(listed).toMatchObject([{ id: row!.id, requestId: "order-4711", at: time, admittedAt: time }]);
  expect(await gateway.cli("ledger", "show", row!.id)).toMatch(
    /^Request order-4711 by key .*\nAttempts:\n {2}sandbox\/sandbox-chat answered in \d+ ms(, status 200)?\n/m,
  );
});

test("a verification fails on a difference and sets the metrics", async () => {
  await using gateway = await startTestGateway();
  await gateway.cli("budgets", "create", "--amount", "100", "--period", "month");
  await gateway.call("/v1/chat/completions", { headers: { "x-request-id": "paid" }, body: CHAT });
  await gateway.charged("paid");
  expect(await gateway.cli("ledger", "verify")).toBe("Compared 1 entry and 1 budget: no difference.\n");
  await gateway.stop();
  using database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  database.run("UPDATE budgets SET spent = spent + 1");
  await expect(gateway.cli("ledger", "verify")).rejects.toThrow("the ledger has 1 difference");
  await gateway.restart();
  const metrics = await (await gateway.call("/metrics")).text();
  expect(metrics).toMatch(/^gateway_ledger_differences 1$/m);
  expect(metrics).toMatch(/^gateway_ledger_verified_timestamp_seconds \d{10}\.\d+$/m);
});

test("a month is archived while the gateway serves requests", async () => {
  await using gateway = await startTestGateway();
  await gateway.call("/v1/chat/completions", { headers: { "x-request-id": "old" }, body: CHAT });
  const [row] = await gateway.charged("old");
  using database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  database.run("UPDATE ledger SET at = ?", [Date.UTC(2020, 0, 5)]);
  const folder = join(gateway.dataDirectory, "archive");
  const archived = JSON.parse(
    await gateway.cli("ledger", "archive", "--before", "2020-02", "--to", folder, "--json"),
  );
  expect(archived).toMatchObject([{ month: "2020-01", entries: 1 }]);
  expect((await readdir(folder)).toSorted()).toEqual(["ledger-2020-01.json", "ledger-2020-01.jsonl.gz"]);
  const text = new TextDecoder().decode(
    Bun.gunzipSync(await Bun.file(join(folder, "ledger-2020-01.jsonl.gz")).bytes()),
  );
  expect(JSON.parse(text)).toMatchObject({ id: row!.id, requestId: "old" });
  expect(await gateway.ledger()).toEqual([]);
  expect(await gateway.cli("ledger", "verify")).toContain("no difference");
});

test("an export of the ledger goes on behind the last entry of the one before, over HTTP and as a command", async () => {
  await using gateway = await startTestGateway();
  const admin = await signIn(gateway);
  const made = async (requestId: string) => {
    await (
      await gateway.call("/v1/chat/completions", { body: CHAT, headers: { "x-request-id": requestId } })
    ).text();
    await gateway.charged(requestId);
  };
  const rowsOf = (table: string) => {
    const [heading = [], ...rows] = table
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));
    return rows.map((row) => ({
      request: row[heading.indexOf("request")],
      sequence: Number(row[heading.indexOf("sequence")]),
    }));
  };
  await made("loaded");
  const whole = rowsOf((await admin.send("GET", "/export/ledger?format=csv")).body as string);
  const after = Math.max(...whole.map(({ sequence }) => sequence));
  expect(after).toBeGreaterThan(0);
  expect(rowsOf(await gateway.cli("ledger", "export", "--after", String(after)))).toEqual([]);
  await made("later_1");
  await made("later_2");
  const tables = [
    await gateway.cli("ledger", "export", "--after", String(after)),
    (await admin.send("GET", `/export/ledger?format=csv&after=${after}`)).body as string,
  ];
  for (const table of tables)
    expect(rowsOf(table).map(({ request }) => request)).toEqual(["later_1", "later_2"]);
  expect((await admin.send("GET", "/export/ledger?after=x")).body.error.field).toBe("after");

  // The table of docs/money-and-privacy/warehouse.md reads these fields by their names.
  const page = await Bun.file(join(import.meta.dir, "../../docs/money-and-privacy/warehouse.md")).text();
  const [, declared = ""] = /columns = \{([^}]+)\}/.exec(page) ?? [];
  const columns = [...declared.matchAll(/(\w+)"?: '/g)].map(([, name = ""]) => name);
  const [, selected = ""] = /^SELECT ([^;]+?)\s+FROM read_json/m.exec(page) ?? [];
  expect(selected.replaceAll('"', "").split(/,\s*/)).toEqual(columns);
  const [charge] = await gateway.charged("later_1");
  await gateway.cli("ledger", "refund", charge!.id, "--reason", "blurred");
  const text = await gateway.cli("ledger", "export", "--format", "jsonl", "--after", String(after));
  const lines = text.trimEnd().split("\n");
  const fields = lines.flatMap((line) => Object.keys(JSON.parse(line)));
  // The fields of all entries are compared together, because only the refund names a corrected charge.
  expect([lines.length, columns.filter((name) => !fields.includes(name))]).toEqual([3, []]);
});
