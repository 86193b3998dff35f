import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { callAzure } from "../support/azure-calls.ts";
import { describeTransportFaults } from "../support/vendor-contract.ts";
import { failureOf } from "../support/image-calls.ts";
import { SIMULATED_KEY, startAzure } from "../upstreams/azure.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { Simulator } from "../upstreams/simulator.ts";

let vendor: Simulator;

beforeAll(async () => {
  vendor = await startAzure();
});
afterEach(() => vendor.reset());
afterAll(() => vendor.close());

const calls = (extra: object = {}) => callAzure(vendor.url, extra);

describeTransportFaults("a resource of Azure OpenAI", () => ({
  vendor,
  secret: SIMULATED_KEY,
  generate: (signal) => calls().generate({}, signal),
  generateAt: (url) => callAzure(url).generate(),
}));

describe("a failure", () => {
  const rows: [string, number, UpstreamErrorKind][] = [
    ["contentFilter", 400, "refused"],
    ["contentFilterOfImage", 400, "refused"],
    ["moderation_blocked", 400, "refused"],
    ["content_filter", 400, "refused"],
    ["429", 429, "limited"],
    ["insufficient_quota", 429, "account"],
    ["Forbidden", 403, "account"],
    ["401", 401, "account"],
    ["PermissionDenied", 403, "account"],
    ["404", 404, "broken"],
    ["DeploymentNotFound", 404, "account"],
    ["OperationNotSupported", 400, "account"],
    ["InternalServerError", 500, "overloaded"],
    ["ServiceUnavailable", 503, "overloaded"],
    ["Timeout", 408, "overloaded"],
  ];
  /** Public messages by fault. Faults that are not listed have no public message. */
  const publicMessages: Record<string, string> = {
    contentFilter: "Your task failed as a result of our safety system.",
    contentFilterOfImage: "Generated image was filtered as a result of our safety system.",
    moderation_blocked: "Your request was rejected by the safety system.",
    content_filter: "Please modify your prompt and retry.",
  };
  test.each(rows)("%s (%i) is %s for images and for text", async (text, status, kind) => {
    const behaviour: Behaviour = { fault: "error-status", text, retryAfter: "7" };
    vendor.next(behaviour, behaviour, behaviour);
    const failing = [
      () => calls().generate(),
      () => calls().chat(),
      () => calls({ surface: "classic" }).chat({ stream: true }),
    ];
    for (const call of failing) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ kind, status, isAmbiguous: false });
      expect(error.publicMessage).toBe(publicMessages[text]);
      expect(error.retryAfterSeconds).toBe(kind === "account" ? undefined : 7);
    }
    expect(vendor.hits).toHaveLength(3);
  });

  test.each(["contentFilter", "contentFilterOfImage", "content_filter"])(
    "%s inside a response of success is a refusal",
    async (text) => {
      vendor.next({ fault: "error-in-200", text }, { fault: "error-in-200", text });
      expect(await failureOf(calls().generate())).toMatchObject({ kind: "refused", status: 200 });
      expect(await failureOf(calls().chat())).toMatchObject({ kind: "refused", status: 200 });
    },
  );

  test.each([
    ["7", 7],
    ["1500ms", 2],
    ["-1", 0],
    ["soon", undefined],
    [undefined, undefined],
  ])("by throttling with Retry-After %s has retryAfterSeconds %s", async (retryAfter, seconds) => {
    vendor.next({ fault: "error-status", text: "429", retryAfter });
    expect((await failureOf(calls().generate())).retryAfterSeconds).toBe(seconds);
  });

  test.each(["no-images", "bad-base64", "close-midway", "gzip-bomb"] as const)(
    "by %s is broken",
    async (fault) => {
      vendor.next(fault);
      expect(await failureOf(calls().generate())).toMatchObject({ kind: "broken", isAmbiguous: true });
    },
  );

  test("by a wrong key, deployment or operation is the account's", async () => {
    const failing = [
      () => calls({ apiKey: "wrong" }).generate(),
      () => calls().chat({ model: "nobody" }),
      () => calls({ surface: "classic" }).chat({ model: "nobody" }),
      () => calls().chat({ model: "gpt-image-2" }),
    ];
    const statuses = [];
    for (const call of failing) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ kind: "account", publicMessage: undefined });
      statuses.push(error.status);
    }
    expect(statuses).toEqual([401, 404, 404, 400]);
  });

  test("by an unknown path says nothing of the account", async () => {
    const error = await failureOf(calls({ surface: "classic", apiVersion: "2023-05-15" }).generate());
    expect(error).toMatchObject({ kind: "broken", status: 404, isByRequest: true });
  });

  test("by an invalid field has its name", async () => {
    expect(await failureOf(calls().generate({ quality: "xhigh" }))).toMatchObject({
      kind: "rejected",
      status: 400,
      param: "quality",
    });
    expect(await failureOf(calls().chat({ provider: "x" }))).toMatchObject({
      kind: "rejected",
      param: "provider",
    });
  });

  test("never contains the key", async () => {
    vendor.next({ fault: "error-status", text: "echo" }, { fault: "error-status", text: "echo" });
    for (const call of [() => calls().generate(), () => calls().chat()]) {
      const error = await failureOf(call());
      expect(Bun.inspect(error)).not.toContain(SIMULATED_KEY);
      expect(error.vendorMessage).toContain("[redacted]");
    }
  });
});

describe("an aborted signal", () => {
  test.each([
    ["before a response", "stall", false],
    ["during a response", "stall-midway", true],
  ] as const)("%s ends the call with its own reason and closes the socket", async (_, fault, hasStatus) => {
    vendor.next(fault);
    const controller = new AbortController();
    const reason = new Error("the client disconnected");
    const call = calls().generate({}, controller.signal);
    const hit = await vendor.waitForHits(1);
    while ((hit.status !== null) !== hasStatus) await Bun.sleep(1);
    const abortedAt = performance.now();
    controller.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    expect((await vendor.waitForClose()) - abortedAt).toBeLessThan(200);
  });
});
