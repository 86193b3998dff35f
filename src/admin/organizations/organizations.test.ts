import { expect, test } from "bun:test";
import { createKey, createOrganization, updateOrganization } from "../../../test/support/admin-calls.ts";
import { NOW, refusal, withOrganization } from "../../../test/support/admin-context.ts";
import { modelSet } from "./enabled-models.ts";
import { disableModels, enableModels, getOrganization } from "./organizations.ts";

test("a new organization has every model, the default settings and no limits of its own", async () => {
  const context = await withOrganization();
  expect(await getOrganization(context, "acme")).toEqual({
    id: "acme",
    name: "Acme",
    currency: "USD",
    isDisabled: false,
    models: "*",
    settings: {
      forceImageUrls: null,
      nativeImageUrls: false,
      fallbackAfterMs: null,
      fallbackChannel: null,
      linkHours: null,
      callerGone: "abort",
      failOverRefusals: false,
      refuseIgnored: false,
      promptLogDays: null,
    },
    limits: {},
    routes: {},
    createdAt: NOW,
    version: 1,
  });
  expect(context.store.changes).toEqual([{ actor: "test", change: "create organization acme" }]);
});

test("an unknown field is refused with the one that was meant", async () => {
  const context = await withOrganization();
  expect(await refusal(createOrganization(context, { name: "x", modles: "*" }))).toEqual([
    400,
    "modles",
    'modles is not a known field; did you mean "models"?',
  ]);
  expect(await refusal(updateOrganization(context, "acme", { limits: { requestPerMinute: 5 } }))).toEqual([
    400,
    "limits.requestPerMinute",
    'limits.requestPerMinute is not a known field; did you mean "requestsPerMinute"?',
  ]);
  expect(await refusal(createKey(context, { organizationId: "acme", name: "k", budget: 5 }))).toEqual([
    400,
    "budget",
    expect.any(String),
  ]);
});

test("an id is unique, and an unknown one is refused with a suggestion", async () => {
  const context = await withOrganization();
  expect(await refusal(createOrganization(context, { id: "acme", name: "x" }))).toEqual([
    409,
    "id",
    'there is already an organization "acme"',
  ]);
  expect(await refusal(updateOrganization(context, "acne", { name: "x" }))).toEqual([
    404,
    "organizationId",
    'there is no organization "acne"; did you mean "acme"?',
  ]);
});

test("a change leaves what it does not name, and a limit can be set, lifted and reset", async () => {
  const context = await withOrganization();
  await updateOrganization(context, "acme", {
    settings: { callerGone: "drain" },
    limits: { requestsPerMinute: 10, tokensPerMinute: null, queuedJobs: 5 },
  });
  await updateOrganization(context, "acme", {
    settings: { forceImageUrls: false },
    limits: { requestsPerMinute: "default" },
  });
  expect(await getOrganization(context, "acme")).toMatchObject({
    name: "Acme",
    settings: { callerGone: "drain", forceImageUrls: false },
  });
  expect((await getOrganization(context, "acme")).limits).toEqual({ tokensPerMinute: null, queuedJobs: 5 });
});

test("disabling some of all models keeps all others, those of a later configuration too", async () => {
  const context = await withOrganization();
  await disableModels(context, "acme", ["big-chat"]);
  const { models } = await disableModels(context, "acme", ["old-chat", "big-chat"]);
  expect(models).toEqual({ except: ["big-chat", "old-chat"] });
  const enabled = modelSet(models);
  const ids = ["sandbox-chat", "sandbox-a", "new-model", "big-chat", "old-chat"];
  expect(ids.filter((id) => enabled === "*" || enabled.has(id))).toEqual(ids.slice(0, 3));
  expect((await enableModels(context, "acme", ["old-chat"])).models).toEqual({ except: ["big-chat"] });
  expect((await enableModels(context, "acme", ["big-chat"])).models).toBe("*");
});

test("a list of models grows and shrinks by what is enabled and disabled", async () => {
  const context = await withOrganization();
  await createOrganization(context, { id: "listed", name: "x", models: ["sandbox-a"] });
  expect((await enableModels(context, "listed", ["big-chat", "sandbox-a"])).models).toEqual([
    "sandbox-a",
    "big-chat",
  ]);
  expect((await disableModels(context, "listed", ["sandbox-a"])).models).toEqual(["big-chat"]);
  expect((await enableModels(context, "acme", "*")).models).toBe("*");
  expect(await refusal(enableModels(context, "acme", ["big-chatt"]))).toEqual([
    400,
    "models",
    '"big-chatt" is not a configured model; did you mean "big-chat"?',
  ]);
});

test("a currency that ISO 4217 does not know is refused", async () => {
  const context = await withOrganization();
  for (const currency of ["XXQ", "usd", "US"])
    expect(await refusal(createOrganization(context, { name: "x", currency }))).toEqual([
      400,
      "currency",
      "currency must be an ISO 4217 code such as USD",
    ]);
  expect((await createOrganization(context, { name: "x", currency: "JPY" })).currency).toBe("JPY");
});
