import type { SimulatedResponse } from "../http-server.ts";
import { sendJson } from "../transport.ts";
import { makePicture } from "../picture.ts";
import type { Behaviour } from "../behaviour.ts";
import type { HttpExchange } from "../simulator.ts";
import { pixelsOf } from "./models.table.ts";
import { makeSpeckles } from "./noise.ts";
import type { ParsedRequest } from "./rules.ts";

const PROMPT_BLOCKED = "prompt:";
/** So long that a reader which checks only the length takes the signature for a picture. */
const SIGNATURE = Buffer.alloc(60_000, 7).toString("base64");

/**
 * Responds to a valid request. `content-refused` blocks the picture for the reason in `text`; with `prompt:REASON`, it
 * blocks the prompt. `no-images` ends without a picture for the reason in `text`.
 */
export async function sendReply(
  parsed: ParsedRequest,
  response: SimulatedResponse,
  exchange: HttpExchange,
): Promise<void> {
  const { behaviour } = exchange.hit;
  const usage =
    behaviour.fault === "no-usage"
      ? undefined
      : "usage" in behaviour
        ? behaviour.usage
        : countTokens(parsed, behaviour);
  const outcome = await outcomeOf(parsed, behaviour);
  const body = { ...outcome, usageMetadata: usage, modelVersion: parsed.modelName, responseId: "simulated1" };
  await sendJson(response, 200, body, behaviour);
  if (!response.isFinished) return;
  exchange.reportPictures("fault" in behaviour ? 0 : (behaviour.images ?? 1));
  if (usage !== undefined) exchange.reportUsage(usage);
}

async function outcomeOf(parsed: ParsedRequest, behaviour: Behaviour): Promise<object> {
  const reason = behaviour.text ?? "";
  switch (behaviour.fault) {
    case "error-in-200":
      return { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
    case "choices-missing":
      return {};
    case "content-refused":
      return reason.startsWith(PROMPT_BLOCKED)
        ? { promptFeedback: { blockReason: reason.slice(PROMPT_BLOCKED.length) } }
        : {
            candidates: [{ content: { parts: [] }, finishReason: reason, finishMessage: FILTERED, index: 0 }],
          };
    case "no-images":
      return { candidates: [{ ...withoutPicture(reason), finishReason: reason, index: 0 }] };
    default:
      return {
        candidates: [
          {
            content: { role: "model", parts: await makeParts(parsed, behaviour) },
            finishReason: "STOP",
            index: 0,
          },
        ],
      };
  }
}

const FILTERED =
  "Unable to show the generated image. It was filtered out because it violated Google's use policy. Try rephrasing the prompt.";

/** Returns a candidate without a picture. A model that stops by itself returns text, a stopped model no content. */
function withoutPicture(reason: string): object {
  return reason === "STOP" ? { content: { role: "model", parts: [{ text: "Here is your image:" }] } } : {};
}

async function makeParts(parsed: ParsedRequest, behaviour: Behaviour): Promise<object[]> {
  if (behaviour.fault === "bad-base64")
    return [{ inlineData: { mimeType: "image/png", data: "*".repeat(200_000) } }];
  const [width, height] = pixelsOf(parsed.ratio ?? (await shapeOf(parsed)), parsed.tier);
  const isJpeg = parsed.mimeType === "image/jpeg";
  const picture = isJpeg ? await makePicture(width, height, "jpeg") : makeSpeckles(width, height);
  const data = picture.toString("base64");
  const draft = makeSpeckles(256, 256).toString("base64");
  const thoughts = [
    { thought: true, text: "I shall draw it." },
    { thought: true, inlineData: { mimeType: "image/png", data: draft } },
  ];
  const pictures = Array.from({ length: behaviour.images ?? 1 }, () => ({
    inlineData: { mimeType: parsed.mimeType, data },
    ...(parsed.model.isThinking && { thoughtSignature: SIGNATURE }),
  }));
  return [
    ...(parsed.model.isThinking ? thoughts : []),
    ...(parsed.hasProse ? [{ text: "Here you are." }] : []),
    ...pictures,
  ];
}

/** Returns the model's ratio that is closest to the first reference's; square without a reference. */
async function shapeOf({ references: [first], model }: ParsedRequest): Promise<string> {
  if (!first) return "1:1";
  const { width, height } = await new Bun.Image(first.bytes).metadata();
  const distance = (ratio: string) => {
    const [across = 1, down = 1] = ratio.split(":").map(Number);
    return Math.abs(Math.log((width * down) / (height * across)));
  };
  return model.ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

function countTokens(parsed: ParsedRequest, behaviour: Behaviour): object {
  const text = Math.ceil(parsed.prompt.length / 4);
  const image = parsed.references.length * parsed.model.inputTokens;
  const isDrawn = behaviour.fault !== "content-refused" && behaviour.fault !== "no-images";
  const candidates = isDrawn ? (behaviour.images ?? 1) * (parsed.model.tokens[parsed.tier] ?? 0) : 0;
  const thoughts = parsed.model.isThinking && isDrawn ? 300 : 0;
  return {
    promptTokenCount: text + image,
    // Counts of zero are omitted, as everywhere in this protocol.
    ...(candidates > 0 && { candidatesTokenCount: candidates }),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    totalTokenCount: text + image + candidates + thoughts,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: text },
      ...(image > 0 ? [{ modality: "IMAGE", tokenCount: image }] : []),
    ],
    ...(candidates > 0 && {
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: candidates }],
    }),
  };
}
