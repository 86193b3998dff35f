import { isObject } from "../lib/json.ts";

/** Fields of the four wire formats' deltas that hold what is said. */
const SPOKEN: ReadonlySet<string> = new Set([
  "content",
  "text",
  "thinking",
  "reasoning_content",
  "refusal",
  "arguments",
  "partial_json",
  "delta",
]);

/**
 * What a stream of server-sent events says, joined: a name or number that is spread over several events would be
 * recognized in none of them. Any other text is returned as it is.
 */
export function streamedText(reply: string): string {
  if (!/^(?:data|event):/.test(reply)) return reply;
  return reply
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => spokenIn(parse(line.slice("data:".length))))
    .join("");
}

/** Events that repeat what deltas have said are no deltas. */
function spokenIn(event: unknown): string {
  if (!isObject(event)) return "";
  if (typeof event["type"] === "string")
    return event["type"].endsWith("delta") ? collect(event["delta"]) : "";
  const choices = Array.isArray(event["choices"]) ? event["choices"] : [];
  return (
    choices.map((choice) => (isObject(choice) ? collect(choice["delta"]) : "")).join("") +
    collect(event["candidates"])
  );
}

function collect(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value))
    return value
      .filter((item) => typeof item === "object")
      .map(collect)
      .join("");
  if (!isObject(value)) return "";
  return Object.entries(value)
    .filter(([name, inner]) => (typeof inner === "string" ? SPOKEN.has(name) : typeof inner === "object"))
    .map(([, inner]) => collect(inner))
    .join("");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
