import type { Answer } from "../connection.ts";
import { sendJson } from "../delivery.ts";
import { drawPicture } from "../openai/drawing.ts";
import type { Plan } from "../plan.ts";
import type { HttpExchange } from "../simulator.ts";
import { pixelsOf } from "./models.table.ts";
import { makeSpeckles } from "./picture.ts";
import type { Wish } from "./rules.ts";

const PROMPT_BLOCKED = "prompt:";
/** Long enough to be taken for a picture by a reader that goes by length alone. */
const SIGNATURE = Buffer.alloc(60_000, 7).toString("base64");

/**
 * Carries out a request. `content-refused` blocks for the reason in the plan's text, the prompt where it reads
 * `prompt:REASON`, else the picture; `no-images` ends without one for that reason.
 */
export async function answerWish(wish: Wish, answer: Answer, exchange: HttpExchange): Promise<void> {
  const { plan } = exchange.hit;
  const usage =
    plan.fault === "no-usage" ? undefined : "usage" in plan ? plan.usage : countTokens(wish, plan);
  const outcome = await outcomeOf(wish, plan);
  const body = { ...outcome, usageMetadata: usage, modelVersion: wish.modelName, responseId: "simulated1" };
  await sendJson(answer, 200, body, plan);
  if (!answer.isFinished) return;
  exchange.reportPictures("fault" in plan ? 0 : (plan.images ?? 1));
  if (usage !== undefined) exchange.reportUsage(usage);
}

async function outcomeOf(wish: Wish, plan: Plan): Promise<object> {
  const reason = plan.text ?? "";
  switch (plan.fault) {
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
          { content: { role: "model", parts: await drawParts(wish, plan) }, finishReason: "STOP", index: 0 },
        ],
      };
  }
}

const FILTERED =
  "Unable to show the generated image. It was filtered out because it violated Google's use policy. Try rephrasing the prompt.";

/** A model that stops by itself says something; one that was stopped may give no content at all. */
function withoutPicture(reason: string): object {
  return reason === "STOP" ? { content: { role: "model", parts: [{ text: "Here is your image:" }] } } : {};
}

async function drawParts(wish: Wish, plan: Plan): Promise<object[]> {
  if (plan.fault === "bad-base64")
    return [{ inlineData: { mimeType: "image/png", data: "*".repeat(200_000) } }];
  const [width, height] = pixelsOf(wish.ratio ?? (await shapeOf(wish)), wish.tier);
  const isJpeg = wish.mimeType === "image/jpeg";
  const picture = isJpeg ? await drawPicture(width, height, "jpeg") : makeSpeckles(width, height);
  const data = picture.toString("base64");
  const draft = makeSpeckles(256, 256).toString("base64");
  const thoughts = [
    { thought: true, text: "I shall draw it." },
    { thought: true, inlineData: { mimeType: "image/png", data: draft } },
  ];
  const pictures = Array.from({ length: plan.images ?? 1 }, () => ({
    inlineData: { mimeType: wish.mimeType, data },
    ...(wish.model.isThinking && { thoughtSignature: SIGNATURE }),
  }));
  return [
    ...(wish.model.isThinking ? thoughts : []),
    ...(wish.hasProse ? [{ text: "Here you are." }] : []),
    ...pictures,
  ];
}

/** The model's ratio nearest to the first reference; square without one. */
async function shapeOf({ references: [first], model }: Wish): Promise<string> {
  if (!first) return "1:1";
  const { width, height } = await new Bun.Image(first.bytes).metadata();
  const distance = (ratio: string) => {
    const [across = 1, down = 1] = ratio.split(":").map(Number);
    return Math.abs(Math.log((width * down) / (height * across)));
  };
  return model.ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

function countTokens(wish: Wish, plan: Plan): object {
  const text = Math.ceil(wish.prompt.length / 4);
  const image = wish.references.length * wish.model.inputTokens;
  const isDrawn = plan.fault !== "content-refused" && plan.fault !== "no-images";
  const candidates = isDrawn ? (plan.images ?? 1) * (wish.model.tokens[wish.tier] ?? 0) : 0;
  const thoughts = wish.model.isThinking && isDrawn ? 300 : 0;
  return {
    promptTokenCount: text + image,
    // Zeros are left out, as everywhere in this protocol.
    ...(candidates > 0 && { candidatesTokenCount: candidates }),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    totalTokenCount: text + image + candidates + thoughts,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: text }],
  };
}
