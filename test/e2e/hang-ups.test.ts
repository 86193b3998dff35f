import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import { openSocket, writeRequest } from "../support/sockets.ts";
import { CHAT, openHouse, type House } from "../support/vendor.ts";

/* What is said afterwards of callers who did not wait. */
let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

describe("a caller who hangs up is no fault of ours in the log", () => {
  const lineOf = (requestId: string) =>
    until("the log line", () => house.gateway.logs().find((line) => line["request_id"] === requestId));

  test("inside a stream", async () => {
    const content = "[[answer tokens=200 frameDelayMs=20]]";
    const response = await house.gateway.call("/v1/chat/completions", {
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
    const socket = await openSocket(house.gateway.url);
    const headers = {
      authorization: `Bearer ${house.gateway.key}`,
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
