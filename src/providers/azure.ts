import { z } from "zod";
import { headerWord, httpAddress } from "./transport/channel-settings.ts";
import { type Connection, type ImageLimits, type Operation, writeHeaders } from "./openai/connection.ts";
import { createClassifier } from "./openai/errors.ts";
import { createImageUpstream } from "./openai/images.ts";
import { createTextUpstream } from "./openai/text.ts";
import type { Provider } from "./provider.ts";

const settings = z.object({
  /** Address of the resource, such as `https://{resource}.openai.azure.com`. */
  baseUrl: httpAddress.refine((text) => !/[?#]/.test(text), "must be the resource's address alone"),
  apiKey: headerWord,
  /** `v1` names the deployment in the body alone, `classic` in the address. */
  surface: z.enum(["v1", "classic"]).default("v1"),
  /** What stands in `api-version`; the surface's own where absent. */
  apiVersion: z
    .string()
    .regex(/^[a-z0-9.-]+$/, "must be a version such as 2025-04-01-preview")
    .optional(),
});

export type AzureSettings = z.infer<typeof settings>;

/**
 * OpenAI's chat and images protocols at a resource of Azure OpenAI. A model is called by its deployment's name there,
 * which stands as the upstream model of a route.
 */
export const azure: Provider<AzureSettings> = {
  name: "azure",
  settings,
  text: (settings) => createTextUpstream(connect(settings)),
  image: (settings) => createImageUpstream(connect(settings)),
};

/** Versions under which images are served (Azure OpenAI image how-to, REST API reference). */
const API_VERSIONS: Readonly<Record<AzureSettings["surface"], string>> = {
  v1: "preview",
  classic: "2025-04-01-preview",
};

/** Neither gives nor takes webp, and an uploaded file is below 50 MB (Azure OpenAI image how-to). */
const IMAGE_LIMITS: ImageLimits = {
  formats: ["png", "jpeg"],
  references: { formats: ["png", "jpeg"], maxBytes: 50_000_000 },
};

function connect(settings: AzureSettings): Connection {
  const { apiKey } = settings;
  // The address is often handed around with the path of a surface at its end.
  const base = settings.baseUrl.replace(/(?<!\/)\/+$/, "").replace(/\/openai(\/v1)?$/, "");
  return {
    urlOf: addressing(base, settings),
    ...writeHeaders({ "api-key": apiKey }),
    singleFileField: "image[]",
    imageLimits: IMAGE_LIMITS,
    classify: createClassifier(apiKey, new URL(base).hostname),
  };
}

function addressing(base: string, { surface, apiVersion }: AzureSettings): Connection["urlOf"] {
  const query = `api-version=${apiVersion ?? API_VERSIONS[surface]}`;
  if (surface === "v1") return (operation: Operation) => `${base}/openai/v1/${operation}?${query}`;
  return (operation, readModel) =>
    `${base}/openai/deployments/${encodeURIComponent(readModel())}/${operation}?${query}`;
}
