import type { RequestEvent } from "./request-event.ts";

/** Routes whose requests call a model. */
const MODEL_ROUTES: ReadonlySet<string> = new Set([
  "chat",
  "responses",
  "messages",
  "embeddings",
  "native",
  "native.text",
  "images.generations",
  "images.edits",
  "jobs.run",
]);

/** Codes of requests that the caller gave up. */
const GIVEN_UP: ReadonlySet<string> = new Set(["caller_gone", "cancelled"]);

/** True when a request called a model or was to call one. A job counts when it has run or was refused. */
export function isModelCall({ route, status }: Pick<RequestEvent, "route" | "status">): boolean {
  return MODEL_ROUTES.has(route) || (route === "jobs.submit" && status >= 400);
}

/** True when a request failed or was refused, but not when the caller gave it up. */
export function isFailed({ status, code }: Pick<RequestEvent, "status" | "code">): boolean {
  return (status >= 400 || code !== null) && !(code !== null && GIVEN_UP.has(code));
}
