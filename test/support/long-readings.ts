import type { Database } from "bun:sqlite";
import { signIn, type Administrator } from "./administration.ts";
import { copyRows } from "./copied-rows.ts";
import { startTestGateway, until, type TestGateway } from "./gateway.ts";

const MANY = /^(ledger|ledger_bookings|audit|request_log|prompts)$/;
/** Tables with fewer rows than there are requests. Some reports read all rows of these tables. */
const FEW = /^(pictures|prices|usage_\w+s|traffic_\w+)$/;
export const CHAT = { model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] };
const PRICE = { model: "sandbox-chat", perMillion: { input: "1", output: "1" } };
const DAY_MS = 24 * 60 * 60_000;
const from = new Date(Date.now() - DAY_MS).toISOString();
const CORRECTION = { ...PRICE, from, reason: "tried", organizationId: "default" };

/** A call of each operation that reads more than a page. `null`: another call reads the same rows. */
export const LONG_READINGS: Readonly<Record<string, [method: string, path: string, body?: object] | null>> = {
  "ledger.verify": ["GET", "/ledger/verify"],
  "audit.verify": ["GET", "/audit/verify"],
  "overview.get": ["GET", "/overview"],
  "usage.list": ["GET", "/usage?groupBy=key"],
  "prices.table": ["GET", "/prices/table?organizationId=default"],
  "prices.effective": ["GET", "/prices/effective?model=sandbox-chat&organizationId=default"],
  "prices.preview": ["POST", "/prices/preview", PRICE],
  "prices.create": null,
  "prices.end": null,
  "priceCorrections.preview": ["POST", "/price-corrections/preview", CORRECTION],
  "priceCorrections.apply": null,
  "routes.explain": ["POST", "/routes/explain", { organizationId: "default", model: "sandbox-chat" }],
  "requests.get": ["GET", "/requests/template"],
  // This call checks all prompts but deletes none, so it can be repeated.
  "prompts.remove": ["DELETE", "/prompts?organizationId=default&before=2020-01-01T00:00:00Z"],
  "keys.example": null,
  "keys.list": ["GET", "/keys"],
  "leases.list": ["GET", "/leases"],
  "webhooks.list": ["GET", "/webhooks"],
  "members.list": ["GET", "/members"],
  "tokens.list": ["GET", "/tokens"],
  "sessions.list": ["GET", "/sessions"],
  "channels.list": ["GET", "/channels"],
  "channels.get": ["GET", "/channels/sandbox"],
  "channels.remove": null,
  "models.list": ["GET", "/models"],
  "models.get": ["GET", "/model?id=sandbox-chat"],
  "models.create": null,
  "models.update": null,
  "configuration.export": ["GET", "/configuration"],
  "configuration.import": null,
  "configuration.reseal": null,
};

/** Filters with which a list reads all rows and finds nothing. */
export const VAIN_READINGS = [
  "/ledger?model=none",
  "/requests?model=none&channel=none",
  "/audit?actor=nobody",
];

/** Starts a gateway with a row in most of these tables, and signs an administrator in. */
export async function openLongReadings(): Promise<{ gateway: TestGateway; admin: Administrator }> {
  const gateway = await startTestGateway({ env: { REQUEST_LOG: "all" } });
  const admin = await signIn(gateway);
  await admin.act("POST", "/budgets", { organizationId: "default", amount: "1000", period: "month" });
  await admin.act("POST", "/prices", { ...PRICE, organizationId: "default" });
  await admin.act("PATCH", "/organizations/default", { settings: { promptLogDays: 1 } });
  await gateway.call("/v1/chat/completions", { body: CHAT, headers: { "x-request-id": "template" } });
  const [{ id } = { id: "" }] = await gateway.charged("template");
  await until(
    "the prompt to be kept",
    async () => (await admin.send("GET", `/prompts/${id}`)).status === 200,
  );
  await until("the sums of the request", async () => {
    const { totals } = await admin.act("GET", "/overview");
    return totals.requests > 0 || undefined;
  });
  return { gateway, admin };
}

/** Copies the rows of the tables in `MANY` `many` times, and the rows of the tables in `FEW` `few` times. */
export function copyLongReadings(database: Database, { many, few }: { many: number; few: number }): void {
  copyRows(database, many, MANY);
  // Spreads the entries over a minute, because a real ledger's entries differ in time.
  database.run("UPDATE ledger SET at = at - rowid % 60000");
  copyRows(database, few, FEW);
}

/** Reads an export, up to this number of lines. */
export async function readExport(
  { url }: TestGateway,
  { cookie }: Administrator,
  name: string,
  lines: number,
): Promise<void> {
  const response = await fetch(`${url}/admin/v1/export/${name}`, { headers: { cookie } });
  if (response.status !== 200) throw new Error(`The export of ${name} ended with ${response.status}`);
  let read = 0;
  for await (const piece of response.body!) {
    read += Buffer.from(piece).toString("latin1").split("\n").length - 1;
    if (read > lines) break;
  }
}
