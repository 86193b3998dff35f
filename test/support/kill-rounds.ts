import type { LedgerRow, TestGateway } from "./gateway.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { CHAT, IMAGE, IMAGE_NANOS, chatNanos, openGatewayFixture } from "./vendor.ts";

/** The result of many kills. If every charge is right, all lists are empty. */
export interface KillReport {
  rounds: number;
  /** Number of responses that clients received completely. */
  received: number;
  /** Number of rows in the ledger after the run. */
  charged: number;
  /** Requests with a complete response but no charge. */
  missing: string[];
  /** Requests with more than one charge. */
  repeated: string[];
  /** Requests with a complete response but a wrong amount. */
  mispriced: string[];
  /** Requests in the ledger that the vendor never received. */
  invented: string[];
  /** Requests that cost more than the vendor's complete response. */
  overcharged: string[];
}

const CLIENTS = 12;
const MAX_LIFE_MS = 250;

/** Kills a gateway repeatedly at random times under load. Then compares clients, vendor and ledger. */
export async function killRounds(rounds: number, random: () => number): Promise<KillReport> {
  await using fixture = await openGatewayFixture();
  const { gateway, vendor } = fixture;
  const received = new Map<string, bigint>();
  for (let round = 0; round < rounds; round++) {
    if (round > 0) await gateway.restart();
    const stop = new AbortController();
    const clients = Array.from({ length: CLIENTS }, (_, client) =>
      runClient(gateway, `k${round}-${client}`, random, received, stop.signal),
    );
    await Bun.sleep(20 + random() * MAX_LIFE_MS);
    await gateway.kill();
    stop.abort();
    await Promise.all(clients);
  }
  await gateway.restart();
  await gateway.stop();
  return compare(rounds, received, await gateway.ledger(), vendor);
}

type Call = (gateway: TestGateway, requestId: string) => Promise<bigint>;

/** Sends calls and records the cost of each complete response, until the gateway is killed. */
async function runClient(
  gateway: TestGateway,
  name: string,
  random: () => number,
  received: Map<string, bigint>,
  stop: AbortSignal,
): Promise<void> {
  const calls: readonly Call[] = [
    ...Array<Call>(8).fill(callChat),
    ...Array<Call>(8).fill(callStream),
    callImage,
  ];
  for (let turn = 0; !stop.aborted; turn++) {
    const requestId = `${name}-${turn}`;
    const call = calls[Math.floor(random() * calls.length)] ?? callChat;
    const cost = await call(gateway, requestId).catch(() => null);
    if (cost === null) return;
    received.set(requestId, cost);
  }
}

async function callChat(gateway: TestGateway, requestId: string): Promise<bigint> {
  const response = await gateway.call("/v1/chat/completions", {
    body: { model: CHAT, messages: [{ role: "user", content: requestId }] },
    headers: { "x-request-id": requestId },
  });
  const reply = (await response.json()) as { usage: Parameters<typeof chatNanos>[0] };
  return chatNanos(reply.usage);
}

async function callStream(gateway: TestGateway, requestId: string): Promise<bigint> {
  const prompt = `${requestId} [[reply tokens=20 frameDelayMs=2]]`;
  const response = await gateway.call("/v1/chat/completions", {
    body: { model: CHAT, stream: true, messages: [{ role: "user", content: prompt }] },
    headers: { "x-request-id": requestId },
  });
  const text = await response.text();
  if (!text.endsWith("data: [DONE]\n\n")) throw new Error("cut");
  const report = /"choices":\[\],"usage":(\{.*\})\}\n\ndata: \[DONE\]/.exec(text)?.[1];
  return chatNanos(JSON.parse(report ?? ""));
}

async function callImage(gateway: TestGateway, requestId: string): Promise<bigint> {
  const response = await gateway.call("/v1/images/generations", {
    body: { model: IMAGE, prompt: requestId, size: "1024x640", output_format: "jpeg" },
    headers: { "x-request-id": requestId },
  });
  const reply = (await response.json()) as { data: unknown[] };
  return IMAGE_NANOS * BigInt(reply.data.length);
}

function compare(
  rounds: number,
  received: ReadonlyMap<string, bigint>,
  rows: readonly LedgerRow[],
  vendor: Simulator,
): KillReport {
  const charges = new Map<string, bigint[]>();
  for (const { request_id, amount } of rows)
    charges.set(request_id, [...(charges.get(request_id) ?? []), amount]);
  const costs = vendorCosts(vendor);
  const of = (requestId: string) => charges.get(requestId)?.[0] ?? 0n;
  const ids = [...charges.keys()];
  return {
    rounds,
    received: received.size,
    charged: rows.length,
    missing: [...received.keys()].filter((id) => !charges.has(id)),
    repeated: ids.filter((id) => charges.get(id)!.length > 1),
    mispriced: [...received].filter(([id, cost]) => charges.has(id) && of(id) !== cost).map(([id]) => id),
    invented: ids.filter((id) => !costs.has(id)),
    overcharged: ids.filter((id) => of(id) > (costs.get(id) ?? 0n)),
  };
}

/** Returns each request's maximum cost, from the vendor's hits. A prompt begins with the request's id. */
function vendorCosts(vendor: Simulator): Map<string, bigint> {
  return new Map(
    vendor.hits.map((hit): [string, bigint] => {
      const requestId = /"(k\d+-\d+-\d+)/.exec(hit.body.toString())?.[1] ?? "";
      if (hit.path.includes("images")) return [requestId, IMAGE_NANOS];
      const prompt_tokens = Math.ceil(hit.body.length / 4);
      return [requestId, chatNanos({ prompt_tokens, completion_tokens: hit.behaviour.tokens ?? 8 })];
    }),
  );
}

/** Returns a random generator (mulberry32). Equal seeds give equal numbers. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
