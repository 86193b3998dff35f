import { brotliCompressSync, gzipSync } from "node:zlib";
import { writeJson } from "../../src/lib/json-edit.ts";
import type { SimulatedResponse } from "./http-server.ts";
import type { Behaviour } from "./behaviour.ts";

/* Functions that send a simulated vendor's bytes, with the transport faults that all vendors share. */
const JSON_TYPE = { "content-type": "application/json", "x-request-id": "req_simulated0001" };
const FLOOD = Buffer.alloc(64 * 1024, 0x20);

/** Adds an id of the call, unless the vendor's own headers have one. */
function withRequestId(headers: Record<string, string>): Record<string, string> {
  const hasOwn = Object.keys(headers).some((name) => name.endsWith("requestid"));
  return hasOwn ? headers : { "x-request-id": JSON_TYPE["x-request-id"], ...headers };
}

/** Applies a fault that happens before or instead of a response. Returns true when no other response is to be sent. */
export async function applyEarlyFault(behaviour: Behaviour, response: SimulatedResponse): Promise<boolean> {
  if (behaviour.delayMs) await Bun.sleep(behaviour.delayMs);
  switch (behaviour.fault) {
    case "reset-before-headers":
      response.cut("rst");
      return true;
    case "close-before-headers":
      response.cut("fin");
      return true;
    case "stall":
      await response.closed();
      return true;
    case "garbage":
      await response.writeRaw("HTTP/1.1 200 Simulated\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n");
      response.cut("fin");
      return true;
    case "html":
      await sendBytes(
        response,
        200,
        { "content-type": "text/html; charset=utf-8" },
        "<!doctype html><p>Sorry",
      );
      return true;
    case "empty":
      await sendBytes(response, 200, JSON_TYPE, "");
      return true;
    case "redirect":
      await sendBytes(response, 302, { location: behaviour.text ?? "http://127.0.0.1:9/elsewhere" }, "");
      return true;
    case "flood":
      await flood(response);
      return true;
    case "gzip-bomb":
      await sendBytes(response, 200, { ...JSON_TYPE, "content-encoding": "gzip" }, bomb());
      return true;
    default:
      return false;
  }
}

/** Sends a JSON body with the behaviour's transport fault. */
export async function sendJson(
  response: SimulatedResponse,
  status: number,
  value: unknown,
  behaviour: Behaviour = {},
  headers: Record<string, string> = {},
): Promise<void> {
  const written = writeJson(value);
  const text = behaviour.fault === "escaped-slashes" ? written.replaceAll("/", "\\/") : written;
  const bytes = Buffer.from(text);
  const all = withRequestId({ "content-type": "application/json", ...headers });
  const after = behaviour.after ?? Math.floor(bytes.byteLength / 2);
  switch (behaviour.fault) {
    case "truncated":
      return sendBytes(response, status, all, bytes.subarray(0, after));
    case "reset-midway":
    case "close-midway":
    case "stall-midway":
      await response.start(status, all);
      await response.write(bytes.subarray(0, after));
      return breakOff(response, behaviour);
    case "slow-drip":
    case "one-byte":
      await response.start(status, all);
      await drip(response, bytes, behaviour);
      return response.end();
    case "gzip":
    case "br":
      return sendBytes(
        response,
        status,
        { ...all, "content-encoding": behaviour.fault },
        COMPRESS[behaviour.fault](bytes),
      );
    default:
      return sendBytes(response, status, all, bytes);
  }
}

const COMPRESS = { gzip: gzipSync, br: brotliCompressSync } as const;

/** Sends a stream's frames with the behaviour's transport fault. Returns true when all frames were sent. */
export async function sendFrames(
  response: SimulatedResponse,
  frames: Iterable<string | Buffer>,
  behaviour: Behaviour,
  headers: Record<string, string> = {},
): Promise<boolean> {
  const { fault } = behaviour;
  const encoding = fault === "gzip" || fault === "br" ? fault : null;
  const all = withRequestId({ "content-type": "text/event-stream; charset=utf-8", ...headers });
  await response.start(200, encoding ? { ...all, "content-encoding": encoding } : all);
  if (encoding)
    await response.write(COMPRESS[encoding](Buffer.concat([...frames].map((each) => Buffer.from(each)))));
  else if (!(await sendEach(response, frames, behaviour))) return false;
  await response.end();
  return response.isFinished;
}

async function sendEach(
  response: SimulatedResponse,
  frames: Iterable<string | Buffer>,
  behaviour: Behaviour,
): Promise<boolean> {
  let sent = 0;
  for (const frame of frames) {
    if (response.isClosed) return false;
    if (behaviour.frameDelayMs && behaviour.fault !== "slow-drip") await Bun.sleep(behaviour.frameDelayMs);
    const breaks = behaviour.fault?.endsWith("-midway") || behaviour.fault === "truncated";
    if (breaks && sent === (behaviour.after ?? 2)) {
      if (behaviour.fault !== "truncated") await breakOff(response, behaviour);
      else {
        await response.write(frame.slice(0, frame.length / 2));
        await response.end();
      }
      return false;
    }
    const isSliced = behaviour.fault === "one-byte" || behaviour.fault === "slow-drip";
    await (isSliced ? drip(response, Buffer.from(frame), behaviour) : response.write(frame));
    sent += 1;
  }
  return true;
}

/** Sends single bytes, and so also splits characters of several bytes. */
async function drip(response: SimulatedResponse, bytes: Buffer, behaviour: Behaviour): Promise<void> {
  for (const byte of bytes) {
    if (response.isClosed) return;
    if (behaviour.fault === "slow-drip") await Bun.sleep(behaviour.frameDelayMs ?? 20);
    await response.write(Uint8Array.of(byte));
  }
}

async function breakOff(response: SimulatedResponse, behaviour: Behaviour): Promise<void> {
  // This pause lets the data be sent first, because a reset discards unsent data.
  await Bun.sleep(5);
  if (behaviour.fault === "stall-midway") await response.closed();
  else response.cut(behaviour.fault === "reset-midway" ? "rst" : "fin");
}

async function sendBytes(
  response: SimulatedResponse,
  status: number,
  headers: Record<string, string>,
  body: Uint8Array | string,
): Promise<void> {
  const bytes = Buffer.from(body);
  await response.start(status, { ...headers, "content-length": String(bytes.byteLength) });
  await response.write(bytes);
  await response.end();
}

/** Sends data that never ends. */
async function flood(response: SimulatedResponse): Promise<void> {
  await response.start(200, JSON_TYPE);
  while (!response.isClosed) await response.write(FLOOD);
}

/** Returns about 64 KiB that decompress to 64 MiB. */
function bomb(): Uint8Array {
  return Bun.gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
}
