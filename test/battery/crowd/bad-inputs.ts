import { makeGif, makePng, pngHeader, pngOf } from "../../support/pictures.ts";
import { exchange, statusOf } from "../../support/sockets.ts";
import {
  chatBody,
  FORM_TYPE,
  isUnexpected,
  post,
  repeat,
  type Attack,
  type AttackContext,
} from "./attack.ts";

/*
 * Groups of malformed requests: by framing, key and JSON, and by the fields of each endpoint. No response may have a
 * status that means a fault of the server.
 */

const CHAT = "/v1/chat/completions";
const GENERATIONS = "/v1/images/generations";
const EDITS = "/v1/images/edits";
const NATIVE = "/v1beta/models/sandbox-b:generateContent";
const PNG = `data:image/png;base64,${makePng(16, 16).toString("base64")}`;
/** Maximum wait for a response to bytes that are not a request. */
const SILENCE_MS = 200;

export const BAD_INPUT_ATTACKS: readonly Attack[] = [
  { name: "inputs-transport", what: "malformed framing", run: (context) => sendRaw(context, TRANSPORT) },
  {
    name: "inputs-keys",
    what: "malformed and forged keys",
    run: (context) => sendRaw(context, keyRequests()),
  },
  group("inputs-json", "malformed JSON on every endpoint", () =>
    [CHAT, GENERATIONS, EDITS, NATIVE].flatMap((path) => jsonTexts().map((body) => ({ path, body }))),
  ),
  group("inputs-chat", "wrong fields of chat", () => fieldsOf(CHAT, chatBody("hi"), CHAT_FIELDS)),
  group("inputs-generations", "wrong fields of generations", () =>
    fieldsOf(GENERATIONS, { model: "sandbox-a", prompt: "x" }, GENERATION_FIELDS),
  ),
  group("inputs-edits", "wrong pictures and fields of edits", () =>
    fieldsOf(EDITS, { model: "sandbox-a", prompt: "x", image: PNG }, editFields()),
  ),
  group("inputs-native", "wrong fields of the native protocol", () =>
    fieldsOf(NATIVE, { contents: [{ role: "user", parts: [{ text: "x" }] }] }, NATIVE_FIELDS),
  ),
  group("inputs-forms", "malformed forms", () =>
    formTexts().map((body) => ({ path: EDITS, body, headers: { "content-type": FORM_TYPE } })),
  ),
];

interface BadRequest {
  path: string;
  body: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

const LANES = 4;

function group(name: string, what: string, list: () => BadRequest[]): Attack {
  return {
    name,
    what,
    run(context) {
      const requests = list();
      let next = 0;
      return repeat(context, LANES, () => {
        const { body, ...rest } = requests[next++ % requests.length]!;
        return post(context, body, rest);
      });
    },
  };
}

function fieldsOf(path: string, body: object, fields: readonly object[]): BadRequest[] {
  return fields.map((field) => ({ path, body: JSON.stringify({ ...body, ...field }) }));
}

function sendRaw(context: AttackContext, requests: readonly string[]): Promise<void> {
  let next = 0;
  return repeat(context, LANES, async () => {
    context.count();
    const text = requests[next++ % requests.length]!.replace("KEY", context.keys.unlimited);
    const status = statusOf(await exchange(context.url, Buffer.from(text, "latin1"), SILENCE_MS));
    if (isUnexpected(status)) context.achieve(`a status of ${status}`);
  });
}

const HEAD = `POST ${CHAT} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer KEY\r\n`;

const TRANSPORT: readonly string[] = [
  ...[
    "content-length: 2\r\ntransfer-encoding: chunked",
    "content-length: 2\r\ncontent-length: 3",
    "content-length: +2",
    "content-length: -1",
    "content-length: 1e99",
    "content-length: 99999999999999999999",
    "transfer-encoding: xchunked",
    "transfer-encoding: chunked, identity",
    "content-length : 2",
    "content-length: 2\n",
    "x-a: b\r\n folded: c\r\ncontent-length: 2",
    "x-a: \0\r\ncontent-length: 2",
    "__proto__: x\r\ncontent-length: 2",
    "expect: x\r\ncontent-length: 2",
    "host: b\r\ncontent-length: 2",
    "upgrade: websocket\r\nconnection: upgrade\r\ncontent-length: 2",
    `x-a: ${"a".repeat(20_000)}\r\ncontent-length: 2`,
    `${"x-a: b\r\n".repeat(2_500)}content-length: 2`,
  ].map((header) => `${HEAD}${header}\r\n\r\n{}`),
  `${HEAD}transfer-encoding: chunked\r\n\r\n2;x=\n{}\r\n0\r\n\r\n`,
  `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  `${HEAD}content-length: 2\r\n\r\n{`,
  `POST ${CHAT} HTTP/1.1\r\n\r\n`,
  "GET http://169.254.169.254/ HTTP/1.1\r\nhost: a\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
  "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n",
  "TRACE /v1/models HTTP/1.1\r\nhost: a\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "GET /v1/models HTTP/3.0\r\nhost: a\r\n\r\n",
  "GET /v1/models\r\n\r\n",
  "\x16\x03\x01\x02\0\x01\0",
  "GET /v1/\0models HTTP/1.1\r\nhost: a\r\n\r\n",
  `GET /${"a".repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  ...["/v1//chat/completions", `${CHAT}/`, "/v1%2fchat/completions", "/v1/..;/metrics", `${CHAT}?%`].map(
    (path) => `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer KEY\r\ncontent-length: 2\r\n\r\n{}`,
  ),
];

function keyRequests(): string[] {
  const values = [
    "",
    "Bearer",
    "Bearer  ",
    "Basic x",
    "Bearer sk-other",
    "Bearer gk_short",
    "Bearer ' OR '1'='1",
    "Bearer gk_' UNION SELECT",
    "Bearer KEY\0",
    "Bearer KEY\x80",
    `Bearer ${"a".repeat(10_000)}`,
    "Bearer KEY\r\nauthorization: Bearer KEY",
  ];
  const rest = "content-length: 2\r\n\r\n{}";
  return [
    ...values.map((value) => `POST ${CHAT} HTTP/1.1\r\nhost: a\r\nauthorization: ${value}\r\n${rest}`),
    `POST ${CHAT}?api_key=KEY HTTP/1.1\r\nhost: a\r\n${rest}`,
    `POST ${CHAT} HTTP/1.1\r\nhost: a\r\ncookie: key=KEY\r\n${rest}`,
    `POST ${CHAT} HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 1.2.3.4\r\nx-api-key: KEY\r\n${rest}`,
  ];
}

function jsonTexts(): (string | Uint8Array<ArrayBuffer>)[] {
  const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const names = (count: number) => Array.from({ length: count }, (_, index) => `"n${index}":1`).join();
  return [
    "",
    "null",
    "[]",
    '"x"',
    "{",
    "{}x",
    "{'a':1}",
    '{"a":NaN}',
    '{"a":1,}',
    "/**/{}",
    "\ufeff{}",
    Buffer.from("{}", "utf16le"),
    Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d),
    nested(129),
    nested(1_000_000),
    `{${names(60_000)}}`,
    `{"a":[${"{},".repeat(300_000)}{}]}`,
    '{"model":"a","model":"b"}',
    '{"__proto__":{"isAdmin":true},"model":"crowd-chat"}',
    '{"constructor":{"prototype":{"x":1}},"model":"crowd-chat"}',
    '{"model":"crowd-chat","max_tokens":1e400,"n":-0}',
    '{"Model":"crowd-chat","model\\u0000":"x"}',
    `{"model":"${"m".repeat(100_000)}"}`,
    `{"a":"\\ud800\\u0000","b":"${"\\\\".repeat(50_000)}"}`,
  ];
}

const WRONG: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  "",
  "x",
  [],
  [null],
  {},
  { a: 1 },
  "\ud800",
];

function wrongly(...names: string[]): object[] {
  return names.flatMap((name) => WRONG.map((value) => ({ [name]: value })));
}

const CHAT_FIELDS: readonly object[] = [
  ...wrongly(
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "n",
    "stop",
    "tools",
    "tool_choice",
  ),
  ...wrongly("response_format", "service_tier", "reasoning_effort", "metadata", "user", "provider"),
  ...[
    [{ role: 1 }],
    [{ role: "user", content: [null] }],
    [{ role: "user", content: [{ type: "image_url" }] }],
  ].map((messages) => ({ messages })),
  { messages: Array.from({ length: 20_000 }, () => ({ role: "user", content: "a" })) },
  { max_tokens: 2 ** 53 },
  { n: 1_000_000 },
];

const GENERATION_FIELDS: readonly object[] = [
  ...wrongly("model", "prompt", "n", "size", "quality", "output_format", "response_format", "background"),
  ...wrongly("aspect_ratio", "aspectRatio", "output_compression", "image", "stream", "user", "resolution"),
  { n: 18_446_744_073_686_647_000 },
  ...["0x0", "-1x-1", "99999x99999", "1024×1024", "1e3x1e3", "4k", "1Kx", "1x1", "0:0", "1:1e9"].map(
    (size) => ({
      size,
      aspect_ratio: size,
    }),
  ),
  { model: "sandbox-chat" },
  { prompt: "p".repeat(900_000) },
];

function editFields(): object[] {
  const url = (bytes: Uint8Array, type = "image/png") =>
    `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
  const images = [
    "file-abc",
    "data:,x",
    "data:image/png;base64",
    "data:image/png;base64,!!!!",
    "data:image/svg+xml;base64,PHN2Zy8+",
    url(Buffer.from("text")),
    url(makePng(16, 16).subarray(0, 40)),
    url(pngOf([pngHeader(65_535, 65_535, 6)])),
    url(makeGif(16_383, 16_383, 1_000)),
    url(Buffer.from("%PDF-1.7")),
    "https://127.0.0.1/a",
    "https://[::ffff:7f00:1]/a",
    "https://0x7f000001/a",
    "https://metadata.google.internal/",
    "http://93.184.216.34/a.png",
    "https://u:p@93.184.216.34/a.png",
    "https://93.184.216.34:22/a.png",
    "https://good\\@127.0.0.1/",
    `https://93.184.216.34/${"a".repeat(9_000)}`,
  ];
  return [
    ...images.flatMap((image) => [{ image }, { image: [image] }, { mask: image }]),
    { image: Array.from({ length: 17 }, () => PNG) },
    {
      image: [],
      images: Array.from({ length: 9 }, () => PNG),
      image_urls: Array.from({ length: 9 }, () => PNG),
    },
    ...wrongly("image", "images", "mask", "input_fidelity", "n", "size"),
  ];
}

const NATIVE_FIELDS: readonly object[] = [
  ...wrongly("contents", "generationConfig", "tools", "safetySettings", "systemInstruction"),
  ...wrongly("candidateCount", "imageConfig", "responseModalities").map((generationConfig) => ({
    generationConfig,
  })),
  {
    contents: [
      { parts: Array.from({ length: 30 }, () => ({ inlineData: { mimeType: "image/png", data: "AAAA" } })) },
    ],
  },
  { contents: [{ parts: [{ fileData: { fileUri: "https://127.0.0.1/a" } }] }] },
  { contents: [{ parts: [{ inlineData: { mimeType: "image/svg+xml", data: "!!" } }] }] },
  { generationConfig: { candidateCount: 1e6, imageConfig: { imageSize: "4K", aspectRatio: "0:0" } } },
];

function formTexts(): string[] {
  const part = (header: string, content = "x") => `--b\r\n${header}\r\n\r\n${content}\r\n`;
  const named = 'content-disposition: form-data; name="model"';
  return [
    "",
    "--b--",
    "--b\r\n",
    part(named),
    part(` ${named}`) + "--b--",
    part("content-disposition: form-data") + "--b--",
    part(`${named}; name="x"`) + "--b--",
    part(`${named}\r\n${named}`) + "--b--",
    part(`${named}\r\ncontent-transfer-encoding: base64`) + "--b--",
    part('content-disposition: form-data; name="image"; filename="../../x"', "") + "--b--",
    part(named).repeat(200) + "--b--",
    part(`${named}; ${"x=y; ".repeat(3_000)}`) + "--b--",
    part(`content-disposition: form-data; name="${"n".repeat(10_000)}"`) + "--b--",
    part('content-disposition: form-data; name="__proto__"') + "--b--",
    "--b\n" + named + "\n\nx\n--b--",
  ];
}
