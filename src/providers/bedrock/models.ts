import { isObject } from "../../lib/json.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { joinModels, readModels } from "../transport/model-list.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { readBedrockFailure } from "./errors.ts";
import type { BedrockConnection } from "./text.ts";

/**
 * Reads the ids of the Claude models that can be called without a profile, and the ids of the inference profiles for
 * Claude models (Amazon Bedrock API reference, ListFoundationModels and ListInferenceProfiles).
 */
export async function listBedrockModels(
  { baseUrl, authenticate }: BedrockConnection,
  signal: AbortSignal,
): Promise<string[]> {
  // The lists are on another host than the models (AWS General Reference, "Amazon Bedrock endpoints").
  const base = baseUrl.replace(/^(https?:\/\/)bedrock-runtime/, "$1bedrock");
  const read = async (path: string, form: Parameters<typeof readModels>[2]): Promise<string[]> => {
    const url = `${base}/${path}`;
    const unsigned = { method: "GET", url, headers: JSON_HEADERS, body: "" } as const;
    const { headers, secrets } = await authenticate(unsigned, signal);
    const [secret = null, ...otherSecrets] = secrets;
    const { classify } = createVendorErrors({ secret, otherSecrets, baseUrl: base }, readBedrockFailure);
    return await readModels({ url, headers, signal }, classify, form);
  };
  const lists = await Promise.all([
    read("foundation-models?byInferenceType=ON_DEMAND&byProvider=anthropic", {
      member: "modelSummaries",
      nameOf: ({ modelId }) => modelId,
    }),
    read("inference-profiles?maxResults=1000", {
      member: "inferenceProfileSummaries",
      nameOf: ({ inferenceProfileId, models }) => (isOfClaude(models) ? inferenceProfileId : null),
    }),
  ]);
  return joinModels(lists);
}

function isOfClaude(models: unknown): boolean {
  if (!Array.isArray(models)) return false;
  return models.some((model: unknown) => isObject(model) && /\banthropic\./.test(String(model["modelArn"])));
}
