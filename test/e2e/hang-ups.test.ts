import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import { openSocket, writeRequest } from "../support/sockets.ts";
import { CHAT, INPUT_NANOS, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

/* Log lines and charges after a client has disconnected. */
let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await openGatewayFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("a client that disconnects is not logged as a failure", () => {
  const lineOf = (requestId: string) =>
    until("the log line", () => fixture.gateway.logs().find((line) => line["request_id"] === requestId));

  test("inside a stream", async () => {
    const content = "[[reply tokens=200 frameDelayMs=20]]";
    const response = await fixture.gateway.call("/v1/chat/completions", {
      body: { model: CHAT, stream: true, messages: [{ role: "user", content }] },
      headers: { "x-request-id": "gone-reading" },
    });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    const line = await lineOf("gone-reading");
    expect(line).toMatchObject({ level: "info", status: 200, code: "caller_gone" });
    expect(line).not.toHaveProperty("cause");
  });

  test.each([
    ["/v1/chat/completions", "application/json"],
    ["/v1/images/generations", "application/json"],
    ["/v1/images/edits", "multipart/form-data; boundary=x"],
  ])("while it sends a request to %s", async (path, type) => {
    const requestId = `gone-sending${path.replaceAll("/", "-")}`;
    const socket = await openSocket(fixture.gateway.url);
    const headers = {
      authorization: `Bearer ${fixture.gateway.key}`,
      "content-type": type,
      "content-length": "1000",
      "x-request-id": requestId,
    };
    socket.write(writeRequest({ path, headers, body: type.endsWith("x") ? "--x\r\n" : '{"model":' }));
    await Bun.sleep(100);
    socket.destroy();
    expect(await lineOf(requestId)).toMatchObject({ level: "info", status: 499, code: "caller_gone" });
  });
});

/** Sends a chat request and disconnects when the vendor has received the request. */
async function disconnect(
  { gateway, vendor }: GatewayFixture,
  prompt: string,
  requestId: string,
  stream: boolean,
) {
  const client = new AbortController();
  const response = gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream, messages: [{ role: "user", content: prompt }] },
    headers: { "x-request-id": requestId },
    signal: client.signal,
  });
  await vendor.waitForHits(vendor.hits.length + 1);
  client.abort();
  await response.catch(() => {});
}

describe.each([false, true])("a client that disconnects before any content, stream %p,", (stream) => {
  test("ends the vendor call and is charged for its input", async () => {
    const requestId = `input-only-${stream}`;
    const closes = fixture.vendor.hits.filter(({ closedAt }) => closedAt !== null).length;
    await disconnect(fixture, "[[stall]]", requestId, stream);
    await fixture.vendor.waitForClose(closes + 1);
    const [row, ...others] = await fixture.gateway.charged(requestId);
    expect(others).toEqual([]);
    expect(row!.flags).toEqual(["partial", "caller_gone", "estimated"]);
    expect(row!.consumed!.tokens!["input"]).toBeWithin(10, 60);
    expect(row!.consumed!.tokens!["output"]).toBe(0);
    expect(row!.amount).toBe(BigInt(row!.consumed!.tokens!["input"]!) * INPUT_NANOS);
  });

  test("is charged for the complete response if its organization drains", async () => {
    await using draining = await openGatewayFixture();
    await draining.gateway.cli("orgs", "set", "default", "--caller-gone", "drain");
    await Bun.sleep(1_000);
    const requestId = `drained-${stream}`;
    await disconnect(draining, "[[reply delayMs=200 tokens=20]]", requestId, stream);
    const [row, ...others] = await draining.gateway.charged(requestId);
    expect(others).toEqual([]);
    expect(row!.flags).toEqual(["caller_gone"]);
    expect(row!.consumed!.tokens!["output"]).toBe(20);
  });
});
