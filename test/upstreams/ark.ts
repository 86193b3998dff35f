import { MODELS } from "./ark/models.table.ts";
import {
  envelope,
  findRefusal,
  refuse,
  SENSITIVE,
  UNKNOWN_PATH,
  WRONG_KEY,
  type Refusal,
} from "./ark/refusals.ts";
import { parseRequest, type ParsedRequest } from "./ark/rules.ts";
import type { SimulatedResponse, ReceivedRequest } from "./http-server.ts";
import { sendJson, applyEarlyFault } from "./transport.ts";
import { makePicture } from "./picture.ts";
import type { Behaviour } from "./behaviour.ts";
import { createResultFiles, type ResultFiles } from "./result-files.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";

export const SIMULATED_KEY = "01234567-89ab-cdef-0123-simulated000";

export interface ArkOptions {
  /** Region of the vendor. The model names depend on the region. */
  region?: "cn" | "global";
}

/**
 * A simulated Ark that refuses what the vendor refuses. The base address for a channel is `{url}/api/v3`. The fault
 * `failed-items` fails every item of a group after the first `images`, and `error-in-200` fails the whole request. Both
 * use the code in `text`. `links` returns links to the address in `text`, or to the simulator itself.
 */
export function startArk({ region = "cn" }: ArkOptions = {}): Promise<Simulator> {
  const results = createResultFiles();
  return startSimulator(async (request, response, exchange) => {
    if (await results.serve(request, response)) return;
    const { authorization = "" } = request.headers;
    const behaviour = exchange.takeBehaviour(undefined);
    if (await applyEarlyFault(behaviour, response)) return;
    const refusal = findRefusal(behaviour, authorization);
    if (refusal) return refuse(response, refusal);
    if (authorization !== `Bearer ${SIMULATED_KEY}`) return refuse(response, WRONG_KEY);
    if (request.method === "GET" && request.path === "/api/v3/models")
      return sendJson(response, 200, { object: "list", data: modelsOf(region) });
    if (request.method !== "POST" || request.path !== "/api/v3/images/generations")
      return refuse(response, UNKNOWN_PATH);
    const parsed = await parseRequest(request, MODELS[region]);
    if ("refusal" in parsed) return refuse(response, parsed.refusal);
    await sendReply(parsed, { request, response, exchange, results });
  });
}

/** Returns all models of a region, including a model that makes no pictures. */
function modelsOf(region: NonNullable<ArkOptions["region"]>): object[] {
  return [...Object.keys(MODELS[region]), "doubao-seed-1-6-251015"].map((id) => ({ id, object: "model" }));
}

interface Call {
  request: ReceivedRequest;
  response: SimulatedResponse;
  exchange: HttpExchange;
  results: ResultFiles;
}

async function sendReply(parsed: ParsedRequest, call: Call): Promise<void> {
  const { response, exchange } = call;
  const { behaviour } = exchange.hit;
  const head = { model: parsed.modelName, created: 1_790_000_000 };
  if (behaviour.fault === "error-in-200")
    return sendJson(response, 200, { ...head, ...envelope(failure(behaviour)) }, behaviour);
  const data = await makeItems(parsed, call);
  const made = data.filter((item) => !("error" in item)).length;
  const usage = behaviour.fault === "no-usage" ? undefined : (behaviour.usage ?? countTokens(parsed, made));
  await sendJson(response, 200, { ...head, data, usage }, behaviour);
  if (!response.isFinished) return;
  exchange.reportPictures(made);
  if (usage !== undefined) exchange.reportUsage(usage);
}

async function makeItems(parsed: ParsedRequest, { request, exchange, results }: Call): Promise<object[]> {
  const { behaviour } = exchange.hit;
  if (behaviour.fault === "no-images") return [];
  const succeeded = Math.min(
    behaviour.images ?? (behaviour.fault === "failed-items" ? 0 : parsed.max),
    parsed.max,
  );
  const picture = await makePicture(parsed.width, parsed.height, parsed.format);
  const size = `${parsed.width}x${parsed.height}`;
  const origin = behaviour.text ?? `http://${request.headers["host"]}`;
  const items = Array.from({ length: succeeded }, (_, index): object => {
    if (behaviour.fault === "bad-base64") return { b64_json: "*".repeat(200_000), size };
    if (parsed.isInline && behaviour.fault !== "links") return { b64_json: picture.toString("base64"), size };
    return {
      url: `${origin}${results.keep(picture, parsed.format, index === 0 ? behaviour.linkBehaviours : [])}`,
      size,
    };
  });
  if (behaviour.fault !== "failed-items") return items;
  const failed = Array.from({ length: parsed.max - succeeded }, () => envelope(failure(behaviour)));
  return [...items, ...failed];
}

function failure(behaviour: Behaviour): Refusal {
  return { status: 200, code: behaviour.text ?? "OutputImageSensitiveContentDetected", message: SENSITIVE };
}

/** Returns the usage. Output tokens depend on the pixels. The total equals the output, because input is not counted. */
function countTokens({ width, height, references }: ParsedRequest, made: number): object {
  const output = made * Math.round((width * height) / 256);
  return { generated_images: made, input_images: references, output_tokens: output, total_tokens: output };
}
