import type { HttpExchange } from "../simulator.ts";
import type { SimulatedResponse } from "../http-server.ts";
import { sendJson } from "../transport.ts";
import { invalid } from "./refusals.ts";
import { objectAt, Refused } from "./text-contents.ts";

const MAX_BATCH = 100;
const DIMENSIONS = 3_072;

/**
 * Handles `batchEmbedContents`. The vectors here do not have unit length. The vendor's own vectors do, unless they are
 * shortened (Gemini API, embeddings).
 */
export async function handleEmbeddings(
  model: string,
  response: SimulatedResponse,
  exchange: HttpExchange,
): Promise<void> {
  const { requests } = objectAt(exchange.hit.json(), "", ["requests"]);
  if (!Array.isArray(requests) || requests.length === 0 || requests.length > MAX_BATCH)
    throw new Refused(
      invalid("BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch."),
    );
  let tokens = 0;
  const embeddings = requests.map((each) => {
    const request = objectAt(each, "requests[0]", [
      "model",
      "content",
      "outputDimensionality",
      "taskType",
      "title",
    ]);
    if (request["model"] !== `models/${model}`)
      throw new Refused(invalid("The model differs from the path's."));
    const { parts } = objectAt(request["content"], "requests[0].content", ["parts"]);
    const text = String(Object(Array.isArray(parts) ? parts[0] : {}).text ?? "");
    if (text === "") throw new Refused(invalid("EmbedContentRequest.content contains an empty Part."));
    tokens += Math.ceil(text.length / 4);
    const size = Number(request["outputDimensionality"] ?? DIMENSIONS);
    return { values: Array.from({ length: size }, (_, index) => Math.sin(text.length + index)) };
  });
  const { behaviour } = exchange.hit;
  const usageMetadata = behaviour.fault === "no-usage" ? undefined : { promptTokenCount: tokens };
  await sendJson(response, 200, { embeddings, usageMetadata }, behaviour);
  if (response.isFinished && usageMetadata) exchange.reportUsage(usageMetadata);
}
