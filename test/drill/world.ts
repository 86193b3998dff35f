import { mkdirSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signIn, type Administrator } from "../support/administration.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startPostgres, type PrivatePostgres } from "../support/postgres.ts";
import { startRedis, type PrivateRedis } from "../support/redis.ts";
import { fillDisk, mountSmallDisk } from "../support/small-disk.ts";
import { SIMULATED_KEY, startOpenAi } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/** A gateway with vendors, databases and a disk that can fail. A fault with an organization affects only that one. */
export interface DrillWorld extends AsyncDisposable {
  gateway: TestGateway;
  administrator: Administrator;
  vendors: Readonly<Record<"calm" | "dead" | "slow", Simulator>>;
  postgres: PrivatePostgres;
  redis: PrivateRedis;
  /** Sends a chat request as an organization and returns the status. */
  chat(organization: string): Promise<number>;
  /** Sets the amount of an organization's budget. Verdict and alerts use the organization's name for the budget. */
  limit(organization: string, amount: string): Promise<void>;
  /** Returns the console's verdict for one organization or for all. */
  verdict(organization?: string): Promise<Verdict>;
  /** Returns the verdict of the readiness endpoint, which needs no database. */
  readiness(): Promise<Verdict>;
  /** Returns the installation's open alerts, each as `kind subject`. */
  alerts(): Promise<string[]>;
  /** Fills or empties the journal's disk. Null when no disk can be mounted. */
  disk: { fill(): void; free(): void } | null;
}

export interface Verdict {
  state: "ok" | "idle" | "warning" | "critical";
  causes: { kind: string; subject: string; severity: string; organizationId: string | null; path: string }[];
}

const METRICS_TOKEN = "token-of-metrics";

/** The model of each organization. `theirs` also has its own route with a wrong credential. */
const MODELS: Readonly<Record<string, string>> = {
  calm: "calm-chat",
  dead: "dead-chat",
  slow: "slow-chat",
  spent: "calm-chat",
  tight: "calm-chat",
  theirs: "calm-chat",
  unpriced: "calm-chat",
};

export async function openDrill(postgresFolder: string, redisBinary: string): Promise<DrillWorld> {
  const [calm, dead, slow, postgres, redis, folder] = await Promise.all([
    startOpenAi(),
    startOpenAi(),
    startOpenAi(),
    startPostgres(postgresFolder),
    startRedis(redisBinary),
    mkdtemp(join(tmpdir(), "gateway-drill-")),
  ]);
  const data = join(folder, "data");
  const journal = join(data, "journal");
  mkdirSync(journal, { recursive: true });
  const isMounted = mountSmallDisk(journal, "2m");
  const gateway = await startTestGateway({
    yaml: yamlOf({ calm, dead, slow }),
    env: {
      DATABASE_URL: await postgres.createDatabase(),
      REDIS_URL: redis.url,
      GATEWAY_DATA_DIR: data,
      GATEWAY_DEFAULT_LIMITS: "",
      VENDOR_KEY: SIMULATED_KEY,
      WRONG_KEY: "sk-wrong",
      // No server listens on this port.
      MAIL_URL: "smtp://127.0.0.1:1",
      METRICS_TOKEN,
    },
  });
  const administrator = await signIn(gateway);
  const keys = await createOrganizations(administrator);
  const budgets = new Map<string, string>();
  const named = <Subject extends { subject: string }>(found: Subject): Subject => ({
    ...found,
    subject: [...budgets].find(([, id]) => id === found.subject)?.[0] ?? found.subject,
  });
  const readable = ({ causes, ...verdict }: Verdict): Verdict => ({ ...verdict, causes: causes.map(named) });
  const filler = join(journal, "filler");
  return {
    gateway,
    administrator,
    vendors: { calm, dead, slow },
    postgres,
    redis,
    async chat(organization) {
      const response = await gateway.call("/v1/chat/completions", {
        body: { model: MODELS[organization], messages: [{ role: "user", content: "hi" }] },
        headers: { authorization: `Bearer ${keys.get(organization)}` },
      });
      await response.text();
      return response.status;
    },
    async limit(organizationId, amount) {
      const id = budgets.get(organizationId);
      if (id !== undefined) return void (await administrator.act("PATCH", `/budgets/${id}`, { amount }));
      const made = await administrator.act("POST", "/budgets", { organizationId, amount });
      budgets.set(organizationId, made.id);
    },
    async verdict(organization) {
      const of = organization === undefined ? "" : `?organizationId=${organization}`;
      return readable((await administrator.act("GET", `/overview${of}`)).status);
    },
    async readiness() {
      const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
      return readable((await (await fetch(`${gateway.url}/readyz?verbose`, { headers })).json()) as Verdict);
    },
    async alerts() {
      const { data } = await administrator.act("GET", "/alert-events?state=open");
      return data
        .map(named)
        .map(({ kind, subject }: { kind: string; subject: string }) => `${kind} ${subject}`);
    },
    disk: isMounted ? { fill: () => fillDisk(filler), free: () => rmSync(filler, { force: true }) } : null,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      if (isMounted) Bun.spawnSync(["umount", "--lazy", journal]);
      await Promise.all([calm.close(), dead.close(), slow.close(), postgres.stop(), redis.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function yamlOf(vendors: Readonly<Record<string, Simulator>>): string {
  const channel = ([id, { url }]: [string, Simulator], key = "VENDOR_KEY") =>
    `  ${id}: { provider: openai, base_url: "${url}/v1", credential: { env: ${key} } }`;
  const model = (id: string) => `  ${id}-chat:
    type: chat
    max_output_tokens: 1000
    price: { currency: USD, per_million: { input: "1", output: "2" } }
    route: { targets: [{ channel: ${id}, upstream_model: gpt-5.4 }] }`;
  return `
catalogue: { enabled: false }
routing: { max_attempts: 1 }
mail: { url: { env: MAIL_URL }, from: "gateway@example.com", allowed_domains: [example.com] }
channels:
${Object.entries(vendors)
  .map((each) => channel(each))
  .join("\n")}
${channel(["theirs", vendors["calm"]!], "WRONG_KEY")}
models:
${[...Object.keys(vendors), "theirs"].map(model).join("\n")}
`;
}

async function createOrganizations(administrator: Administrator): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  for (const [id, model] of Object.entries(MODELS)) {
    const currency = id === "unpriced" ? "CNY" : "USD";
    await administrator.act("POST", "/organizations", { id, name: id, currency, models: [model] });
    const { secret } = await administrator.act("POST", "/keys", { organizationId: id, name: id });
    keys.set(id, secret);
  }
  const targets = [{ channel: "theirs", upstreamModel: "gpt-5.4", weight: 1 }];
  await administrator.act("PUT", "/routes", { organizationId: "theirs", model: "calm-chat", targets });
  const emails = ["ops@example.com"];
  const settings = { kind: "status", severity: "warning" };
  await administrator.act("POST", "/alerts", { name: "All", settings, emails });
  return keys;
}
