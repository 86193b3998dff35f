import { isPictureField } from "../dialects/images/index.ts";
import { isPicturePath } from "../dialects/native/index.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { JobRequest } from "../jobs/stored-request.ts";
import type { JsonPath, StreamedObject } from "../lib/json-spool.ts";
import type { AuthenticatedExchange } from "./http-exchange.ts";
import { isFormBody, readImageBody, readPictureJson, type BodyDestination } from "./image-body.ts";

type JobBody =
  | Omit<Extract<JobRequest, { kind: "images" }>, "isCompressing">
  | Omit<Extract<JobRequest, { kind: "native" }>, "isCompressing">;

/** Reads the body of a submission: a form, JSON of the image endpoints, or of the native protocol with its model. */
export async function readJobBody(
  exchange: AuthenticatedExchange,
  destination: BodyDestination,
): Promise<JobBody> {
  if (isFormBody(exchange.request))
    return { kind: "images", fields: await readImageBody(exchange, destination, true) };
  const body = await readPictureJson(exchange, destination, isPicture);
  if (!Object.hasOwn(body, "contents")) return { kind: "images", fields: Object.entries(body) };
  const { model, ...content } = body;
  if (typeof model !== "string" || model === "") {
    const message = "Set `model` beside `contents` to the id of an image model.";
    throw new GatewayError("model_required", message, { param: "model" });
  }
  return { kind: "native", model, body: content satisfies StreamedObject };
}

function isPicture(path: JsonPath): boolean {
  return isPictureField(path[0]) || isPicturePath(path);
}
