import { writeJsonBody } from "../transport/json-body.ts";
import { callJson } from "../transport/json-call.ts";
import { probeByEither, probeByReading, probeByRefusal, UNKNOWN_MODEL } from "../transport/probe.ts";
import type { MessagesConnection } from "./connection.ts";

/** Reads the list of models (Anthropic API, "List models"), or sends a message to a model that nobody has. */
export async function probeMessages(
  { url, jsonHeaders: headers, errors }: MessagesConnection,
  signal: AbortSignal,
): Promise<void> {
  const listUrl = url.replace(/messages$/, "models?limit=1");
  const message = { model: UNKNOWN_MODEL, messages: [{ role: "user", content: "ping" }], max_tokens: 1 };
  await probeByEither(
    () => probeByReading({ url: listUrl, headers, signal }, errors.classify),
    () =>
      probeByRefusal(() =>
        callJson("POST", { url, headers, body: writeJsonBody(() => message), signal }, errors.classify),
      ),
  );
}
