import { expect, test } from "bun:test";
import { makePng } from "../../test/support/pictures.ts";
import { plainCore } from "../../test/support/plain-core.ts";
import { MODEL, payload, PRICE, whole } from "../../test/support/plain-text.ts";
import type { VendorTraits } from "../dialects/dialect.ts";
import { readCountRequest as readMessagesCount } from "../dialects/messages/index.ts";
import { readCountRequest as readNativeCount } from "../dialects/native/text/index.ts";
import { SafeFetchError } from "../lib/safe-fetch.ts";
import { countTokens } from "./count-tokens.ts";
import type { TextUpstream } from "./upstreams.ts";
import { handleText } from "./text.ts";

const LINK = "https://pictures.example/a.png";
const PNG = makePng(4, 4);
const asked = (part: object = { type: "image_url", image_url: { url: LINK } }) =>
  payload({ messages: [{ role: "user", content: [{ type: "text", text: "Where?" }, part] }] });

function open(upstreamTraits: readonly VendorTraits[], bytes: Buffer | SafeFetchError = PNG) {
  const sent: string[] = [];
  const fetched: string[] = [];
  const text = upstreamTraits.map((traits): TextUpstream => ({
    ...whole(),
    traits,
    send: (call) => {
      sent.push(call.raw);
      return whole().send(call);
    },
  }));
  const plain = plainCore({ model: MODEL, price: PRICE, text });
  plain.core.safeFetch = {
    async download(link, sink, { tenant }) {
      fetched.push(`${tenant} ${link}`);
      if (bytes instanceof SafeFetchError) throw bytes;
      await sink(bytes);
      return bytes.length;
    },
  };
  return { ...plain, sent, fetched };
}

test("a vendor that fetches no links gets the picture, which is fetched for the organization", async () => {
  const { core, request, principal, sent, fetched } = open([{ fetchesNoLinks: true }]);
  await handleText(core, request(), asked());
  expect(fetched).toEqual([`${principal.organization.id} ${LINK}`]);
  const [{ content }] = JSON.parse(sent[0]!).messages;
  expect(content[1].image_url.url).toBe(`data:image/png;base64,${PNG.toString("base64")}`);
});

test("an own server gets the picture, and never the link", async () => {
  const { core, request, sent } = open([{}]);
  const directory = core.snapshot.directory();
  for (const { targets } of directory.routes.declared.values())
    for (const { channel } of targets) Object.assign(channel, { isOwnServer: true });
  await handleText(core, request(), asked());
  expect(sent[0]).not.toContain(LINK);
});

test("a vendor that fetches links gets the link", async () => {
  const { core, request, sent, fetched } = open([{}]);
  await handleText(core, request(), asked());
  expect([fetched, sent[0]!.includes(LINK)]).toEqual([[], true]);
});

test.each([
  ["no picture", Buffer.from("<html>"), "PNG, JPEG, GIF or WebP"],
  ["a private address", new SafeFetchError("not_allowed", "private"), "is not public"],
  ["an error", new SafeFetchError("failed", "500"), "cannot be fetched"],
] as const)(
  "a link to %s is told to the caller, and another target may serve it",
  async (_, bytes, advice) => {
    const alone = open([{ fetchesNoLinks: true }], bytes);
    const error = await handleText(alone.core, alone.request(), asked()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "rejected", publicMessage: expect.stringContaining(advice) });
    expect([alone.sent, alone.charges()]).toEqual([[], []]);
    const both = open([{ fetchesNoLinks: true }, {}], bytes);
    await handleText(both.core, both.request(), asked());
    expect(both.sent).toEqual([expect.stringContaining(LINK)]);
  },
);

test.each([
  [
    readMessagesCount(
      Buffer.from(
        JSON.stringify({
          model: "m",
          messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url: LINK } }] }],
        }),
      ),
      new Headers(),
    ),
    { type: "image", source: { type: "base64", media_type: "image/png", data: PNG.toString("base64") } },
  ],
  [
    readNativeCount(
      Buffer.from(
        JSON.stringify({
          contents: [{ role: "user", parts: [{ fileData: { fileUri: LINK, mimeType: "image/png" } }] }],
        }),
      ),
      "m",
    ),
    { inlineData: { mimeType: "image/png", data: PNG.toString("base64") } },
  ],
])("a vendor that fetches no links counts the picture in its place: %#", async (counted, part) => {
  const sent: string[] = [];
  const { core, request, fetched } = open([{}]);
  core.upstreams.text = () => [
    {
      ...whole(),
      dialect: counted.dialect,
      traits: { fetchesNoLinks: true },
      countTokens: async ({ raw }) => (sent.push(raw), '{"input_tokens":7}'),
    },
  ];
  expect(await countTokens(core, request(), counted)).toMatchObject({ text: '{"input_tokens":7}' });
  expect(fetched).toHaveLength(1);
  expect(JSON.stringify(JSON.parse(sent[0]!))).toContain(JSON.stringify(part));
});

test("a link to a document is still refused by its name", async () => {
  const { core, request, sent } = open([{ fetchesNoLinks: true }]);
  const file = { type: "file", file: { file_url: "https://documents.example/a.pdf" } };
  const error = await handleText(core, request(), asked(file)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ param: "messages[0].content[1].file.file_url" });
  expect(sent).toEqual([]);
});
