import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { look, submit, untilStatus } from "../support/job-calls.ts";
import { makePng } from "../support/pictures.ts";
import type { SimulatedJob, SimulatedJobs } from "../upstreams/jobs.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { openImageFixture, type ImageFixture, type VendorName } from "./images-vendors.ts";
import { freePort } from "../support/free-port.ts";

/*
 * The gateway is killed or stopped while jobs run. Each job continues, ends as cancelled, or fails as interrupted. No
 * job is sent to a vendor twice, and none is charged without outputs.
 */
const SYNCHRONOUS = "gpt-image-2";
/** Vendors that have asynchronous jobs of their own. */
const VENDORS = ["bfl", "fal", "replicate"] as const;
let fixture: ImageFixture;
let gateway: TestGateway;

beforeAll(async () => {
  const alone = VENDORS.map((vendor) => [vendor, "flux-2-pro"] as [VendorName, string]);
  fixture = await openImageFixture({ alone, env: { DRAIN_SECONDS: "0", JOBS_CONCURRENCY: "4" } });
  gateway = fixture.gateway;
}, 30_000);
afterAll(() => fixture[Symbol.asyncDispose]());
afterEach(() => fixture.reset());

const jobsOf = (vendor: VendorName) =>
  (fixture.vendors[vendor] as Simulator & { jobs: SimulatedJobs<unknown> }).jobs.all;
const submissions = (vendor: VendorName) =>
  fixture.vendors[vendor].hits.filter(({ method, path }) => method === "POST" && !path.endsWith("/cancel"));
/** Changes the queue directly in the database, as another process could. */
function write(text: string): void {
  using database = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  database.run("PRAGMA busy_timeout = 5000");
  database.run(text);
}

const chargesOf = async (id: string) => (await gateway.ledger()).filter((row) => row.id === id);

/** Submits a job to each vendor, and waits until the vendor's own jobs have been polled. */
function submitPolled(
  polls: number,
): Promise<{ vendor: VendorName; id: string; job: SimulatedJob<unknown> }[]> {
  return Promise.all(
    VENDORS.map(async (vendor) => {
      const before = jobsOf(vendor).length;
      fixture.vendors[vendor].next({ polls });
      const { id } = await submit(gateway, { model: `${vendor}-flux-2-pro`, prompt: "a lighthouse" });
      const job = await until("the vendor's job to be polled", () => {
        const opened = jobsOf(vendor)[before];
        return opened && opened.polled > 1 ? opened : undefined;
      });
      return { vendor, id, job };
    }),
  );
}

test("after a crash jobs are looked up, run, or interrupted, by how far they were", async () => {
  const polled = await submitPolled(150);
  fixture.vendors.openai.next({ delayMs: 60_000 });
  const lost = await submit(gateway, { model: SYNCHRONOUS, prompt: "lost", n: 2 });
  await fixture.vendors.openai.waitForHits(1);
  const image = `data:image/png;base64,${Buffer.from(makePng(40, 30)).toString("base64")}`;
  const queued = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      submit(gateway, { model: SYNCHRONOUS, prompt: `p${index}`, ...(index % 2 === 0 && { image }) }),
    ),
  );
  await gateway.kill();
  await gateway.restart();

  for (const { vendor, id } of polled) {
    expect(await untilStatus(gateway, id)).toMatchObject({ status: "completed", outputs_count: 1 });
    expect([vendor, submissions(vendor).length]).toEqual([vendor, 1]);
    expect(await chargesOf(id)).toMatchObject([{ consumed: { count: 1 }, flags: [] }]);
  }
  for (const { id } of queued) {
    expect(await untilStatus(gateway, id)).toMatchObject({ status: "completed", outputs_count: 1 });
    expect(await chargesOf(id)).toMatchObject([{ consumed: { count: 1 } }]);
  }
  expect(await untilStatus(gateway, lost.id)).toMatchObject({
    status: "failed",
    outputs: [],
    execution_error: { type: "interrupted" },
  });
  expect(fixture.vendors.openai.hits).toHaveLength(1 + queued.length);
  const [row] = await chargesOf(lost.id);
  expect(row).toMatchObject({ amount: 0n, consumed: { count: 0 } });
  expect(Number(Object(row)["orphan_cost"])).toBeGreaterThan(0);
  expect(row?.flags).toEqual(["partial"]);
});

test("a cancellation that was acknowledged before a crash holds after it, however far the job was", async () => {
  const polled = await submitPolled(100_000);
  fixture.vendors.openai.next({ delayMs: 60_000 });
  const lost = await submit(gateway, { model: SYNCHRONOUS, prompt: "lost" });
  await fixture.vendors.openai.waitForHits(1);
  const queued = await submit(gateway, { model: SYNCHRONOUS, prompt: "never sent" });
  const body = { job_ids: [queued.id] };
  expect(await (await gateway.call("/api/jobs/cancel", { body })).json()).toMatchObject({ cancelled: true });
  await gateway.kill();
  // Simulates a kill right after the cancellation of running jobs was acknowledged.
  write("UPDATE jobs SET is_cancel_requested = 1 WHERE status = 'in_progress'");
  await gateway.restart();

  for (const { id } of [...polled, lost, queued])
    expect([id, await untilStatus(gateway, id)]).toMatchObject([id, { status: "cancelled", outputs: [] }]);
  for (const { vendor, id, job } of polled) {
    if (vendor !== "bfl") await until("the vendor's job to be cancelled", () => job.isCancelled || undefined);
    expect([vendor, submissions(vendor).length]).toEqual([vendor, 1]);
    expect((await chargesOf(id)).map(({ amount }) => amount)).toEqual([0n]);
  }
  expect((await chargesOf(lost.id)).map(({ amount }) => amount)).toEqual([0n]);
  expect(await chargesOf(queued.id)).toEqual([]);
  expect(fixture.vendors.openai.hits).toHaveLength(1);
});

test("a worker whose lease is gone lets the job go, and leaves it at its vendor", async () => {
  const polled = await submitPolled(100_000);
  write("UPDATE jobs SET fence = fence + 1, lease_until = lease_until + 600000 WHERE status = 'in_progress'");
  for (const { job } of polled)
    await until("the vendor to be asked no more", async () => {
      const before = job.polled;
      await Bun.sleep(400);
      return job.polled === before || undefined;
    });
  expect(polled.map(({ job }) => job.isCancelled)).toEqual([false, false, false]);
  write("UPDATE jobs SET is_cancel_requested = 1, lease_until = 0 WHERE status = 'in_progress'");
  for (const { id } of polled) expect((await untilStatus(gateway, id)).status).toBe("cancelled");
}, 30_000);

test("a stop leaves vendors' jobs to the next start, which can still cancel them", async () => {
  const polled = await submitPolled(100_000);
  expect(await gateway.stop()).toBe(0);
  expect(polled.map(({ job }) => job.isCancelled)).toEqual([false, false, false]);
  await gateway.restart();
  for (const { vendor, id, job } of polled) {
    const before = job.polled;
    await until("the next start to poll", () => (job.polled > before ? true : undefined));
    await gateway.call(`/api/jobs/${id}/cancel`, { method: "POST" });
    expect(await untilStatus(gateway, id)).toMatchObject({ status: "cancelled", outputs: [] });
    // BFL cannot cancel a job.
    if (vendor !== "bfl") await until("the vendor's job to be cancelled", () => job.isCancelled || undefined);
    expect(submissions(vendor)).toHaveLength(1);
    expect((await chargesOf(id)).map(({ amount }) => amount)).toEqual([0n]);
  }
});

test("another process that only runs jobs shares them", async () => {
  await using alone = await startTestGateway({ env: { JOBS_CONCURRENCY: "0" } });
  const { id } = await submit(alone, { model: "sandbox-d-fast", prompt: "elsewhere" });
  await Bun.sleep(300);
  expect((await look(alone, id)).status).toBe("pending");
  const metricsPort = freePort();
  await using worker = await alone.startWorker({ METRICS_PORT: String(metricsPort) });
  expect((await untilStatus(alone, id)).status).toBe("completed");
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  expect(metrics).toContain('gateway_jobs_ended_total{status="completed",type="none"} 1');
  expect((await fetch(`http://127.0.0.1:${metricsPort}/api/jobs`)).status).toBe(404);
  expect(await worker.stop()).toBe(0);
});
