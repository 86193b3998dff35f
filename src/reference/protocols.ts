import { TOLD_HINTS } from "../dialects/conversation/hints.ts";
import { STREAMS, type StreamDescription } from "../server/openapi/stream-events.ts";
import { code, list, type ReferencePage, sentence, table } from "./page.ts";

/** Returns the page that says which hints (optional fields of a request) each protocol's vendors receive. */
export function hintsPage(): ReferencePage {
  const words = (rule: boolean | { when: string }): string =>
    typeof rule === "boolean" ? (rule ? "told" : "left out") : `told ${rule.when}`;
  const title = (hint: string) => hint.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const rows = Object.entries(TOLD_HINTS).map(([hint, { chat, messages, responses, native }]) =>
    [title(hint)].concat([chat, messages, responses, native].map(words)),
  );
  return {
    name: "hints",
    title: "Hints",
    source: "the table of hints",
    body: `A hint is a field that steers how a vendor answers, or that labels a request. A vendor of the caller's own protocol gets
every field as it was sent. A vendor of another protocol is told what this table says. The rest is left out, and the response
names it in \`x-gateway-ignored-params\`; with \`x-gateway-strict: true\` the request is refused instead.

The columns are the protocols of vendors: chat and responses of OpenAI, messages of Anthropic, native of Gemini.

${table(["Hint", "To chat", "To messages", "To responses", "To native"], rows)}`,
  };
}

/** Returns the page that lists the stream events of each protocol. */
export function streamEventsPage(): ReferencePage {
  return {
    name: "stream-events",
    title: "Stream events",
    source: "the descriptions of the streams",
    body: `Streams are server-sent events. Before the first content a failure is an ordinary [error](errors.md) with a status. After
\`server.first_byte_seconds\` (10) without content the stream begins all the same, and a failure from then on is the error event
of the protocol. In a silence between contents a keep-alive is sent about every 15 seconds.

A vendor of the caller's own protocol may send events of further kinds: they are forwarded as they are.

${Object.values(STREAMS).map(streamSection).join("\n\n")}`,
  };
}

function streamSection({ title, request, events, end, silence, failure }: StreamDescription): string {
  return `## ${title}

${list([
  ["Asked for by", request],
  ["Ends with", end],
  ["Keep-alive", silence],
  ["When it fails", failure],
])}

${list(Object.entries(events).map(([name, meaning]) => [/^(?:a|an) /.test(name) ? `**${name}**` : code(name), sentence(meaning)]))}`;
}
