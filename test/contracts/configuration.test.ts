import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { getChannel, listChannels, removeChannel } from "../../src/admin/channels/channels.ts";
import type { OperationContext } from "../../src/admin/context.ts";
import { getModel, removeModel } from "../../src/admin/models/models.ts";
import { resealSecrets } from "../../src/admin/configuration/reseal.ts";
import { openSecret, secretName } from "../../src/admin/sign-in/totp.ts";
import { newMasterKey } from "../../src/lib/seal.ts";
import {
  createChannel,
  createModel,
  createOrganization,
  listModels,
  setRoute,
  updateChannel,
  updateModel,
} from "../support/admin-calls.ts";
import { refusal } from "../support/admin-context.ts";
import { openAdministration } from "../support/configuration.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";

const found = findPostgres();
if ("missing" in found) console.warn(`SKIPPED: stored configuration on PostgreSQL (${found.missing})`);

const SECRET = "sk-stored-secret-0123456789";
const OPENAI = { provider: "openai", credential: SECRET };

let postgres: PrivatePostgres | undefined;
beforeAll(async () => {
  if (!("missing" in found)) postgres = await startPostgres(found.folder);
}, 30_000);
afterAll(() => postgres?.stop());

const untested = (): void => {};

const TOTP_SECRET = "JBSWY3DPEHPK3PXP";

async function memberWithTotp({ store, by, configuration }: OperationContext) {
  const id = "user_ada";
  const secret = await configuration.seal(store, secretName({ id }), TOTP_SECRET);
  const member = {
    id,
    name: "ada",
    email: null,
    role: "admin" as const,
    organizations: "*" as const,
    isDisabled: false,
    passwordHash: null,
    mustChangePassword: false,
    totp: { secret, isConfirmed: true, lastStep: 0, recoveryHashes: [] },
    identity: null,
    lastSeenAt: null,
    createdAt: 1,
  };
  await store.members.create(member, by);
  return member;
}

for (const kind of ["sqlite", "postgres"] as const)
  describe.skipIf(kind === "postgres" && "missing" in found)(`stored configuration on ${kind}`, () => {
    // Declares a test that does not depend on the database and so runs on SQLite only.
    const testOnce = kind === "sqlite" ? test : untested;
    const open = async () =>
      openAdministration(kind === "sqlite" ? undefined : await postgres!.createDatabase());
    const stateOf = async (context: OperationContext) =>
      context.configuration.read(await context.store.configuration.list());

    testOnce("a channel serves its vendor's shipped models at once, and the sandbox ends", async () => {
      await using administration = await open();
      const { context } = administration;
      expect((await stateOf(context)).catalogue.models.has("sandbox-chat")).toBe(true);
      const created = await createChannel(context, OPENAI);
      expect(created).toMatchObject({
        id: "openai",
        origin: "database",
        isUsable: true,
        credentialEnd: "6789",
      });
      const { catalogue } = await stateOf(context);
      expect(catalogue.routes.get("gpt-5.4")?.targets[0]?.channel.settings).toMatchObject({ apiKey: SECRET });
      // Another shipped channel with the same credential serves the vendor's newer models.
      expect(catalogue.routes.get("gpt-6-sol")?.targets[0]?.channel.id).toBe("openai-responses");
      expect(catalogue.models.has("sandbox-chat")).toBe(false);
    });

    testOnce(
      "a channel of another id serves them where the catalogue's is off, unless it is elsewhere",
      async () => {
        await using administration = await open();
        const { context } = administration;
        await createChannel(context, { ...OPENAI, id: "elsewhere", baseUrl: "https://models.example/v1" });
        expect((await stateOf(context)).catalogue.routes.has("gpt-5.4")).toBe(false);
        await createChannel(context, { ...OPENAI, id: "second-account" });
        const route = (await stateOf(context)).catalogue.routes.get("gpt-5.4");
        expect(route?.targets.map(({ channel }) => channel.id)).toEqual(["second-account"]);
        await createChannel(context, {
          provider: "dashscope",
          id: "abroad",
          credential: SECRET,
          region: "global",
        });
        const image = (await stateOf(context)).catalogue.routes.get("qwen-image-2.0");
        expect(image?.targets.map(({ channel }) => channel.id)).toEqual(["abroad"]);
      },
    );

    test("no secret is stored, audited or shown in clear", async () => {
      await using administration = await open();
      const { context, directory } = administration;
      await createChannel(context, {
        ...OPENAI,
        headers: { "x-api-key": "header-secret-123", "x-title": "blue" },
      });
      const application = { tenantId: "tenant", clientId: "client", clientSecret: "client-secret-456" };
      await createChannel(context, {
        provider: "azure",
        baseUrl: "https://a.example",
        settings: application,
      });
      await updateChannel(context, "openai", { credential: "sk-another-secret-987654321" });
      await removeChannel(context, "azure", true);
      const secrets = [SECRET, "header-secret-123", "client-secret-456", "sk-another-secret-987654321"];
      const audit = await context.store.audit.list({ limit: 100 });
      const shown = JSON.stringify(
        [
          await listChannels(context),
          audit.map(({ before, after }) => [before, after]),
          (await stateOf(context)).settings,
          await context.store.configuration.list(),
        ],
        (_, value: unknown) => (typeof value === "bigint" ? String(value) : value),
      );
      const files = readdirSync(directory, { recursive: true }).map((name) => join(directory, String(name)));
      const stored = files
        .filter((path) => statSync(path).isFile())
        .map((path) => readFileSync(path, "latin1"));
      const changes = JSON.stringify(audit.map(({ before, after }) => [before, after]));
      for (const { value } of await context.store.configuration.list())
        expect(changes).not.toContain(Object(value["credential"]).sealed);
      for (const secret of secrets) {
        expect(shown).not.toContain(secret);
        for (const content of stored) expect(content).not.toContain(secret);
      }
      expect((await getChannel(context, "openai")).headers).toEqual({
        "x-api-key": "********",
        "x-title": "blue",
      });
      expect(statSync(join(directory, "data/master.key")).mode & 0o777).toBe(0o600);
    });

    testOnce("a sealed secret opens in its own field of its own channel alone", async () => {
      await using administration = await open();
      const { context } = administration;
      await createChannel(context, OPENAI);
      const [entry] = await context.store.configuration.list();
      await context.store.configuration.create({ ...entry!, id: "copy" }, context.by);
      expect(await getChannel(context, "copy")).toMatchObject({ isUsable: false, credentialEnd: null });
      expect((await getChannel(context, "copy")).problems.join()).toContain("cannot be opened");
    });

    test("with another master key a channel cannot be used, others can, and the key before seals anew", async () => {
      await using administration = await open();
      const { as } = administration;
      const [first, second] = [newMasterKey(), newMasterKey()];
      await createChannel(await as({ env: { GATEWAY_MASTER_KEY: first } }), OPENAI);
      const changed = await as({ env: { GATEWAY_MASTER_KEY: second } });
      await createChannel(changed, { provider: "gemini", credential: SECRET });
      const ada = await memberWithTotp(await as({ env: { GATEWAY_MASTER_KEY: first } }));
      expect(await openSecret(changed, ada)).toBeNull();
      const problem = await getChannel(changed, "openai");
      expect(problem).toMatchObject({ isUsable: false, health: null });
      expect(problem.problems[0]).toMatch(
        /channels\.openai\.credential cannot be opened: .*GATEWAY_MASTER_KEY/,
      );
      expect((await getChannel(changed, "gemini")).isUsable).toBe(true);
      const { catalogue } = await stateOf(changed);
      expect(catalogue.routes.get("gpt-5.4")?.targets).toEqual([]);
      expect(catalogue.routes.get("gemini-3.1-flash-image")?.targets).not.toEqual([]);
      expect(await resealSecrets(changed)).toEqual({
        resealed: 1,
        failed: [
          { kind: "channel", id: "openai", field: "credential" },
          { kind: "member", id: "ada", field: "totp" },
        ],
      });
      const both = await as({ env: { GATEWAY_MASTER_KEY: second, GATEWAY_MASTER_KEY_PREVIOUS: first } });
      expect((await getChannel(both, "openai")).isUsable).toBe(true);
      expect(await resealSecrets(both)).toEqual({ resealed: 3, failed: [] });
      const after = await changed.store.members.get(ada.id);
      expect(await openSecret(changed, after!)).toMatchObject({ secret: TOTP_SECRET });
      expect(
        (await getChannel(await as({ env: { GATEWAY_MASTER_KEY: second } }), "openai")).credentialEnd,
      ).toBe("6789");
    });

    test("a secret that is replaced or removed while secrets are sealed anew stays so and is not counted", async () => {
      await using administration = await open();
      const { context } = administration;
      const { store, by } = context;
      await createChannel(context, { ...OPENAI, headers: { "x-api-key": "header-secret-123" } });
      await createChannel(context, { provider: "gemini", credential: SECRET });
      const ada = await memberWithTotp(context);
      const reseal = async (meanwhile: () => Promise<unknown>, subject: string) => {
        const configuration: typeof context.configuration = {
          ...context.configuration,
          async reseal(secrets, name, secret) {
            const sealed = await context.configuration.reseal(secrets, name, secret);
            if (`${name.kind} ${name.id} ${name.field}` === subject) await meanwhile();
            return sealed;
          },
        };
        return await resealSecrets({ ...context, configuration });
      };
      const replace = () => updateChannel(context, "openai", { credential: "sk-another-secret-987654321" });
      expect(await reseal(replace, "channel openai credential")).toEqual({ resealed: 3, failed: [] });
      expect((await getChannel(context, "openai")).credentialEnd).toBe("4321");
      const remove = () => removeChannel(context, "gemini", true);
      expect(await reseal(remove, "channel gemini credential")).toEqual({ resealed: 3, failed: [] });
      const turnOff = () => store.members.update(ada.id, () => ({ totp: null }), { by, action: "update" });
      expect(await reseal(turnOff, "member user_ada totp")).toEqual({ resealed: 2, failed: [] });
    });

    testOnce("the file and the environment win over the database", async () => {
      await using administration = await open();
      const { context, as } = administration;
      await createChannel(context, OPENAI);
      await updateModel(context, "gpt-5.4", { displayName: "From the database" });
      const env = { OPENAI_API_KEY: "sk-environment", FILE_KEY: "sk-file" };
      const yaml = `channels: {filed: {provider: openai, credential: {env: FILE_KEY}}}
models: {gpt-5.4: {display_name: From the file}}`;
      const declared = await as({ env, yaml });
      const { problems, channels, models } = await stateOf(declared);
      expect(problems.map(({ path, message }) => `${path} ${message}`)).toEqual([
        "channels.openai of the database is ignored: the environment declares the channel, too",
        'models["gpt-5.4"] of the database is ignored: the file declares the model, too',
      ]);
      expect(channels.get("openai")).toMatchObject({
        origin: "environment",
        channel: { settings: { apiKey: "sk-environment" } },
      });
      expect(models.get("gpt-5.4")).toMatchObject({
        origin: "file",
        model: { displayName: "From the file" },
      });
      const inFile = "is in the configuration file: change it there";
      expect((await refusal(createChannel(declared, { ...OPENAI, id: "filed" })))[2]).toContain(inFile);
      expect((await refusal(updateChannel(declared, "openai", {})))[0]).toBe(409);
      expect((await refusal(updateModel(declared, "gpt-5.4", {})))[2]).toContain(inFile);
    });

    testOnce("an entry that has become invalid is left out, and the rest is served", async () => {
      await using administration = await open();
      const { context } = administration;
      await createChannel(context, OPENAI);
      const broken = { createdAt: 0, kind: "channel", id: "old", value: { provider: "gone" } } as const;
      await context.store.configuration.create(broken, context.by);
      const wrong = {
        createdAt: 0,
        kind: "model",
        id: "gpt-5.4",
        value: { max_output_tokens: "many" },
      } as const;
      await context.store.configuration.create(wrong, context.by);
      const lost = { strategy: "ordered", targets: [{ channel: "removed" }, { channel: "openai" }] };
      await context.store.configuration.create(
        { ...wrong, id: "gpt-4.1", value: { route: lost } },
        context.by,
      );
      const { catalogue, problems } = await stateOf(context);
      expect(problems.map(({ path }) => path)).toEqual(
        [
          "channels.old.provider",
          'models["gpt-4.1"].route.targets[0].channel',
          'models["gpt-5.4"].max_output_tokens',
        ].toSorted(
          (one, other) =>
            problems.findIndex(({ path }) => path === one) - problems.findIndex(({ path }) => path === other),
        ),
      );
      expect(catalogue.models.get("gpt-5.4")?.isRetired).toBe(false);
      expect(catalogue.routes.get("gpt-4.1")?.targets).toHaveLength(1);
    });

    test("a channel in use is removed by force alone, and a secret goes to no other address", async () => {
      await using administration = await open();
      const { context, as } = administration;
      await createChannel(context, OPENAI);
      const serving = await as({});
      await createOrganization(serving, { id: "acme", name: "Acme" });
      await setRoute(serving, {
        organizationId: "acme",
        model: "gpt-5.4",
        targets: [{ channel: "openai", upstreamModel: "gpt-5.4" }],
      });
      const { uses } = await getChannel(serving, "openai");
      expect(uses.organizationRoutes).toEqual([{ organizationId: "acme", model: "gpt-5.4" }]);
      expect(uses.unroutable).toContain("gpt-4.1");
      const [status, field, message] = await refusal(removeChannel(serving, "openai"));
      expect([status, field]).toEqual([409, "force"]);
      expect(message).toContain("gpt-5.4 of acme");
      const elsewhere = { baseUrl: "https://collector.example/v1" };
      expect(await refusal(updateChannel(serving, "openai", elsewhere))).toEqual([
        400,
        "credential",
        "credential must be given again when an address changes",
      ]);
      const moved = await updateChannel(serving, "openai", { ...elsewhere, credential: SECRET });
      expect(moved.baseUrl).toBe(elsewhere.baseUrl);
      await removeChannel(serving, "openai", true);
      expect((await refusal(getChannel(serving, "openai"))).slice(0, 2)).toEqual([404, "id"]);
    });

    testOnce("what a provider does not take is refused by the field's name in the input", async () => {
      await using administration = await open();
      const { context } = administration;
      const refused = async (input: object) => (await refusal(createChannel(context, input))).slice(0, 2);
      expect(await refused({ provider: "openia", credential: SECRET })).toEqual([400, "provider"]);
      expect(await refused({ provider: "openai" })).toEqual([400, "credential"]);
      expect(await refused({ ...OPENAI, settings: { organisation: "x" } })).toEqual([
        400,
        "settings.organisation",
      ]);
      expect(await refused({ provider: "azure", credential: SECRET })).toEqual([400, "baseUrl"]);
      expect(await refused({ ...OPENAI, credential: { env: "PATH" } })).toEqual([400, "credential"]);
      expect(await refused({ ...OPENAI, headers: { host: "x" } })).toEqual([400, "headers.host"]);
      expect(await context.store.configuration.list()).toEqual([]);
      const { version } = await createChannel(context, OPENAI);
      await updateChannel(context, "openai", { maxConcurrent: 2, version });
      expect(
        (await refusal(updateChannel(context, "openai", { maxConcurrent: 3, version }))).slice(0, 2),
      ).toEqual([409, "version"]);
    });

    test("models are added, changed, disabled and removed; a shipped one comes back", async () => {
      await using administration = await open();
      const { context } = administration;
      await createChannel(context, OPENAI);
      const definition = {
        type: "chat",
        max_output_tokens: 1000,
        price: { per_million: { input: "1", output: "2" } },
      };
      const route = { targets: [{ channel: "openai", upstreamModel: "house-1" }] };
      const house = await createModel(context, { id: "house/chat", displayName: "House", route, definition });
      expect(house).toMatchObject({
        origin: "database",
        isOverride: false,
        isRoutable: true,
        price: { perMillion: { input: "1.00" } },
      });
      expect((await refusal(createModel(context, { id: "gpt-5.4", definition })))[0]).toBe(409);
      expect(
        (
          await refusal(
            createModel(context, { id: "a", route: { targets: [{ channel: "opnai" }] }, definition }),
          )
        )[1],
      ).toBe("route.targets[0].channel");
      expect((await refusal(createModel(context, { id: "b", route, definition: { type: "chat" } })))[1]).toBe(
        "definition.max_output_tokens",
      );
      expect((await refusal(createModel(context, { id: "__proto__", route, definition })))[1]).toBe("id");
      const shipped = await getModel(context, "gpt-5.4");
      const disabled = await updateModel(context, "gpt-5.4", { isDisabled: true, displayName: "Mine" });
      expect(disabled).toMatchObject({
        isDisabled: true,
        isRoutable: false,
        isOverride: true,
        displayName: "Mine",
      });
      expect((await stateOf(context)).catalogue.models.has("gpt-5.4")).toBe(false);
      const enabled = await updateModel(context, "gpt-5.4", { isDisabled: false, version: disabled.version });
      expect(enabled).toMatchObject({ isRoutable: true, displayName: "Mine" });
      expect(
        (await refusal(updateModel(context, "gpt-5.4", { isDisabled: true, version: disabled.version })))[0],
      ).toBe(409);
      await removeModel(context, "gpt-5.4");
      expect(await getModel(context, "gpt-5.4")).toEqual(shipped);
      expect((await refusal(removeModel(context, "gpt-5.4")))[2]).toContain("shipped");
      const found = await listModels(context, { search: "house", isRoutable: "true", limit: 5 });
      expect(found.data.map(({ id }) => id)).toEqual(["house/chat"]);
    });
  });
