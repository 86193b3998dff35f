import { describe, expect, test } from "bun:test";
import { requestEvent } from "../../test/support/request-event.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import { DependencyError } from "../gateway/dependency-error.ts";
import { requestLog, systemLog } from "./log.ts";

function event(about: Partial<RequestEvent> = {}): RequestEvent {
  const answered = { route: "chat", status: 200, durationMs: 12.3456 };
  return requestEvent({ at: Date.UTC(2026, 10, 21, 4), ...answered, ...about });
}

function written(...events: RequestEvent[]): unknown[] {
  const writes: string[] = [];
  const log = requestLog((lines) => writes.push(lines));
  for (const each of events) log.listener(each);
  expect(writes).toEqual([]);
  log.flush();
  log.flush();
  expect(writes).toHaveLength(1);
  const text = writes.join("");
  expect(text).toEndWith("\n");
  return text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

describe("the line of a request", () => {
  test("says what is known and nothing else", () => {
    expect(written(event())).toEqual([
      {
        time: "2026-11-21T04:00:00.000Z",
        level: "info",
        message: "request",
        request_id: "req_1",
        route: "chat",
        status: 200,
        duration_ms: 12.35,
      },
    ]);
  });

  test("says who, what, where, how much and how it went", () => {
    const usage = { unit: "token", tokens: { input: 2, output: 3 }, source: "upstream" } as const;
    const attempts = [
      { channel: "c", upstreamModel: "m", durationMs: 4, outcome: "answered" as const, vendorRequestId: "v" },
    ];
    const about = { organizationId: "org_1", keyId: "key_1", model: 'm"1\n', channel: "c", usage, attempts };
    const [line] = written(event({ ...about, isStream: true, firstByteMs: 1.005, amount: 40_000_000n }));
    expect(line).toMatchObject({
      organization: "org_1",
      key: "key_1",
      model: 'm"1\n',
      channel: "c",
      stream: true,
      first_byte_ms: 1,
      usage,
      amount: "0.04",
      attempts: [
        { channel: "c", upstream_model: "m", duration_ms: 4, outcome: "answered", vendor_request_id: "v" },
      ],
    });
  });

  test("names the charge, the trace and where a refused request came from", () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const [line] = written(event({ ledgerId: "req_2", traceId: trace, address: "10.0.0.7", status: 401 }));
    expect(line).toMatchObject({
      ledger_id: "req_2",
      trace_id: trace,
      address: "10.0.0.7",
      method: "POST",
      path: "/v1/chat/completions",
    });
  });

  test("is left out below the level, and a probe's is debug", () => {
    const levels = (minimum: "debug" | "error") => {
      const writes: string[] = [];
      const log = requestLog((text) => writes.push(text), minimum);
      log.listener(event({ route: "health" }));
      log.listener(event({ status: 500 }));
      log.flush();
      const lines = writes.join("").trimEnd().split("\n");
      return lines.map((text) => JSON.parse(text).level);
    };
    expect(levels("debug")).toEqual(["debug", "error"]);
    expect(levels("error")).toEqual(["error"]);
  });

  test("of a server's fault is an error and tells its cause without secrets", () => {
    const cause = new TypeError("no way with Bearer abcdefghijkl");
    const [line] = written(event({ status: 502, code: "upstream_error", cause }));
    expect(line).toMatchObject({
      level: "error",
      code: "upstream_error",
      cause: "TypeError: no way with [redacted]",
    });
  });

  test("lines come in the order of the requests, in one write", () => {
    const lines = written(event({ requestId: "a" }), event({ requestId: "b" }));
    expect(lines).toMatchObject([{ request_id: "a" }, { request_id: "b" }]);
  });
});

test("trouble outside of requests is a line of its own", () => {
  const writes: string[] = [];
  systemLog((lines) => writes.push(lines))("the disk is full", new Error("gk_secretsecret"));
  expect(JSON.parse(writes.join(""))).toMatchObject({
    level: "warn",
    message: "the disk is full",
    cause: "Error: [redacted]",
  });
});

test.each([
  ["debug", "database"],
  ["warn", "blobs"],
] as const)("work that fails is told at %s while its %s is away", (level, dependency) => {
  const writes: string[] = [];
  const cause = new DependencyError("away", { dependency });
  systemLog((lines) => writes.push(lines), "debug")("old jobs were not removed", cause);
  expect(JSON.parse(writes.join(""))).toMatchObject({ level, message: "old jobs were not removed" });
});

test("an unavailable dependency is reported with the driver's reason", () => {
  const writes: string[] = [];
  const cause = new DependencyError("the database is unavailable", { cause: new Error("Failed to connect") });
  systemLog((lines) => writes.push(lines))("the database is away", cause, "info");
  expect(JSON.parse(writes.join(""))).toMatchObject({
    level: "info",
    cause: "DependencyError: the database is unavailable: Error: Failed to connect",
  });
});
