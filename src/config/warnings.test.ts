import { PatternMap } from "../lib/pattern-map.ts";
import { expect, test } from "bun:test";
import type { Channel, Route } from "../domain/channel.ts";
import type { CatalogueFile } from "./catalogue.ts";
import { findWarnings } from "./warnings.ts";

const file = (
  id: string,
  credentialVariable: string,
  baseUrlVariable: string | null = null,
): CatalogueFile => ({
  name: `catalogue/${id}.yaml`,
  provider: id,
  channel: {
    id,
    credentialVariable,
    baseUrlVariable,
    baseUrl: undefined,
    regionVariable: null,
    isOwnServer: false,
    settings: {},
  },
  models: new Map(),
});
const catalogue = [
  file("openai", "OPENAI_API_KEY"),
  file("azure", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
  file("fal", "FAL_KEY"),
];

function warn(
  env: Record<string, string>,
  change: {
    written?: unknown;
    routes?: PatternMap<Route>;
    proxy?: "environment";
    databaseUrl?: string;
  } = {},
) {
  const channels = new Set(env["AZURE_OPENAI_API_KEY"] && env["AZURE_OPENAI_ENDPOINT"] ? ["azure"] : []);
  const sources = {
    env,
    catalogue,
    channels,
    written: {},
    routes: new PatternMap<Route>(),
    proxy: "none" as const,
    databaseUrl: null,
    ...change,
  };
  return findWarnings(sources).map(({ path, message }) => `${path} ${message}`);
}

test("one of two variables that a shipped channel needs is reported with the other", () => {
  expect(warn({ AZURE_OPENAI_API_KEY: "sk" })).toEqual([
    "AZURE_OPENAI_API_KEY is set, but the channel azure is off: it also needs AZURE_OPENAI_ENDPOINT",
  ]);
  expect(warn({ AZURE_OPENAI_ENDPOINT: "https://x" })).toEqual([
    "AZURE_OPENAI_ENDPOINT is set, but the channel azure is off: it also needs AZURE_OPENAI_API_KEY",
  ]);
  expect(warn({ AZURE_OPENAI_API_KEY: "sk", AZURE_OPENAI_ENDPOINT: "https://x" })).toEqual([]);
});

test("a variable that the file refers to is not an incomplete shipped channel", () => {
  const written = { channels: { mine: { credential: { env: "AZURE_OPENAI_API_KEY" } } } };
  expect(warn({ AZURE_OPENAI_API_KEY: "sk" }, { written })).toEqual([]);
});

test.each([
  ["OPENAI_APIKEY", "OPENAI_API_KEY"],
  ["OPEN_AI_API_KEY", "OPENAI_API_KEY"],
  ["openai_api_key", "OPENAI_API_KEY"],
  ["AZURE_OPENAI_ENDPIONT", "AZURE_OPENAI_ENDPOINT"],
  ["DATABSE_URL", "DATABASE_URL"],
  ["GATEWAY_CONFG", "GATEWAY_CONFIG"],
  ["FAL_KEYS", "FAL_KEY"],
])("%s is reported as a misspelt %s", (name, meant) => {
  expect(warn({ [name]: "x" })).toEqual([`${name} is not read; did you mean ${meant}?`]);
});

test("a misspelt variable of the file's own references is reported", () => {
  const written = { channels: { mine: { settings: { key: { env: "HOUSE_API_KEY" } } } } };
  expect(warn({ HOUSE_APIKEY: "x" }, { written })).toEqual([
    "HOUSE_APIKEY is not read; did you mean HOUSE_API_KEY?",
  ]);
});

test("variables of other programs, empty ones and names beside the right one are not reported", () => {
  const others = [
    "PATH",
    "HOME",
    "HOSTNAME",
    "POST",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "PGHOST",
    "GATEWAY_KEY",
  ];
  expect(warn(Object.fromEntries(others.map((name) => [name, "x"])))).toEqual([]);
  expect(warn({ OPENAI_APIKEY: "" })).toEqual([]);
  expect(warn({ OPENAI_API_KEY: "sk", OPENAI_API_KEY2: "sk" })).toEqual([]);
});

test("a route that mixes the sandbox with a vendor is reported", () => {
  const channel = (id: string, provider: string): Channel => ({ id, provider, settings: {} });
  const target = (each: Channel) => ({ channel: each, upstreamModel: "m", weight: 1 });
  const [sandbox, house] = [target(channel("sandbox", "sandbox")), target(channel("house", "openai"))];
  const routes = new Map<string, Route>([
    ["mixed", { strategy: "ordered", targets: [house, sandbox] }],
    ["sandbox-only", { strategy: "ordered", targets: [sandbox] }],
    ["real", { strategy: "ordered", targets: [house, house] }],
  ]);
  expect(warn({}, { routes: new PatternMap(routes) })).toEqual([
    "models.mixed.route mixes the sandbox with a vendor: callers would be billed for made-up output when the vendor fails",
  ]);
});

test("variables that would switch certificate checks off or add a proxy are reported as ignored", () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", https_proxy: "http://proxy:3128", HTTP_PROXY: "" };
  expect(warn(env)).toEqual([
    "NODE_TLS_REJECT_UNAUTHORIZED is ignored: certificates are always checked",
    "https_proxy is ignored: vendors are called directly unless `outbound.proxy` is `environment`",
  ]);
  expect(warn({ https_proxy: "http://proxy:3128" }, { proxy: "environment" })).toEqual([]);
  expect(warn({ NODE_TLS_REJECT_UNAUTHORIZED: "1" })).toEqual([]);
});

test.each([
  ["postgres://db.example/gateway", []],
  ["postgres://db.example/gateway?sslmode=require", []],
  ["postgres://localhost/gateway?sslmode=disable", []],
  [
    "postgres://one.example,two.example/gateway?sslmode=disable",
    [
      "database_url sends passwords and records to one.example in plain text: sslmode is disable",
      "database_url sends passwords and records to two.example in plain text: sslmode is disable",
    ],
  ],
  [
    "postgres://db.example/gateway?sslmode=no-verify",
    ["database_url accepts any certificate from db.example: sslmode is no-verify"],
  ],
])("%s: connections that are not checked are reported", (databaseUrl, warnings) => {
  expect(warn({}, { databaseUrl })).toEqual(warnings);
});
