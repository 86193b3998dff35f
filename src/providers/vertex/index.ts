import { z } from "zod";
import { systemClock } from "../../lib/clock.ts";
import type { GenerateConnection } from "../gemini/connection.ts";
import { createImageUpstream } from "../gemini/images.ts";
import type { Provider } from "../provider.ts";
import { createAccessTokens, type AccessTokens, type RequestToken } from "./access-tokens.ts";
import { requestInstanceToken } from "./metadata-server.ts";
import { readServiceAccount, requestAccountToken } from "./service-account.ts";

const address = z.url({ protocol: /^https?$/, error: "must be an http or https address" });

const settings = z
  .object({
    /** Address in front of `/v1beta1/projects/…`; follows from the region where absent. */
    baseUrl: address.optional(),
    /** The JSON text of a service account's key. Without it the machine's own account is used. */
    apiKey: z
      .string()
      .refine((text) => readServiceAccount(text) !== null, "must be the JSON of a service account's key")
      .optional(),
    /** The project that pays; the service account's own where absent. */
    project: z
      .string()
      .regex(/^[a-z0-9.:-]+$/, "must be a project's id")
      .optional(),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, "must be a region such as europe-west4, or global, us or eu")
      .default("global"),
    /** Where the machine's own account is asked for a token. */
    metadataUrl: address.default("http://metadata.google.internal"),
    /** Makes several images by as many calls at once; one image a request otherwise. */
    fanOut: z.boolean().default(false),
  })
  .refine((value) => projectOf(value) !== undefined, {
    path: ["project"],
    error: "is missing: the credential names no project",
  });

export type VertexSettings = z.infer<typeof settings>;

/** The same image models in a cloud project: another address, entered with short-lived access tokens. */
export const vertex: Provider<VertexSettings> = {
  name: "vertex",
  settings,
  image: (settings) => {
    const tokens = createAccessTokens(tokenRequest(settings), systemClock);
    return createImageUpstream(connect(settings, tokens), settings.fanOut);
  },
};

/** Most bytes of an inline picture (Vertex AI, image understanding). */
const MAX_REFERENCE_BYTES = 7_000_000;
/** Regions of several countries have hosts of their own. */
const MULTI_REGIONS: ReadonlySet<string> = new Set(["us", "eu"]);

function connect(settings: VertexSettings, tokens: AccessTokens): GenerateConnection {
  const { region } = settings;
  const base = (settings.baseUrl ?? regionalAddress(region)).replace(/(?<!\/)\/+$/, "");
  const models = `${base}/v1beta1/projects/${projectOf(settings)}/locations/${region}/publishers/google/models`;
  return {
    hostname: new URL(base).hostname,
    urlOf: (model) => `${models}/${encodeURIComponent(model)}:generateContent`,
    async authenticate(signal) {
      const token = await tokens.get(signal);
      const headers = { authorization: `Bearer ${token}` };
      return { headers, secret: token, drop: () => tokens.drop(token) };
    },
    takesOutputOptions: true,
    demandsRoles: true,
    maxReferenceBytes: { each: MAX_REFERENCE_BYTES, together: Number.POSITIVE_INFINITY },
  };
}

/** Host of a region (Google Gen AI SDK, `_api_client`). */
function regionalAddress(region: string): string {
  if (region === "global") return "https://aiplatform.googleapis.com";
  if (MULTI_REGIONS.has(region)) return `https://aiplatform.${region}.rep.googleapis.com`;
  return `https://${region}-aiplatform.googleapis.com`;
}

function tokenRequest({ apiKey, metadataUrl }: VertexSettings): RequestToken {
  const account = apiKey === undefined ? null : readServiceAccount(apiKey);
  if (!account) return (signal) => requestInstanceToken(metadataUrl, signal);
  return (signal) => requestAccountToken(account, systemClock.now(), signal);
}

function projectOf({ project, apiKey }: { project?: string; apiKey?: string }): string | undefined {
  return project ?? (apiKey === undefined ? undefined : readServiceAccount(apiKey)?.projectId);
}
