import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { until } from "../support/gateway.ts";
import { openSocket, writeRequest } from "../support/sockets.ts";
import { CHAT, chatNanos, openGatewayFixture, type GatewayFixture } from "../support/vendor.ts";

/*
 * Many misbehaving clients. Memory and file descriptors must not grow, vendor calls must end at once, and every request
 * must be in the ledger.
 */
const HANG_UPS = 1_000;
const MAX_P99_MS = 100;
const NEVER_READERS = 10;
const FLOOD_BYTES = 64 * 1024 * 1024;
const SLOW_READERS = 300;

let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await openGatewayFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

test(`${HANG_UPS} clients disconnect mid-stream: vendor calls end, all billed, nothing grows`, async () => {
  const before = await warmUp();
  // This process also uses the gateway's cores, for clients and vendors. So the best of three waves counts.
  let p99Ms = Infinity;
  let waves = 0;
  while (p99Ms > MAX_P99_MS && waves < 3) p99Ms = Math.min(p99Ms, await hangUp(HANG_UPS, `hang${waves++}`));
  const rows = await until(
    "all charges",
    async () => {
      const found = (await fixture.gateway.ledger()).filter(({ request_id }) =>
        request_id.startsWith("hang"),
      );
      return found.length >= HANG_UPS * waves ? found : undefined;
    },
    15_000,
  );
  const after = await settled();
  console.log(
    `hang-ups: upstream closed within ${p99Ms.toFixed(1)} ms p99 (wave ${waves}); memory ${before.residentMb} → ` +
      `${after.residentMb} MB, descriptors ${before.descriptors} → ${after.descriptors}`,
  );
  expect(p99Ms).toBeLessThanOrEqual(MAX_P99_MS);
  expect(after.residentMb - before.residentMb).toBeLessThan(50);
  expect(after.descriptors - before.descriptors).toBeLessThan(20);
  expect(rows).toHaveLength(HANG_UPS * waves);
  expect(new Set(rows.map(({ request_id }) => request_id)).size).toBe(rows.length);
  for (const { flags, amount, consumed } of rows) {
    expect(flags.toSorted()).toEqual(["caller_gone", "estimated", "partial"]);
    const { input = 0, output = 0 } = consumed!.tokens!;
    expect(amount).toBe(chatNanos({ prompt_tokens: input, completion_tokens: output }));
    expect(output).toBeGreaterThan(0);
  }
}, 60_000);

test(`${NEVER_READERS} clients that never read do not make the gateway buffer the response`, async () => {
  const text = "x".repeat(FLOOD_BYTES);
  const before = await settled();
  fixture.vendor.next(...Array.from({ length: NEVER_READERS }, () => ({ text, frames: FLOOD_BYTES / 8192 })));
  const already = fixture.vendor.hits.length;
  const sockets = await Promise.all(
    Array.from({ length: NEVER_READERS }, (_, index) => openStream(`never-${index}`, "flood")),
  );
  for (const socket of sockets) socket.pause();
  await fixture.vendor.waitForHits(already + NEVER_READERS);
  // An unbounded buffer would grow during these two seconds.
  await Bun.sleep(1_000);
  const { residentMb } = fixture.gateway.resources();
  await Bun.sleep(1_000);
  const later = fixture.gateway.resources().residentMb;
  for (const socket of sockets) socket.destroy();
  const offeredMb = Math.round((NEVER_READERS * FLOOD_BYTES) / 1e6);
  console.log(
    `never read: memory ${before.residentMb} → ${residentMb} → ${later} MB of ${offeredMb} MB offered`,
  );
  expect(later - before.residentMb).toBeLessThan(offeredMb / 2);
  await fixture.gateway.charged("never-0");
}, 20_000);

test(`${SLOW_READERS} slow readers at once all get their complete response`, async () => {
  const before = await settled();
  const sockets = await Promise.all(
    Array.from({ length: SLOW_READERS }, (_, index) =>
      openStream(`slow-${index}`, "[[reply tokens=2000 frames=50]]"),
    ),
  );
  const bodies = await Promise.all(sockets.map(readSlowly));
  const peakMb = fixture.gateway.resources().residentMb;
  for (const body of bodies) {
    expect(body).toContain("word1999");
    expect(body).toContain('"usage":{"prompt_tokens"');
    expect(body).toEndWith("data: [DONE]\n\n\r\n0\r\n\r\n");
  }
  // The next collection frees garbage. Referenced memory would stay.
  const settledMb = await until("memory to be given back", () => {
    const { residentMb } = fixture.gateway.resources();
    return residentMb - before.residentMb < 100 ? residentMb : undefined;
  });
  console.log(`slow readers: memory ${before.residentMb} → ${peakMb} → ${settledMb} MB`);
}, 30_000);

/** Disconnects clients in waves until memory stops growing, so that later figures do not include early garbage. */
async function warmUp() {
  let figures = await settled();
  for (let wave = 0; wave < 8; wave += 1) {
    await hangUp(HANG_UPS, `warm${wave}`);
    const next = await settled();
    if (next.residentMb <= figures.residentMb) return next;
    figures = next;
  }
  return figures;
}

/**
 * Opens streams, waits until each has content, and disconnects. Returns the p99 of the milliseconds from a
 * disconnection to the end of the vendor call.
 */
async function hangUp(count: number, prefix: string): Promise<number> {
  const disconnectedAt = new Map<string, number>();
  const already = fixture.vendor.hits.length;
  const callers = Array.from({ length: count }, async (_, index) => {
    const requestId = `${prefix}-${index}`;
    // The vendor sends on some calls and is silent on others. All calls must end.
    const plan = index % 2 === 0 ? "reply tokens=200 frameDelayMs=400" : "stall-midway after=4";
    const socket = await openStream(requestId, `${requestId} [[${plan}]]`);
    await untilContent(socket);
    return { requestId, socket };
  });
  const leave = async ({ requestId, socket }: { requestId: string; socket: Socket }, index: number) => {
    await Bun.sleep(index % 1_500);
    disconnectedAt.set(requestId, performance.now());
    if (index % 3 === 0) socket.resetAndDestroy();
    else socket.destroy();
  };
  await Promise.all((await Promise.all(callers)).map(leave));
  const hits = await until("every vendor call to be closed", () => {
    const mine = fixture.vendor.hits.slice(already);
    return mine.length === count && mine.every(({ closedAt }) => closedAt !== null) ? mine : undefined;
  });
  const delays = hits.map((hit) => {
    const requestId = /"([a-z0-9]+-\d+) /.exec(hit.body.toString())?.[1] ?? "";
    return hit.closedAt! - disconnectedAt.get(requestId)!;
  });
  return delays.sort((one, other) => one - other)[Math.floor(count * 0.99)]!;
}

async function openStream(requestId: string, prompt: string): Promise<Socket> {
  const { gateway } = fixture;
  const socket = await openSocket(gateway.url);
  const body = JSON.stringify({ model: CHAT, stream: true, messages: [{ role: "user", content: prompt }] });
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    "content-type": "application/json",
    "x-request-id": requestId,
    connection: "close",
  };
  socket.write(writeRequest({ path: "/v1/chat/completions", headers, body }));
  return socket;
}

function untilContent(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("data", (piece: Buffer) => {
      text += piece.toString("latin1");
      if (text.includes("data: {")) resolve();
      else if (text.includes("HTTP/1.1") && !text.startsWith("HTTP/1.1 200")) reject(new Error(text));
    });
    socket.on("close", () => reject(new Error(`closed: ${text}`)));
  });
}

/** Reads some data, waits, and reads again until the end. */
function readSlowly(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      socket.pause();
      setTimeout(() => socket.resume(), 30);
    });
    socket.on("end", () => resolve(Buffer.concat(pieces).toString("latin1")));
  });
}

/** Returns memory and descriptors after all streams have ended. */
async function settled(): Promise<{ residentMb: number; descriptors: number }> {
  await until("the streams to end", async () => {
    const text = await (await fixture.gateway.call("/metrics")).text();
    return /gateway_ledger_backlog 0\b/.test(text) ? true : undefined;
  });
  return fixture.gateway.resources();
}
