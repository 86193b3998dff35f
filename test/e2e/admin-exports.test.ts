import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { administrator, isInDatabase, send, signIn, type Administrator } from "../support/administration.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let admin: Administrator;

beforeAll(async () => {
  gateway = await startTestGateway();
  admin = await signIn(gateway);
});

afterAll(() => gateway[Symbol.asyncDispose]());

const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] };
const FORMULA = '=HYPERLINK("http://evil.example","pay")';

/** Returns the cells of a CSV line. A cell must not contain a line feed. */
function cellsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
  );
}

test("a name or a request id that a spreadsheet would run is text in every export", async () => {
  const names = [FORMULA, "+1+1", "-1+1", "@SUM(A1)"];
  for (const name of names) await admin.act("POST", "/keys", { organizationId: "default", name });
  const exported = await admin.send("GET", "/export/keys?format=csv&organizationId=default");
  expect(exported.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(exported.headers.get("content-disposition")).toBe('attachment; filename="keys.csv"');
  const [heading, ...lines] = (exported.body as string).trimEnd().split("\n");
  const column = cellsOf(heading!).indexOf("name");
  const exportedNames = lines.map((line) => cellsOf(line)[column]);
  expect(exportedNames).toEqual(["First key", ...names.map((name) => `'${name}`)]);
  for (const line of lines)
    for (const cell of cellsOf(line)) expect(cell).not.toMatch(/^[=+@]|^-(?![\d.]+$)/);
  const json = (await admin.send("GET", "/export/keys?format=json&search=HYPERLINK")).body as string;
  expect(
    json
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).name),
  ).toEqual([FORMULA]);
});

test("an export has no secret, takes the filter of its list and refuses what that refuses", async () => {
  const { secret } = await admin.act("POST", "/keys", { organizationId: "default", name: "secret" });
  for (const name of ["keys", "audit", "ledger", "prices", "budgets", "jobs", "requests", "usage"]) {
    const { status, body } = await admin.send("GET", `/export/${name}`);
    expect([name, status]).toEqual([name, 200]);
    expect(body).not.toContain(secret);
    expect(body).not.toMatch(/[0-9a-f]{64}/);
  }
  const named = await admin.send("GET", "/export/ledger?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z");
  expect(named.headers.get("content-disposition")).toContain('"ledger-2026-01-01-to-2026-02-01.csv"');
  const refused = async (path: string) => (await admin.send("GET", path)).body.error.field;
  expect(await refused("/export/keys?colour=red")).toBe("colour");
  expect(await refused("/export/keys?format=xls")).toBe("format");
  expect(await refused("/export/secrets")).toBe("name");
  expect(await refused("/export/ledger?keyId=key_none")).toBe("keyId");
  expect((await send(gateway.url, "GET", "/export/keys")).status).toBe(401);
});

test("a creation with an idempotency key happens once", async () => {
  const create = (key: string, name: string, as = admin) =>
    as.send("POST", "/keys", { organizationId: "default", name }, { "idempotency-key": key });
  const first = await create("build-1", "once");
  const again = await create("build-1", "once");
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.body).toEqual(first.body);
  expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
  expect(await isInDatabase(gateway, first.body.key.id)).toBe(true);
  expect(await isInDatabase(gateway, first.body.secret)).toBe(false);
  // The secret must not be stored in base64 either, at any offset.
  for (const shift of [0, 1, 2]) {
    const shifted = Buffer.from(first.body.secret.slice(shift)).toString("base64");
    expect(await isInDatabase(gateway, shifted.slice(0, 40))).toBe(false);
  }
  expect((await create("build-1", "other")).body.error).toMatchObject({
    type: "conflict",
    field: "Idempotency-Key",
  });
  expect((await admin.act("GET", "/keys?search=once")).data).toHaveLength(1);
  // A refused creation is not stored, so its key may be used again with a valid body.
  expect((await create("build-2", "")).status).toBe(400);
  expect((await create("build-2", "second")).status).toBe(200);
  const together = await Promise.all([1, 2, 3].map(() => create("build-3", "together")));
  expect(together.map(({ status }) => status)).toContain(200);
  expect((await admin.act("GET", "/keys?search=together")).data).toHaveLength(1);
  expect((await create("not usable", "x")).status).toBe(400);
});

test("a stored outcome belongs to its member", async () => {
  const grace = { name: "grace", role: "admin", organizations: "*" };
  await admin.act("POST", "/members", { ...grace, password: "a-password-of-her-own" });
  const other = await signIn(gateway, { name: "grace", password: "a-password-of-her-own" });
  const body = { organizationId: "default", name: "mine" };
  const headers = { "idempotency-key": "shared" };
  const [first, second] = [
    await admin.send("POST", "/keys", body, headers),
    await other.send("POST", "/keys", body, headers),
  ];
  expect(second.headers.get("idempotent-replayed")).toBeNull();
  expect(second.body.secret).not.toBe(first.body.secret);
  const { secret: token } = await admin.act("POST", "/tokens", {
    name: "ci",
    role: "viewer",
    organizations: "*",
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  const reader = administrator(gateway, { authorization: `Bearer ${token}` });
  expect((await reader.send("GET", "/export/keys")).status).toBe(200);
  expect((await reader.send("POST", "/keys", body, headers)).status).toBe(403);
});

// The last test, because earlier ones read the whole database file.
test("two hundred thousand rows are exported as they are read", async () => {
  await gateway.call("/v1/chat/completions", { body: CHAT, headers: { "x-request-id": "template" } });
  await gateway.charged("template");
  const database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  database.run("PRAGMA busy_timeout = 10000");
  const columns = database
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('ledger')")
    .all()
    .map(({ name }) => name);
  const copied = columns.map((name) => (name === "id" ? "'copy_' || n" : name === "at" ? "at - n" : name));
  database.run(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000)
    INSERT INTO ledger (${columns.join(", ")}) SELECT ${copied.join(", ")} FROM ledger, numbers
    WHERE request_id = 'template'`);
  const template = database
    .query<{ at: number }, []>("SELECT at FROM ledger WHERE id NOT LIKE 'copy_%' AND request_id = 'template'")
    .get();
  database.close();
  const exported = async (query: string) => {
    const response = await fetch(`${gateway.url}/admin/v1/export/ledger?model=sandbox-chat${query}`, {
      headers: { cookie: admin.cookie },
    });
    let [lines, most] = [0, 0];
    for await (const piece of response.body!) {
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1;
      most = Math.max(most, gateway.resources().residentMb);
    }
    return { lines, most };
  };
  // The whole export has 110 MB of text. Keeping it in memory would need 190 MB more than a short export. Sending it in
  // pieces needs about 95 MB more, because the collector frees memory late.
  const part = await exported(`&from=${template!.at - 10_000}`);
  expect(part.lines).toBe(10_002);
  const whole = await exported("");
  expect(whole.lines).toBe(200_002);
  expect(whole.most - part.most).toBeLessThan(140);
}, 60_000);
