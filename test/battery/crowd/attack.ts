import type { Socket } from "node:net";
import { openSocket, writeRequest } from "../../support/sockets.ts";
import type { HostileKeys } from "./setting.ts";

/** A method by which the holder of a valid key tries to harm other callers. */
export interface Attack {
  name: string;
  /** Short description of the attack. */
  what: string;
  /** True when the gateway must store pictures in S3. */
  needsS3?: boolean;
  /** Repeats the attack until the signal aborts. */
  run(context: AttackContext): Promise<void>;
}

/** The address and keys that an attack uses, and functions that report its results. */
export interface AttackContext {
  url: string;
  keys: HostileKeys;
  revokedLink: string;
  signal: AbortSignal;
  /** Reports a result that must be impossible. Harm to honest callers is measured separately. */
  achieve(what: string): void;
  /** Counts a request. */
  count(): void;
}

export interface Reply {
  status: number;
  text: string;
}

const PACE_MS = 10;

/** Repeats a step until the attack ends, in the given number of concurrent loops. */
export async function repeat(
  { signal }: AttackContext,
  lanes: number,
  step: (lane: number) => Promise<unknown>,
): Promise<void> {
  const work = async (_: unknown, lane: number): Promise<void> => {
    while (!signal.aborted) {
      await step(lane).catch(() => {});
      // The pause limits the rate, because the test measures the harm of single requests and not of a flood.
      await Bun.sleep(PACE_MS);
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
}

/** Waits for the given time, but at most until the attack ends. */
export async function pause({ signal }: AttackContext, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (!signal.aborted) await promise;
  clearTimeout(timer);
}

interface Posting {
  path?: string;
  key?: string;
  headers?: Record<string, string>;
}

/** Sends a body by POST; an object is sent as JSON. Reports each response for which `isUnexpected` is true. */
export async function post(
  context: AttackContext,
  body: object | string | Uint8Array<ArrayBuffer>,
  { path = "/v1/chat/completions", key = context.keys.unlimited, headers = {} }: Posting = {},
): Promise<Reply> {
  context.count();
  const isObject = typeof body === "object" && !(body instanceof Uint8Array);
  const response = await fetch(`${context.url}${path}`, {
    method: "POST",
    body: isObject ? JSON.stringify(body) : body,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    signal: context.signal,
  });
  const text = await response.text();
  if (isUnexpected(response.status)) context.achieve(`a status of ${response.status}`);
  return { status: response.status, text };
}

const DELIBERATE: ReadonlySet<number> = new Set([501, 502, 503, 504, 505]);

/** True for a status from 500 up, unless the status means overload, a vendor's failure or an unknown protocol. */
export function isUnexpected(status: number): boolean {
  return status >= 500 && !DELIBERATE.has(status);
}

export function chatBody(prompt: unknown, fields: object = {}): object {
  return { model: "crowd-chat", max_tokens: 16, messages: [{ role: "user", content: prompt }], ...fields };
}

/** Opens a connection and sends the headers of a request, by default with the unlimited key. */
export async function openRequest(
  context: AttackContext,
  path: string,
  headers: Record<string, string>,
  key = context.keys.unlimited,
): Promise<Socket> {
  context.count();
  const socket = await openSocket(context.url);
  const all = { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers };
  const head = writeRequest({ path, headers: all });
  socket.write("content-length" in headers ? head : head.replace("content-length: 0\r\n", ""));
  return socket;
}

/** Writes bytes. Resolves when the bytes are sent or the connection has ended. */
export function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    const done = (): void => {
      socket.off("close", done);
      resolve();
    };
    socket.once("close", done);
    socket.write(bytes, done);
  });
}

/** Returns a multipart form whose parts have the given headers and contents. */
export function rawForm(
  parts: readonly (readonly [header: string, content: Uint8Array])[],
): Buffer<ArrayBuffer> {
  const pieces = parts.flatMap(([header, content]) => [
    Buffer.from(`--b\r\n${header}\r\n\r\n`),
    content,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...pieces, Buffer.from("--b--\r\n")]);
}

export const FORM_TYPE = "multipart/form-data; boundary=b";

export function field(name: string): string {
  return `content-disposition: form-data; name="${name}"`;
}
