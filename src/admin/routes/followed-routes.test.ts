import { expect, test } from "bun:test";
import { setRoute, updateOrganization } from "../../../test/support/admin-calls.ts";
import { withOrganization } from "../../../test/support/admin-context.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { callableChannels } from "./followed-routes.ts";

const BIG = { channel: "openai", upstreamModel: "big-chat-2026" };
const ALL = { model: "sandbox-chat", targets: [BIG] };

test.each([
  ["every model", {}, [], ["openai", "sandbox"]],
  ["models of one vendor", { models: ["sandbox-*"] }, [], ["sandbox"]],
  ["a route of its own to another vendor", { models: ["sandbox-chat"] }, [ALL], ["openai"]],
  [
    "the same with the configured vendor as fallback",
    { models: ["sandbox-chat"], settings: { fallbackAfterMs: 1000, fallbackChannel: "sandbox" } },
    [ALL],
    ["openai", "sandbox"],
  ],
  ["no model", { models: [] }, [], []],
])("an organization with %s can call these channels", async (_, change, routes, channels) => {
  const context = await withOrganization();
  await updateOrganization(context, "acme", change);
  for (const route of routes) await setRoute(context, { organizationId: "acme", ...route });
  const organization = await getOrganization(context, "acme");
  expect([...callableChannels([organization], context.catalogue)].sort()).toEqual(channels);
});
