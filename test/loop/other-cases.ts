import type { LoopCase, LoopWorld } from "./case.ts";
import { mostOf } from "./growing-requests.ts";
import { wholeAnswer } from "./world.ts";

const each = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A JSON body for one endpoint. One kind of item grows in the body or in the vendor's answer. */
interface Growing {
  /** The entry of the route table. `path` is the called path if it differs from that entry. */
  route: string;
  path?: string;
  kind: string;
  make(count: number): object;
  answer?(count: number): string;
  most?: number;
}

const vector = (count: number) => `[${"-0.0230642557144,".repeat(count - 1)}0]`;
const vectors = (count: number) => {
  const data = each(2_048, (index) => `{"object":"embedding","index":${index},"embedding":${vector(count)}}`);
  return `{"object":"list","data":[${data.join()}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}`;
};
/** A reply with vectors of a hundred texts. Each vector has `count` numbers. */
const nativeVectors = (count: number) =>
  `{"embeddings":[${each(100, () => `{"values":${vector(count)}}`).join()}]}`;
const fields = (count: number) => Object.fromEntries(each(count, (index) => [`field${index}`, "x"]));
const messages = (count: number) => each(count, () => ({ role: "user", content: "x" }));
const contents = (count: number) => each(count, () => ({ role: "user", parts: [{ text: "x" }] }));

const BODIES: readonly Growing[] = [
  {
    route: "POST /v1/embeddings",
    kind: "texts",
    make: (count) => ({ model: "sandbox-embedding", input: each(count, (index) => `text ${index}`) }),
    most: 2_048,
  },
  {
    route: "POST /v1/embeddings",
    kind: "characters",
    make: (count) => ({ model: "sandbox-embedding", input: "蘸".repeat(count) }),
    most: 1024 * 1024,
  },
  {
    route: "POST /v1/embeddings",
    kind: "tokens",
    make: (count) => ({ model: "sandbox-embedding", input: each(count, (index) => index) }),
  },
  {
    route: "POST /v1/embeddings",
    kind: "numbers of the vendor's vectors",
    make: () => ({ model: "over-embeddings", input: each(2_048, () => "x") }),
    answer: vectors,
    most: 1_536,
  },
  {
    route: "POST /v1/embeddings",
    kind: "numbers of another protocol's vectors",
    make: () => ({ model: "over-native-embeddings", input: each(2_000, () => "x") }),
    answer: nativeVectors,
    // The gateway writes vectors anew at unit length. More items would exceed 64 MiB of text.
    most: 1_450,
  },
  {
    route: "POST /v1/completions",
    kind: "characters",
    make: (count) => ({ model: "sandbox-chat", prompt: "x".repeat(count), max_tokens: 1 }),
    most: 1024 * 1024,
  },
  {
    route: "POST /v1/completions",
    kind: "fields",
    make: (count) => ({ model: "sandbox-chat", prompt: "x", max_tokens: 1, ...fields(count) }),
    most: 997,
  },
  {
    route: "POST /v1/images/generations",
    kind: "fields",
    make: (count) => ({ model: "sandbox-a", prompt: "x", ...fields(count) }),
  },
  {
    route: "POST /v1/images/edits",
    kind: "pictures",
    make: (count) => ({
      model: "sandbox-a",
      prompt: "x",
      images: each(count, () => ({ image_url: `data:image/png;base64,${PIXEL}` })),
    }),
  },
  {
    route: "POST /api/jobs",
    kind: "fields",
    make: (count) => ({ model: "sandbox-a", prompt: "x", ...fields(count) }),
  },
  {
    route: "POST /v1beta/{call}",
    path: "/v1beta/sandbox-embedding:batchEmbedContents",
    kind: "texts",
    make: (count) => ({
      requests: each(count, (index) => ({ content: { parts: [{ text: `text ${index}` }] } })),
    }),
    most: 2_048,
  },
  {
    route: "POST /v1beta/{call}",
    path: "/v1beta/sandbox-embedding:embedContent",
    kind: "parts",
    make: (count) => ({ content: { parts: each(count, () => ({ text: "x" })) } }),
  },
  {
    route: "POST /v1beta/{call}",
    path: "/v1beta/over-embeddings:batchEmbedContents",
    kind: "numbers of another protocol's vectors",
    make: () => ({ requests: each(2_048, () => ({ content: { parts: [{ text: "x" }] } })) }),
    answer: vectors,
    most: 1_536,
  },
  {
    route: "POST /v1beta/models/{call}",
    path: "/v1beta/models/sandbox-b-fast:generateContent",
    kind: "parts of a picture's prompt",
    make: (count) => ({ contents: [{ role: "user", parts: each(count, () => ({ text: "x" })) }] }),
  },
  {
    route: "POST /v1/models/{call}",
    path: "/v1/models/sandbox-b-fast:generateContent",
    kind: "contents",
    make: (count) => ({ contents: contents(count) }),
  },
  {
    route: "POST /v1beta/models/{call}",
    path: "/v1beta/models/sandbox-chat:countTokens",
    kind: "contents to count",
    make: (count) => ({ contents: contents(count) }),
  },
  {
    route: "POST /v1/messages/count_tokens",
    kind: "messages",
    make: (count) => ({ model: "sandbox-messages", messages: messages(count) }),
  },
  {
    route: "POST /v1/responses/input_tokens",
    kind: "messages",
    make: (count) => ({ model: "sandbox-messages", input: messages(count) }),
  },
];

export const OTHER_CASES: readonly LoopCase[] = BODIES.map(({ route, path, kind, make, answer, most }) => ({
  name: `${path ?? route.slice("POST ".length)}: ${kind}`,
  covers: [route],
  most: most ?? mostOf(make, MAX_BODY_BYTES),
  async prepare({ gateway, vendor }: LoopWorld, count: number) {
    if (answer) {
      const pieces = [...wholeAnswer([answer(count)])].map((piece) => Buffer.from(piece));
      vendor.answer = () => pieces;
    }
    const body = JSON.stringify(make(count));
    const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
    return async () => {
      const url = `${gateway.url}${path ?? route.slice("POST ".length)}`;
      const response = await fetch(url, { method: "POST", headers, body });
      const answered = await response.text().catch(String);
      if (answer && !response.ok) throw new Error(`The answer was not passed on: ${answered}`);
    };
  },
}));
