import { isKnownField, isPictureField } from "../dialects/images/index.ts";
import { isPicturePath } from "../dialects/native/index.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { JobRequest } from "../jobs/stored-request.ts";
import type { JsonPath } from "../lib/json-spool.ts";
import type { AuthenticatedExchange } from "./http-exchange.ts";
import { isFormBody, readImageBody, readPictureJson, type BodyDestination } from "./image-body.ts";

type WithoutHeaders<Body> = Body extends unknown ? Omit<Body, "isCompressing"> : never;

interface JobBody {
  content: WithoutHeaders<JobRequest>;
  /** Address that is told of the job's end. */
  webhookUrl: string | null;
}

const WEBHOOK = "webhook_url";

/** Reads the body of a submission: a form, JSON of the image endpoints, or of the native protocol with its model. */
export async function readJobBody(
  exchange: AuthenticatedExchange,
  destination: BodyDestination,
): Promise<JobBody> {
  if (isFormBody(exchange.request)) {
    const reads = (name: string): boolean => name === WEBHOOK || isKnownField(name);
    const all = await readImageBody(exchange, destination, true, reads);
    const fields = all.filter(([name]) => name !== WEBHOOK);
    const [, url] = all.find(([name]) => name === WEBHOOK) ?? [];
    return { content: { kind: "images", fields }, webhookUrl: readWebhook(url) };
  }
  const body = await readPictureJson(exchange, destination, isPicture);
  const { [WEBHOOK]: url, ...rest } = body;
  const webhookUrl = readWebhook(url);
  if (!Object.hasOwn(rest, "contents"))
    return { content: { kind: "images", fields: Object.entries(rest) }, webhookUrl };
  const { model, ...native } = rest;
  if (typeof model !== "string" || model === "") {
    const message = "Set `model` beside `contents` to the id of an image model.";
    throw new GatewayError("model_required", message, { param: "model" });
  }
  return { content: { kind: "native", model, body: native }, webhookUrl };
}

function readWebhook(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  throw new GatewayError("invalid_parameter", "`webhook_url` must be a string.", { param: WEBHOOK });
}

function isPicture(path: JsonPath): boolean {
  return isPictureField(path[0]) || isPicturePath(path);
}
