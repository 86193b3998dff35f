import { join } from "node:path";
import { readCatalogue, shippedModels, type CatalogueFile, type ShippedModel } from "../config/catalogue.ts";
import { PROGRAM_ROOT } from "../lib/program-files.ts";
import { snakeCase } from "../lib/casing.ts";
import { describeProviders, PROVIDERS } from "../providers/registry.ts";
import { code, list, type ReferencePage, sentence, table } from "./page.ts";

const CATALOGUE = join(PROGRAM_ROOT, "catalogue");

/**
 * Returns the page of all providers: their capabilities, credentials, addresses and settings, and the variables that
 * switch them on.
 */
export async function providersPage(): Promise<ReferencePage> {
  const files = await shippedFiles();
  const providers = describeProviders();
  return {
    name: "providers",
    title: "Providers",
    source: "the providers and the catalogue",
    body: `A provider is what the gateway knows of a vendor's interface. A [channel](../set-up/connect-a-vendor.md) names one. Its
settings stand under \`settings\` of the channel; those whose names say that they are secrets are written by reference.

${table(
  ["Provider", "Vendor", "Serves"],
  providers.map(({ name, title }) => [
    `[${code(name)}](#${name})`,
    title,
    PROVIDERS.get(name)?.serves.join(", ") ?? "",
  ]),
)}

${providers.map((provider) => sectionOf(provider, files)).join("\n\n")}`,
  };
}

/** Returns the page of all shipped models that are not retired, with their prices and the sources of these prices. */
export async function modelsPage(): Promise<ReferencePage> {
  const files = await shippedFiles();
  const models = [...shippedModels(files)].filter(([, { entry }]) => entry.retired !== true);
  const of = (type: readonly string[]) => models.filter(([, { entry }]) => type.includes(entry.type ?? ""));
  return {
    name: "models-and-prices",
    title: "Models and prices",
    source: "the catalogue",
    body: `These models are shipped. A model is served while one of its channels is switched on; the first one listed is called first.
Set [prices of your own](../set-up/models-and-prices.md) where yours differ. What the gateway bills by these prices is in
[Sources](#sources) vendor by vendor, with the day on which they were read.

## Text models

Prices of a million tokens.

${table(
  ["Model", "Input", "Cached", "Output", "Long above", "Channels"],
  of(["chat", "messages"]).map(([id, model]) => [code(id)].concat(tokenPrice(model), channelsOf(model))),
)}

**Long above** is the number of input tokens above which every token of the request costs more.

## Image models

Prices of one picture by tier and quality.

${list(of(["image"]).map(([id, model]) => [code(id), imagePrice(model)]))}

## Embedding models

${table(
  ["Model", "Input", "Dimensions", "Channels"],
  of(["embedding"]).map(([id, model]) => [
    code(id),
    tokenPrice(model)[0] ?? "",
    String(model.entry.dimensions),
    channelsOf(model),
  ]),
)}

## Sources

${(await sourcesOf(files)).join("\n\n")}`,
  };
}

function shippedFiles(): Promise<CatalogueFile[]> {
  return readCatalogue(CATALOGUE, () => {});
}

type Description = ReturnType<typeof describeProviders>[number];

function sectionOf(provider: Description, files: readonly CatalogueFile[]): string {
  const {
    name,
    documentation,
    defaultBaseUrl,
    needsBaseUrl,
    regions,
    hasRegion,
    hasHeaders,
    credential,
    listsModels,
  } = provider;
  const own = files.filter((file) => file.provider === name);
  const switches = own.map(({ channel }) => switchOf(channel)).filter((words) => words !== "");
  const address = needsBaseUrl
    ? "yours, required"
    : (defaultBaseUrl && code(defaultBaseUrl)) || "that of the region";
  const facts: [string, string][] = [
    ["Vendor", provider.title],
    ["Credential", `${credential}. ${documentation}`],
  ];
  if (switches.length > 0) facts.push(["Switched on by", `${[...new Set(switches)].join(" or ")}.`]);
  if (name !== "sandbox") facts.push(["Address", `${address}.`]);
  if (hasRegion)
    facts.push(["Region", regions ? `${regions.map(code).join(" or ")}.` : "a region of the vendor."]);
  if (hasHeaders) facts.push(["Headers", "headers of your own are sent."]);
  facts.push(["List of models", listsModels ? "`channels models` reads it." : "none; names are typed."]);
  const settings = Object.entries(provider.settings.properties ?? {}).map(([key, schema]) =>
    settingOf(key, Object(schema)),
  );
  return `## ${name}\n\n${list(facts)}${settings.length > 0 ? `\n- Settings:\n${settings.join("\n")}` : ""}`;
}

function settingOf(key: string, schema: { description?: string; default?: unknown }): string {
  const { description, default: value } = schema;
  const isShown = value !== undefined && typeof value !== "object";
  const meaning = sentence(description ?? OWN_WORDS[key] ?? "");
  return `  - ${code(snakeCase(key))}: ${meaning}${isShown ? ` Default ${code(String(value))}.` : ""}`;
}

/** Meanings of settings whose schema has no description. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  accessKeyId: "Id of an access key, in place of a credential",
  secretAccessKey: "Secret of that access key",
  clientSecret: "Secret of the application, with `tenant_id` and `client_id`",
  clientId: "The application, or the managed identity where the machine has several",
  tenantId: "The directory of the application",
  models: "Names of each model's inputs at this vendor, for models that the catalogue does not list",
};

function switchOf({ credentialVariable, baseUrlVariable, regionVariable }: CatalogueFile["channel"]): string {
  const names = [credentialVariable, baseUrlVariable].filter((name) => name !== null).map(code);
  const region = regionVariable === null ? "" : `, with its region in ${code(regionVariable)}`;
  return names.length === 0 ? "" : `${names.join(" with ")}${region}`;
}

function channelsOf({ targets }: ShippedModel): string {
  return targets.map(({ channel }) => channel).join(", ");
}

/**
 * Returns the prices of input, cached input and output. The last text is the number of input tokens above which a
 * request counts as long.
 */
function tokenPrice({ entry: { price } }: ShippedModel): string[] {
  const { input, output, cache_read: cached } = price?.per_million ?? {};
  const long = price?.long_context?.above;
  const currency = price?.currency === "USD" || price === undefined ? "" : ` ${price.currency}`;
  return [
    input === undefined ? "none" : `${input}${currency}`,
    cached ?? "as input",
    output ?? "none",
    long === undefined ? "" : long.toLocaleString("en"),
  ];
}

function imagePrice(model: ShippedModel): string {
  const { price, family } = model.entry;
  const tiers = Object.entries(price?.per_image ?? {}).map(([tier, row]) => {
    const amounts = Object.entries(row ?? {}).map(([quality, amount]) =>
      quality === "*" ? amount : `${quality} ${amount}`,
    );
    return `${tier} ${amounts.join(", ")}`;
  });
  return `family ${family}; ${tiers.join("; ")} ${price?.currency ?? ""}. Channels ${channelsOf(model)}.`;
}

/**
 * Returns the notes at the beginning of each catalogue file that has models. These notes name the sources of the
 * prices.
 */
async function sourcesOf(files: readonly CatalogueFile[]): Promise<string[]> {
  return await Promise.all(
    files
      .filter(({ models }) => models.size > 0)
      .map(async ({ name, channel }) => {
        const text = await Bun.file(join(PROGRAM_ROOT, name)).text();
        const head = text.slice(0, text.search(/^[a-z]/m)).replaceAll(/^# ?/gm, "");
        const paragraphs = head
          .split(/\n\s*\n/)
          .filter((paragraph) => !paragraph.startsWith(" "))
          .map((paragraph) => paragraph.trim().replaceAll(OVERRIDE, "").trim())
          .filter((paragraph) => paragraph !== "");
        return `### ${channel.id}\n\n${paragraphs.join("\n\n")}`;
      }),
  );
}

/** A sentence that many catalogue files contain. The page omits that sentence. */
const OVERRIDE = /Everything here can be overridden in the\s+configuration file\./g;
