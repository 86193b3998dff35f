import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signIn } from "../support/administration.ts";
import { openFleet, type Fleet, MODEL } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { type TestGateway, until } from "../support/gateway.ts";
import { findPostgres, startPostgres } from "../support/postgres.ts";
import { readOptions } from "../support/program-options.ts";
import { findRedis, startRedis } from "../support/redis.ts";
import { type Line, peak, QUESTIONS, SLOW_MODEL } from "./questions.ts";
import { DEPLOY, panels, rules } from "./shipped.ts";

/*
 * Plays a week of operation in a minute. A real Prometheus scrapes a real gateway under traffic. Vendors fail or are
 * slow, limits and budgets are used, the database hangs, mail is unavailable, and a configuration is refused.
 * Prometheus loads the shipped rules and runs every query of the shipped board. The results must answer each question.
 * Needs `prometheus`, `redis-server` and PostgreSQL.
 */
const FIRST_SCRAPES_MS = 5_000;
const EVENTS_MS = 12_000;
const CALM_MS = 12_000;
const FROZEN_MS = 3_000;
const PAUSE_MS = 100;
/** Replaces the time windows of the board, because the simulated week is short. */
const WINDOW = "20s";

readOptions({
  command: "npm run watch:check --",
  does: "Lets a real Prometheus scrape a gateway, and asks it every query of the shipped board.",
  options: {},
});
const redis = findRedis();
const found = findPostgres();
if ("missing" in redis || "missing" in found || Bun.which("prometheus") === null)
  throw new Error("prometheus, redis-server and PostgreSQL must be installed");
const store = await startRedis(redis.binary);
const postgres = await startPostgres(found.folder);
const directory = await mkdtemp(join(tmpdir(), "gateway-watch-"));
try {
  await using fleet = await openFleet({
    models: [MODEL, SLOW_MODEL],
    vendors: 2,
    workers: 2,
    maxConcurrent: 20,
    databaseUrl: await postgres.createDatabase(),
    yaml: 'mail: { url: { env: MAIL_URL }, from: "gateway@example.com", allowed_domains: [example.com] }',
    env: { REDIS_URL: store.url, GATEWAY_DEFAULT_LIMITS: "", MAIL_URL: "smtp://127.0.0.1:1" },
  });
  const [gateway] = fleet.gateways;
  if (!gateway) throw new Error("there is no gateway");
  const prometheus = await startPrometheus(gateway);
  try {
    const startedAt = Date.now();
    await playWeek(fleet, gateway);
    const failed = await askAll(prometheus.url, startedAt / 1_000);
    for (const line of failed) console.error(line);
    console.log(`${QUESTIONS.length} questions asked, ${failed.length} answers are missing or wrong`);
    process.exitCode = failed.length > 0 ? 1 : 0;
  } finally {
    await prometheus.stop();
  }
} finally {
  await postgres.stop();
  await store.stop();
  await rm(directory, { recursive: true, force: true });
}

async function startPrometheus(gateway: TestGateway) {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const target = new URL(gateway.url).host;
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

/** Causes the events of a week during continuous traffic. */
async function playWeek(fleet: Fleet, gateway: TestGateway): Promise<void> {
  const over = new AbortController();
  const traffic = [sendTraffic(fleet, over.signal), sendSlowTraffic(fleet, over.signal)];
  await Bun.sleep(FIRST_SCRAPES_MS);
  fleet.vendors[0]?.next(
    ...Array.from({ length: 1_000 }, () => ({ fault: "error-status", status: 401 }) as const),
  );
  await gateway.cli("budgets", "create", "--amount", "1", "--period", "month");
  const limits = ["--limit", "requests_per_minute=60", "--limit", "tokens_per_minute=100000"];
  const administrator = await signIn(gateway);
  const settings = { kind: "ejection", seconds: 10 };
  await administrator.act("POST", "/alerts", { name: "Targets", settings, emails: ["ops@example.com"] });
  await Bun.sleep(EVENTS_MS);
  postgres.freeze();
  await Bun.sleep(FROZEN_MS);
  postgres.thaw();
  await gateway.cli("orgs", "set", "default", ...limits);
  const file = join(gateway.dataDirectory, "../gateway.yaml");
  const configuration = await Bun.file(file).text();
  await Bun.write(file, `${configuration}\nnonsense: 1\n`);
  await Bun.sleep(CALM_MS);
  await Bun.write(file, configuration);
  await Bun.sleep(CALM_MS);
  over.abort();
  await Promise.all(traffic);
}

/** Sends one stream after another. Some streams fail at the vendor. */
async function sendTraffic(fleet: Fleet, over: AbortSignal): Promise<void> {
  for (let sent = 0; !over.aborted; sent += 1) {
    const prompt = sent % 5 === 0 ? "[[error-status status=500]]" : "hello";
    const response = await fleet.chat({ isStream: true, prompt, isOnNewConnection: true });
    await response.text();
    await Bun.sleep(PAUSE_MS);
  }
}

/** Sends concurrent streams that begin late. */
async function sendSlowTraffic(fleet: Fleet, over: AbortSignal): Promise<void> {
  const prompt = "[[reply delayMs=1500 tokens=4]]";
  const one = async (): Promise<void> => {
    while (!over.aborted) {
      const response = await fleet.chat({
        model: SLOW_MODEL,
        isStream: true,
        prompt,
        isOnNewConnection: true,
      });
      await response.text();
      await Bun.sleep(PAUSE_MS);
    }
  };
  await Promise.all([one(), one(), one(), one()]);
}

/** Returns a line for each missing or wrong answer, and for each rule that Prometheus does not evaluate. */
async function askAll(url: string, startedAt: number): Promise<string[]> {
  const failed: string[] = [];
  const range = `start=${startedAt}&end=${Date.now() / 1_000}&step=1`;
  for (const { text, panels: answers } of QUESTIONS) {
    console.log(text);
    for (const [title, isAnswered] of Object.entries(answers)) {
      const { query = "" } = panels.find((panel) => panel.title === title) ?? {};
      const asked = query.replaceAll(/\[\d+[mh]\]/g, `[${WINDOW}]`);
      const lines = await readLines(url, `query_range?query=${encodeURIComponent(asked)}&${range}`);
      for (const line of lines) console.log(`  ${title}: ${describe(line)}`);
      if (!isAnswered(lines)) failed.push(`no answer: ${text} ${title}: ${asked}`);
    }
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

async function readLines(url: string, path: string): Promise<Line[]> {
  const { data } = (await ask(url, path)) as {
    data?: { result: { metric: Record<string, string>; values: [number, string][] }[] };
  };
  return (data?.result ?? []).map(({ metric, values }) => ({
    labels: metric,
    values: values.map(([, value]) => Number(value)),
  }));
}

function describe(line: Line): string {
  const labels = Object.entries(line.labels).filter(
    ([name]) => !["__name__", "instance", "job"].includes(name),
  );
  const named = labels.map(([name, value]) => `${name}=${value}`).join(" ");
  return `${named} ${Number(peak([line]).toPrecision(3))} at most, ${Number(line.values.at(-1)?.toPrecision(3))} at the end`;
}

async function ask(url: string, path: string): Promise<unknown> {
  return await (await fetch(`${url}/api/v1/${path}`)).json();
}
