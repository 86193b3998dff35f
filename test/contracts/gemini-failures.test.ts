import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { ImageOrder } from "../../src/domain/image.ts";
import type { UpstreamError } from "../../src/domain/upstream-error.ts";
import { gemini } from "../../src/providers/gemini.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";
import { failureOf, makeOrder, makeReference } from "../support/gemini-order.ts";
import { SIMULATED_KEY, startGemini } from "../upstreams/gemini.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";

const vendor = await startGemini();
const never = new AbortController().signal;

afterAll(() => vendor.close());
beforeEach(() => vendor.reset());

function open(baseUrl = vendor.url) {
  return gemini.image!(gemini.settings.parse({ baseUrl, apiKey: SIMULATED_KEY }), new FairSemaphore(2));
}

async function fail(behaviour: Behaviour, change: Partial<ImageOrder> = {}): Promise<UpstreamError> {
  vendor.next(behaviour);
  return await failureOf(open().generate(makeOrder(change), never));
}

describe("a refusal inside a response of success", () => {
  test.each([
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
    "JAILBREAK",
  ])("of the prompt for %s is refused", async (reason) => {
    const error = await fail({ fault: "content-refused", text: `prompt:${reason}` });
    expect([error.kind, error.status, error.isAmbiguous]).toEqual(["refused", 200, false]);
  });

  test.each([
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
  ])("of the picture for %s is refused, without the vendor's name", async (reason) => {
    const error = await fail({ fault: "content-refused", text: reason });
    expect([error.kind, error.isAmbiguous]).toEqual(["refused", false]);
    expect(error.publicMessage).toBe("Unable to show the generated image. Try rephrasing the prompt.");
  });

  test.each(["NO_IMAGE", "IMAGE_OTHER", "OTHER", "STOP", "MAX_TOKENS", "LANGUAGE", "A_NEW_REASON"])(
    "with %s is broken and may be retried",
    async (reason) => {
      const error = await fail({ fault: "no-images", text: reason });
      expect([error.kind, error.isAmbiguous]).toEqual(["broken", false]);
    },
  );

  test("without candidates and without feedback is broken", async () => {
    expect((await fail({ fault: "choices-missing" })).kind).toBe("broken");
  });

  test("with an error is that error", async () => {
    expect((await fail({ fault: "error-in-200" })).kind).toBe("overloaded");
  });
});

describe("a failure", () => {
  test.each([
    ["rate limit with a delay", "limited", 429, 35, { fault: "rate-limited" }],
    [
      "rate limit with a header",
      "limited",
      429,
      7,
      { fault: "error-status", text: "PLAIN_EXHAUSTED", retryAfter: "7" },
    ],
    [
      "rate limit without a retry-after",
      "limited",
      429,
      undefined,
      { fault: "error-status", text: "PLAIN_EXHAUSTED" },
    ],
    ["used up day", "account", 429, undefined, { fault: "insufficient-quota" }],
    ["spending cap", "account", 429, undefined, { fault: "error-status", text: "SPENDING_CAP" }],
    ["bad key", "account", 400, undefined, { fault: "unauthorized" }],
    ["missing role", "account", 403, undefined, { fault: "error-status", text: "IAM_PERMISSION_DENIED" }],
    [
      "forbidden without a reason",
      "broken",
      403,
      undefined,
      { fault: "error-status", text: "PERMISSION_DENIED" },
    ],
    ["closed region", "account", 400, undefined, { fault: "error-status", text: "FAILED_PRECONDITION" }],
    ["unknown model", "broken", 404, undefined, { fault: "unknown-model" }],
    ["cancelled call", "overloaded", 499, undefined, { fault: "error-status", text: "CANCELLED" }],
    ["internal error", "overloaded", 500, undefined, { fault: "error-status", text: "INTERNAL" }],
    ["overload", "overloaded", 503, 3, { fault: "error-status", text: "UNAVAILABLE", retryAfter: "3" }],
    ["deadline", "overloaded", 504, undefined, { fault: "error-status", text: "DEADLINE_EXCEEDED" }],
    ["payload too large", "too_large", 413, undefined, { fault: "error-status", status: 413 }],
    ["status nobody expects", "broken", 418, undefined, { fault: "error-status", status: 418 }],
  ] as const)(
    "by %s is %s, status %p, retryAfterSeconds %p",
    async (_name, kind, status, prefix, behaviour) => {
      const error = await fail(behaviour as Behaviour);
      expect([error.kind, error.status, error.retryAfterSeconds]).toEqual([kind, status, prefix]);
    },
  );

  test.each([
    ["reset-before-headers", "unreachable", true],
    ["close-before-headers", "unreachable", true],
    ["garbage", "broken", true],
    ["html", "broken", false],
    ["empty", "broken", true],
    ["redirect", "broken", false],
    ["truncated", "broken", true],
    ["reset-midway", "broken", true],
    ["close-midway", "broken", true],
    ["bad-base64", "broken", true],
    ["flood", "broken", true],
  ] as const)("of transport, %s, is %s", async (fault, kind, isAmbiguous) => {
    const error = await fail({ fault });
    expect([error.kind, error.isAmbiguous]).toEqual([kind, isAmbiguous]);
  });

  test("to connect is unreachable and safe to repeat", async () => {
    const closed = await startGemini();
    await closed.close();
    await expect(open(closed.url).generate(makeOrder(), never)).rejects.toMatchObject({
      kind: "unreachable",
      isAmbiguous: false,
    });
  });

  test("has the caller's name of the vendor's field", async () => {
    const lite = { upstreamModel: "gemini-3.1-flash-lite-image" };
    const tier = {
      ...lite,
      size: { tier: "2K", ratio: "1:1", width: 1, height: 1, isAuto: false, isShapeFree: false },
    } as const;
    expect(await fail({}, tier)).toMatchObject({ kind: "rejected", param: "size" });
    const ratio = {
      size: { tier: "1K", ratio: "7:5", width: 1, height: 1, isAuto: false, isShapeFree: false },
    } as const;
    expect(await fail({}, ratio)).toMatchObject({ kind: "rejected", param: "aspectRatio" });
  });

  test("never contains the credential, also when the vendor repeats it", async () => {
    const error = await fail({ fault: "echo-authorization" });
    expect(error.kind).toBe("rejected");
    expect(`${error.message} ${error.publicMessage} ${Bun.inspect(error)}`).not.toContain(SIMULATED_KEY);
  });
});

describe("an aborted signal", () => {
  test.each(["stall", "stall-midway"] as const)("closes the vendor's connection at %s", async (fault) => {
    vendor.next(fault);
    const caller = new AbortController();
    const generated = open().generate(makeOrder({ references: [makeReference()] }), caller.signal);
    await vendor.waitForHits(1);
    const reason = new Error("aborted");
    caller.abort(reason);
    await expect(generated).rejects.toBe(reason);
    await vendor.waitForClose();
  });

  test("before the call sends nothing", async () => {
    await expect(open().generate(makeOrder(), AbortSignal.abort(new Error("aborted")))).rejects.toThrow(
      "aborted",
    );
    expect(vendor.hits).toHaveLength(0);
  });
});
