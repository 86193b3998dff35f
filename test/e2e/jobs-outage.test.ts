import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { submit, untilStatus } from "../support/job-calls.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";
import { IMAGE, openGatewayFixture, readError, type GatewayFixture } from "../support/vendor.ts";

/*
 * The database freezes while a job runs: submissions are refused as unavailable, and the job completes afterwards.
 */
const found = findPostgres();
if ("missing" in found) console.warn(`SKIPPED: jobs and outages of the database (${found.missing})`);

describe.skipIf("missing" in found)("while the database is frozen", () => {
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

  test("submissions get 503, and a running job is completed and charged once afterwards", async () => {
    const { gateway, vendor } = fixture;
    const body = { model: IMAGE, prompt: "a lighthouse", size: "1024x1024" };
    vendor.next({ delayMs: 500 });
    const { id } = await submit(gateway, body);
    await vendor.waitForHits(1);
    postgres.freeze();
    const refused = await gateway.call("/api/jobs", { body });
    // The vendor answers during the first of the two, and what the job then writes fails during the second.
    expect((await gateway.call("/api/jobs", { body })).status).toBe(503);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await readError(refused)).toMatchObject({ code: "dependency_unavailable" });
    postgres.thaw();
    expect(await untilStatus(gateway, id)).toMatchObject({ status: "completed" });
    expect((await gateway.ledger()).filter((row) => row.id === id)).toHaveLength(1);
    expect(vendor.hits).toHaveLength(1);
  });
});
