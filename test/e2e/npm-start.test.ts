import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestGateway } from "../support/gateway.ts";
import { untilServing } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { submit } from "../support/job-calls.ts";
import { makePng } from "../support/pictures.ts";
import { CHAT, fixtureYaml, IMAGE } from "../support/vendor.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";

/*
 * Starts and stops the gateway by `npm start`, as in the README and in containers, and as the program itself. A
 * supervisor, container or terminal signals either the gateway's process or its process group. npm forwards signals.
 */
const home = await mkdtemp(join(tmpdir(), "npm-start-"));
afterAll(() => rm(home, { recursive: true }));

const TOKENS = 60;
const EDIT_MS = 1_500;

/**
 * Every way to start the gateway, with every receiver of the stop signal. SIGTERM and SIGINT alternate, because both
 * act alike.
 */
const STOPS = [
  { isByNpm: false, workers: 1, signal: "SIGTERM", receiver: "process" },
  { isByNpm: false, workers: 1, signal: "SIGINT", receiver: "group" },
  { isByNpm: false, workers: 2, signal: "SIGINT", receiver: "process" },
  { isByNpm: false, workers: 2, signal: "SIGTERM", receiver: "group" },
  { isByNpm: true, workers: 1, signal: "SIGINT", receiver: "process" },
  { isByNpm: true, workers: 1, signal: "SIGTERM", receiver: "group" },
  { isByNpm: true, workers: 2, signal: "SIGTERM", receiver: "process" },
  { isByNpm: true, workers: 2, signal: "SIGINT", receiver: "group" },
] as const;

test.each([false, true])(
  "a signal to the process or its group lets what runs end, then it exits with 0, by npm: %p",
  async (isByNpm) => {
    const stops = STOPS.filter((stop) => stop.isByNpm === isByNpm);
    expect(await Promise.all(stops.map(stopWhileBusy))).toEqual(
      stops.map((stop) => ({
        ...stop,
        words: TOKENS,
        isStreamWhole: true,
        pictures: 1,
        job: "completed",
        processesStopped: stop.workers,
        exitCode: 0,
      })),
    );
  },
  60_000,
);

/** Stops a gateway during a stream, an edit and a job. Returns their results. */
async function stopWhileBusy(stop: (typeof STOPS)[number]) {
  const { isByNpm, workers, signal, receiver } = stop;
  await using vendor = await startOpenAi();
  await using gateway = await startTestGateway({
    isByNpm,
    isOwnGroup: true,
    yaml: fixtureYaml(vendor.url),
    env: { HOME: home, PORT: String(freePort()), WORKERS: String(workers), VENDOR_KEY: SIMULATED_KEY },
  });
  await untilServing(gateway, workers);
  const image = `data:image/png;base64,${Buffer.from(makePng(64, 48)).toString("base64")}`;
  const prompt = `[[reply delayMs=${EDIT_MS}]]`;
  const edit = gateway.call("/v1/images/edits", {
    body: { model: IMAGE, prompt, images: [{ image_url: image }], response_format: "b64_json" },
  });
  const job = await submit(gateway, { model: IMAGE, prompt });
  const stream = await gateway.call("/v1/chat/completions", {
    body: {
      model: CHAT,
      stream: true,
      messages: [{ role: "user", content: `[[reply tokens=${TOKENS} frameDelayMs=25]]` }],
    },
  });
  await vendor.waitForHits(3);
  process.kill(receiver === "group" ? -gateway.pid : gateway.pid, signal);
  const text = await stream.text();
  const { data } = (await (await edit).json()) as { data?: unknown[] };
  const exitCode = await gateway.exited;
  using database = new Database(join(gateway.dataDirectory, "gateway.sqlite"), { readonly: true });
  const row = database
    .query<{ status: string }, [string]>("SELECT status FROM jobs WHERE id = ?")
    .get(job.id);
  const words = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join("");
  return {
    ...stop,
    words: words.trim().split(" ").length,
    isStreamWhole: text.endsWith("data: [DONE]\n\n"),
    pictures: data?.length,
    job: row?.status,
    processesStopped: gateway.logs().filter(({ message }) => message === "the gateway has stopped").length,
    exitCode,
  };
}
