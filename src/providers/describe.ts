import { z } from "zod";
import type { ProviderDescription } from "../admin/configuration-ports.ts";
import { PROVIDERS } from "./registry.ts";

/** Every provider for the form of a channel; the catalogue's channels are added by who knows them. */
export function describeProviders(): Omit<ProviderDescription, "catalogueChannels">[] {
  return [...PROVIDERS.values()].map(({ name, title, documentation, settings }) => {
    const schema = z.toJSONSchema(settings, { io: "input", unrepresentable: "any" });
    const { baseUrl, apiKey, headers, region, ...rest } = schema.properties ?? {};
    const required = (schema.required ?? []).filter((each) => Object.hasOwn(rest, each));
    const isRequired = (field: string): boolean => (schema.required ?? []).includes(field);
    return {
      name,
      title,
      documentation,
      settings: { type: "object", properties: rest, required, additionalProperties: false },
      credential:
        apiKey === undefined ? "none" : isRequired("apiKey") && !isNullable(apiKey) ? "required" : "optional",
      defaultBaseUrl: defaultOf(baseUrl),
      needsBaseUrl: isRequired("baseUrl"),
      hasRegion: region !== undefined,
      hasHeaders: headers !== undefined,
    };
  });
}

type Part = z.core.JSONSchema._JSONSchema | undefined;

function defaultOf(part: Part): string | null {
  return typeof part === "object" && typeof part.default === "string" ? part.default : null;
}

function isNullable(part: Part): boolean {
  return (
    typeof part === "object" &&
    (part.anyOf ?? []).some((each) => typeof each === "object" && each.type === "null")
  );
}
