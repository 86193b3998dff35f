import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, stat, writeFile } from "node:fs/promises";
import { runCli } from "../../src/cli/index.ts";
import { loadSettings, type LoadedSettings } from "../../src/config/index.ts";
import { newMasterKey } from "../../src/lib/seal.ts";
import { isWellFormedSecret } from "../../src/lib/secret.ts";
import { runMigrations } from "../../src/run/stores.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { folderWithCatalogue, TEST_PROVIDERS } from "../support/config-fixture.ts";
import { memoryAdminStore } from "../support/memory-admin-store.ts";
import { anEntry } from "../contracts/storage-harness.ts";

/** A command line with its own store; records output and calls. */
async function shell(options: { env?: Record<string, string>; files?: Record<string, string> } = {}) {
  const folder = await folderWithCatalogue(options.files);
  const store = memoryAdminStore();
  const calls: string[] = [];
  const run = async (line: string) => {
    const written = { stdout: "", stderr: "" };
    const code = await runCli(line === "" ? [] : line.split(" "), {
      ...MACHINE,
      serve: async ({ settings }: LoadedSettings) => void calls.push(`serve ${settings.server.port}`),
      runWorker: async ({ settings }: LoadedSettings) =>
        void calls.push(`worker ${settings.jobs.concurrency}`),
      openAdmin: async () => ({ store, close: async () => void calls.push("close") }),
      readStoredEntries: () => store.configuration.list(),
      migrate: async () => ({ applied: ["0001"] }),
      providers: TEST_PROVIDERS,
      env: options.env ?? {},
      cwd: folder.path,
      userName: () => "ada",
      catalogueDirectory: `${folder.path}/catalogue`,
      stdout: {
        write(text, onWritten) {
          written.stdout += text;
          onWritten?.();
        },
      },
      stderr: { write: (text) => void (written.stderr += text) },
    });
    return { code, ...written, json: () => JSON.parse(written.stdout) };
  };
  return { run, store, calls, path: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** The same with an organization `default`. */
async function shellWithOrganization(options: Parameters<typeof shell>[0] = {}) {
  const cli = await shell(options);
  await cli.run("orgs create --id default --name Default");
  return cli;
}

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
  // Help in place of a missing or unknown command is an error.
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

test("check prints every effective setting with its origin and no secret", async () => {
  await using cli = await shell({
    env: { PORT: "9100", OPENAI_API_KEY: "sk-very-secret", DATABASE_URL: "postgres://u:hunter2@h/d" },
    files: { "gateway.yaml": "workers: 3" },
  });
  const { code, stdout } = await cli.run("check");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^server\.port +9100 +environment PORT$/m);
  expect(stdout).toMatch(/^workers +3 +file gateway\.yaml$/m);
  expect(stdout).toMatch(/^server\.host +127\.0\.0\.1 +default$/m);
  expect(stdout).toMatch(
    /^channels\.openai +openai, credential from variable OPENAI_API_KEY +environment OPENAI_API_KEY$/m,
  );
  expect(stdout).toMatch(/^database_url +\*+ from variable DATABASE_URL +environment DATABASE_URL$/m);
  expect(stdout).not.toContain("sk-very-secret");
  expect(stdout).not.toContain("hunter2");
  expect((await cli.run("check --json")).json()).toContainEqual({
    path: "workers",
    value: "3",
    origin: "file",
    from: "gateway.yaml",
  });
});

test("a stored credential is changed in place, and check shows what the database declares or why it cannot", async () => {
  await using folder = await folderWithCatalogue();
  const machine = {
    ...MACHINE,
    cwd: folder.path,
    env: { GATEWAY_DATA_DIR: "data", OPENAI: "sk-the-first-of-two-keys", NEXT: "sk-the-second-of-two-next" },
  };
  const check = () => runCommand(["check"], machine);
  expect(await check()).toMatchObject({ code: 0, stdout: expect.not.stringContaining("channels.openai") });
  expect(existsSync(`${folder.path}/data`)).toBe(false);
  const added = await runCommand(["channels", "add", "openai", "--credential", "env:OPENAI"], machine);
  expect(added.code).toBe(0);
  const { stdout, stderr } = await check();
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^channels\.openai +openai +database$/m);
  expect(stdout).not.toContain("channels.sandbox");

  const again = await runCommand(["channels", "add", "openai", "--credential", "env:NEXT"], machine);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("`channels set openai`") });
  const set = await runCommand(["channels", "set", "openai", "--credential", "env:NEXT", "--json"], machine);
  expect(JSON.parse(set.stdout)).toMatchObject({ id: "openai", credentialEnd: "next" });
  const nothing = await runCommand(["channels", "set", "openai"], machine);
  expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining("name what to change") });
  const key = { GATEWAY_MASTER_KEY: newMasterKey() };
  const other = { ...machine, env: { ...machine.env, ...key } };
  expect(await runCommand(["channels", "reseal"], other)).toMatchObject({
    code: 1,
    stdout: "Sealed 0 secrets anew.\n",
    stderr: expect.stringContaining("no key opens channel openai: credential: set the earlier master key as"),
  });
  await writeFile(`${folder.path}/data/gateway.sqlite`, "no database");
  expect(await check()).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining("channels.openai"),
    stderr: expect.stringMatching(
      /^warning: the database cannot be read \(.+\): its channels and models are left out$/m,
    ),
  });
});

test("a command without the gateway's master key, or with another, seals nothing", async () => {
  await using folder = await folderWithCatalogue();
  const run = (args: string, env: Record<string, string | undefined>) =>
    runCommand(args.split(" "), {
      ...MACHINE,
      cwd: folder.path,
      env: {
        GATEWAY_DATA_DIR: "data",
        OPENAI: "sk-the-first-of-two-keys",
        NEXT: "sk-the-second-of-two-next",
        ...env,
      },
    });
  const GATEWAY_MASTER_KEY = newMasterKey();
  const own = { GATEWAY_MASTER_KEY };
  expect((await run("channels add openai --credential env:OPENAI", own)).code).toBe(0);
  const other = { GATEWAY_MASTER_KEY: newMasterKey() };
  for (const env of [{}, other, { GATEWAY_MASTER_KEY_PREVIOUS: GATEWAY_MASTER_KEY }])
    for (const command of ["set openai", "add gemini"])
      expect(await run(`channels ${command} --credential env:NEXT`, env)).toEqual({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(
          /the stored secrets are sealed with master key [0-9a-f]{8}, and .+: set GATEWAY_MASTER_KEY as the gateway has it/,
        ),
      });
  expect(existsSync(`${folder.path}/data/master.key`)).toBe(false);
  const { data } = JSON.parse(`{"data": ${(await run("channels list --json", own)).stdout}}`);
  expect(data).toContainEqual(expect.objectContaining({ id: "openai", credentialEnd: "keys", problems: [] }));
  await writeFile(
    `${folder.path}/other.yaml`,
    "channels: {openai: {provider: openai, credential: sk-of-a-document}, gemini: {provider: gemini, credential: sk-b}}",
  );
  expect(await run(`config import ${folder.path}/other.yaml`, {})).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("set GATEWAY_MASTER_KEY"),
  });
  const compare = async () => (await run(`config import --dry-run ${folder.path}/other.yaml`, own)).code;
  expect(await compare()).toBe(3);
  expect((await run(`config import ${folder.path}/other.yaml`, own)).code).toBe(0);
  // While the key is being changed, the one before shows that the new one is right.
  const both = { ...other, GATEWAY_MASTER_KEY_PREVIOUS: GATEWAY_MASTER_KEY };
  expect((await run("channels set openai --credential env:NEXT", both)).code).toBe(0);
});

test("check and the start warn about a misspelt variable", async () => {
  await using cli = await shell({ env: { OPENAI_APIKEY: "sk" } });
  const warning = "warning: OPENAI_APIKEY is not read; did you mean OPENAI_API_KEY?\n";
  const check = await cli.run("check --json");
  expect([check.code, check.stderr, Array.isArray(check.json())]).toEqual([0, warning, true]);
  expect(await cli.run("serve")).toMatchObject({ code: 0, stderr: warning });
});

test("check fails with all problems", async () => {
  await using cli = await shell({ files: { "gateway.yaml": "server: {prt: 1}\nworkers: 0" } });
  expect(await cli.run("check")).toMatchObject({
    code: 1,
    stdout: "",
    stderr:
      "The configuration cannot be used:\n" +
      '  server.prt: is not a known setting; did you mean "port"?\n' +
      "  workers: must be at least 1\n",
  });
});

test("a key is created, printed once, listed by its prefix and disabled", async () => {
  await using cli = await shellWithOrganization();
  const created = (
    await cli.run("keys create --name build --scope ai:image --limit images_per_minute=5 --json")
  ).json();
  expect(isWellFormedSecret(created.secret)).toBe(true);
  expect(created.key).toMatchObject({ scopes: ["ai:image"], limits: { imagesPerMinute: 5 } });
  const listed = await cli.run("keys list --json");
  expect(listed.stdout).not.toContain(created.secret);
  expect(listed.stdout).not.toContain("hash");
  expect((await cli.run(`keys disable ${created.key.id}`)).stdout).toBe(
    `Key ${created.key.id} (build) is disabled.\n`,
  );
  expect((await cli.run("keys list")).stdout).toMatch(
    /build +gk_\w{5}… +ai:image +all +any +images_per_minute=5 +disabled +never/,
  );
  expect((await cli.run(`keys enable ${created.key.id}`)).stdout).toBe(
    `Key ${created.key.id} (build) is enabled.\n`,
  );
  expect((await cli.run("keys list")).stdout).toMatch(/build .* active/);
  const human = await cli.run("keys create --name other");
  expect(human.stdout).toMatch(
    /^Key key_\w+ is created\. Its secret is shown only now:\n\n {2}gk_\w{38}\n\n$/,
  );
});

test("a key is changed, rotated and deleted, and its limits and expiry are listed", async () => {
  await using cli = await shellWithOrganization();
  const { key, secret } = (await cli.run("keys create --name build --scope ai:image --json")).json();
  const changed = await cli.run(
    `keys set ${key.id} --name ci --model sandbox-a --address 10.0.0.0/8 --limit images_per_minute=5 --expires 2099-01-01 --json`,
  );
  expect(changed.json()).toMatchObject({
    name: "ci",
    prefix: secret.slice(0, 8),
    scopes: ["ai:image"],
    models: ["sandbox-a"],
    addresses: ["10.0.0.0/8"],
    limits: { imagesPerMinute: 5 },
    expiresAt: "2099-01-01T00:00:00.000Z",
  });
  expect((await cli.run("keys list")).stdout).toMatch(
    /ci +gk_\w{5}… +ai:image +sandbox-a +10\.0\.0\.0\/8 +images_per_minute=5 +active +2099-01-01T00:00:00\.000Z/,
  );
  const back = await cli.run(
    `keys set ${key.id} --model * --address any --limit images_per_minute=default --expires never --json`,
  );
  expect(back.json()).toMatchObject({
    name: "ci",
    models: "*",
    addresses: null,
    limits: {},
    expiresAt: null,
  });
  expect((await cli.run(`keys rotate ${key.id} --overlap 24h`)).stdout).toMatch(
    /^The old one is accepted until \S+Z\. The new secret of key_\w+ is shown only now:\n\n {2}gk_\w{38}\n\n$/,
  );
  expect((await cli.run(`keys rotate ${key.id} --json`)).json().secret).not.toBe(secret);
  expect((await cli.run(`keys rotate ${key.id} --overlap soon`)).code).toBe(2);
  expect((await cli.run(`keys delete ${key.id}`)).stdout).toBe(`Key ${key.id} is deleted.\n`);
  expect((await cli.run("keys list")).stdout).toBe("(none)\n");
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

test("an organization's settings, limits and models are changed and printed", async () => {
  await using cli = await shellWithOrganization();
  const line = "orgs set default --force-image-urls off --fallback-after 120 --limit queued_jobs=none --json";
  expect((await cli.run(line)).json()).toMatchObject({
    settings: { forceImageUrls: false, fallbackAfterMs: 120_000, callerGone: "abort" },
    limits: { queuedJobs: null },
  });
  const timed = await cli.run("orgs set default --fallback-channel sandbox --link-hours 0.5 --json");
  expect(timed.json()).toMatchObject({ settings: { fallbackChannel: "sandbox", linkHours: 0.5 } });
  expect((await cli.run("orgs set default --fallback-channel sandbx")).stderr).toContain(
    'did you mean "sandbox"',
  );
  const untimed = await cli.run("orgs set default --fallback-channel next --link-hours default --json");
  expect(untimed.json()).toMatchObject({ settings: { fallbackChannel: null, linkHours: null } });
  const back = await cli.run("orgs set default --force-image-urls unset --fallback-after off --json");
  expect(back.json()).toMatchObject({ settings: { forceImageUrls: null, fallbackAfterMs: null } });
  await cli.run("orgs set default --force-image-urls off");
  expect((await cli.run("orgs disable-model default sandbox-a old-chat")).stdout).toBe(
    "Organization default may call every model but sandbox-a, old-chat.\n",
  );
  expect((await cli.run("orgs enable-model default *")).stdout).toBe(
    "Organization default may call every model.\n",
  );
  const shown = (await cli.run("orgs show default")).stdout;
  expect(shown).toMatch(/^force-image-urls +off$/m);
  expect(shown).toMatch(/^fallback-after +off$/m);
  expect(shown).toMatch(/^limit +queued_jobs=none$/m);
  await cli.run("orgs set default --fallback-after 90 --disabled on --limit images_per_minute=5");
  const changed = (await cli.run("orgs show default")).stdout;
  expect(changed).toMatch(/^fallback-after +90$/m);
  expect(changed).toMatch(/^disabled +on$/m);
  expect(changed).toMatch(/^limit +queued_jobs=none images_per_minute=5$/m);
  expect((await cli.run("orgs list --json")).json()).toMatchObject([{ id: "default", models: "*" }]);
});

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

test("a budget is created, changed and removed", async () => {
  await using cli = await shellWithOrganization();
  const { id } = (await cli.run("budgets create --amount 100 --period month --json")).json();
  expect((await cli.run(`budgets set ${id} --amount 12.5`)).stdout).toMatch(
    /12\.50 +0\.00 +12\.50 +0\.00 +month/,
  );
  expect((await cli.run("budgets list --json")).json()).toMatchObject([{ id, amount: "12.50", keyId: null }]);
  expect((await cli.run(`budgets remove ${id}`)).code).toBe(0);
  expect((await cli.run("budgets list")).stdout).toBe("(none)\n");
});

test("a route is set, printed, reset, and refused with an unknown name", async () => {
  await using cli = await shellWithOrganization();
  const set = await cli.run(
    "routes set sandbox-chat --strategy weighted --target sandbox/sandbox-chat=3 --json",
  );
  expect(set.json()).toEqual([
    {
      model: "sandbox-chat",
      source: "organization",
      strategy: "weighted",
      targets: [{ channel: "sandbox", upstreamModel: "sandbox-chat", weight: 3 }],
    },
  ]);
  expect((await cli.run("routes set sandbox-chat --reset")).stdout).toMatch(
    /sandbox\/sandbox-chat +default$/m,
  );
  expect((await cli.run("routes show --json")).json()).toHaveLength(3);
  expect(await cli.run("routes set sandbox-chat --target sandbix/sandbox-chat")).toMatchObject({
    code: 1,
    stderr: 'error: "sandbix" is not a configured channel; did you mean "sandbox"?\n',
  });
});

test("control characters of a name do not reach the terminal", async () => {
  await using cli = await shellWithOrganization();
  await cli.run("keys create --name a\u001B[31mb");
  expect((await cli.run("keys list")).stdout).not.toContain("\u001B");
});

/** A command line over an organization with three charges of 0.60. */
async function shellWithCharges() {
  const cli = await shellWithOrganization();
  const usage = {
    unit: "token",
    tokens: { input: 1_000_000, output: 1_000_000 },
    source: "upstream",
  } as const;
  for (const id of ["req_1", "req_2", "req_3"])
    cli.store.ledger.entries.push(
      anEntry(id, 600_000_000n, { organizationId: "default", at: Date.UTC(2026, 0, 2), usage }),
    );
  return cli;
}

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
      channel: null,
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
  expect(lines[1]).toEndWith(",1000000,,,,1000000,,,,,,,,,,");
  expect(lines[4]).toContain(
    `,default,'@key,"'=HYPERLINK(""http://evil.example"",""pay"")",'-1+1,,sandbox-chat,-0.25,USD,`,
  );
  const json = (await cli.run("ledger export --format jsonl --request request-req_1")).stdout;
  expect(JSON.parse(json)).toMatchObject({ id: "req_1", amount: "0.60", usage: { tokens: { input: 1e6 } } });
  expect((await cli.run("ledger export --format xls")).code).toBe(2);
});

test("an explained route has its origin, and an unknown model is an error", async () => {
  await using cli = await shellWithOrganization({
    files: { "gateway.yaml": "models:\n  sandbox-chat:\n    display_name: Chat" },
  });
  expect((await cli.run("routes explain --model sandbox-chat")).stdout).toContain(
    "\nRoute: from gateway.yaml, ordered.\n",
  );
  await cli.run("routes set sandbox-chat --target sandbox/sandbox-chat");
  expect((await cli.run("routes explain --model sandbox-chat")).stdout).toContain(
    "\nRoute: stored for the organization default, ordered.\n",
  );
  expect((await cli.run("routes explain --model sandbox-chat --json")).json()).toMatchObject({
    source: "organization",
    routeFrom: "database",
  });
  expect(await cli.run("routes explain --model sandbox-chta")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: 'error: "sandbox-chta" is not a configured model; did you mean "sandbox-chat"?\n',
  });
});

test("a route is explained without a call to a vendor", async () => {
  await using cli = await shellWithOrganization();
  const { stdout } = await cli.run("routes explain --organization default --model sandbox-chat");
  expect(stdout).toMatch(/^sandbox\/sandbox-chat +sandbox +100 % +asked$/m);
  expect(stdout).toEndWith(
    "Route: from the shipped catalogue, ordered.\n" +
      "Price: input 0.10, cache_read 0.01, output 0.40 USD (default).\n" +
      "sandbox/sandbox-chat would answer.\n",
  );
  expect((await cli.run("routes explain --org default --model old-chat --json")).json()).toMatchObject({
    refusal: { code: "model_retired" },
    verdict: "Refused with model_retired: This model has been retired.",
  });
});
