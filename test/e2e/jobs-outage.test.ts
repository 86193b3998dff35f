import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { signIn } from "../support/administration.ts";
import { until, type TestGateway } from "../support/gateway.ts";
import { submit, untilStatus } from "../support/job-calls.ts";
import { makePng } from "../support/pictures.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";
import { IMAGE, openGatewayFixture, readError, type GatewayFixture } from "../support/vendor.ts";

/*
 * The database freezes while a job runs: submissions are refused as unavailable, and the job completes afterwards.
 * Values that PostgreSQL rejects get the same response as on SQLite.
 */
const found = findPostgres();
if ("missing" in found) console.warn(`SKIPPED: jobs on PostgreSQL and its outages (${found.missing})`);

describe.skipIf("missing" in found)("on PostgreSQL", () => {
  let postgres: PrivatePostgres;
  let fixture: GatewayFixture;
  beforeAll(async () => {
    if ("missing" in found) return;
    postgres = await startPostgres(found.folder);
    fixture = await openGatewayFixture({ env: { DATABASE_URL: await postgres.createDatabase() } });
  }, 30_000);
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]();
    await postgres?.stop();
  });

  test("an id with a NUL is the id of nothing", async () => {
    const { gateway } = fixture;
    for (const path of ["job_%00", "job_%00?cancel=true"])
      expect((await gateway.call(`/api/jobs/${path}`)).status).toBe(404);
    expect((await gateway.call("/api/jobs/job_%00/cancel", { method: "POST" })).status).toBe(404);
    const { id } = await submit(gateway, { model: IMAGE, prompt: "a lighthouse", size: "1024x1024" });
    await untilStatus(gateway, id);
    const cancelled = await gateway.call("/api/jobs/cancel", { body: { job_ids: ["job_\0", id] } });
    expect(await cancelled.json()).toMatchObject({
      results: [{ error: { type: "not_found" } }, { id, status: "completed" }],
    });
    const admin = await signIn(gateway);
    for (const path of ["/keys/%00", "/ledger?model=a%00"])
      expect(await admin.send("GET", path)).toMatchObject({
        status: 400,
        body: { error: { type: "invalid_input", field: path === "/keys/%00" ? "id" : "model" } },
      });
  });

  test("while it is frozen, submissions get 503, and a running job is completed and charged once afterwards", async () => {
    const { gateway, vendor } = fixture;
    const body = { model: IMAGE, prompt: "a lighthouse", size: "1024x1024" };
    vendor.next({ delayMs: 500 });
    const { id } = await submit(gateway, body);
    await vendor.waitForHits(2);
    postgres.freeze();
    const image = `data:image/png;base64,${Buffer.from(makePng(200, 200)).toString("base64")}`;
    const refused = await gateway.call("/api/jobs", { body: { ...body, image } });
    expect(filesOf(gateway)).toHaveLength(1);
    // The vendor responds during the first submission. During the second submission, the job's writes fail.
    expect((await gateway.call("/api/jobs", { body })).status).toBe(503);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await readError(refused)).toMatchObject({ code: "dependency_unavailable" });
    postgres.thaw();
    expect(await untilStatus(gateway, id)).toMatchObject({ status: "completed" });
    expect((await gateway.ledger()).filter((row) => row.id === id)).toHaveLength(1);
    expect(vendor.hits).toHaveLength(2);
    await until("the files of the refused submission to be removed", () =>
      filesOf(gateway).length === 0 ? true : undefined,
    );
  });
});

/** Returns the stored files of jobs. */
function filesOf({ dataDirectory }: TestGateway): string[] {
  const names = readdirSync(join(dataDirectory, "blobs"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".bin"));
}
