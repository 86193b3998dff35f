import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import { messagesNanos, openMessagesGateway, type MessagesGateway } from "../support/messages-gateway.ts";

/* Features that a vendor charges by use: lookup, hold and charge. */
const SEARCHING = "searching-claude";
const USAGE = {
  input_tokens: 20,
  output_tokens: 5,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
};
let fixture: MessagesGateway;
beforeAll(async () => {
  fixture = await openMessagesGateway(`  ${SEARCHING}:
    type: messages
    max_output_tokens: 1000
    allowed_features: [web_search, web_fetch]
    price:
      per_million: { input: "1", output: "5", cache_read: "0.1", cache_write: "1.25", cache_write_1h: "2" }
      per_use: { web_search: "0.01" }
    route: { targets: [{ channel: vendor, upstream_model: claude-opus-5 }] }
`);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const search = (fields: object = {}) => ({ type: "web_search_20250305", name: "web_search", ...fields });

function call(body: object, headers: Record<string, string> = {}): Promise<Response> {
  const message = { role: "user", content: "hi" };
  return fixture.gateway.call("/v1/messages", {
    body: { model: SEARCHING, max_tokens: 50, messages: [message], ...body },
    headers,
  });
}

async function searched(count: unknown, body: object) {
  fixture.vendor.next({
    usage: { ...USAGE, server_tool_use: { web_search_requests: count, web_fetch_requests: 0 } },
  });
  const id = `uses-${Bun.randomUUIDv7()}`;
  const response = await call(body, { "x-request-id": id });
  const text = await response.text();
  expect([response.status, text.includes("web_search_requests")]).toEqual([200, true]);
  const [row] = await fixture.gateway.charged(id);
  const beyondTokens = row!.amount - messagesNanos(USAGE);
  return { row: row!, beyondTokens, text };
}

test("the lookup shows the price of a use", async () => {
  const response = await fixture.gateway.call(`/v1/pricing/lookup?model=${SEARCHING}`);
  expect(await response.json()).toMatchObject({ per_use: { web_search: "0.01" } });
});

describe("searches are billed from the response", () => {
  test.each([{ stream: false }, { stream: true }])("with %j", async (kind) => {
    const { beyondTokens, row } = await searched(3, { ...kind, tools: [search()] });
    expect(beyondTokens).toBe(30_000_000n);
    expect(row.consumed).toMatchObject({ uses: { web_search: 3 } });
    const shown = await fixture.gateway.cli("ledger", "export", "--request", row.request_id);
    const [headings = [], cells = []] = shown.split("\n").map((line) => line.split(","));
    expect(cells[headings.indexOf("web_search_uses")]).toBe("3");
  });

  test("up to the maximum of the request, which the caller is shown", async () => {
    const { beyondTokens, text, row } = await searched(500, { tools: [search({ max_uses: 2 })] });
    expect(beyondTokens).toBe(20_000_000n);
    expect(text).toContain('"web_search_requests":2');
    expect(row.flags).toContain("anomalous");
  });

  test("and never where the request has none", async () => {
    expect((await searched(500, {})).beyondTokens).toBe(0n);
  });
});

test("the hold covers as many searches as the request allows", async () => {
  const created = await fixture.gateway.cli("keys", "create", "--name", "poor", "--json");
  const { key, secret } = JSON.parse(created) as { key: { id: string }; secret: string };
  await fixture.gateway.cli("budgets", "create", "--key", key.id, "--amount", "0.6", "--period", "total");
  const headers = { authorization: `Bearer ${secret}` };
  // The input that a tool may add costs 0.4. Fifty searches cost 0.5.
  await until("the key and its budget", async () => {
    const { status } = await call({ tools: [search()] }, headers);
    return status === 429 || undefined;
  });
  expect((await call({ tools: [search({ max_uses: 10 })] }, headers)).status).toBe(200);
  expect((await call({ tools: [search({ max_uses: 30 })] }, headers)).status).toBe(429);
});
