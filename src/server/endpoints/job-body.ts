import { isImageField, isKnownField, isPictureField } from "../../dialects/images/index.ts";
import { isPicturePath } from "../../dialects/native/index.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { JobRequest } from "../../jobs/stored-request.ts";
import type { JsonPath, StreamedObject } from "../../lib/json-spool.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import { isFormBody, readImageBody, readPictureJson, type BodyDestination } from "../entrance/image-body.ts";

type WithoutHeaders<Body> = Body extends unknown ? Omit<Body, "isCompressing"> : never;

interface JobBody {
  content: WithoutHeaders<JobRequest>;
  /** Address that receives a message about the job's end. */
  webhookUrl: string | null;
  /** Image fields sent beside a body of the native protocol, which does not define them. */
  ignored: string[];
}

const WEBHOOK = "webhook_url";

/**
 * Reads the body of a submission: a form, JSON of the image endpoints, or JSON of the native protocol with its model.
 */
export async function readJobBody(
  exchange: AuthenticatedExchange,
  destination: BodyDestination,
): Promise<JobBody> {
  if (isFormBody(exchange.request)) {
    const reads = (name: string): boolean => name === WEBHOOK || isKnownField(name);
    const all = await readImageBody(exchange, destination, true, reads);
    const fields = all.filter(([name]) => name !== WEBHOOK);
    const [, url] = all.find(([name]) => name === WEBHOOK) ?? [];
    return { content: { kind: "images", fields }, webhookUrl: readWebhook(url), ignored: [] };
  }
  const body = await readPictureJson(exchange, destination, isPicture);
  const { [WEBHOOK]: url, ...rest } = body;
  const webhookUrl = readWebhook(url);
  if ((rest["contents"] ?? null) === null)
    return { content: { kind: "images", fields: Object.entries(rest) }, webhookUrl, ignored: [] };
  const { model, ...others } = rest;
  const { native, ignored } = withoutImageFields(others);
  if (typeof model !== "string" || model === "") {
    const message = "Set `model` beside `contents` to the id of an image model.";
    throw new GatewayError("model_required", message, { param: "model" });
  }
  return { content: { kind: "native", model, body: native }, webhookUrl, ignored };
}

/**
 * Removes image fields, because vendors of the native protocol refuse unknown fields. Throws for pictures, whose loss
 * would change the result.
 */
function withoutImageFields(body: StreamedObject): { native: StreamedObject; ignored: string[] } {
  const given = Object.entries(body).filter(([name, value]) => isKnownField(name) && value !== null);
  const picture = given.find(([name]) => isPictureField(name));
  if (picture) {
    const message = `\`${picture[0]}\` does not go with \`contents\`: send pictures in its parts, or \`prompt\` in its place.`;
    throw new GatewayError("invalid_parameter", message, { param: picture[0] });
  }
  const native = Object.fromEntries(Object.entries(body).filter(([name]) => !isImageField(name)));
  return { native, ignored: given.map(([name]) => name) };
}

function readWebhook(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  throw new GatewayError("invalid_parameter", "`webhook_url` must be a string.", { param: WEBHOOK });
}

function isPicture(path: JsonPath): boolean {
  return isPictureField(path[0]) || isPicturePath(path);
}
