import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { until } from "./gateway.ts";

/** The OpenTelemetry Collector as a process on a free loopback port. */
interface RealCollector extends AsyncDisposable {
  url: string;
  /** Returns the numbers of accepted and refused records since the start, by names such as `accepted_spans`. */
  received(): Promise<Record<string, number>>;
  /** Returns all records since the start, in the text format of the collector's debug exporter. */
  records(): Promise<string>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the collector at the path `binary`. Every distribution has the parts that this configuration uses. */
export async function startRealCollector(binary: string): Promise<RealCollector> {
  const folder = await mkdtemp(join(tmpdir(), "collector-"));
  const [port, ownPort] = [freePort(), freePort()];
  const path = join(folder, "collector.yaml");
  await Bun.write(path, configuration(port, ownPort));
  const log = Bun.file(join(folder, "collector.log"));
  const ownMetrics = async () => (await fetch(`http://127.0.0.1:${ownPort}/metrics`)).text();
  let child: Bun.Subprocess | null = null;
  const collector: RealCollector = {
    url: `http://127.0.0.1:${port}`,
    async received() {
      const counts = (await ownMetrics()).matchAll(RECEIVED);
      return Object.fromEntries(Array.from(counts, ([, name, count]) => [name, Number(count)]));
    },
    records: () => log.text(),
    async start() {
      const started = Bun.spawn([binary, "--config", path], { stdin: "ignore", stdout: log, stderr: log });
      child = started;
      await until("the collector", async () => {
        if (started.exitCode !== null) throw new Error(await log.text());
        return ownMetrics().catch(() => undefined);
      });
    },
    async stop() {
      child?.kill();
      await child?.exited;
    },
    async [Symbol.asyncDispose]() {
      await collector.stop();
      await rm(folder, { recursive: true });
    },
  };
  await collector.start();
  return collector;
}

const RECEIVED =
  /^otelcol_receiver_((?:accepted|failed|refused)_[a-z]+(?:_[a-z]+)*?)(?:__\w+)?\{.*\} (\d+)$/gm;

function configuration(port: number, ownPort: number): string {
  const pipeline = { receivers: ["otlp"], exporters: ["debug"] };
  const prometheus = { host: "127.0.0.1", port: ownPort };
  return JSON.stringify({
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { debug: { verbosity: "detailed" } },
    service: {
      telemetry: { metrics: { readers: [{ pull: { exporter: { prometheus } } }] } },
      pipelines: { traces: pipeline, metrics: pipeline, logs: pipeline },
    },
  });
}
