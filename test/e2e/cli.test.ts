import { expect, test } from "bun:test";
import { chmod, stat } from "node:fs/promises";
import { loadSettings } from "../../src/config/index.ts";
import { runMigrations } from "../../src/run/stores.ts";
import { TEST_PROVIDERS } from "../support/config-fixture.ts";
import { shell, shellWithOrganization } from "../support/shell.ts";

test("serves without a command and with `serve`", async () => {
  await using cli = await shell({ env: { PORT: "9123" } });
  expect(await cli.run("")).toMatchObject({ code: 0, stderr: "" });
  expect(await cli.run("serve")).toMatchObject({ code: 0 });
  expect(cli.calls).toEqual(["serve 9123", "serve 9123"]);
});

test("--config names the file, before or after the command", async () => {
  await using cli = await shell({ files: { "other.yaml": "server: {port: 7777}" } });
  await cli.run("--config other.yaml");
  await cli.run("serve --config other.yaml");
  expect(cli.calls).toEqual(["serve 7777", "serve 7777"]);
  const missing = await cli.run("serve --config none.yaml");
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain("none.yaml: is not there");
});

test("a command that does not exist is a usage error of one line with a suggestion", async () => {
  await using cli = await shell();
  expect(await cli.run("srve")).toEqual(
    expect.objectContaining({
      code: 2,
      stdout: "",
      stderr: 'error: unknown command "srve"; did you mean "serve"?\n',
    }),
  );
  const nested = await cli.run("keys crate");
  expect(nested).toMatchObject({
    code: 2,
    stderr: "error: unknown command 'crate' (Did you mean create?)\n",
  });
  expect(await cli.run("keys list --jsn")).toMatchObject({
    code: 2,
    stderr: "error: unknown option '--jsn' (Did you mean --json?)\n",
  });
  expect(await cli.run("keys create")).toMatchObject({ code: 2 });
  expect(await cli.run("serve now")).toMatchObject({ code: 2 });
  expect(cli.calls).toEqual([]);
});

test("help and version exit with 0", async () => {
  await using cli = await shell();
  const help = await cli.run("--help");
  expect(help).toMatchObject({ code: 0, stderr: "" });
  for (const word of [
    "serve",
    "migrate",
    "check",
    "keys",
    "orgs",
    "prices",
    "budgets",
    "routes",
    "ledger",
    "audit",
  ])
    expect(help.stdout).toContain(word);
  expect(await cli.run("help")).toMatchObject({ code: 0, stdout: help.stdout, stderr: "" });
  const ofKeys = await cli.run("help keys");
  expect(ofKeys).toMatchObject({ code: 0, stderr: "" });
  expect(ofKeys.stdout).toContain("npm start -- keys");
  // A missing or unknown command prints help, but counts as an error.
  for (const line of ["keys", "help kyes"])
    expect(await cli.run(line)).toMatchObject({ code: 2, stdout: "" });
  expect((await cli.run("keys create --help")).stdout).not.toContain("[command]");
  expect((await cli.run("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("migrate prints what was applied", async () => {
  await using cli = await shell();
  expect((await cli.run("migrate")).stdout).toBe("Applied 0001.\n");
  expect((await cli.run("migrate --json")).json()).toEqual({ applied: ["0001"] });
});

test("--actor sets the audit's actor", async () => {
  await using cli = await shellWithOrganization();
  await cli.run("--actor grace keys create --name build");
  await cli.run("keys create --name other --actor grace");
  expect(cli.store.changes.map(({ actor }) => actor)).toEqual(["ada", "grace", "grace"]);
});

test("a command before the first start prints the first step", async () => {
  await using cli = await shell();
  expect((await cli.run("keys create --name early")).stderr).toBe(
    'error: there is no organization "default"; there is none yet: the first start makes "default"\n',
  );
});

test("a refused change is one line on standard error and the store is closed", async () => {
  await using cli = await shellWithOrganization();
  cli.calls.length = 0;
  expect(await cli.run("keys create --name x --org defalt")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: 'error: there is no organization "defalt"; did you mean "default"?\n',
  });
  expect(await cli.run("keys disable key_none")).toMatchObject({
    code: 1,
    stderr: 'error: there is no key "key_none"\n',
  });
  expect(cli.calls).toEqual(["close", "close"]);
});

test("option values that cannot be read are usage errors", async () => {
  await using cli = await shellWithOrganization();
  const refused = await cli.run("keys create --name x --limit request_per_minute=5");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(
    '"request_per_minute" is not a limit; did you mean "requests_per_minute"?',
  );
  for (const line of [
    "keys create --name x --expires soon",
    "orgs set default --force-image-urls maybe",
    "orgs set default --fallback-after 1m",
    "orgs set default --fallback-after 0",
    "orgs set default --caller-gone stay",
    "keys create --name x --scope ai:video",
    "budgets create --amount 1 --period week",
    "routes set sandbox-chat --strategy random --target sandbox/sandbox-chat",
    "routes set big-chat --target openai",
    "routes set sandbox-chat",
    "prices set sandbox-chat --tokens input",
  ])
    expect([line, (await cli.run(line)).code]).toEqual([line, 2]);
});

test("a new data folder is accessible to its owner only, an existing one unchanged", async () => {
  await using cli = await shell();
  const path = `${cli.path}/made/data`;
  const config = { env: { GATEWAY_DATA_DIR: path }, cwd: cli.path, providers: TEST_PROVIDERS };
  const { settings } = await loadSettings({ ...config, catalogueDirectory: `${cli.path}/catalogue` });
  await runMigrations(settings);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await chmod(path, 0o750);
  await runMigrations(settings);
  expect((await stat(path)).mode & 0o777).toBe(0o750);
});

test("control characters of a name do not reach the terminal", async () => {
  await using cli = await shellWithOrganization();
  await cli.run("keys create --name a\u001B[31mb");
  expect((await cli.run("keys list")).stdout).not.toContain("\u001B");
});
