import { expect, test } from "bun:test";
import { isWellFormedSecret } from "../../src/lib/secret.ts";
import { shellWithOrganization } from "../support/shell.ts";

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

test("an explained route has its origin, and an unknown model is an error", async () => {
  await using cli = await shellWithOrganization({
    files: {
      "gateway.yaml": `models:
  sandbox-chat: {display_name: Chat}
  house/*:
    type: chat
    max_output_tokens: 100
    price: {per_million: {input: "1", output: "2"}}
    route: {targets: [{channel: sandbox, upstream_model: sandbox-chat}]}`,
    },
  });
  const stored = { kind: "model", id: "sandbox-a", value: { display_name: "A" }, createdAt: 0 } as const;
  await cli.store.configuration.create(stored, { actor: "ada" });
  for (const [model, from] of [
    ["house/large", "gateway.yaml"],
    ["sandbox-a", "the database"],
  ])
    expect((await cli.run(`routes explain --model ${model}`)).stdout).toContain(`\nRoute: from ${from}, `);
  expect((await cli.run("routes explain --model sandbox-a --json")).json()).toMatchObject({
    source: "default",
    routeFrom: "database",
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
  expect(stdout).toMatch(/^sandbox\/sandbox-chat +sandbox +100 % +in service$/m);
  expect(stdout).toEndWith(
    "Route: from the shipped catalogue, ordered.\n" +
      "Price: input 0.10, cache_read 0.01, output 0.40 USD (default).\n" +
      "sandbox/sandbox-chat would answer.\n" +
      "Targets that are out of service now are not considered: ask the running gateway with --url and --token.\n",
  );
  expect((await cli.run("routes explain --org default --model old-chat --json")).json()).toMatchObject({
    refusal: { code: "model_retired" },
    verdict: "Refused with model_retired: This model has been retired.",
  });
});
