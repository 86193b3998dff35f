import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFleet, type Fleet } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/gateway.ts";
import { readOptions } from "../support/program-options.ts";
import { findRedis, startRedis } from "../support/redis.ts";
import { DEPLOY, panels, rules } from "./shipped.ts";

/*
 * A real Prometheus scrapes a real gateway under traffic with failing vendors, loads the shipped rules, and is asked
 * every query of the shipped board: each must have an answer. Takes about a minute; `prometheus` and `redis-server` must
 * be installed.
 */
const TRAFFIC_MS = 25_000;
const PAUSE_MS = 100;
/** In place of the windows of the board: traffic is short here. */
const WINDOW = "20s";
/** What has no answer while all is well: nothing was spent yet at a rate, or no message was sent. */
const MAY_BE_EMPTY = new Set(["Time until a budget is spent"]);

readOptions({
  command: "npm run watch:check --",
  does: "Lets a real Prometheus scrape a gateway, and asks it every query of the shipped board.",
  options: {},
});
const redis = findRedis();
if ("missing" in redis || Bun.which("prometheus") === null)
  throw new Error("prometheus and redis-server must be installed");
const store = await startRedis(redis.binary);
const directory = await mkdtemp(join(tmpdir(), "gateway-watch-"));
try {
  await using fleet = await openFleet({
    vendors: 2,
    workers: 2,
    maxConcurrent: 20,
    env: { REDIS_URL: store.url, GATEWAY_DEFAULT_LIMITS: "" },
  });
  await fleet.gateways[0]?.cli("budgets", "create", "--amount", "1000", "--period", "month");
  await fleet.gateways[0]?.cli("orgs", "set", "default", "--limit", "requests_per_minute=60");
  const prometheus = await startPrometheus(fleet);
  try {
    await sendTraffic(fleet);
    const failed = await askAll(prometheus.url);
    for (const line of failed) console.error(line);
    console.log(`${panels.length} queries asked, ${failed.length} without an answer`);
    process.exitCode = failed.length > 0 ? 1 : 0;
  } finally {
    await prometheus.stop();
  }
} finally {
  await store.stop();
  await rm(directory, { recursive: true, force: true });
}

async function startPrometheus(fleet: Fleet) {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const [gateway] = fleet.gateways;
  const target = new URL(gateway?.url ?? "").host;
  await Bun.write(
    join(directory, "prometheus.yaml"),
    JSON.stringify({
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [join(DEPLOY, "prometheus/alerts.yaml")],
      scrape_configs: [{ job_name: "gateway", static_configs: [{ targets: [target] }] }],
    }),
  );
  const child = Bun.spawn(
    [
      "prometheus",
      `--config.file=${join(directory, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdout: "ignore", stderr: "ignore" },
  );
  await until("Prometheus", async () => {
    const response = await fetch(`${url}/-/ready`).catch(() => null);
    return response?.ok ? true : undefined;
  });
  return {
    url,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** Streams, refusals and failures of a vendor, for as long as the windows of the queries need. */
async function sendTraffic(fleet: Fleet): Promise<void> {
  const endsAt = performance.now() + TRAFFIC_MS;
  fleet.vendors[0]?.next(
    ...Array.from({ length: 1_000 }, () => ({ fault: "error-status", status: 401 }) as const),
  );
  for (let sent = 0; performance.now() < endsAt; sent += 1) {
    const prompt = sent % 5 === 0 ? "[[error-status status=500]]" : "hello";
    const response = await fleet.chat({ isStream: true, prompt, isOnNewConnection: true });
    await response.text();
    await Bun.sleep(PAUSE_MS);
  }
}

/** Returns a line for each query without an answer and each rule that Prometheus does not evaluate. */
async function askAll(url: string): Promise<string[]> {
  const failed: string[] = [];
  for (const { title, query } of panels) {
    const asked = query.replaceAll(/\[\d+[mh]\]/g, `[${WINDOW}]`);
    const answer = await ask(url, `query?query=${encodeURIComponent(asked)}`);
    const rows = (answer as { data?: { result?: unknown[] } }).data?.result ?? [];
    console.log(`${String(rows.length).padStart(3)} series  ${title}`);
    if (rows.length === 0 && !MAY_BE_EMPTY.has(title)) failed.push(`no answer: ${title}: ${asked}`);
  }
  const { data } = (await ask(url, "rules")) as {
    data: { groups: { rules: { name: string; health: string; state: string }[] }[] };
  };
  const evaluated = data.groups.flatMap((group) => group.rules);
  for (const { alert } of rules)
    if (!evaluated.some(({ name, health }) => name === alert && health === "ok"))
      failed.push(`not evaluated: ${alert}`);
  const active = evaluated.filter(({ state }) => state !== "inactive").map(({ name }) => name);
  console.log(`${rules.length} rules evaluated; pending or firing: ${active.join(", ")}`);
  return failed;
}

async function ask(url: string, path: string): Promise<unknown> {
  return await (await fetch(`${url}/api/v1/${path}`)).json();
}
