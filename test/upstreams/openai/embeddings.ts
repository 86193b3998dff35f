import type { ReceivedRequest, SimulatedResponse } from "../http-server.ts";
import type { HttpExchange } from "../simulator.ts";
import { sendJson } from "../transport.ts";
import { invalid, refuse, unknownModel } from "./refusals.ts";

const FIELDS = ["model", "input", "dimensions", "encoding_format", "user"];
const DIMENSIONS: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1_536,
  "text-embedding-3-large": 3_072,
};

/** Handles embeddings as strictly as the vendor. Each value of a vector depends on the text (OpenAI API reference). */
export async function handleEmbeddings(
  request: ReceivedRequest,
  response: SimulatedResponse,
  exchange: HttpExchange,
): Promise<void> {
  const body: Record<string, unknown> = JSON.parse(request.body.toString());
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown)
    return refuse(response, invalid(`Unrecognized request argument supplied: ${unknown}`, unknown));
  const { model, input, dimensions, encoding_format: format = "float" } = body;
  const most = DIMENSIONS[String(model)];
  if (most === undefined) return refuse(response, unknownModel(String(model)));
  const inputs = Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
  const size = Number(dimensions ?? most);
  if (inputs.some((each) => each === "" || each === undefined))
    return refuse(response, invalid("'$.input' is invalid.", "input"));
  if (!(size >= 1 && size <= most))
    return refuse(response, invalid("Invalid value for 'dimensions'.", "dimensions"));
  const data = inputs.map((each, index) => {
    const vector = vectorOf(String(each), size);
    return { object: "embedding", index, embedding: format === "base64" ? base64Of(vector) : vector };
  });
  const { behaviour } = exchange.hit;
  const tokens = inputs.reduce((sum: number, each) => sum + Math.ceil(String(each).length / 4), 0);
  const usage = "usage" in behaviour ? behaviour.usage : { prompt_tokens: tokens, total_tokens: tokens };
  const list = behaviour.fault === "choices-missing" ? data.slice(1) : data;
  await sendJson(response, 200, { object: "list", data: list, model, usage }, behaviour);
  if (response.isFinished) exchange.reportUsage(usage);
}

export function vectorOf(text: string, size: number): number[] {
  const values = Array.from({ length: size }, (_, index) => Math.sin(text.length + index));
  const length = Math.hypot(...values);
  return values.map((value) => Math.fround(value / length));
}

function base64Of(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString("base64");
}
