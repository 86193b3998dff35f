import { expect, test } from "bun:test";
import { anEntry } from "../contracts/storage-harness.ts";
import { shellWithCharges, shellWithOrganization } from "../support/shell.ts";

test("prices of the configuration and stored ones are listed with exact amounts", async () => {
  await using cli = await shellWithOrganization();
  const set = await cli.run("prices set sandbox-a --org default --image 1K:low=0.005 --image 1K=0.01 --json");
  expect(set.json()).toMatchObject({
    unit: "image",
    perImage: { "1K": { low: "0.005", "*": "0.01" } },
    currency: "USD",
  });
  expect((await cli.run("prices list --model sandbox-a --json")).json()).toMatchObject([
    { source: "configuration", id: null, effectiveFrom: null, perImage: { "2K": { "*": "0.04" } } },
    { source: "stored", organizationId: "default" },
  ]);
  expect((await cli.run("prices list --model sandbox-chat")).stdout).toMatch(
    /^sandbox-chat +\(all\) +USD +input 0\.10, cache_read 0\.01, output 0\.40 a million +always +configuration$/m,
  );
  expect(await cli.run("prices set sandbox-chat --tokens input=-1 --tokens output=1")).toMatchObject({
    code: 1,
  });
});

test("a price change prints every category before and after", async () => {
  await using cli = await shellWithOrganization();
  const set = "prices set sandbox-chat --org default --tokens input=1";
  const { stdout } = await cli.run(set);
  expect(stdout).toMatch(/^input +0\.10 +1\.00 +organization$/m);
  expect(stdout).toMatch(/^output +0\.40 +0\.40 +default$/m);
  expect(stdout).toMatch(/^cache_read +0\.01 +0\.01 +default$/m);
  expect(stdout).toMatch(/^cache_write +0\.10 +1\.00 +organization$/m);
  const [row] = (await cli.run("prices list --org default --json")).json();
  expect((await cli.run(`prices remove ${row.id} --json`)).json()).toMatchObject({
    id: row.id,
    before: { input: "1.00" },
    after: { input: "0.10", cache_write: "0.10" },
  });
});

test("a price of a use is set, shown and listed", async () => {
  await using cli = await shellWithOrganization();
  const { stdout } = await cli.run("prices set sandbox-chat --use web_search=0.01");
  expect(stdout).toMatch(/web_search use 0\.01 +/);
  expect(stdout).toMatch(/^web_search use +none +0\.01 +default$/m);
  expect((await cli.run("prices list --model sandbox-chat --json")).json()).toMatchObject([
    {},
    { perMillion: {}, perUse: { web_search: "0.01" } },
  ]);
  expect(await cli.run("prices set sandbox-chat --use web_serch=0.01")).toMatchObject({ code: 2 });
});

test("dearer amounts of long requests are set, shown and listed", async () => {
  await using cli = await shellWithOrganization();
  const set = "prices set sandbox-chat --tokens input=1 --long input=2 --long-above 200000";
  const { stdout } = await cli.run(set);
  expect(stdout).toMatch(/input 1\.00, input above 200000 2\.00 a million/);
  expect(stdout).toMatch(/^input above 200000 +0\.10 +2\.00 +default$/m);
  const [, row] = (await cli.run("prices list --model sandbox-chat --json")).json();
  expect(row).toMatchObject({ longContext: { above: 200_000, perMillion: { input: "2.00" } } });
  expect(await cli.run("prices set sandbox-chat --tokens input=1 --long input=2")).toMatchObject({ code: 1 });
});

test("a price change prints what a quality costs by the row of all qualities", async () => {
  await using cli = await shellWithOrganization();
  await cli.run("prices set sandbox-a --image 1K=0.01");
  const { stdout } = await cli.run("prices set sandbox-a --image 1K:low=0.005");
  expect(stdout).toMatch(/^1K:low +0\.01 +0\.005 +default$/m);
  const [row] = (await cli.run("prices list --model sandbox-a --json")).json().slice(-1);
  expect((await cli.run(`prices remove ${row.id}`)).stdout).toMatch(/^1K:low +0\.005 +0\.01 +default$/m);
});

test("every token category has the same name in options and output", async () => {
  await using cli = await shellWithOrganization();
  const set = "prices set sandbox-chat --tokens input=1 --tokens output=2 --tokens cache_write_1h=3";
  expect((await cli.run(set)).stdout).toContain("cache_write_1h 3.00");
  expect((await cli.run("prices list --model sandbox-chat")).stdout).toContain("cache_write_1h 3.00");
  expect((await cli.run("routes explain --model sandbox-chat")).stdout).toContain("cache_write_1h 3.00");
  const usage = { unit: "token", tokens: { input: 1, cacheWrite1h: 7 }, source: "upstream" } as const;
  cli.store.ledger.entries.push(anEntry("req_1", 1n, { organizationId: "default", usage }));
  expect((await cli.run("ledger list")).stdout).toContain("cache_write_1h 7");
  expect(await cli.run("prices set sandbox-chat --tokens cache_write1h=3")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "cache_write_1h"?'),
  });
  expect(await cli.run("prices set sandbox-a --image 9K=1")).toMatchObject({
    code: 1,
    stderr: 'error: "sandbox-a" has no tier 9K, only 1K, 2K\n',
  });
});

test("prices are corrected only with --apply and recorded in the audit", async () => {
  await using cli = await shellWithCharges();
  const line =
    "prices correct sandbox-chat --from 2026-01-01 --reason typo --tokens input=0.2 --tokens output=0.3";
  const dry = await cli.run(line);
  expect(dry.stdout).toMatch(/^default +3 +-0\.30 USD$/m);
  expect(dry.stdout).toEndWith(
    "3 of 3 charges differ, by -0.30 USD. Nothing is changed yet: repeat with --apply.\n",
  );
  expect(cli.store.ledger.entries).toHaveLength(3);
  expect((await cli.run(`${line} --apply --json`)).json()).toMatchObject({
    isApplied: true,
    adjusted: 3,
    difference: "-0.30",
    from: "2026-01-01T00:00:00.000Z",
  });
  expect((await cli.run(`${line} --apply`)).stdout).toEndWith("Nothing to correct.\n");
  expect((await cli.run("audit list --subject sandbox-chat")).stdout).toMatch(
    /ada +correct prices +sandbox-chat/,
  );
  const [row] = (await cli.run("audit list --json")).json();
  expect(row).toMatchObject({
    actor: "ada",
    subject: "sandbox-chat",
    after: { reason: "typo", adjusted: 3 },
  });
  expect((await cli.run("prices correct sandbox-chat --from 2026-01-01 --tokens input=1")).code).toBe(2);
});
