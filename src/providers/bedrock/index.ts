import { z } from "zod";
import type { Provider } from "../provider.ts";
import { headerValue, httpAddress, withoutEndSlash } from "../transport/channel-settings.ts";
import { authenticateByApiKey, authenticateBySignature, type SignRequest } from "./authentication.ts";
import { probeByRefusal, UNKNOWN_MODEL } from "../transport/probe.ts";
import { listBedrockModels } from "./models.ts";
import { createBedrockText, type BedrockConnection } from "./text.ts";
import { inputError } from "../../domain/schema-problems.ts";

const settings = z
  .object({
    baseUrl: httpAddress.optional().describe("Base address before `/model/…`; that of the region by default"),
    apiKey: headerValue
      .optional()
      .describe(
        "An API key of Bedrock. Without it and without an access key the credentials of this machine are used",
      ),
    accessKeyId: headerValue.optional(),
    secretAccessKey: headerValue.optional(),
    sessionToken: headerValue.optional().describe("Session token of temporary access keys"),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, { error: inputError("input.region", { region: "eu-central-1" }) })
      .default("us-east-1"),
  })
  .refine(
    ({ accessKeyId, secretAccessKey }) => (accessKeyId === undefined) === (secretAccessKey === undefined),
    {
      path: ["secretAccessKey"],
      error: inputError("input.together", { other: "access_key_id" }),
    },
  )
  .refine(({ sessionToken, accessKeyId }) => sessionToken === undefined || accessKeyId !== undefined, {
    path: ["sessionToken"],
    error: inputError("input.accessKey", {}),
  })
  .refine(({ apiKey, accessKeyId }) => apiKey === undefined || accessKeyId === undefined, {
    path: ["accessKeyId"],
    error: inputError("input.apart", { other: "credential" }),
  });

type BedrockSettings = z.infer<typeof settings>;

/** Claude at Amazon Bedrock. The upstream model of a route is the id of a model or of an inference profile. */
export const bedrock: Provider<BedrockSettings> = {
  name: "bedrock",
  title: "Amazon Bedrock",
  documentation:
    "An API key of Bedrock, or an access key in the settings; without both the credentials of this machine are used.",
  settings,
  probe: (settings, signal) =>
    probeByRefusal(
      () => createBedrockText(connectionOf(settings)).send({ ...PROBE, signal }),
      UNKNOWN_TO_BEDROCK,
    ),
  models: (settings, signal) => listBedrockModels(connectionOf(settings), signal),
  text: (settings) => [createBedrockText(connectionOf(settings))],
};

/** Statuses of InvokeModel for an unknown model; 401 and 403 mean a wrong credential (Bedrock API reference). */
const UNKNOWN_TO_BEDROCK = [400, 404];
const PROBE = {
  raw: '{"model":"","max_tokens":1,"messages":[{"role":"user","content":"ping"}]}',
  upstreamModel: UNKNOWN_MODEL,
  isStream: false,
  headers: {},
};

function connectionOf(settings: BedrockSettings): BedrockConnection {
  return {
    baseUrl: withoutEndSlash(settings.baseUrl ?? regionalAddress(settings.region)),
    authenticate: authenticationOf(settings),
  };
}

/** Returns the base address of a region (AWS General Reference, "Amazon Bedrock endpoints"). */
function regionalAddress(region: string): string {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}`;
}

function authenticationOf({
  apiKey,
  region,
  accessKeyId,
  secretAccessKey,
  sessionToken,
}: BedrockSettings): SignRequest {
  if (apiKey !== undefined) return authenticateByApiKey(apiKey);
  if (accessKeyId === undefined || secretAccessKey === undefined) return authenticateBySignature(region);
  return authenticateBySignature(region, { accessKeyId, secretAccessKey, sessionToken });
}
