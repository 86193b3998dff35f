import type { LoopCase, LoopFigures } from "./case.ts";
import { CALLED_PROVIDERS, callsOf, MACHINE_TOKEN } from "./provider-calls.ts";
import type { ProviderOrder } from "./provider-thread.ts";

/** Complete vendor responses, for successes and errors. No provider may parse such a response for long. */
const ANSWERS: Readonly<Record<string, { most: number; make(count: number): string }>> = {
  values: { most: 400_000, make: (count) => `{"a":[${"0,".repeat(count)}0]}` },
  names: {
    most: 45_000,
    make: (count) => `{${Array.from({ length: count }, (_, index) => `"n${index}":0`).join(",")}}`,
  },
  escapes: { most: 1_490_000, make: (count) => `{"error":{"message":"${"xxxx\\n".repeat(count)}"}}` },
  levels: { most: 4_000_000, make: (count) => `{"a":${"[".repeat(count)}${"]".repeat(count)}}` },
};
const STATUSES = [200, 400];

/** Each call of each provider, with a large response of each kind. */
export const PROVIDER_CASES: readonly LoopCase[] = CALLED_PROVIDERS.flatMap((provider) =>
  callsOf(provider, "http://127.0.0.1:9").flatMap(([what]) =>
    Object.entries(ANSWERS).flatMap(([kind, { most, make }]) =>
      STATUSES.map((status): LoopCase => ({
        name: `${provider}, ${what}: ${kind} with ${status}`,
        covers: [provider],
        most,
        async prepare(_, count) {
          const body = Buffer.from(make(count));
          return () => callFromThread({ provider, what }, body, status);
        },
      })),
    ),
  ),
);

async function callFromThread(
  order: Omit<ProviderOrder, "url">,
  body: Uint8Array<ArrayBuffer>,
  status: number,
): Promise<LoopFigures> {
  const headers = { "content-type": "application/json" };
  using vendor = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      url.includes(MACHINE_TOKEN.path)
        ? Response.json(MACHINE_TOKEN.answer)
        : new Response(body, { status, headers }),
  });
  const opened = await (thread ??= openThread());
  const done = nextMessage(opened);
  opened.postMessage({ ...order, url: vendor.url.origin } satisfies ProviderOrder);
  return (await done) as LoopFigures;
}

/** The thread in which all calls run. */
let thread: Promise<Worker> | null = null;

async function openThread(): Promise<Worker> {
  const worker = new Worker(new URL("provider-thread.ts", import.meta.url));
  await nextMessage(worker);
  return worker;
}

function nextMessage(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
}
