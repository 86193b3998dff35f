import { isObject } from "../../lib/json.ts";
import type { Classify } from "../transport/http.ts";
import { createClassifier as createPlainClassifier } from "../openai/errors.ts";

/**
 * Reads a failure of xAI: flat `{code, error}`, nested `{error: {message}}`, or a sentence for a code. A refused key
 * and a moderated picture come with the status and code of a caller's mistake and are told apart by their words
 * only, so these two sentences are known here.
 */
export function createClassifier(apiKey: string, hostname: string): Classify {
  const classify = createPlainClassifier(apiKey, hostname);
  return (response) => {
    const said = sentenceOf(response.bodyText);
    const code = response.status === 400 && SENTENCES.find(([pattern]) => pattern.test(said))?.[1];
    return classify(code ? { ...response, bodyText: JSON.stringify({ code, error: said }) } : response);
  };
}

/** Sentences, and the code that other vendors of this protocol give for the same. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^Incorrect API key provided/, "invalid_api_key"],
  [/\bcontent moderation\b/, "content_policy_violation"],
];

function sentenceOf(bodyText: string): string {
  try {
    const body: unknown = JSON.parse(bodyText);
    const error = isObject(body) ? body["error"] : undefined;
    const said = isObject(error) ? error["message"] : error;
    return typeof said === "string" ? said : "";
  } catch {
    return "";
  }
}
