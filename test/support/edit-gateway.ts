import { afterAll, afterEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { filesOf, formOf, rawForm, type RawPart } from "./images-forms.ts";
import { openImageFixture, type ImageFixture } from "../e2e/images-vendors.ts";
import { makePng } from "./pictures.ts";

/** A model of each family. `LIMITS` has its maximum of references. */
export const MODELS = {
  A: "gpt-image-2",
  B: "gemini-3.1-flash-image",
  C: "seedream-5-0-pro",
  D: "grok-imagine-image",
};
export const LIMITS = { A: 16, B: 14, C: 10, D: 1 };

/** Three small pictures of different sizes. */
export const [ONE, TWO, THREE] = [makePng(40, 30), makePng(41, 30), makePng(42, 30)] as const;

export type Entry = readonly [name: string, value: string | Uint8Array];

export interface Refusal {
  message: string;
  param: string | null;
  code: string;
}

/** Sends edits to a running gateway, for the tests of one file. By default, the edits use a model of family A. */
export interface EditFixture {
  fixture: ImageFixture;
  edit(fields: object, headers?: Record<string, string>): Promise<Response>;
  editByForm(entries: readonly Entry[], headers?: Record<string, string>): Promise<Response>;
  post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>): Promise<Response>;
  /** Returns the references that the vendor received. */
  sent(fields: object): Promise<Buffer[]>;
  sentByForm(entries: readonly Entry[]): Promise<Buffer[]>;
  sentRaw(parts: readonly RawPart[]): Promise<[string, Buffer][]>;
  sentFiles(call: Promise<Response>): Promise<[string, Buffer][]>;
  /** Expects a 400 that called no vendor, cost nothing and left no file. Returns the error. */
  refused(call: Promise<Response>, expected: Partial<Refusal>): Promise<Refusal>;
  /** Expects that no vendor was called and no file is left. `proveNothingBilled` then includes this response. */
  nothingHappened(response: Response): void;
  /** Adds a test that no refused request was charged. Must be called last. */
  proveNothingBilled(): void;
}

/** Starts the fixture of a file. Its vendors are reset between tests. */
export async function openEditFixture(): Promise<EditFixture> {
  const fixture = await openImageFixture();
  /** Ids of refused requests, which the ledger must not contain. */
  const refusedIds = new Set<string>();
  afterEach(() => fixture.reset());
  afterAll(() => fixture[Symbol.asyncDispose]());

  const call = (body: object | string, headers: Record<string, string> = {}) =>
    fixture.gateway.call("/v1/images/edits", { body, headers });
  const edit: EditFixture["edit"] = (fields, headers) =>
    call({ model: MODELS.A, prompt: "make it so", ...fields }, headers);
  const editByForm: EditFixture["editByForm"] = (entries, headers) => {
    const named = new Set(entries.map(([name]) => name));
    const defaults: Entry[] = [["model", MODELS.A] as const, ["prompt", "make it so"] as const].filter(
      ([name]) => !named.has(name),
    );
    return call(formOf([...defaults, ...entries]), headers);
  };
  const sentFiles: EditFixture["sentFiles"] = async (call) => {
    const response = await call;
    if (response.status !== 200) throw new Error(await response.text());
    return await filesOf(fixture.vendors.openai.hits.at(-1)!);
  };
  const bytesOf = async (call: Promise<Response>) => (await sentFiles(call)).map(([, bytes]) => bytes);
  const nothingHappened: EditFixture["nothingHappened"] = (response) => {
    refusedIds.add(response.headers.get("x-gateway-request-id")!);
    expect(fixture.hits()).toBe(0);
    expect(spoolFiles(fixture)).toEqual([]);
  };

  return {
    fixture,
    edit,
    editByForm,
    post: call,
    sent: (fields) => bytesOf(edit(fields)),
    sentByForm: (entries) => bytesOf(editByForm(entries)),
    sentRaw(parts) {
      const { body, headers } = rawForm([
        { name: "model", content: MODELS.A },
        { name: "prompt", content: "make it so" },
        ...parts,
      ]);
      return sentFiles(call(body, headers));
    },
    sentFiles,
    async refused(call, expected) {
      const response = await call;
      const body = (await response.json()) as { error: Refusal };
      expect(body).toMatchObject({ error: expected });
      expect(response.status).toBe(400);
      nothingHappened(response);
      return body.error;
    },
    nothingHappened,
    proveNothingBilled() {
      test("no refused request is in the ledger", async () => {
        const response = await edit({ image: dataUrl(ONE) }, { "x-request-id": "the-last-one" });
        expect(response.status).toBe(200);
        expect(await fixture.gateway.charged("the-last-one")).toHaveLength(1);
        expect(refusedIds.size).toBeGreaterThan(0);
        const billed = (await fixture.gateway.ledger()).filter(({ request_id: id }) => refusedIds.has(id));
        expect(billed).toEqual([]);
      });
    },
  };
}

function spoolFiles({ gateway }: ImageFixture): string[] {
  try {
    return readdirSync(join(gateway.dataDirectory, "spool")).filter((name) => name.startsWith("spool-"));
  } catch {
    return [];
  }
}

export function dataUrl(bytes: Uint8Array, type = "image/png"): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}

export function randomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

/** Returns soft colours with the noise of a photograph, which compress badly. */
export function grain(x: number, y: number): readonly [number, number, number, number] {
  const speck = SPECKS[(y * 640 + x) % SPECKS.byteLength]!;
  return [((x >> 2) + (speck & 7)) & 255, ((y >> 2) + (speck >> 5)) & 255, 128 + ((speck >> 3) & 7), 255];
}

const SPECKS = randomBytes(640 * 480);

/** Starts a listener that counts connections. */
export async function listen(): Promise<AsyncDisposable & { port: number; connections(): number }> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the listener has no port");
  return {
    port: address.port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
