import { findPostgres } from "../support/postgres.ts";
import { readOptions } from "../support/program-options.ts";
import { findRedis } from "../support/redis.ts";
import { difference, MAIL_FAULT, ORGANIZATION_FAULTS, PART_FAULTS, type DrillFault } from "./faults.ts";
import { openDrill, type DrillWorld } from "./world.ts";

/*
 * Causes one fault at a time, each on a new gateway. Compares verdict, causes and alerts with the fault, and prints the
 * time of each report. Exits with 1 if a report is missing or wrong after half a minute.
 */
const LIMIT_MS = 30_000;
const POLL_MS = 250;

readOptions({
  command: "npm run drill --",
  does: "Breaks one thing at a time, and compares verdict, causes and alerts with it.",
  options: {},
});
const postgres = findPostgres();
const redis = findRedis();
if ("missing" in postgres || "missing" in redis) throw new Error("this needs PostgreSQL and Redis");

let isWell = true;
for (const fault of [...ORGANIZATION_FAULTS, MAIL_FAULT, ...PART_FAULTS]) {
  await using world = await openDrill(postgres.folder, redis.binary);
  await world.chat("calm");
  const verdict = await drill(world, fault);
  if (verdict.includes("!")) isWell = false;
  console.log(`${fault.name.padEnd(30)} ${verdict}`);
}
process.exit(isWell ? 0 : 1);

async function drill(world: DrillWorld, fault: DrillFault): Promise<string> {
  if (fault.fillsDisk && world.disk === null) return "! no disk can be mounted";
  await fault.break(world);
  const startedAt = performance.now();
  let green = 0;
  let found: string | null = "";
  const said = await within(async () => {
    const read =
      fault.alerts.length === 0 || !fault.organization
        ? world.readiness()
        : world.verdict(fault.organization);
    const verdict = await read;
    if (verdict.state === "ok" || verdict.state === "idle") green += POLL_MS;
    found = difference(fault, verdict);
    return found === null;
  });
  if (!said) return `! ${found}`;
  const saidMs = performance.now() - startedAt;
  const alerted = await within(async () => {
    if (fault.alerts.length === 0) return true;
    const open = await world.alerts();
    return fault.alerts.every((alert) => open.includes(alert));
  });
  if (!alerted) return "! no alert";
  const alertedMs = performance.now() - startedAt;
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  return `said after ${seconds(saidMs)} s (green for ${seconds(green)} s), alerts after ${seconds(alertedMs)} s`;
}

async function within(isDone: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + LIMIT_MS;
  while (performance.now() < end) {
    if (await isDone()) return true;
    await Bun.sleep(POLL_MS);
  }
  return false;
}
