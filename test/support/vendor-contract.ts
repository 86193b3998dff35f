import { describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import { row } from "../upstreams/error-rows.ts";
import type { Fault, Behaviour } from "../upstreams/behaviour.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { bmpReference, failureOf, never, pngReference } from "./image-calls.ts";
import type { VendorHarness } from "./vendor-harness.ts";

/** Tests how an image vendor's first call handles transport faults. */
export function describeTransportFaults(name: string, subject: () => TransportSubject): void {
  describe(`${name} over a faulty transport`, () => {
    const faults: [Fault, UpstreamErrorKind, boolean][] = [
      ["reset-before-headers", "unreachable", true],
      ["close-before-headers", "unreachable", true],
      ["garbage", "broken", true],
      ["html", "broken", false],
      ["redirect", "broken", false],
      ["empty", "broken", true],
      ["truncated", "broken", true],
      ["reset-midway", "broken", true],
      ["close-midway", "broken", true],
      ["flood", "broken", true],
      ["gzip-bomb", "broken", true],
    ];
    test.each(faults)("by %s is %s", async (fault, kind, isAmbiguous) => {
      const { vendor, generate } = subject();
      vendor.next(fault);
      expect(await failureOf(generate())).toMatchObject({ kind, isAmbiguous });
      expect(vendor.hits).toHaveLength(1);
    });

    test("a refused connection is unreachable and not ambiguous", async () => {
      const { generateAt } = subject();
      expect(await failureOf(generateAt("http://127.0.0.1:9"))).toMatchObject({
        kind: "unreachable",
        isAmbiguous: false,
      });
    });

    test("an abort before the call sends nothing", async () => {
      const { vendor, generate } = subject();
      const reason = new Error("aborted");
      expect(await generate(AbortSignal.abort(reason)).catch((error: unknown) => error)).toBe(reason);
      expect(vendor.hits).toHaveLength(0);
    });

    test("a credential that the vendor repeats is in no message", async () => {
      const { vendor, generate, secret, echo = row("echo") } = subject();
      vendor.next(echo);
      const error = await failureOf(generate());
      expect(error.kind).toBe("rejected");
      expect([undefined, "Send another one."]).toContain(error.publicMessage);
      expect(Bun.inspect(error)).not.toContain(secret);
    });
  });
}

export interface TransportSubject {
  vendor: Simulator;
  secret: string;
  generate(signal?: AbortSignal): Promise<unknown>;
  /** Makes the call of `generate` through a channel at another address. */
  generateAt(url: string): Promise<unknown>;
  /** Behaviour whose error repeats the credential; the row `echo` by default. */
  echo?: Fault | Behaviour;
}

/** Tests transport faults, masks and early aborts with a harness. Its vendor must accept no masks. */
export function describeVendor(
  { vendor, key, open, order, generate }: VendorHarness,
  echo?: TransportSubject["echo"],
): void {
  describeTransportFaults("the vendor", () => ({
    vendor,
    secret: key,
    generate: (signal) => generate({}, undefined, signal),
    generateAt: (baseUrl) => open({ baseUrl }).generate(order(), never),
    echo,
  }));

  test("a mask is refused before anything is sent", async () => {
    const masked = { references: [pngReference()], mask: pngReference() };
    expect(await failureOf(generate(masked))).toMatchObject({ kind: "rejected", param: "mask" });
    expect(vendor.hits).toHaveLength(0);
  });

  test("an abort before a reference is transcoded sends nothing", async () => {
    const call = generate(
      { references: [bmpReference()] },
      undefined,
      AbortSignal.abort(new Error("aborted")),
    );
    await expect(call).rejects.toThrow("aborted");
    expect(vendor.hits).toHaveLength(0);
  });
}

/**
 * Tests the rows of a vendor's error table by status. With `inSuccess`, also tests each error inside a successful
 * response.
 */
export function describeErrorRows(
  { vendor, generate }: VendorHarness,
  rows: readonly [name: string, kind: UpstreamErrorKind, isByRequest?: boolean][],
  { inSuccess = false } = {},
): void {
  describe("an error of the vendor", () => {
    test.each(rows)("by the row %s is %s", async (name, kind, isByRequest = false) => {
      vendor.next(row(name, { retryAfter: "5" }), row(name));
      const error = await failureOf(generate());
      expect(error).toMatchObject({ kind, isAmbiguous: false, isByRequest });
      expect(error.retryAfterSeconds).toBe(kind === "account" ? undefined : 5);
      expect(error.publicMessage ?? "").not.toMatch(/\b(bfl|fal|replicate|openrouter|aliyun|black-forest)/i);
      const isPublic = ["rejected", "refused", "too_large", "too_long"].includes(kind);
      expect(error.publicMessage !== undefined).toBe(isPublic);
      expect((await failureOf(generate())).kind).toBe(kind);
      if (!inSuccess) return;
      vendor.next({ fault: "error-in-200", text: name });
      expect((await failureOf(generate())).kind).toBe(kind);
    });
  });
}

/** Tests that an abort after the given number of requests ends the call with its reason and closes the connection. */
export function describeDisconnects(
  { vendor, generate }: VendorHarness,
  times: readonly (readonly [when: string, behaviour: Behaviour, hits: number])[],
): void {
  describe("an aborted signal", () => {
    test.each(times)(
      "%s ends the call with its own reason and closes the connection",
      async (_, behaviour, hits) => {
        vendor.next(behaviour);
        const controller = new AbortController();
        const reason = new Error("the client disconnected");
        const call = generate({}, undefined, controller.signal);
        await vendor.waitForHits(hits);
        await Bun.sleep(30);
        const abortedAt = performance.now();
        controller.abort(reason);
        expect(await call.catch((error: unknown) => error)).toBe(reason);
        expect((await vendor.waitForClose()) - abortedAt).toBeLessThan(200);
      },
    );
  });
}
