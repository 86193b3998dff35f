import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  ROUTED,
  CLAUDE,
  messagesNanos,
  openMessagesGateway,
  type MessagesGateway,
} from "../support/messages-gateway.ts";
import type { Behaviour, Fault } from "../upstreams/behaviour.ts";

/* The responses and charges of a caller whose vendor of messages has faults. */
let fixture: MessagesGateway;

beforeAll(async () => {
  fixture = await openMessagesGateway();
});
afterEach(() => [fixture.vendor, fixture.spare].forEach((vendor) => vendor.reset()));
afterAll(() => fixture[Symbol.asyncDispose]());

const TEXT = "word0 word1 word2 word3 word4 word5 word6 word7 ";

interface Seen {
  status: number;
  text: string;
  usage: Parameters<typeof messagesNanos>[0];
  types: string[];
}

async function stream(model: string, requestId: string): Promise<Seen> {
  const response = await fixture.gateway.call("/v1/messages", {
    headers: { "x-request-id": requestId },
    body: { model, max_tokens: 50, stream: true, messages: [{ role: "user", content: "hi" }] },
  });
  const seen: Seen = {
    status: response.status,
    text: "",
    usage: { input_tokens: 0, output_tokens: 0 },
    types: [],
  };
  if (response.status !== 200) return seen;
  for (const frame of (await response.text()).replaceAll(/\r\n|\r/g, "\n").split("\n\n")) {
    const lines = frame.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    if (lines.length === 0) continue;
    const data = JSON.parse(lines.find((line) => line.startsWith("data:"))!.slice(5));
    expect(lines[0]!.replace(/^event: ?/, "")).toBe(data.type);
    seen.types.push(data.type);
    seen.text += data.delta?.text ?? "";
    const reported = Object.entries(data.message?.usage ?? data.usage ?? {}).filter(
      ([, value]) => value !== null,
    );
    Object.assign(seen.usage, Object.fromEntries(reported));
  }
  return seen;
}

describe("a stream", () => {
  const whole: Fault[] = [
    "one-byte",
    "gzip",
    "crlf",
    "cr",
    "comments",
    "no-space",
    "no-names",
    "no-done",
    "done-twice",
    "chunk-after-done",
    "json-for-stream",
    "usage-twice",
    "unknown-kinds",
    "no-usage",
    "usage-null",
    "usage-strings",
    "usage-negative",
    "usage-huge",
    "usage-float",
  ];
  test.each(whole)("with the fault %s arrives whole, and costs what it shows", async (fault) => {
    fixture.vendor.next({ fault });
    const seen = await stream(CLAUDE, `whole-${fault}`);
    expect(seen.text).toBe(TEXT);
    expect(seen.types.filter((type) => type === "message_stop")).toHaveLength(1);
    expect(seen.types.at(-1)).toBe("message_stop");
    const [row, ...others] = await fixture.gateway.charged(`whole-${fault}`);
    expect(others).toEqual([]);
    expect(row!.amount).toBe(messagesNanos(seen.usage));
    const isUnusable = /^(no-usage|usage-(null|strings|negative|huge|float))$/.test(fault);
    expect(row!.consumed!.source).toBe(isUnusable ? "estimated" : "upstream");
    if (!isUnusable)
      expect(fixture.vendor.totals.usages).toMatchObject([{ output_tokens: seen.usage.output_tokens }]);
  });

  const broken: Behaviour[] = [
    { fault: "truncated", after: 6, frameDelayMs: 10 },
    { fault: "reset-midway", after: 6, frameDelayMs: 10 },
    { fault: "close-midway", after: 6, frameDelayMs: 10 },
    { fault: "error-frame-later", after: 3, frameDelayMs: 10 },
  ];
  test.each(broken)(
    "that breaks off by $fault ends with an error, and is billed for its part",
    async (behaviour) => {
      fixture.vendor.next(behaviour);
      const id = `broken-${behaviour.fault}`;
      const seen = await stream(CLAUDE, id);
      expect(TEXT).toStartWith(seen.text);
      expect(seen.types.filter((type) => type === "error")).toHaveLength(1);
      expect(seen.types.at(-1)).toBe("error");
      expect(seen.types).not.toContain("message_stop");
      const [row] = await fixture.gateway.charged(id);
      expect(row!.flags).toContain("partial");
      expect(row!.consumed!.tokens!["output"]).toBeGreaterThan(0);
      expect(row!.consumed!.tokens!["output"]).toBeLessThan(12);
    },
  );

  test.each<Fault>(["error-frame-first", "done-only", "empty", "html"])(
    "that gives nothing by %s comes from the next vendor",
    async (fault) => {
      fixture.vendor.next({ fault });
      const seen = await stream(ROUTED, `again-${fault}`);
      expect([seen.status, seen.text]).toEqual([200, TEXT]);
      expect([fixture.vendor.hits.length, fixture.spare.hits.length]).toEqual([1, 1]);
      expect(await fixture.gateway.charged(`again-${fault}`)).toHaveLength(1);
    },
  );
});
