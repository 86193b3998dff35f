import { expect, test } from "bun:test";
import { killJobs } from "../support/job-kills.ts";
import { seeded } from "../support/kill-rounds.ts";

const KILLS = 3;

test("jobs survive kills of gateways and workers under load", async () => {
  const seed = Math.floor(Math.random() * 100_000);
  const report = await killJobs(KILLS, seeded(seed));
  console.log(`seed ${seed}:`, report);
  expect(report).toMatchObject({
    lost: [],
    stuck: [],
    mischarged: [],
    repeated: [],
    invented: [],
    held: 0n,
    difference: 0n,
  });
  expect(report.completed).toBeGreaterThan(0);
}, 90_000);
