import { describe, expect, test } from "bun:test";
import type { StreamedObject } from "../../lib/json-spool.ts";
import { readRequest } from "./request.ts";

const TEXT = { text: "a lighthouse" };
const LINK = { fileData: { mimeType: "image/png", fileUri: "https://e.example/a.png" } };
const FILE = { fileData: { mimeType: "image/png", fileUri: "gs://bucket/a.png" } };

const read = (parts: object[], rest: object = {}) =>
  readRequest({ contents: [{ role: "user", parts }], ...rest } as StreamedObject, "m");

describe("an object at the vendor", () => {
  test.each<[string, object[], object, string]>([
    ["a cache", [TEXT], { cachedContent: "cachedContents/abc" }, "unsupported_parameter"],
    ["a cache by its other name", [TEXT], { cached_content: "cachedContents/abc" }, "unsupported_parameter"],
    [
      "a file of the instruction",
      [TEXT],
      { systemInstruction: { parts: [FILE] } },
      "unsupported_file_reference",
    ],
    [
      "a file of a function's answer",
      [TEXT, { functionResponse: { name: "f", response: {}, parts: [FILE] } }],
      {},
      "unsupported_file_reference",
    ],
    [
      "a file of a turn itself",
      [TEXT],
      { contents: [{ parts: [TEXT], file_data: FILE.fileData }] },
      "unsupported_file_reference",
    ],
  ])("is refused: %s", async (_, parts, rest, code) => {
    await expect(read(parts, rest)).rejects.toMatchObject({ code });
  });

  test("is a link that the gateway fetches in any part of a turn, also among thoughts", async () => {
    const { references } = await read([TEXT, LINK, { ...FILE, thought: true }]);
    expect(references).toEqual([
      { kind: "link", url: "https://e.example/a.png" },
      { kind: "link", url: "gs://bucket/a.png" },
    ]);
  });
});
