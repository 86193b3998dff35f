import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { makePng } from "../pictures.ts";
import { rawForm, type RawPart } from "../images-forms.ts";
import { seeded } from "../kill-rounds.ts";
import { mutateBytes, mutateValue } from "./mutations.ts";
import { anyName, anyText, anyValue, Choices } from "./values.ts";

/** A request with a random body. */
export interface FuzzRequest {
  path: string;
  headers: Record<string, string>;
  body: Buffer<ArrayBuffer>;
}

/** Models of the tested gateway. */
export const CHAT_MODEL = "fuzz-chat";
export const IMAGE_MODEL = "gpt-image-2";
export const NATIVE_MODEL = "gemini-3.1-flash-image";

const PICTURE = makePng(16, 16);
const DATA_URL = `data:image/png;base64,${PICTURE.toString("base64")}`;
const JSON_TYPE = { "content-type": "application/json" };

/** Returns the request with this number. Equal seeds give equal requests. */
export function fuzzRequest(seed: number, index: number): FuzzRequest {
  const choices = new Choices(seeded(seed * 1_000_003 + index));
  const request = choices.pick(ENTRANCES)(choices);
  if (choices.once(25)) request.headers["content-type"] = choices.pick(CONTENT_TYPES);
  if (choices.once(40)) encode(request, choices);
  return request;
}

/** Generators of requests for several endpoints. Chat has two, so that it gets more requests. */
const ENTRANCES: readonly ((choices: Choices) => FuzzRequest)[] = [
  (choices) => json("/v1/chat/completions", chatBody(choices), choices),
  (choices) => json("/v1/chat/completions", chatBody(choices), choices),
  (choices) => json("/v1/messages", messagesBody(choices), choices),
  (choices) => json("/v1/responses", responsesBody(choices), choices),
  (choices) => json("/v1/images/generations", generationBody(choices), choices),
  (choices) => json("/v1/images/edits", editBody(choices), choices),
  (choices) => form(choices),
  (choices) => json(`/v1beta/models/${NATIVE_MODEL}:generateContent`, nativeBody(choices), choices),
  (choices) => json(`/v1/models/${choices.pick(CALLS)}`, nativeBody(choices), choices),
];

const CALLS: readonly string[] = [
  `${NATIVE_MODEL}:generateContent`,
  `models/${NATIVE_MODEL}:generateContent`,
  `${NATIVE_MODEL}:streamGenerateContent`,
  `${IMAGE_MODEL}:generateContent`,
  ":generateContent",
  "%2e%2e:generateContent",
  "a%2fb:generateContent",
  "%ff:generateContent",
];

const CONTENT_TYPES: readonly string[] = [
  "application/json; charset=utf-16",
  "application/json\t;x",
  "text/plain",
  "multipart/form-data",
  "multipart/form-data; boundary=",
  "multipart/form-data; boundary=edge",
  `multipart/form-data; boundary="${"b".repeat(71)}"`,
  "application/x-www-form-urlencoded",
];

function json(path: string, valid: object, choices: Choices): FuzzRequest {
  const value = choices.once(10) ? anyValue(choices) : choices.once(6) ? valid : mutateValue(valid, choices);
  const bytes = Buffer.from(JSON.stringify(value) ?? "");
  return { path, headers: { ...JSON_TYPE }, body: choices.once(4) ? mutateBytes(bytes, choices) : bytes };
}

function form(choices: Choices): FuzzRequest {
  const picture: RawPart = {
    name: choices.pick(PICTURE_NAMES),
    fileName: '"a.png"',
    type: "image/png",
    content: PICTURE,
  };
  const parts: RawPart[] = [
    { name: "model", content: IMAGE_MODEL },
    { name: "prompt", content: "a cat" },
    ...Array.from({ length: choices.below(4) }, () => picture),
    ...Array.from({ length: choices.below(4) }, (): RawPart => ({
      name: choices.once(3) ? choices.pick(PICTURE_NAMES) : anyName(choices),
      content: anyText(choices),
      ...(choices.once(3) && {
        type: choices.pick(["application/json", "text/plain; charset=x", "image/gif"]),
      }),
      ...(choices.once(4) && { fileName: choices.pick(["x", '""', '"../x"', '"a\\"b"', "UTF-8''%ff"]) }),
    })),
  ];
  if (choices.once(3)) parts.splice(choices.below(parts.length), 1);
  const { body, headers } = rawForm(parts);
  const path = choices.once(8) ? "/v1/images/generations" : "/v1/images/edits";
  return { path, headers, body: choices.once(2) ? mutateBytes(body, choices) : body };
}

const PICTURE_NAMES: readonly string[] = ["image", "image[]", "images", "image_urls[]", "mask", "image[0]"];

function chatBody(choices: Choices): object {
  const tool = { type: "function", function: { name: "f", parameters: { type: "object" } } };
  const schema = {
    type: "object",
    properties: {
      a: { type: "string", enum: ["x", "y"] },
      b: { anyOf: [{ type: "integer" }, { $ref: "#" }] },
    },
    required: ["a"],
  };
  const parts = [
    { type: "text", text: anyText(choices) },
    { type: "image_url", image_url: { url: DATA_URL } },
  ];
  return {
    model: choices.pick([CHAT_MODEL, CHAT_MODEL, "sandbox-chat"]),
    messages: [
      { role: "system", content: "be brief" },
      { role: "user", content: choices.once(3) ? parts : anyText(choices) },
    ],
    max_tokens: 32,
    ...(choices.once(3) && { stream: true, stream_options: { include_usage: true } }),
    ...(choices.once(3) && { tools: [tool], tool_choice: "auto" }),
    ...(choices.once(3) && { response_format: { type: "json_schema", json_schema: { name: "x", schema } } }),
    ...(choices.once(4) && { n: 2, stop: ["x"], temperature: 1, reasoning_effort: "low" }),
  };
}

function messagesBody(choices: Choices): object {
  const source = { type: "base64", media_type: "image/png", data: PICTURE.toString("base64") };
  const blocks = [
    { type: "text", text: anyText(choices) },
    { type: "image", source },
  ];
  return {
    model: CHAT_MODEL,
    max_tokens: 32,
    system: "be brief",
    messages: [{ role: "user", content: choices.once(2) ? blocks : anyText(choices) }],
    ...(choices.once(3) && { stream: true, thinking: { type: "enabled", budget_tokens: 1024 } }),
    ...(choices.once(3) && {
      tools: [{ name: "f", input_schema: { type: "object" } }],
      tool_choice: { type: "any" },
    }),
  };
}

function responsesBody(choices: Choices): object {
  const content = [
    { type: "input_text", text: anyText(choices) },
    { type: "input_image", image_url: DATA_URL },
  ];
  return {
    model: CHAT_MODEL,
    input: choices.once(2) ? anyText(choices) : [{ role: "user", content }],
    max_output_tokens: 32,
    store: false,
    ...(choices.once(3) && { stream: true, instructions: "be brief", reasoning: { effort: "low" } }),
    ...(choices.once(3) && { tools: [{ type: "function", name: "f", parameters: { type: "object" } }] }),
  };
}

function generationBody(choices: Choices): object {
  return {
    model: IMAGE_MODEL,
    prompt: "a cat",
    n: 1,
    ...(choices.once(2) && { size: "1024x1024", quality: "low", background: "auto" }),
    ...(choices.once(2) && { output_format: "jpeg", output_compression: 50, response_format: "b64_json" }),
    ...(choices.once(3) && { aspect_ratio: "16:9", user: "u", stream: false }),
  };
}

function editBody(choices: Choices): object {
  const picture = choices.pick<unknown>([
    DATA_URL,
    [DATA_URL, DATA_URL],
    { image_url: DATA_URL },
    [{ url: DATA_URL }],
  ]);
  return {
    ...generationBody(choices),
    [choices.pick(["image", "images", "image_urls"])]: picture,
    ...(choices.once(3) && { mask: DATA_URL }),
  };
}

function nativeBody(choices: Choices): object {
  const inlineData = { mimeType: "image/png", data: PICTURE.toString("base64") };
  return {
    contents: [
      { role: "user", parts: [{ text: "a cat" }, ...(choices.once(2) ? [{ inlineData }] : [])] },
      ...(choices.once(3) ? [{ role: "model", parts: [{ inlineData, thoughtSignature: "AAAA" }] }] : []),
    ],
    generationConfig: {
      responseModalities: ["TEXT", "IMAGE"],
      imageConfig: { aspectRatio: "16:9", imageSize: "1K" },
      candidateCount: 1,
    },
    ...(choices.once(3) && { systemInstruction: { parts: [{ text: "be kind" }] }, safetySettings: [] }),
    ...(choices.once(4) && { tools: [{ googleSearch: {} }] }),
  };
}

const ENCODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };

function encode(request: FuzzRequest, choices: Choices): void {
  const name = choices.pick(Object.keys(ENCODERS) as (keyof typeof ENCODERS)[]);
  const encoded = Buffer.from(ENCODERS[name](request.body));
  request.headers["content-encoding"] = choices.once(5) ? "identity, gzip" : name;
  request.body = choices.once(3) ? mutateBytes(encoded, choices) : encoded;
}
