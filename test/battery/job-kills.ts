import type { LedgerRow, TestGateway, TestWorker } from "../support/gateway.ts";
import { until } from "../support/gateway.ts";
import { look, submit, type WireJob } from "../support/job-calls.ts";
import type { Hit } from "../upstreams/simulator.ts";
import { openImageFixture, type ImageFixture } from "../e2e/images-vendors.ts";

/** The result of many kills. If all guarantees are met, the lists are empty and `held` and `difference` are zero. */
export interface JobKillReport {
  kills: number;
  /** Number of jobs whose submission was acknowledged by a response. */
  acknowledged: number;
  completed: number;
  interrupted: number;
  cancelled: number;
  /** Acknowledged jobs that are unknown afterwards. */
  lost: string[];
  /** Jobs that never ended. */
  stuck: string[];
  /** Jobs that were charged for a wrong number of images, more than once, or not at all although they completed. */
  mischarged: string[];
  /** Prompts of jobs for which a vendor was called more than once. */
  repeated: string[];
  /** Jobs that completed although no vendor was called. */
  invented: string[];
  /** Amount that budgets still hold, in nano-units. */
  held: bigint;
  /** Sum of charges minus the amount that budgets have spent, in nano-units. */
  difference: bigint;
  /** Cost of vendor calls whose pictures no client received, in nano-units. */
  orphanCost: bigint;
}

const CLIENTS = 6;
const MODELS = ["gpt-image-2", "bfl-flux-2-pro", "replicate-flux-2-pro"] as const;
const MAX_LIFE_MS = 400;
/** Maximum wait for the next job to end, longer than the twenty seconds after which a dead process's lease ends. */
const END_MS = 60_000;

/** Kills gateways and a worker of one store at random under load. Compares clients, vendors and ledger. */
export async function killJobs(
  kills: number,
  random: () => number,
  env: Record<string, string> = {},
): Promise<JobKillReport> {
  await using fixture = await openImageFixture({
    alone: [
      ["bfl", "flux-2-pro"],
      ["replicate", "flux-2-pro"],
    ],
    env: { JOBS_CONCURRENCY: "8", ...env },
  });
  const { gateway: first, vendors } = fixture;
  await using second = await fixture.another();
  const gateways = [first, second];
  await first.cli("budgets", "create", "--amount", "10000");
  vendors.openai.respondBy(() => ({ delayMs: random() * 60 }));
  for (const vendor of [vendors.bfl, vendors.replicate])
    vendor.respondBy(() => ({ polls: Math.floor(random() * 30) }));
  let worker: TestWorker = await first.startWorker();
  const load = startLoad(gateways, random);
  for (let kill = 0; kill < kills; kill += 1) {
    await Bun.sleep(50 + random() * MAX_LIFE_MS);
    const victim = Math.floor(random() * 3);
    const gateway = gateways[victim];
    if (gateway) {
      await gateway.kill();
      await gateway.restart();
    } else {
      await worker[Symbol.asyncDispose]();
      worker = await first.startWorker();
    }
  }
  const acknowledged = await load.stop();
  const jobs = await untilAllEnded(first, acknowledged);
  await worker.stop();
  await second.stop();
  return await compare(kills, fixture, acknowledged, jobs);
}

/** Starts clients that submit jobs and cancel some of them. */
function startLoad(
  gateways: readonly TestGateway[],
  random: () => number,
): { stop(): Promise<Map<string, string>> } {
  /** Prompts of acknowledged jobs, by job id. */
  const acknowledged = new Map<string, string>();
  const state = { isStopping: false };
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let turn = 0; !state.isStopping; turn += 1) {
      const gateway = gateways[Math.floor(random() * gateways.length)]!;
      const prompt = `tag-${client}-${turn}-end`;
      const model = MODELS[Math.floor(random() * MODELS.length)]!;
      try {
        const { id } = await submit(gateway, { model, prompt, n: 1 + Math.floor(random() * 2) });
        acknowledged.set(id, prompt);
        if (random() < 0.1) await gateway.call(`/api/jobs/${id}/cancel`, { method: "POST" });
      } catch {
        // The gateway was killed before or after it stored the job.
      }
      await Bun.sleep(20 + random() * 40);
    }
  });
  return {
    async stop() {
      state.isStopping = true;
      await Promise.all(clients);
      return acknowledged;
    },
  };
}

/** Waits until every job has ended. Gives up when no further job ends in time. */
async function untilAllEnded(
  gateway: TestGateway,
  acknowledged: ReadonlyMap<string, string>,
): Promise<Map<string, WireJob>> {
  const jobs = new Map<string, WireJob>();
  const isLive = ({ status }: WireJob): boolean => status === "pending" || status === "in_progress";
  const countLive = async (): Promise<number> => {
    for (const id of acknowledged.keys()) {
      const known = jobs.get(id);
      if (!known || isLive(known)) jobs.set(id, await look(gateway, id));
    }
    return [...jobs.values()].filter(isLive).length;
  };
  for (let before = Infinity; before > 0;) {
    const fewer = async (): Promise<number | undefined> => {
      const live = await countLive();
      return live < before ? live : undefined;
    };
    before = await until("a job to end", fewer, END_MS).catch(() => 0);
  }
  return jobs;
}

async function compare(
  kills: number,
  { gateway, vendors }: ImageFixture,
  acknowledged: ReadonlyMap<string, string>,
  jobs: ReadonlyMap<string, WireJob>,
): Promise<JobKillReport> {
  const rows = Map.groupBy(await gateway.ledger(), ({ id }) => id);
  const submissions = [vendors.openai, vendors.bfl, vendors.replicate].flatMap(({ hits }) =>
    hits.filter(isSubmission),
  );
  const calls = Map.groupBy(submissions, (hit) => /tag-\d+-\d+-end/.exec(hit.body.toString())?.[0] ?? "");
  const all = [...jobs.values()];
  const [budget] = JSON.parse(await gateway.cli("budgets", "list", "--json")) as {
    spent: string;
    held: string;
  }[];
  const charged = [...rows.values()].flat().reduce((sum, { amount }) => sum + amount, 0n);
  const orphanCost = [...rows.values()]
    .flat()
    .reduce((sum, row) => sum + BigInt(String(Object(row)["orphan_cost"])), 0n);
  const count = (test: (job: WireJob) => boolean) => all.filter(test).length;
  const promptOf = ({ id }: WireJob) => acknowledged.get(id) ?? "";
  return {
    kills,
    acknowledged: acknowledged.size,
    completed: count(({ status }) => status === "completed"),
    interrupted: count(({ execution_error: error }) => error?.type === "interrupted"),
    cancelled: count(({ status }) => status === "cancelled"),
    lost: [...acknowledged.keys()].filter((id) => jobs.get(id)?.id !== id),
    stuck: all.filter(({ completed_at: at }) => at === null).map(({ id }) => id),
    mischarged: all.filter((job) => !isChargedRightly(job, rows.get(job.id) ?? [])).map(({ id }) => id),
    repeated: [...calls].filter(([, hits]) => hits.length > 1).map(([prompt]) => prompt),
    invented: all
      .filter((job) => job.status === "completed" && !calls.has(promptOf(job)))
      .map(({ id }) => id),
    held: nanos(budget!.held),
    difference: charged - nanos(budget!.spent),
    orphanCost,
  };
}

function isSubmission({ method, path }: Hit): boolean {
  return method === "POST" && !path.endsWith("/cancel");
}

function isChargedRightly({ status, outputs_count: outputs }: WireJob, rows: readonly LedgerRow[]): boolean {
  if (status === "completed") return rows.length === 1 && rows[0]?.consumed?.count === outputs && outputs > 0;
  return rows.every(({ amount, consumed }) => amount === 0n && consumed?.count === 0);
}

function nanos(decimal: string): bigint {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0"));
}
