import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exportConfiguration } from "../../src/admin/document/document.ts";
import type { OperationContext } from "../../src/admin/context.ts";
import { readYaml, writeYaml } from "../../src/config/yaml.ts";
import {
  createAlert,
  createBudget,
  createChannel,
  createKey,
  createMember,
  createModel,
  createOrganization,
  importConfiguration,
  setPrice,
  setRoute,
  updateModel,
} from "../support/admin-calls.ts";
import { refusal } from "../support/admin-context.ts";
import { openAdministration, type ConfiguredAdministration } from "../support/configuration.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";

const found = findPostgres();
if ("missing" in found)
  console.warn(`SKIPPED: documents of the configuration on PostgreSQL (${found.missing})`);

type Document = Record<string, Record<string, Record<string, unknown>>>;

const SECRET = "sk-document-secret-0123456789";

/** Creates at least one record of each kind that a document contains. */
async function fill({ as }: ConfiguredAdministration): Promise<OperationContext> {
  await createChannel(await as({}), {
    provider: "openai",
    credential: SECRET,
    headers: { "x-api-key": "abc" },
  });
  const route = { targets: [{ channel: "openai", upstreamModel: "gpt-5.4" }] };
  await updateModel(await as({}), "gpt-4.1", { displayName: "Four", route });
  const definition = {
    type: "chat",
    max_output_tokens: 1000,
    price: { per_million: { input: "1", output: "2" } },
  };
  await createModel(await as({}), { id: "house", route, definition });
  const context = await as({});
  await createOrganization(context, { id: "acme", name: "Acme", limits: { requestsPerMinute: 5 } });
  await setRoute(context, { organizationId: "acme", model: "house", ...route });
  const expiresAt = "2100-01-01T00:00:00Z";
  const { key } = await createKey(context, { organizationId: "acme", name: "=key: {", expiresAt });
  await createBudget(context, { organizationId: "acme", keyId: key.id, amount: "12.5", period: "month" });
  const settings = { kind: "budget" };
  await createAlert(context, { organizationId: "acme", name: "Late", settings, emails: ["a@example.com"] });
  await setPrice(context, { model: "house", perMillion: { input: "3", output: "4", cacheRead: "0.1" } });
  await createMember(context, { name: "ada", role: "owner", organizations: "*" });
  await createMember(context, {
    name: "bo",
    email: "bo@example.com",
    role: "viewer",
    organizations: ["acme"],
  });
  return await as({});
}

async function documentOf(context: OperationContext): Promise<Document> {
  return readYaml((await exportConfiguration(context)).yaml).value as Document;
}

const importOf = (context: OperationContext, document: object, isDryRun = false) =>
  importConfiguration(context, { yaml: writeYaml(document), isDryRun });

let postgres: PrivatePostgres | undefined;
beforeAll(async () => {
  if (!("missing" in found)) postgres = await startPostgres(found.folder);
}, 30_000);
afterAll(() => postgres?.stop());

const untested = (): void => {};

for (const kind of ["sqlite", "postgres"] as const)
  describe.skipIf(kind === "postgres" && "missing" in found)(
    `a document of the configuration on ${kind}`,
    () => {
      // Declares a test that does not depend on the database and so runs on SQLite only.
      const testOnce = kind === "sqlite" ? test : untested;
      const open = async () =>
        openAdministration(kind === "sqlite" ? undefined : await postgres!.createDatabase());

      test("exported and imported unchanged it changes nothing, and names no secret", async () => {
        await using administration = await open();
        const context = await fill(administration);
        const { yaml } = await exportConfiguration(context);
        expect(yaml).not.toContain(SECRET);
        expect(yaml).not.toContain("sealed");
        const before = await context.store.audit.list({ limit: 1 });
        expect(await importConfiguration(context, { yaml })).toEqual({
          changes: [],
          secrets: [],
          isApplied: true,
        });
        expect(await context.store.audit.list({ limit: 1 })).toEqual(before);
      });

      test("whatever is changed in it is what an export has after the import, and a dry run says so before", async () => {
        await using administration = await open();
        const context = await fill(administration);
        const original = await documentOf(context);
        const [key] = Object.keys(original["keys"]!);
        const [budget] = Object.keys(original["budgets"]!);
        const mutation = fc.record(
          {
            channels: fc.record({ openai: fc.record({ max_concurrent: fc.integer({ min: 1, max: 99 }) }) }),
            models: fc.record({ house: fc.record({ max_output_tokens: fc.integer({ min: 1, max: 9999 }) }) }),
            organizations: fc.record({
              acme: fc.record({ name: fc.string({ minLength: 1 }).filter(isName), isDisabled: fc.boolean() }),
            }),
            keys: fc.record({ [key!]: fc.record({ name: fc.string({ minLength: 1 }).filter(isName) }) }),
            budgets: fc.record({
              [budget!]: fc.record({ amount: fc.integer({ min: 1, max: 999 }).map((n) => `${n}.25`) }),
            }),
            members: fc.record({ bo: fc.record({ role: fc.constantFrom("viewer", "billing", "admin") }) }),
          },
          { requiredKeys: [] },
        );
        await fc.assert(
          fc.asyncProperty(mutation, async (mutated) => {
            const before = await documentOf(context);
            const wanted = merged(before, mutated as Document);
            const dry = await importOf(context, wanted, true);
            expect(await documentOf(context)).toEqual(before);
            const done = await importOf(context, wanted);
            expect(done.changes).toEqual(dry.changes);
            expect(await documentOf(context)).toEqual(wanted);
            expect((await importOf(context, wanted)).changes).toEqual([]);
          }),
          { numRuns: kind === "sqlite" ? 6 : 2 },
        );
      }, 30_000);

      test("all of it is applied or nothing", async () => {
        await using administration = await open();
        const context = await fill(administration);
        const before = await documentOf(context);
        const wanted = merged(before, {
          channels: { openai: { max_concurrent: 7 } },
          organizations: { acme: { name: "Other" } },
          keys: { [Object.keys(before["keys"]!)[0]!]: { models: ["no-such-model"] } },
        });
        const { revision } = (await context.store.audit.list({ limit: 1 }))[0]!;
        expect((await refusal(importOf(context, wanted)))[0]).toBe(400);
        expect((await context.store.audit.list({ limit: 1 }))[0]!.revision).toBe(revision);
        expect(await documentOf(context)).toEqual(before);
      });

      testOnce("it fills another database, whose new secrets are told once", async () => {
        await using source = await open();
        await using target = await open();
        const document = await documentOf(await fill(source));
        const masked = await refusal(importOf(target.context, document));
        expect(masked.slice(0, 2)).toEqual([400, "channels.openai.credential"]);
        Object.assign(document["channels"]!["openai"]!, {
          credential: SECRET,
          headers: { "x-api-key": "abc" },
        });
        const result = await importOf(target.context, document);
        expect(JSON.stringify(result.changes)).not.toContain(SECRET);
        expect(result.secrets.map(({ kind: of }) => of).toSorted()).toEqual(["key", "member", "member"]);
        const filled = await documentOf(await target.as({}));
        for (const part of ["prices", "channels"]) for (const each of [filled, document]) delete each[part];
        expect(filled).toEqual(document);
      });

      testOnce("what a section leaves out is removed, and a section that is left out stays", async () => {
        await using administration = await open();
        const context = await fill(administration);
        const before = await documentOf(context);
        const { models: _, organizations: __, members: ___, ...rest } = before;
        const result = await importOf(context, { ...rest, budgets: {}, keys: {}, organizations: {} });
        expect(result.changes.map(({ kind: of, action }) => `${action} ${of}`)).toEqual([
          "remove key",
          "remove budget",
        ]);
        expect(await documentOf(context)).toEqual({ ...before, budgets: {}, keys: {} });
      });
    },
  );

test("what is wrong with a document is said by line or by field", async () => {
  await using administration = await openAdministration();
  const { context } = administration;
  const problem = (yaml: string) => refusal(importConfiguration(context, { yaml }));
  expect((await problem("keys: {"))[2]).toMatch(/^line 1, column \d+ is not YAML/);
  expect((await problem("chanels: {}"))[1]).toBe("chanels");
  expect((await problem("organizations: {acme: {nam: x}}"))[1]).toBe("organizations.acme.nam");
  const literal = "channels: {openai: {provider: openai, credential: {env: PATH}}}";
  expect((await problem(literal))[1]).toBe("channels.openai.credential");
});

function isName(text: string): boolean {
  return text.trim() === text;
}

function merged(document: Document, mutation: Document): Document {
  const copy = structuredClone(document);
  for (const [section, items] of Object.entries(mutation))
    for (const [id, fields] of Object.entries(items)) Object.assign(copy[section]![id]!, fields);
  return copy;
}
