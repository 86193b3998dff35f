import { Database } from "bun:sqlite";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { startTestGateway } from "../support/gateway.ts";

test("`audit verify` passes on a gateway's own changes and fails once a row was changed", async () => {
  await using gateway = await startTestGateway();
  await gateway.cli("--actor", "ada", "orgs", "create", "--name", "Acme");
  expect(await gateway.cli("audit", "list")).toMatch(new RegExp(`ada .* cli/\\S+@${hostname()}`));
  const intact = JSON.parse(await gateway.cli("audit", "verify", "--json")) as { rows: number; head: string };
  expect(intact).toMatchObject({ rows: expect.any(Number), faultCount: 0 });
  expect(await gateway.cli("audit", "verify", "--head", intact.head)).toContain(`Head: ${intact.head}`);

  const file = new Database(join(gateway.dataDirectory, "gateway.sqlite"));
  file.run("UPDATE audit SET actor = 'somebody else' WHERE actor = 'ada'");
  file.close();
  await expect(gateway.cli("audit", "verify")).rejects.toThrow("the audit has 1 fault");
});
