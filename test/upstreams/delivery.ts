import type { Answer } from "./connection.ts";
import type { Plan } from "./plan.ts";

/**
 * How bytes leave a simulated vendor: the faults of carriage, which are the same for every vendor and protocol.
 */
const JSON_TYPE = { "content-type": "application/json", "x-request-id": "req_simulated0001" };
const FLOOD = Buffer.alloc(64 * 1024, 0x20);

/** Acts on the faults that strike before or instead of an answer. True when there is nothing left to do. */
export async function strikeFirst(plan: Plan, answer: Answer): Promise<boolean> {
  if (plan.delayMs) await Bun.sleep(plan.delayMs);
  switch (plan.fault) {
    case "reset-before-headers":
      answer.cut("rst");
      return true;
    case "close-before-headers":
      answer.cut("fin");
      return true;
    case "stall":
      await answer.gone();
      return true;
    case "garbage":
      await answer.writeRaw("HTTP/1.1 200 Simulated\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n");
      answer.cut("fin");
      return true;
    case "html":
      await sendBytes(answer, 200, { "content-type": "text/html; charset=utf-8" }, "<!doctype html><p>Sorry");
      return true;
    case "empty":
      await sendBytes(answer, 200, JSON_TYPE, "");
      return true;
    case "redirect":
      await sendBytes(answer, 302, { location: plan.text ?? "http://127.0.0.1:9/elsewhere" }, "");
      return true;
    case "flood":
      await flood(answer);
      return true;
    case "gzip-bomb":
      await sendBytes(answer, 200, { ...JSON_TYPE, "content-encoding": "gzip" }, bomb());
      return true;
    default:
      return false;
  }
}

/** Sends a JSON body, carried as the plan says. */
export async function sendJson(
  answer: Answer,
  status: number,
  value: unknown,
  plan: Plan = {},
  headers: Record<string, string> = {},
): Promise<void> {
  const text =
    plan.fault === "escaped-slashes" ? JSON.stringify(value).replaceAll("/", "\\/") : JSON.stringify(value);
  const bytes = Buffer.from(text);
  const all = { ...JSON_TYPE, ...headers };
  const after = plan.after ?? Math.floor(bytes.byteLength / 2);
  switch (plan.fault) {
    case "truncated":
      return sendBytes(answer, status, all, bytes.subarray(0, after));
    case "reset-midway":
    case "close-midway":
    case "stall-midway":
      await answer.start(status, all);
      await answer.write(bytes.subarray(0, after));
      return breakOff(answer, plan);
    case "slow-drip":
    case "one-byte":
      await answer.start(status, all);
      await drip(answer, bytes, plan);
      return answer.end();
    case "gzip":
      return sendBytes(answer, status, { ...all, "content-encoding": "gzip" }, Bun.gzipSync(bytes));
    default:
      return sendBytes(answer, status, all, bytes);
  }
}

/** Sends the frames of a stream, carried as the plan says. True when all of them went out. */
export async function sendFrames(answer: Answer, frames: Iterable<string>, plan: Plan): Promise<boolean> {
  const isCompressed = plan.fault === "gzip";
  const headers = { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_simulated0001" };
  await answer.start(200, isCompressed ? { ...headers, "content-encoding": "gzip" } : headers);
  if (isCompressed) await answer.write(Bun.gzipSync(Buffer.from([...frames].join(""))));
  else if (!(await sendEach(answer, frames, plan))) return false;
  await answer.end();
  return answer.isFinished;
}

async function sendEach(answer: Answer, frames: Iterable<string>, plan: Plan): Promise<boolean> {
  let sent = 0;
  for (const frame of frames) {
    if (answer.isGone) return false;
    if (plan.frameDelayMs && plan.fault !== "slow-drip") await Bun.sleep(plan.frameDelayMs);
    const breaks = plan.fault?.endsWith("-midway") || plan.fault === "truncated";
    if (breaks && sent === (plan.after ?? 2)) {
      if (plan.fault !== "truncated") await breakOff(answer, plan);
      else {
        await answer.write(frame.slice(0, frame.length / 2));
        await answer.end();
      }
      return false;
    }
    const isSliced = plan.fault === "one-byte" || plan.fault === "slow-drip";
    await (isSliced ? drip(answer, Buffer.from(frame), plan) : answer.write(frame));
    sent += 1;
  }
  return true;
}

/** Byte by byte, which also splits every character of several bytes. */
async function drip(answer: Answer, bytes: Buffer, plan: Plan): Promise<void> {
  for (const byte of bytes) {
    if (answer.isGone) return;
    if (plan.fault === "slow-drip") await Bun.sleep(plan.frameDelayMs ?? 20);
    await answer.write(Uint8Array.of(byte));
  }
}

async function breakOff(answer: Answer, plan: Plan): Promise<void> {
  // What was written must have left before a reset throws the rest away.
  await Bun.sleep(5);
  if (plan.fault === "stall-midway") await answer.gone();
  else answer.cut(plan.fault === "reset-midway" ? "rst" : "fin");
}

async function sendBytes(
  answer: Answer,
  status: number,
  headers: Record<string, string>,
  body: Uint8Array | string,
): Promise<void> {
  const bytes = Buffer.from(body);
  await answer.start(status, { ...headers, "content-length": String(bytes.byteLength) });
  await answer.write(bytes);
  await answer.end();
}

/** Never ends by itself. */
async function flood(answer: Answer): Promise<void> {
  await answer.start(200, JSON_TYPE);
  while (!answer.isGone) await answer.write(FLOOD);
}

/** Some 64 KiB that unpack to 64 MiB. */
function bomb(): Uint8Array {
  return Bun.gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
}
