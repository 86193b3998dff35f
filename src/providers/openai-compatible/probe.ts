import { writeJsonBody } from "../transport/json-body.ts";
import { callJson } from "../transport/json-call.ts";
import { readModels } from "../transport/model-list.ts";
import { probeByEither, probeByReading, probeByRefusal, UNKNOWN_MODEL } from "../transport/probe.ts";
import type { OpenAiConnection } from "./connection.ts";

/** Reads the list of models. If the address has no such list, sends a message to a model that does not exist. */
export async function probeOpenAi(
  { formHeaders, errors, urlOf }: OpenAiConnection,
  listUrl: string,
  signal: AbortSignal,
): Promise<void> {
  const call = { headers: formHeaders, signal };
  const message = { model: UNKNOWN_MODEL, messages: [{ role: "user", content: "ping" }], max_tokens: 1 };
  const url = urlOf("chat/completions", () => UNKNOWN_MODEL);
  await probeByEither(
    () => probeByReading({ ...call, url: listUrl }, errors.classify),
    () =>
      probeByRefusal(() =>
        callJson("POST", { ...call, url, body: writeJsonBody(() => message) }, errors.classify),
      ),
  );
}

/** Reads the names of the models in the list. */
export function listOpenAi(
  { formHeaders: headers, errors }: OpenAiConnection,
  url: string,
  signal: AbortSignal,
): Promise<string[]> {
  return readModels({ headers, signal, url }, errors.classify);
}
