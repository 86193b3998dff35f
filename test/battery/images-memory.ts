/** Measures large image calls: memory above the idle value, remaining temporary files, and stalls of the event loop. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { REFERENCE_BYTES, uploadEdit, type Upload } from "./images-uploads.ts";

export interface Figures {
  what: string;
  statuses: number[];
  overIdleMb: number;
  seconds: number;
  megabytesPerSecond: number;
  /** Durations of health checks: the p95, the maximum, and the longest time in which the gateway computed. */
  p95PingMs: number;
  maxPingMs: number;
  stallMs: number;
  /** Number of temporary files that remained, and milliseconds until none remained or the wait ended. */
  leftOver: number;
  cleanAfterMs: number;
}

export interface Rig extends AsyncDisposable {
  gateway: TestGateway;
  upload(form: Upload["form"], options?: Partial<Upload>): ReturnType<typeof uploadEdit>;
}

export const MODEL = "gpt-image-2";
const CLEAN_WITHIN_MS = 5_000;

/** Starts a gateway and a vendor that discards all received bytes. */
export async function openRig(): Promise<Rig> {
  const sink = Bun.spawn([process.execPath, join(import.meta.dir, "images-sink.ts")], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const port = await announcedPort(sink.stdout);
  const gateway = await startTestGateway({
    yaml: `
channels:
  openai: { provider: openai, base_url: "http://127.0.0.1:${port}/v1", credential: { env: OPENAI_API_KEY } }
`,
    env: { OPENAI_API_KEY: "sk-sink" },
  });
  return {
    gateway,
    upload: (form, options = {}) =>
      uploadEdit({
        url: gateway.url,
        key: gateway.key,
        model: MODEL,
        form,
        references: 16,
        referenceBytes: REFERENCE_BYTES,
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      sink.kill();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/**
 * Measures the cost of calls at an idle gateway. Each call returns its status and the number of bytes that it sent or
 * received.
 */
export async function measure(
  { gateway }: Rig,
  what: string,
  calls: () => Promise<{ status: number; carried: number }[]>,
): Promise<Figures> {
  const idleMb = gateway.resources().residentMb;
  // Resets the peak of memory to the current value.
  writeFileSync(`/proc/${gateway.pid}/clear_refs`, "5");
  const pinger = Bun.spawn(
    [process.execPath, join(import.meta.dir, "images-pinger.ts"), gateway.url, String(gateway.pid)],
    {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const startedAt = performance.now();
  const replies = await calls();
  const endedAt = performance.now();
  const seconds = (endedAt - startedAt) / 1000;
  const { peakMb } = gateway.resources();
  await pinger.stdin.end();
  const pings = JSON.parse(await new Response(pinger.stdout).text());
  const leftOver = await untilClean(gateway);
  return {
    what,
    statuses: replies.map(({ status }) => status),
    overIdleMb: peakMb - idleMb,
    seconds: Math.round(seconds * 10) / 10,
    megabytesPerSecond: Math.round(replies.reduce((sum, { carried }) => sum + carried, 0) / 1e6 / seconds),
    p95PingMs: pings.p95Ms,
    maxPingMs: pings.maxMs,
    stallMs: pings.stallMs,
    leftOver,
    cleanAfterMs: Math.round(performance.now() - endedAt),
  };
}

/** Returns the names of the files in the folder for temporary files. */
export function spooled(gateway: TestGateway): string[] {
  try {
    return readdirSync(join(gateway.dataDirectory, "spool"));
  } catch {
    return [];
  }
}

async function untilClean(gateway: TestGateway): Promise<number> {
  const isClean = () => (spooled(gateway).length === 0 ? true : undefined);
  await until("the spool to be empty", isClean, CLEAN_WITHIN_MS).catch(() => undefined);
  return spooled(gateway).length;
}

/** Returns a function that sends concurrent edits, by default with sixteen references of 35 MiB. */
export function edits(rig: Rig, form: Upload["form"], count: number, options: Partial<Upload> = {}) {
  return async () => {
    const replies = await Promise.all(Array.from({ length: count }, () => rig.upload(form, options)));
    return replies.map(({ status, sent }) => ({ status, carried: sent }));
  };
}

/** Returns a function that sends generations. Each response has a picture of this number of base64 characters. */
export function generations({ gateway }: Rig, count: number, characters: number, more: object = {}) {
  return async () => {
    const body = { model: MODEL, prompt: `[[base64=${characters}]]`, response_format: "b64_json", ...more };
    const call = async () => {
      const response = await gateway.call("/v1/images/generations", { body });
      let carried = 0;
      for await (const piece of response.body ?? []) carried += piece.byteLength;
      return { status: response.status, carried };
    };
    return await Promise.all(Array.from({ length: count }, call));
  };
}

async function announcedPort(output: ReadableStream<Uint8Array>): Promise<number> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of output) {
    text += decoder.decode(piece, { stream: true });
    const port = /^listening (\d+)$/m.exec(text)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error("the sink ended before it listened");
}

/** Runs the largest calls one after another. Returns a sentence for each exceeded bound. */
export async function measureLargest(): Promise<string[]> {
  await using rig = await openRig();
  await edits(rig, "multipart", 1, { references: 1, referenceBytes: 100_000 })();
  const runs: [name: string, mostMb: number, calls: Parameters<typeof measure>[2]][] = [
    ["one edit as a form", 200, edits(rig, "multipart", 1)],
    ["one edit as JSON", 200, edits(rig, "json", 1)],
    ["50 responses of 20 MB", 400, generations(rig, 50, 20_000_000)],
    ["50 links to 20 MB", 400, generations(rig, 50, 20_000_000, { response_format: "url" })],
  ];
  const problems: string[] = [];
  for (const [name, mostMb, calls] of runs) {
    const { statuses, overIdleMb, leftOver } = await measure(rig, name, calls);
    if (statuses.some((status) => status !== 200)) problems.push(`${name}: ${statuses.join()}`);
    if (overIdleMb > mostMb) problems.push(`${name}: ${overIdleMb} MB, not ${mostMb}`);
    if (leftOver > 0) problems.push(`${name}: ${leftOver} temporary files left`);
  }
  return problems;
}
