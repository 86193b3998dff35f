import { expect, test } from "bun:test";
import { setRoute } from "../../../test/support/admin-calls.ts";
import { refusal, withOrganization } from "../../../test/support/admin-context.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { listRoutes, removeRoute } from "./routes.ts";

test("an organization's own route replaces the default until it is removed", async () => {
  const context = await withOrganization();
  const target = { channel: "openai", upstreamModel: "big-chat-2026", weight: 2 };
  await setRoute(context, {
    organizationId: "acme",
    model: "sandbox-chat",
    strategy: "weighted",
    targets: [target],
  });
  expect(await listRoutes(context, "acme", "sandbox-chat")).toEqual([
    { model: "sandbox-chat", source: "organization", strategy: "weighted", targets: [target], version: 2 },
  ]);
  await removeRoute(context, "acme", "sandbox-chat");
  expect(await listRoutes(context, "acme", "sandbox-chat")).toEqual([
    {
      model: "sandbox-chat",
      source: "default",
      strategy: "ordered",
      targets: [{ channel: "sandbox", upstreamModel: "sandbox-chat", weight: 1 }],
      version: 3,
    },
  ]);
  expect((await listRoutes(context, "acme")).map((route) => route.model)).toContain("big-chat");
  expect(await refusal(removeRoute(context, "acme", "constructor"))).toEqual([
    404,
    "model",
    expect.any(String),
  ]);
});

test("a route that names an unknown model, channel or upstream model is not saved", async () => {
  const context = await withOrganization();
  const fields = {
    organizationId: "acme",
    model: "big-chat",
    targets: [{ channel: "openai", upstreamModel: "big-chat-2026" }],
  };
  const withTarget = (change: object) => ({ ...fields, targets: [{ ...fields.targets[0], ...change }] });
  expect(await refusal(setRoute(context, { ...fields, model: "big-chta" }))).toEqual([
    400,
    "model",
    expect.any(String),
  ]);
  expect(await refusal(setRoute(context, withTarget({ channel: "opnai" })))).toEqual([
    400,
    "targets[0].channel",
    '"opnai" is not a configured channel; did you mean "openai"?',
  ]);
  expect(await refusal(setRoute(context, withTarget({ upstreamModel: "big-chat-2025" })))).toEqual([
    400,
    "targets[0].upstreamModel",
    'no model asks the channel "openai" for "big-chat-2025" yet; did you mean "big-chat-2026"?',
  ]);
  expect(await refusal(setRoute(context, withTarget({ upstreamModel: "other" })))).toEqual([
    400,
    "targets[0].upstreamModel",
    'no model asks the channel "openai" for "other" yet; add this target to the model\'s default route first, from which organizations choose',
  ]);
  expect(await refusal(setRoute(context, withTarget({ weight: 0 })))).toEqual([
    400,
    "targets[0].weight",
    expect.any(String),
  ]);
  expect(await refusal(setRoute(context, { ...fields, targets: [] }))).toEqual([
    400,
    "targets",
    expect.any(String),
  ]);
  expect(
    await refusal(setRoute(context, { ...fields, targets: [...fields.targets, ...fields.targets] })),
  ).toEqual([400, "targets[1]", expect.any(String)]);
  expect(await refusal(setRoute(context, { ...fields, strategy: "random" }))).toEqual([
    400,
    "strategy",
    expect.any(String),
  ]);
  expect((await getOrganization(context, "acme")).routes).toEqual({});
});
