import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { newMasterKey } from "../../src/lib/seal.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { folderWithCatalogue } from "../support/config-fixture.ts";
import { shell } from "../support/shell.ts";

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
  // While the master key is changed, the old key proves that the new key belongs to this installation.
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
