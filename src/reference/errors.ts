import { ERROR_CODES, type ErrorCode, RETRIES } from "../domain/error-codes.table.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import { errorResponse } from "../server/respond.ts";
import type { ErrorFamily } from "../server/routes.ts";
import { code, type ReferencePage, sentence, table } from "./page.ts";
import { entriesOf } from "../lib/json.ts";

const FAMILIES: Readonly<Record<ErrorFamily, string>> = {
  chat: "Chat, completions and embeddings (OpenAI)",
  messages: "Messages (Anthropic)",
  responses: "Responses (OpenAI)",
  images: "Images, jobs, models, prices, usage and every other path",
  native: "The native protocol (Gemini)",
  admin: "Administration",
};

/** Returns the page of all error codes. The page also shows the body of an error in each protocol. */
export async function errorsPage(): Promise<ReferencePage> {
  const codes = entriesOf(ERROR_CODES);
  const shapes = await Promise.all(entriesOf(FAMILIES).map(([family]) => shapeOf(family)));
  const rows = codes.map(([name, { status }]) => [`[${code(name)}](#${name.toLowerCase()})`, String(status)]);
  return {
    name: "errors",
    title: "Errors",
    source: "the table of error codes",
    body: `An error has a code that never changes, a status, and a message that says what to change. Decide by the code and the
status; the words of a message may change.

${table(["Code", "Status"], rows)}

## Where the code stands

Each protocol has the body that its clients read. The examples are of ${code("rate_limit_exceeded")}.

${shapes.join("\n\n")}

In a native error ${code("details")} repeats ${code("Retry-After")} as ${code("google.rpc.RetryInfo")}; a spent budget is a
${code("google.rpc.QuotaFailure")}. On chat ${code("missing_api_key")} and ${code("ip_not_allowed")} stand in ${code("type")}, and ${code("code")} is absent.

## When to retry

${code("Retry-After")} has whole seconds, at most 60, and stands where a retry can succeed. ${code("x-should-retry: false")} says that it
cannot: the official clients of OpenAI and Anthropic obey it. It stands on every 400 to 404 without ${code("Retry-After")}, on a
spent budget, and on ${code("upstream_auth_failed")} when no other target can answer later. Its type on chat and responses is then
${code("permission_error")}.

A stream that fails after its first content ends with the error event of [its protocol](stream-events.md).

## Codes

${codes.map(([name, declared]) => sectionOf(name, declared)).join("\n\n")}

## Without a code

Requests that the HTTP server itself refuses, such as those with headers of more than 16 KiB (431), get a status without a
body. A request whose client disconnects before the response has status 499 and the code ${code("caller_gone")} in the
[log](../run/logs.md).`,
  };
}

function sectionOf(name: ErrorCode, declared: (typeof ERROR_CODES)[ErrorCode]): string {
  const { status, when, remedy, retry } = declared;
  return `### ${name}

Status ${status}. ${sentence(when)}

- What to do: ${remedy}
- Retry: ${RETRIES[retry]}`;
}

async function shapeOf(family: ErrorFamily): Promise<string> {
  const message = "The requests a minute of this key are used up.";
  const error = new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: 7 });
  const body: unknown = await errorResponse(error, family, "req_0123").json();
  return `### ${FAMILIES[family]}

<!-- check -->

\`\`\`json
${JSON.stringify(body, null, 2)}
\`\`\``;
}
