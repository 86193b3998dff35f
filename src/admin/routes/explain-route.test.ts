import type { PriceRow } from "../../domain/price.ts";
import { PatternMap } from "../../lib/pattern-map.ts";
import { describe, expect, test } from "bun:test";
import {
  createKey,
  setPrice,
  setRoute,
  updateKey,
  updateOrganization,
} from "../../../test/support/admin-calls.ts";
import { refusal, withOrganization } from "../../../test/support/admin-context.ts";
import { explainRoute } from "./explain-route.ts";
import { disableModels } from "../organizations/organizations.ts";

const question = { organization: "acme", model: "sandbox-chat" };
const HERE = { channel: "sandbox", upstreamModel: "sandbox-chat" };
const THERE = { channel: "openai", upstreamModel: "big-chat-2026" };

/** Returns an organization `acme` with a route of its own over two vendors. */
async function withRoute(strategy: "ordered" | "weighted") {
  const context = await withOrganization();
  const targets = [
    { ...HERE, weight: 1 },
    { ...THERE, weight: 3 },
  ];
  await setRoute(context, { organizationId: "acme", model: "sandbox-chat", strategy, targets });
  return context;
}

describe("which target serves", () => {
  test("without an own route it is the configured target", async () => {
    const explanation = await explainRoute(await withOrganization(), question);
    expect(explanation).toMatchObject({
      source: "default",
      strategy: "ordered",
      missingChannel: null,
      refusal: null,
      targets: [{ name: "sandbox/sandbox-chat", provider: "sandbox", share: 1, ejection: null }],
      verdict: "sandbox/sandbox-chat would answer.",
    });
  });

  test("an ordered route is followed in its written order", async () => {
    const { source, targets, verdict } = await explainRoute(await withRoute("ordered"), question);
    expect(source).toBe("organization");
    expect(targets.map(({ share }) => share)).toEqual([1, 0]);
    expect(verdict).toBe("sandbox/sandbox-chat would answer, then openai/big-chat-2026.");
  });

  test("a weighted route shows each target's share, the likeliest first", async () => {
    const { targets, verdict } = await explainRoute(await withRoute("weighted"), question);
    expect(targets.map(({ name, share }) => [name, share])).toEqual([
      ["openai/big-chat-2026", 0.75],
      ["sandbox/sandbox-chat", 0.25],
    ]);
    expect(verdict).toBe(
      "openai/big-chat-2026 (75 %) or sandbox/sandbox-chat (25 %) would answer, each falling over to the others.",
    );
  });

  test("an ejected target is skipped", async () => {
    const health = [
      { target: "sandbox/sandbox-chat", organization: null, reason: "overload" as const, durationMs: 4000 },
    ];
    for (const strategy of ["ordered", "weighted"] as const) {
      const { verdict } = await explainRoute(await withRoute(strategy), { ...question, health });
      expect(verdict).toBe("openai/big-chat-2026 would answer; sandbox/sandbox-chat is ejected.");
    }
  });

  test("an ejection whose time is over does not count", async () => {
    const health = [
      { target: "sandbox/sandbox-chat", organization: null, reason: "overload" as const, durationMs: 0 },
    ];
    const { verdict } = await explainRoute(await withOrganization(), { ...question, health });
    expect(verdict).toBe("sandbox/sandbox-chat would answer.");
  });

  test("nothing is sent while every target is ejected", async () => {
    const health = [
      { target: "sandbox/sandbox-chat", organization: null, reason: "overload" as const, durationMs: 4000 },
      { target: "openai/big-chat-2026", organization: null, reason: "account" as const, durationMs: 60_000 },
    ];
    const { verdict } = await explainRoute(await withRoute("weighted"), { ...question, health });
    expect(verdict).toBe("Nothing would be sent: every target is ejected, the first for another 4 s.");
  });

  test("a saved route with a channel that is no longer configured is ignored and named", async () => {
    const context = await withOrganization();
    const routes = {
      "sandbox-chat": { strategy: "ordered" as const, targets: [{ ...HERE, channel: "gone", weight: 1 }] },
    };
    await context.store.organizations.update("acme", () => ({ routes }), context.by);
    expect(await explainRoute(context, question)).toMatchObject({
      source: "default",
      missingChannel: "gone",
      verdict: "sandbox/sandbox-chat would answer.",
    });
  });
});

describe("a draft that is not saved", () => {
  const draft = { isDefault: false, strategy: "ordered" as const, targets: [{ ...THERE, weight: 1 }] };

  test("is followed in place of the saved route, which stays", async () => {
    const context = await withRoute("ordered");
    const { source, verdict } = await explainRoute(context, { ...question, draft });
    expect([source, verdict]).toEqual(["draft", "openai/big-chat-2026 would answer."]);
    expect((await explainRoute(context, question)).verdict).toStartWith("sandbox/sandbox-chat would");
  });

  test("is refused as its saving would be; a default one may name any model of a channel", async () => {
    const context = await withOrganization();
    const other = { ...draft, targets: [{ ...THERE, upstreamModel: "other", weight: 1 }] };
    expect(await refusal(explainRoute(context, { ...question, draft: other }))).toEqual([
      400,
      "draft.targets[0].upstreamModel",
      expect.stringContaining("default route first"),
    ]);
    const ofAll = { ...other, isDefault: true };
    expect((await explainRoute(context, { ...question, draft: ofAll })).verdict).toBe(
      "openai/other would answer.",
    );
    for (const isDefault of [false, true]) {
      const twice = { ...draft, isDefault, targets: [...draft.targets, ...draft.targets] };
      expect(await refusal(explainRoute(context, { ...question, draft: twice }))).toEqual([
        400,
        "draft.targets[1]",
        '"openai/big-chat-2026" is named twice',
      ]);
    }
    const none = { ...ofAll, targets: [{ ...THERE, channel: "opnai", weight: 1 }] };
    expect(await refusal(explainRoute(context, { ...question, draft: none }))).toEqual([
      400,
      "draft.targets[0].channel",
      expect.stringContaining("openai"),
    ]);
    const access = { role: "admin" as const, organizations: ["acme"] };
    const limited = { ...context, signedIn: { access } as never };
    expect(await refusal(explainRoute(limited, { ...question, draft: ofAll }))).toEqual([
      403,
      "draft.isDefault",
      expect.any(String),
    ]);
    expect(await refusal(explainRoute(limited, { ...question, draft }))).toEqual([
      403,
      "draft.targets[0]",
      expect.any(String),
    ]);
    // A message about an unknown channel or model would suggest names of other organizations' channels.
    const guessed = { ...draft, targets: [{ channel: "nope", upstreamModel: "x", weight: 1 }] };
    const [status, field, message] = await refusal(explainRoute(limited, { ...question, draft: guessed }));
    expect([status, field]).toEqual([403, "draft.targets[0]"]);
    expect(message).not.toContain("openai");
  });
});

describe("which requests are refused", () => {
  test("the organization or the key may not call the model", async () => {
    const context = await withOrganization();
    const { key } = await createKey(context, { organizationId: "acme", name: "k", models: ["sandbox-a"] });
    const byKey = await explainRoute(context, { ...question, key: key.id });
    expect(byKey.refusal?.code).toBe("model_not_allowed_for_api_key");
    await disableModels(context, "acme", ["sandbox-chat"]);
    const { refusal, verdict } = await explainRoute(context, question);
    expect(refusal?.code).toBe("model_not_authorized_for_org");
    expect(verdict).toStartWith("Refused with model_not_authorized_for_org: ");
  });

  test("a key that is disabled, expired or without the route's scope, and a disabled organization", async () => {
    const context = await withOrganization();
    const { key } = await createKey(context, { organizationId: "acme", name: "k", scopes: ["ai:image"] });
    const code = async (fields = {}) =>
      (await explainRoute(context, { ...question, ...fields })).refusal?.code;
    expect(await code({ key: key.id })).toBe("authentication_required");
    expect(await code({ key: key.id, model: "sandbox-a" })).toBeUndefined();
    await updateKey(context, key.id, { isDisabled: true });
    expect(await code({ key: key.id, model: "sandbox-a" })).toBe("authentication_required");
    await updateOrganization(context, "acme", { isDisabled: true });
    expect(await code()).toBe("authentication_required");
  });

  test("a model that is retired or without a price", async () => {
    const context = await withOrganization();
    const code = async (model: string) => (await explainRoute(context, { ...question, model })).refusal?.code;
    expect(await code("old-chat")).toBe("model_retired");
    const unpriced = { ...context, catalogue: { ...context.catalogue, prices: new PatternMap<PriceRow>() } };
    expect((await explainRoute(unpriced, question)).refusal?.code).toBe("MODEL_PRICE_NOT_CONFIGURED");
  });
});

test("the price is the one that would be charged: the organization's own first", async () => {
  const context = await withOrganization();
  const perMillion = { input: "7", output: "8" };
  expect((await explainRoute(context, question)).price).toMatchObject({
    perMillion: { input: { source: "default" } },
  });
  await setPrice(context, { organizationId: "acme", model: "sandbox-chat", perMillion });
  expect((await explainRoute(context, question)).price).toMatchObject({
    perMillion: { input: { amount: 7_000_000_000n, source: "organization" } },
  });
});

test("an unknown organization or model, or another's key, is refused", async () => {
  const context = await withOrganization();
  expect(await refusal(explainRoute(context, { ...question, organization: "acmee" }))).toEqual([
    404,
    "organizationId",
    'there is no organization "acmee"; did you mean "acme"?',
  ]);
  expect(await refusal(explainRoute(context, { ...question, model: "sandbox-chta" }))).toEqual([
    400,
    "model",
    '"sandbox-chta" is not a configured model; did you mean "sandbox-chat"?',
  ]);
  expect(await refusal(explainRoute(context, { ...question, key: "key_x" }))).toEqual([
    404,
    "keyId",
    expect.any(String),
  ]);
});
