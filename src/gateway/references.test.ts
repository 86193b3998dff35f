import { expect, test } from "bun:test";
import type { ReferenceSource } from "../domain/image.ts";
import { FairSemaphore } from "../lib/semaphore.ts";
import { createSpool } from "../lib/spool.ts";
import { tmpdir } from "node:os";
import { PICTURE_FORMATS } from "../../test/support/picture-formats.table.ts";
import { makePng } from "../../test/support/pictures.ts";
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

test.each(PICTURE_FORMATS)(
  "$name behind a link is the same as one in the request, and has its mask",
  async ({ bytes, sentAs, width, height }) => {
    const settings: ReferenceSettings = {
      safeFetch: {
        async download(_, sink) {
          // The bytes arrive in two pieces. The first piece is short.
          await sink(bytes.subarray(0, 5));
          await sink(bytes.subarray(5));
          return bytes.length;
        },
      },
      blobs: {} as ReferenceSettings["blobs"],
      links: { sign: () => "", check: () => "invalid", isNew: () => false },
      codecSlots: new FairSemaphore(1),
    };
    const prepare = async (source: ReferenceSource) => {
      await using spool = createSpool(tmpdir());
      const { references, mask } = await prepareReferences(
        settings,
        {
          model: "m",
          prompt: "x",
          size: { kind: "unset" },
          count: 1,
          references: [source],
          readMask: () => ({ kind: "file", blob: new Blob([makePng(width, height)]) }),
          compressReferences: false,
          ignored: [],
        },
        { organization: "org_1", spool, usesMask: true, signal: new AbortController().signal },
      );
      const [{ blob, ...read } = { blob: new Blob() }] = references;
      return { ...read, bytes: await blob.bytes(), mask: mask && { width: mask.width, height: mask.height } };
    };
    const linked = await prepare({ kind: "link", url: "https://pics.example.com/a" });
    expect(linked).toMatchObject({ format: sentAs, width, height, mask: { width, height } });
    expect(linked).toEqual(await prepare({ kind: "file", blob: new Blob([bytes]) }));
  },
);
