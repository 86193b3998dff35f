import { expect, test } from "bun:test";
import { anEntry } from "../contracts/storage-harness.ts";
import { shellWithCharges } from "../support/shell.ts";

test("the ledger is listed, a charge printed and refunded", async () => {
  await using cli = await shellWithCharges();
  expect((await cli.run("ledger list --limit 2 --json")).json()).toHaveLength(2);
  expect((await cli.run("ledger list --org default")).stdout).toMatch(
    /^req_1 +charge +default +sandbox-chat +2026-01-02T00:00:00\.000Z +input 1000000, output 1000000 +0\.60 USD +sandbox$/m,
  );
  const refunded = await cli.run("ledger refund req_1 --amount 0.25 --reason blurred --json");
  expect(refunded.json()).toMatchObject({
    id: "req_1:1",
    kind: "refund",
    amount: "-0.25",
    corrects: "req_1",
  });
  expect((await cli.run("ledger show req_1")).stdout).toEndWith(
    "Request request-req_1 by key key_a, at the default price.\nAttempts:\n" +
      "  sandbox/sandbox-chat answered in 5 ms, status 200\nNet 0.35 USD.\n",
  );
  expect((await cli.run("audit list --subject req_1")).stdout).toMatch(/ada +refund +req_1 +reason, amount/);
  expect(await cli.run("ledger refund req_1 --amount 0.36 --reason more")).toMatchObject({
    code: 1,
    stderr: 'error: only 0.35 of "req_1" is left to refund\n',
  });
  expect(await cli.run("ledger show req_9")).toMatchObject({ code: 1 });
  expect((await cli.run("ledger list --limit 0")).code).toBe(2);
});

test("the ledger is listed in pages by request, key, model or time", async () => {
  await using cli = await shellWithCharges();
  expect((await cli.run("ledger list --request request-req_2 --json")).json()).toMatchObject([
    { id: "req_2", requestId: "request-req_2" },
  ]);
  for (const filter of ["--model big-chat", "--from 2026-01-03", "--to 2026-01-02", "--request none"])
    expect([filter, (await cli.run(`ledger list ${filter} --json`)).json()]).toEqual([filter, []]);
  const first = await cli.run("ledger list --limit 2");
  expect(first.stdout).toEndWith("\nMore entries follow: repeat with --cursor req_2\n");
  const last = await cli.run("ledger list --limit 2 --cursor req_2");
  expect(last.stdout).toMatch(/^ID .*\nreq_1 .*\n$/);
  expect((await cli.run("ledger list --key key_none")).stderr).toBe('error: there is no key "key_none"\n');
});

test("a verification prints its differences and fails", async () => {
  await using cli = await shellWithCharges();
  expect(await cli.run("ledger verify")).toMatchObject({
    code: 0,
    stdout: "Compared 3 entries and 0 budgets: no difference.\n",
  });
  cli.store.ledger.differences.push({ check: "spent", subject: "budget_1", expected: 5n, found: null });
  const failed = await cli.run("ledger verify");
  expect(failed).toMatchObject({ code: 1, stderr: "error: the ledger has 1 difference\n" });
  expect(failed.stdout).toMatch(/^spent +budget_1 +0\.000000005 +none$/m);
  expect((await cli.run("ledger verify --json")).json()).toMatchObject({
    at: "1970-01-01T00:00:00.000Z",
    differenceCount: 1,
    differences: [{ check: "spent", subject: "budget_1", expected: "0.000000005", found: null }],
  });
});

test("only past months are archived", async () => {
  await using cli = await shellWithCharges();
  expect((await cli.run("ledger archive --before 2026-02 --to archive")).stdout).toBe("(none)\n");
  expect(await cli.run("ledger archive --before 9999-01 --to archive")).toMatchObject({
    code: 1,
    stderr: "error: the month before 9999-01 is not over yet\n",
  });
  expect((await cli.run("ledger archive --before 2026-02")).code).toBe(2);
});

test("the ledger is exported as CSV and as JSON lines, and no cell is a formula", async () => {
  await using cli = await shellWithCharges();
  cli.store.ledger.entries.push(
    anEntry("req_4:1", -250_000_000n, {
      kind: "refund",
      requestId: '=HYPERLINK("http://evil.example","pay")',
      organizationId: "default",
      keyId: "@key",
      model: "-1+1",
      usage: null,
      corrects: "req_4",
    }),
  );
  const lines = (await cli.run("ledger export")).stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(5);
  expect(lines[0]).toStartWith("id,kind,at,organization,key,request,model,channel,upstream_model,amount,");
  expect(lines[1]).toStartWith(
    "req_3,charge,2026-01-02T00:00:00.000Z,default,key_a,request-req_3,sandbox-chat,sandbox,sandbox-chat,0.60,USD,",
  );
  expect(lines[1]).toEndWith(",1000000,,,,1000000,,,,,,,,,,,");
  expect(lines[4]).toContain(
    `,default,'@key,"'=HYPERLINK(""http://evil.example"",""pay"")",'-1+1,sandbox,sandbox-chat,-0.25,USD,`,
  );
  const json = (await cli.run("ledger export --format jsonl --request request-req_1")).stdout;
  expect(JSON.parse(json)).toMatchObject({ id: "req_1", amount: "0.60", usage: { tokens: { input: 1e6 } } });
  expect((await cli.run("ledger export --format xls")).code).toBe(2);
});
