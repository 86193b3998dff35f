import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { difference, ORGANIZATION_FAULTS, PART_FAULTS, type DrillFault } from "../drill/faults.ts";
import { openDrill, type DrillWorld, type Verdict } from "../drill/world.ts";
import { until } from "../support/gateway.ts";
import { findPostgres } from "../support/postgres.ts";
import { findRedis } from "../support/redis.ts";
import { canMount } from "../support/small-disk.ts";

/* The short form of the drill. All organizations' faults start together. Each is reported only to its organization. */
const postgres = findPostgres();
const redis = findRedis();
const missing = [postgres, redis].flatMap((found) => ("missing" in found ? [found.missing] : []));
if (missing.length > 0) console.warn(`SKIPPED: the drill of faults (${missing.join(", ")})`);
if (!canMount) console.warn("SKIPPED: a full disk: no tmpfs can be mounted here");
const LIMIT_MS = 30_000;

describe.skipIf(missing.length > 0)("what is broken is said, and nothing else", () => {
  let world: DrillWorld;
  beforeAll(async () => {
    if ("missing" in postgres || "missing" in redis) return;
    world = await openDrill(postgres.folder, redis.binary);
  }, 60_000);
  afterAll(() => world?.[Symbol.asyncDispose]());

  const settled = async (fault: DrillFault, read: () => Promise<Verdict>, others?: readonly string[]) => {
    const last: { difference: string | null } = { difference: "" };
    await until(
      fault.name,
      async () => {
        await Bun.sleep(200);
        last.difference = difference(fault, await read(), others);
        return last.difference === null ? true : undefined;
      },
      LIMIT_MS,
    ).catch(() => {});
    expect({ fault: fault.name, ...last }).toEqual({ fault: fault.name, difference: null });
  };

  test("nothing is green that was never tried", async () => {
    const { state, causes } = await world.verdict("calm");
    expect({ state, causes }).toEqual({ state: "idle", causes: [] });
    const { channels } = await world.administrator.act("GET", "/overview");
    expect(new Set(channels.map((channel: { state: string }) => channel.state))).toEqual(
      new Set(["untried"]),
    );
    expect(await world.chat("calm")).toBe(200);
    expect((await world.verdict("calm")).state).toBe("ok");
  });

  test("each fault of an organization is its own, opens alerts, and mails that fail are told", async () => {
    await Promise.all(ORGANIZATION_FAULTS.map((fault) => fault.break(world)));
    await Promise.all(
      ORGANIZATION_FAULTS.map((fault) => settled(fault, () => world.verdict(fault.organization))),
    );
    expect((await world.verdict("calm")).causes).toEqual([]);
    for (const id of ["spent", "tight"])
      expect((await world.verdict(id)).causes).toMatchObject([
        { path: `/money?organization=${id}`, since: expect.any(String) },
      ]);
    const expected = ORGANIZATION_FAULTS.flatMap(({ alerts }) => alerts);
    await until(
      "alerts and their mails",
      async () => {
        const open = await world.alerts();
        const { causes } = await world.verdict();
        const isTold = causes.some(({ kind, subject }) => kind === "notices" && subject === "mail");
        return (isTold && expected.every((alert) => open.includes(alert))) || undefined;
      },
      LIMIT_MS,
    );
    for (const { mend } of ORGANIZATION_FAULTS) await mend(world);
  }, 90_000);

  for (const fault of PART_FAULTS)
    test.skipIf(fault.fillsDisk === true && !canMount)(
      `${fault.name} is a cause for readiness, and is over when it is mended`,
      async () => {
        const before = (await world.readiness()).causes.map(({ kind, subject }) => `${kind} ${subject}`);
        await fault.break(world);
        await settled(fault, () => world.readiness(), before);
        await fault.mend(world);
        await until(
          `the end of ${fault.name}`,
          async () => {
            const { causes } = await world.readiness();
            return (
              causes.every(({ kind, subject }) => !fault.causes.includes(`${kind} ${subject}`)) || undefined
            );
          },
          LIMIT_MS,
        );
      },
      70_000,
    );
});
