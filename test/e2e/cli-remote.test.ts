import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CliContext } from "../../src/cli/index.ts";
import { signIn } from "../support/administration.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { look, submit } from "../support/job-calls.ts";

/* The command line with a remote gateway. Its output must equal the output with the local store. */

let gateway: TestGateway;
const tokens = { owner: "", viewer: "" };

beforeAll(async () => {
  gateway = await startTestGateway();
  const admin = await signIn(gateway);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  for (const role of ["owner", "viewer"] as const) {
    const made = await admin.act("POST", "/tokens", { name: role, role, organizations: "*", expiresAt });
    tokens[role] = made.secret;
  }
});

afterAll(() => gateway[Symbol.asyncDispose]());

/** Runs a command. By default, the machine has no store. */
const run = (args: readonly string[], env: Record<string, string> = {}, machine: Partial<CliContext> = {}) =>
  runCommand(args, { env, userName: () => "ada", ...machine });

/** Runs a command with a token of the gateway. Throws when the command fails. */
async function remotely(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run([...args, "--url", gateway.url, "--token", "env:OWNER"], {
    OWNER: tokens.owner,
  });
  if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Runs a command with the gateway's own store. */
async function locally(...args: string[]): Promise<string> {
  const env = { GATEWAY_DATA_DIR: gateway.dataDirectory, SANDBOX: "on" };
  return (await run(args, env, MACHINE)).stdout;
}

test("commands at a gateway do and print what they do and print over its store", async () => {
  const { secret, key } = JSON.parse(await remotely("keys", "create", "--name", "far", "--json"));
  expect(secret).toStartWith("gk_");
  await remotely("keys", "set", key.id, "--limit", "images_per_minute=5", "--expires", "2099-01-01");
  await remotely("orgs", "create", "--id", "acme", "--name", "Acme");
  await remotely("orgs", "set", "acme", "--force-image-urls", "on");
  expect(await remotely("orgs", "disable-model", "acme", "sandbox-a")).toBe(
    "Organization acme may call every model but sandbox-a.\n",
  );
  await remotely("budgets", "create", "--org", "acme", "--amount", "12.5", "--period", "month");
  expect(await remotely("prices", "set", "sandbox-chat", "--org", "acme", "--tokens", "input=1")).toMatch(
    /^input +0\.10 +1\.00 +organization$/m,
  );
  const target = "sandbox/sandbox-chat=3";
  await remotely(
    "routes",
    "set",
    "sandbox-chat",
    "--org",
    "acme",
    "--strategy",
    "weighted",
    "--target",
    target,
  );
  await remotely("webhooks", "add", "https://hooks.example.com/a");
  expect(await remotely("webhooks", "list")).toContain("https://hooks.example.com/a");
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] };
  await gateway.call("/v1/chat/completions", { body, headers: { "x-request-id": "far-1" } });
  await gateway.charged("far-1");
  expect(await remotely("routes", "explain", "--org", "acme", "--model", "sandbox-chat")).toContain(
    "Route: stored for the organization acme, weighted.",
  );
  const readings = [
    ["orgs", "list"],
    ["orgs", "show", "acme"],
    ["keys", "list", "--json"],
    ["budgets", "list"],
    ["budgets", "in-doubt"],
    ["prices", "list", "--org", "acme"],
    ["prices", "list", "--json"],
    ["routes", "show", "--org", "acme"],
    ["ledger", "list"],
    ["ledger", "export"],
    ["ledger", "export", "--format", "jsonl", "--from", "2020-01-01"],
    ["ledger", "list", "--from", "2099-01-01"],
    ["audit", "list", "--limit", "20"],
    ["webhooks", "list"],
    ["webhooks", "deliveries"],
    ["channels", "list"],
    ["config", "export"],
  ];
  for (const args of readings) {
    const [here, there] = [await locally(...args), await remotely(...args)];
    expect([args, there]).toEqual([args, here]);
  }
  expect(await remotely("keys", "delete", key.id)).toBe(`Key ${key.id} is deleted.\n`);
});

test("a job that waits is listed, shown and cancelled", async () => {
  await remotely("orgs", "set", "default", "--limit", "running_jobs=0");
  const id = await until("a job to wait, once the limit is in force", async () => {
    const job = await submit(gateway, { model: "sandbox-a", prompt: "a lighthouse" });
    await Bun.sleep(200);
    return (await look(gateway, job.id)).status === "pending" ? job.id : undefined;
  });
  const listed = await remotely("jobs", "list", "--org", "default", "--status", "pending");
  expect(listed).toMatch(new RegExp(`^${id} +default .* pending `, "m"));
  expect(await locally("jobs", "show", id)).toBe(await remotely("jobs", "show", id));
  expect((await run(["jobs", "cancel", id], { GATEWAY_DATA_DIR: gateway.dataDirectory })).code).toBe(1);
  expect(await remotely("jobs", "cancel", id)).toBe(`Job ${id} is cancelled.\n`);
  expect(await remotely("jobs", "show", id)).toContain(" cancelled ");
  expect(await remotely("jobs", "list", "--status", "pending", "--json")).toBe("[]\n");
});

test("the address and the token may stand in the environment, and the audit names who it was", async () => {
  const env = { GATEWAY_URL: `${gateway.url}/`, GATEWAY_TOKEN: tokens.owner };
  expect(await run(["keys", "create", "--name", "from-env"], env)).toMatchObject({ code: 0, stderr: "" });
  const audit = await run(["audit", "list", "--limit", "1", "--json"], env);
  expect(JSON.parse(audit.stdout)).toMatchObject([{ actor: "admin", kind: "key", action: "create" }]);
});

test("a refusal is the gateway's own sentence on one line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "token-"));
  const at = (url: string, token: string) => {
    const path = join(folder, Bun.randomUUIDv7());
    writeFileSync(path, `${token}\n`);
    return ["--url", url, "--token", `file:${path}`];
  };
  const asViewer = at(gateway.url, tokens.viewer);
  expect(await run(["keys", "create", "--name", "x", ...asViewer])).toEqual({
    code: 1,
    stdout: "",
    stderr: "error: this needs the role admin; yours is viewer\n",
  });
  expect(await run(["keys", "list", "--org", "defalt", ...asViewer])).toMatchObject({
    code: 1,
    stderr: 'error: there is no organization "defalt"; did you mean "default"?\n',
  });
  expect((await run(["keys", "list", ...at(gateway.url, "ga_wrong")])).stderr).toMatch(/^error: .+\n$/);
  expect(await run(["keys", "list", ...at("http://127.0.0.1:1", "ga_x")])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the gateway at http://127.0.0.1:1 cannot be reached"),
  });
  expect(await run(["keys", "list", ...at(`${gateway.url}/v1`, tokens.owner)])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `name the gateway by its address without a path, such as ${gateway.url}\n`,
    ),
  });
  expect(await run(["keys", "list", ...at(gateway.url, gateway.key)])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("an admin token begins with ga_; gk_ is a key for calls of models"),
  });
  // A token in the arguments is refused, because all users of the machine can read arguments.
  for (const token of [tokens.owner, "env:", "none"])
    expect(await run(["keys", "list", "--url", gateway.url, "--token", token])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("It must be env:NAME, file:path, - for the standard input"),
    });
  expect(await run(["keys", "list", "--url", gateway.url, "--token", "env:UNSET"])).toMatchObject({
    code: 1,
    stderr: "error: the variable UNSET is not set\n",
  });
  expect(await run(["keys", "list", "--url", gateway.url])).toMatchObject({
    code: 1,
    stderr:
      "error: name an admin token with --token or GATEWAY_TOKEN; members make theirs at /console/settings/account\n",
  });
});

test("what concerns the local machine says so", async () => {
  const remote = ["--url", gateway.url, "--token", "env:OWNER"];
  const commands = [
    ["serve"],
    ["worker"],
    ["migrate"],
    ["check"],
    ["ledger", "archive", "--before", "2020-01", "--to", "x"],
  ];
  for (const command of commands)
    expect([command, await run([...command, ...remote])]).toEqual([
      command,
      {
        code: 1,
        stdout: "",
        stderr: "error: this command works on the local machine: leave --url and GATEWAY_URL out\n",
      },
    ]);
});

test("a mistyped option is told of with the one that was meant, required or not", async () => {
  const mistyped = async (line: string) => (await run(line.split(" "))).stderr;
  expect(await mistyped("keys create --nam x")).toBe(
    "error: unknown option '--nam' (Did you mean --name?)\n",
  );
  expect(await mistyped("ledger refund c --reson x")).toContain("(Did you mean --reason?)");
  expect(await run(["keys", "create"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "error: required option '--name <name>' not specified\n",
  });
});
