import type { SimulatedResponse, ReceivedRequest } from "./http-server.ts";
import { sendJson, applyEarlyFault } from "./transport.ts";
import { makePicture } from "./picture.ts";
import type { Behaviour } from "./behaviour.ts";
import { createResultFiles, type ResultFiles } from "./result-files.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";
import { flat, parseRequest, type Refusal, type ParsedRequest } from "./xai/rules.ts";

export const SIMULATED_KEY = "xai-simulated0123456789abcdefghijkl";

const INVALID = "Client specified an invalid argument";
const WRONG_KEY = flat(
  400,
  INVALID,
  "Incorrect API key provided: xa***kl. Find yours at https://console.x.ai.",
);
const UNKNOWN_PATH = flat(404, "not-found", "The requested resource was not found.");
/** 1 USD is 10^10 ticks. A picture costs 0.02 USD. */
const TICKS = 200_000_000;

/**
 * A simulated xAI that refuses what the vendor refuses. The base address for a channel is `{url}/v1`. Faults:
 * `failed-items` blocks every item after the first `images`; `no-images` returns none; `content-refused` is the
 * vendor's 400 for a blocked picture; `error-status` has the shape in `text` (flat, nested or sentence); `links`
 * returns links to the address in `text`, or to the simulator itself.
 */
export function startXai(): Promise<Simulator> {
  const results = createResultFiles();
  return startSimulator(async (request, response, exchange) => {
    if (await results.serve(request, response)) return;
    const { authorization = "" } = request.headers;
    const behaviour = exchange.takeBehaviour(undefined);
    if (await applyEarlyFault(behaviour, response)) return;
    const refusal = findRefusal(behaviour, authorization);
    if (refusal) return refuse(response, refusal);
    if (authorization !== `Bearer ${SIMULATED_KEY}`) return refuse(response, WRONG_KEY);
    if (request.method === "GET" && request.path === "/v1/models")
      return sendJson(response, 200, { object: "list", data: [] });
    const isKnown = request.path === "/v1/images/generations" || request.path === "/v1/images/edits";
    if (request.method !== "POST" || !isKnown) return refuse(response, UNKNOWN_PATH);
    const parsed = await parseRequest(request);
    if ("refusal" in parsed) return refuse(response, parsed.refusal);
    await sendReply(parsed, { request, response, exchange, results });
  });
}

async function refuse(response: SimulatedResponse, { status, body, headers }: Refusal): Promise<void> {
  await sendJson(response, status, body, {}, headers);
}

function findRefusal(behaviour: Behaviour, authorization: string): Refusal | undefined {
  const headers = behaviour.retryAfter === undefined ? undefined : { "retry-after": behaviour.retryAfter };
  switch (behaviour.fault) {
    case "echo-authorization":
      return flat(400, INVALID, `Bad header ${authorization}. Send another one.`);
    case "content-refused":
      return {
        status: 400,
        body: {
          code: INVALID,
          error: "Generated image rejected by content moderation.",
          usage: { cost_in_usd_ticks: TICKS },
        },
      };
    case "error-in-200":
      return flat(200, "internal", "Service temporarily unavailable.");
    case "error-status":
      return { status: behaviour.status ?? 500, body: errorBody(behaviour.text), headers };
    default:
      return undefined;
  }
}

function errorBody(shape = "flat"): object {
  if (shape === "nested") return { error: { message: "Trouble." } };
  if (shape === "sentence")
    return {
      code: "The caller does not have permission to execute the specified operation",
      error: "The 2k resolution feature is not available.",
    };
  return { code: "invalid-argument", error: "Trouble." };
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
  const data = await makeItems(parsed, call);
  const usage =
    behaviour.fault === "no-usage" ? undefined : (behaviour.usage ?? { cost_in_usd_ticks: parsed.n * TICKS });
  await sendJson(response, 200, { data, usage }, behaviour);
  if (!response.isFinished) return;
  exchange.reportPictures(data.filter((item) => "revised_prompt" in item).length);
  if (usage !== undefined) exchange.reportUsage(usage);
}

async function makeItems(parsed: ParsedRequest, { request, exchange, results }: Call): Promise<object[]> {
  const { behaviour } = exchange.hit;
  if (behaviour.fault === "no-images") return [];
  const succeeded = behaviour.images ?? (behaviour.fault === "failed-items" ? 0 : parsed.n);
  const picture = await makePicture(parsed.width, parsed.height, "jpeg");
  const origin = behaviour.text ?? `http://${request.headers["host"]}`;
  const items = Array.from({ length: succeeded }, (_, index): object => {
    const fields = { revised_prompt: "", respect_moderation: true };
    if (behaviour.fault === "bad-base64") return { b64_json: "*".repeat(200_000), ...fields };
    if (parsed.isInline && behaviour.fault !== "links")
      return { b64_json: picture.toString("base64"), ...fields };
    return {
      url: `${origin}${results.keep(picture, "jpeg", index === 0 ? behaviour.linkBehaviours : [])}`,
      ...fields,
    };
  });
  if (behaviour.fault !== "failed-items") return items;
  return [...items, ...Array.from({ length: parsed.n - succeeded }, () => ({ respect_moderation: false }))];
}
