import { describe, expect, test } from "bun:test";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { SafeFetchError, type SafeFetch } from "../../lib/safe-fetch.ts";
import { testSpool as spool } from "../../../test/support/spool.ts";
import { createFetchResult, MAX_RESULT_BYTES } from "./result-link.ts";

const BASE = "https://api.vendor.example/v1";
const never = new AbortController().signal;

/** Returns a safe fetch with prepared results. It records its calls. */
function answering(...answers: (Uint8Array | Error)[]) {
  const asked: { link: string; maxBytes: number | undefined }[] = [];
  const safeFetch: Pick<SafeFetch, "download"> = {
    async download(link, sink, { maxBytes }) {
      asked.push({ link, maxBytes });
      const response = answers.shift() ?? new Error("nothing left");
      if (response instanceof Error) throw response;
      await sink(response);
      // The real safe fetch also reuses its buffer when the sink has returned.
      const { byteLength } = response;
      response.fill(0);
      return byteLength;
    },
  };
  return { asked, fetchResult: createFetchResult(BASE, safeFetch) };
}

const failed = (detail: string) => new SafeFetchError("failed", detail);

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => new Error("it succeeded"),
    (error: unknown) => error,
  );
}

describe("a result link", () => {
  test("that is a data URL is decoded, and nothing is fetched", async () => {
    const { asked, fetchResult } = answering();
    const picture = await fetchResult("data:image/png;base64,AQID", spool, never);
    expect(await picture.bytes()).toEqual(Uint8Array.of(1, 2, 3));
    for (const link of ["data:image/png;base64,", "data:image/png,AQID", "data:image/png;base64,!!"])
      expect(await failureOf(fetchResult(link, spool, never))).toMatchObject({ kind: "broken" });
    expect(asked).toEqual([]);
  });

  test("is fetched by the safe fetch, with a maximum size", async () => {
    const { asked, fetchResult } = answering(Uint8Array.of(1, 2, 3));
    const picture = await fetchResult("https://files.example/1.png", spool, never);
    expect(await picture.bytes()).toEqual(Uint8Array.of(1, 2, 3));
    expect(asked).toEqual([{ link: "https://files.example/1.png", maxBytes: MAX_RESULT_BYTES }]);
  });

  test("of another origin than the channel's is fetched by the safe fetch too", async () => {
    const links = [
      "https://api.vendor.example:8443/1.png",
      "http://api.vendor.example/1.png",
      "https://vendor.example/1.png",
      "https://user:word@api.vendor.example/1.png",
      "https://api.vendor.example@files.example/1.png",
      "no link",
    ];
    for (const link of links) {
      const { asked, fetchResult } = answering(Uint8Array.of(1));
      await fetchResult(link, spool, never);
      expect(asked).toHaveLength(1);
    }
  });

  test("that fails is retried once", async () => {
    const { asked, fetchResult } = answering(failed("status 503"), Uint8Array.of(7));
    expect((await fetchResult("https://files.example/1.png", spool, never)).size).toBe(1);
    expect(asked).toHaveLength(2);
  });

  test("that fails again is broken, without its address in the message", async () => {
    const { asked, fetchResult } = answering(failed("status 404"), failed("status 404"));
    const error = await failureOf(fetchResult("https://files.example/secret.png", spool, never));
    expect(error).toBeInstanceOf(UpstreamError);
    expect(error).toMatchObject({ kind: "broken", isAmbiguous: true });
    expect(String(error)).toContain("status 404");
    expect(String(error)).not.toContain("secret");
    expect(asked).toHaveLength(2);
  });

  test.each(["not_allowed", "too_large"] as const)("that is %s is not retried", async (reason) => {
    const { asked, fetchResult } = answering(new SafeFetchError(reason, "why"));
    expect(await failureOf(fetchResult("https://files.example/1", spool, never))).toMatchObject({
      kind: "broken",
    });
    expect(asked).toHaveLength(1);
  });

  test("that is empty is broken", async () => {
    const { fetchResult } = answering(new Uint8Array(), new Uint8Array());
    expect(await failureOf(fetchResult("https://files.example/1", spool, never))).toMatchObject({
      kind: "broken",
    });
  });

  test("ends with the signal's own reason; a bug is thrown unchanged", async () => {
    const reason = new Error("the client disconnected");
    const gone = answering(failed("broken off")).fetchResult(
      "https://files.example/1",
      spool,
      AbortSignal.abort(reason),
    );
    expect(await failureOf(gone)).toBe(reason);
    const bug = new TypeError("a bug");
    const { asked, fetchResult } = answering(bug);
    expect(await failureOf(fetchResult("https://files.example/1", spool, never))).toBe(bug);
    expect(asked).toHaveLength(1);
  });
});
