import { expect, test } from "bun:test";
import { z } from "zod";
import { readCatalogue, readCatalogueFile, shippedModels, type CatalogueFile } from "./catalogue.ts";
import { loadSettings } from "./index.ts";
import { problemAt } from "../domain/schema-problems.ts";

function read(name: string, text: string): CatalogueFile {
  const file = readCatalogueFile(name, text, (path, words) => {
    throw new Error(`${path}: ${problemAt(path, words).message}`);
  });
  return file!;
}

const FULL = `
provider: vendor
channel: {credential_env: VENDOR_KEY, base_url: https://vendor.example}
models: {chat-1: {type: chat, created: 2026-01-01, max_output_tokens: 9, upstream_model: chat-one}}
`;
const RESELLER = `
provider: cloud
channel: {id: cloud-eu}
models: {chat-1: {upstream_model: v/chat-1, display_name: Chat, max_output_tokens: 5}, other: {type: chat}}
`;

test("a second file that names a model adds a target after the vendor's own", () => {
  const models = shippedModels([
    read("catalogue/a-cloud.yaml", RESELLER),
    read("catalogue/vendor.yaml", FULL),
  ]);
  expect(models.get("chat-1")).toMatchObject({
    source: "catalogue/vendor.yaml",
    entry: { type: "chat", max_output_tokens: 9, display_name: "Chat" },
    targets: [
      { channel: "vendor", provider: "vendor", upstreamModel: "chat-one" },
      { channel: "cloud-eu", provider: "cloud", upstreamModel: "v/chat-1" },
    ],
  });
  expect(models.get("other")?.targets).toEqual([
    { channel: "cloud-eu", provider: "cloud", upstreamModel: "other" },
  ]);
});

test("a file that breaks the shape is refused with the file's name, path and advice", () => {
  const problems: string[] = [];
  const text =
    "provider: vendor\nmodels: {m: {type: chat, familly: A, created: yesterday, image: {tiers: [3K]}}}";
  const file = readCatalogueFile("catalogue/x.yaml", text, (path, words) => {
    const { message } = problemAt(path, words);
    problems.push(`${path}: ${message}`);
  });
  expect(file).toBeNull();
  expect(problems).toEqual([
    "catalogue/x.yaml: models.m.created: must be a date such as 2026-01-31",
    'catalogue/x.yaml: models.m.image.tiers[0]: must be "1K" or "2K" or "4K"',
    'catalogue/x.yaml: models.m.familly: is not a known setting; did you mean "family"?',
  ]);
});

test("the shipped catalogue is sound with every vendor switched on", async () => {
  const files = await readCatalogue(`${import.meta.dir}/../../catalogue`, (path, words) => {
    throw new Error(`${path}: ${problemAt(path, words).message}`);
  });
  const variables = files.map((file) => file.channel.credentialVariable).filter((name) => name !== null);
  const env = Object.fromEntries([["SANDBOX", "on"], ...variables.map((name) => [name, "secret"])]);
  const providers = new Map(files.map((file) => [file.provider, { settings: z.looseObject({}) }]));
  const { settings } = await loadSettings({ env, cwd: "/nowhere", providers });
  const ids = new Set(files.flatMap((file) => file.models.keys().toArray()));
  expect(new Set(settings.models.declared.keys())).toEqual(ids);
  for (const model of settings.models.declared.values())
    if (!model.isRetired) expect([model.id, settings.prices.has(model.id)]).toEqual([model.id, true]);
});
