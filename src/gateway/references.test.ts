import { expect, test } from "bun:test";
import { FairSemaphore } from "../lib/semaphore.ts";
import { createSpool } from "../lib/spool.ts";
import { tmpdir } from "node:os";
import { prepareReferences, type ReferenceSettings } from "./references.ts";

test.each([
  ["expired", "expired", new Blob(["picture"]), false, "image_fetch_failed"],
  ["valid, its file gone", "valid", null, false, "image_fetch_failed"],
  ["new, its file elsewhere", "valid", null, true, "dependency_unavailable"],
] as const)(
  "a link of our own that is %s is refused and not fetched",
  async (_, state, blob, isNew, code) => {
    const fetched: string[] = [];
    const settings: ReferenceSettings = {
      safeFetch: {
        download: (link) => Promise.resolve(fetched.push(link)),
      },
      blobs: {
        get: () => Promise.resolve(blob),
        put: () => Promise.reject(new Error("nothing is kept")),
      } as Partial<ReferenceSettings["blobs"]> as ReferenceSettings["blobs"],
      links: { sign: () => "", check: () => state, isNew: () => isNew },
      codecSlots: new FairSemaphore(1),
    };
    const request = {
      model: "m",
      prompt: "x",
      size: { kind: "unset" },
      count: 1,
      references: [{ kind: "link", url: "https://gateway.example/files/a.png?exp=1&sig=x" }],
      compressReferences: false,
      ignored: [],
    } satisfies Parameters<typeof prepareReferences>[1];
    await using spool = createSpool(tmpdir());
    const ready = prepareReferences(settings, request, {
      organization: "org_1",
      spool,
      usesMask: false,
      signal: new AbortController().signal,
    });
    await expect(ready).rejects.toMatchObject({ code, param: isNew ? null : "image" });
    expect(fetched).toEqual([]);
  },
);
