import { expect, test } from "bun:test";
import { TEXT_DIALECTS } from "../../src/dialects/text.ts";
import { allRoutes, type ServerOptions } from "../../src/server/index.ts";
import { EXPORTS } from "../../src/admin/exports/exports.ts";
import type { Operation } from "../../src/admin/operation.ts";
import { operations } from "../../src/admin/operations.ts";
import { LONG_READINGS } from "../support/long-readings.ts";
import { CASES } from "./cases.ts";
import { CALLED_PROVIDERS } from "./provider-calls.ts";

// These tests fail for a new route, provider or operation without a growing case.

/** Routes whose bodies need no case of their own. */
const EXEMPT: Readonly<Record<string, string>> = {
  "POST /v1/responses/{id}/cancel": "has no body",
  "POST /v1/responses/compact": "is refused unread",
  "POST /api/jobs/cancel": "is a list of at most a hundred ids",
  "POST /api/jobs/{id}/cancel": "has no body",
};
/** Paths of Azure's clients, which have the handlers of other paths. */
const AZURE = /^POST \/openai\//;

const covered = new Set(CASES.flatMap(({ covers }) => covers));

test("each public endpoint that takes a body has a case", () => {
  const routes = allRoutes({ core: {}, blobs: {}, server: {}, admin: {} } as unknown as ServerOptions);
  const taking = routes
    .filter(
      ({ method, auth }) => auth === "key" && (method === "POST" || method === "PUT" || method === "PATCH"),
    )
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !AZURE.test(route));
  expect(taking.filter((route) => !covered.has(route) && !(route in EXEMPT))).toEqual([]);
  expect(Object.keys(EXEMPT).filter((route) => !taking.includes(route) || covered.has(route))).toEqual([]);
});

test("each provider, operation of administration that reads much, and export has a case", () => {
  const long = Object.entries(operations as Record<string, Operation>)
    .filter(([name, { cost }]) => cost !== "page" && LONG_READINGS[name] !== null)
    .map(([name]) => name);
  const all = [...CALLED_PROVIDERS, ...long, ...EXPORTS.map((name) => `export ${name}`)];
  expect(all.filter((each) => !covered.has(each))).toEqual([]);
});

test("each pair of dialects has cases of requests and of answers", () => {
  const pairs = TEXT_DIALECTS.flatMap((one) =>
    TEXT_DIALECTS.flatMap((other) => [`${one} → ${other}`, `${one} ← ${other}`]),
  );
  expect(pairs.filter((pair) => !covered.has(pair))).toEqual([]);
});
