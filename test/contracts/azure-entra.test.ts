import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { UpstreamError } from "../../src/domain/upstream-error.ts";
import { azure } from "../../src/providers/azure/index.ts";
import { callAzure } from "../support/azure-calls.ts";
import { startAzure } from "../upstreams/azure.ts";
import { CLIENT, CLIENT_SECRET, startEntra, TENANT } from "../upstreams/entra-tokens.ts";

/* An Azure OpenAI resource that accepts Microsoft Entra tokens instead of its key. */
const entra = await startEntra();
const revoked = new Set<string>();
const vendor = await startAzure((token) => entra.granted.includes(token) && !revoked.has(token));

afterAll(() => Promise.all([vendor.close(), entra.close()]));
beforeEach(() => {
  vendor.reset();
  entra.reset();
});

const APPLICATION = { tenantId: TENANT, clientId: CLIENT, clientSecret: CLIENT_SECRET };
const open = (identity: object) =>
  callAzure(vendor.url, {
    apiKey: undefined,
    authorityUrl: entra.url,
    metadataUrl: `${entra.url}/`,
    ...identity,
  });
const failureOf = async (call: Promise<unknown>) =>
  (await call.catch((error: unknown) => error)) as UpstreamError;

test.each([
  ["an application", APPLICATION, "POST"],
  ["the machine", {}, "GET"],
  ["one identity of the machine", { clientId: CLIENT }, "GET"],
])("%s gets a token once, for text, pictures and both surfaces", async (_, identity, method) => {
  for (const surface of ["v1", "classic"]) {
    const calls = open({ ...identity, surface });
    await Promise.all([calls.chat(), calls.chat()]);
    await calls.chat();
    await calls.generate();
  }
  expect(vendor.hits.every(({ status }) => status === 200)).toBe(true);
  expect(vendor.hits.every(({ headers }) => headers["api-key"] === undefined)).toBe(true);
  // Each surface needs one token for texts and one for pictures.
  expect(entra.hits.map((hit) => hit.method)).toEqual(Array.from({ length: 4 }, () => method));
});

test("a token that is no longer accepted is replaced at the next call", async () => {
  const calls = open(APPLICATION);
  await calls.chat();
  revoked.add(entra.granted.at(-1)!);
  expect(await failureOf(calls.chat())).toMatchObject({ kind: "account", status: 401 });
  expect(await calls.chat()).toMatchObject({ kind: "whole" });
});

describe("a token that is not granted", () => {
  test.each([
    [{ ...APPLICATION, clientSecret: "wrong" }, "account", 401],
    [{ clientId: "other" }, "account", 400],
  ])("for %j is the account's failure, and nothing is sent", async (identity, kind, status) => {
    const error = await failureOf(open(identity).chat());
    expect([error.kind, error.status, error.isAmbiguous]).toEqual([
      kind as UpstreamError["kind"],
      status,
      false,
    ]);
    expect(vendor.hits).toHaveLength(0);
  });

  test("never appears, nor does the secret", async () => {
    const calls = open(APPLICATION);
    vendor.next("echo-authorization");
    const shown = Bun.inspect(await failureOf(calls.chat()));
    expect(shown).not.toContain(entra.granted.at(-1)!);
    entra.next("redirect");
    expect(Bun.inspect(await failureOf(open(APPLICATION).chat()))).not.toContain(CLIENT_SECRET);
  });
});

test.each([
  [{ clientSecret: "s" }, "clientSecret"],
  [{ tenantId: TENANT, clientSecret: "s" }, "clientId"],
  [{ apiKey: "key", clientId: CLIENT }, "clientId"],
  [{ tenantId: "../x", clientId: CLIENT, clientSecret: "s" }, "tenantId"],
])("the settings %j are invalid because of %s", (settings, path) => {
  const result = azure.settings.safeParse({ baseUrl: "https://r.example", ...settings });
  expect(result.error?.issues.map((issue) => issue.path.join("."))).toContain(path);
});
