import { expect, test } from "bun:test";
import { DEFAULT_ORGANIZATION_SETTINGS, type Organization } from "../../domain/organization.ts";
import { DetachedCalls } from "./call.ts";

function organization(id: string): Organization {
  return {
    id,
    name: id,
    currency: "USD",
    isDisabled: false,
    models: "*",
    settings: { ...DEFAULT_ORGANIZATION_SETTINGS, callerGone: "drain" },
    limits: {},
    routes: new Map(),
    budgets: [],
  };
}

/** Starts calls of an organization and disconnects their clients. Returns the signal and the `release` of each call. */
function disconnect(calls: DetachedCalls, id: string, count: number) {
  return Array.from({ length: count }, () => {
    const client = new AbortController();
    const call = calls.signalFor(organization(id), client.signal);
    client.abort();
    return call;
  });
}

test("the detached calls of one organization leave slots to others", () => {
  const calls = new DetachedCalls();
  const many = disconnect(calls, "many", 100);
  expect(many.filter(({ signal }) => !signal.aborted)).toHaveLength(8);
  const [other] = disconnect(calls, "other", 1);
  expect(other?.signal.aborted).toBe(false);
  many[0]?.release();
  const [next] = disconnect(calls, "many", 1);
  expect(next?.signal.aborted).toBe(false);
});
