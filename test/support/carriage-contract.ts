import { describe, expect, test } from "bun:test";
import type { UpstreamErrorKind } from "../../src/domain/upstream-error.ts";
import type { Fault } from "../upstreams/plan.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { failureOf } from "./image-calls.ts";

/** What every image vendor's first call must withstand, whatever it speaks. */
export function describeCarriage(name: string, subject: () => CarriageSubject): void {
  describe(`${name} is called over a bad wire`, () => {
    const faults: [Fault, UpstreamErrorKind, boolean][] = [
      ["reset-before-headers", "unreachable", true],
      ["close-before-headers", "unreachable", true],
      ["garbage", "broken", true],
      ["html", "broken", false],
      ["redirect", "broken", false],
      ["empty", "broken", true],
      ["truncated", "broken", true],
      ["reset-midway", "broken", true],
      ["flood", "broken", true],
    ];
    test.each(faults)("and %s is told as %s", async (fault, kind, isAmbiguous) => {
      const { vendor, draw } = subject();
      vendor.next(fault);
      expect(await failureOf(draw())).toMatchObject({ kind, isAmbiguous });
      expect(vendor.hits).toHaveLength(1);
    });

    test("and no address that answers is an unreachable vendor, surely not asked", async () => {
      const { drawAt } = subject();
      expect(await failureOf(drawAt("http://127.0.0.1:9"))).toMatchObject({
        kind: "unreachable",
        isAmbiguous: false,
      });
    });

    test("and a caller that goes before the call is let go at once, with nothing sent", async () => {
      const { vendor, draw } = subject();
      const reason = new Error("gone");
      expect(await draw(AbortSignal.abort(reason)).catch((error: unknown) => error)).toBe(reason);
      expect(vendor.hits).toHaveLength(0);
    });

    test("and a credential that the vendor echoes is in no message", async () => {
      const { vendor, draw, secret } = subject();
      vendor.next({ fault: "error-status", text: "echo" });
      const error = await failureOf(draw());
      expect(error.kind).toBe("rejected");
      expect(error.publicMessage).toBe("Send another one.");
      expect(`${error.message} ${error.publicMessage}`).not.toContain(secret);
    });
  });
}

export interface CarriageSubject {
  vendor: Simulator;
  secret: string;
  draw(signal?: AbortSignal): Promise<unknown>;
  /** The same through a channel at another address. */
  drawAt(url: string): Promise<unknown>;
}
