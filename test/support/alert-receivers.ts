/** Any value of a request. */
type Json = ReturnType<typeof JSON.parse>;

/** An event that PagerDuty has received, and the state of its incident. */
interface Incident {
  summary: string;
  severity: string;
  events: number;
  isOpen: boolean;
}

/**
 * Simulates Slack's incoming webhooks and PagerDuty's Events API v2 on one port, with their refusals. An entry of
 * `faults` replaces the next response, before or after the request is processed.
 */
export function startAlertReceivers({ path, routingKey }: { path: string; routingKey: string }) {
  const messages: { text: string; blocks: unknown[] }[] = [];
  const incidents = new Map<string, Incident>();
  const faults: { status: number; headers?: Record<string, string>; isProcessed?: boolean }[] = [];
  const problems: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const fault = faults.shift();
      if (fault && !fault.isProcessed) return new Response(null, fault);
      const { pathname } = new URL(request.url);
      const text = await request.text();
      const problem =
        request.method !== "POST" || !request.headers.get("content-type")?.startsWith("application/json")
          ? "not JSON"
          : pathname === "/v2/enqueue"
            ? takeEvent(JSON.parse(text))
            : takeMessage(pathname, JSON.parse(text));
      if (problem !== null) problems.push(problem);
      if (fault) return new Response(null, fault);
      if (pathname !== "/v2/enqueue")
        return new Response(problem ?? "ok", {
          status: problem === "no_service" ? 404 : problem ? 400 : 200,
        });
      return problem
        ? Response.json({ status: "invalid event", message: problem }, { status: 400 })
        : Response.json({ status: "success", message: "Event processed" }, { status: 202 });
    },
  });

  function takeMessage(pathname: string, message: Record<string, unknown>): string | null {
    if (pathname !== path) return "no_service";
    const { text, blocks, ...rest } = message;
    if (typeof text !== "string" || text === "") return "no_text";
    if (Object.keys(rest).length > 0) return `unknown ${Object.keys(rest).join()}`;
    if (!Array.isArray(blocks) || blocks.length > 50) return "invalid_blocks";
    const texts = [text, ...blocks.flatMap(textsOf)];
    if (texts.some((part) => part === null || part.length === 0)) return "invalid_blocks";
    // All text outside of links must be escaped.
    const bare = texts.map((part) => String(part).replaceAll(/<https:\/\/[^|<>]+\|[^<>]+>/g, ""));
    if (bare.some((part) => /[<>]|&(?!amp;|lt;|gt;)/.test(part))) return "invalid_formatting";
    messages.push({ text, blocks });
    return null;
  }

  function takeEvent(event: Json): string | null {
    const { routing_key: key, event_action: action, dedup_key: dedup, payload } = event;
    if (typeof key !== "string" || key.length !== 32) return "Length of 'routing_key' is incorrect";
    if (key !== routingKey) return "Invalid routing key";
    if (typeof dedup !== "string" || dedup === "" || dedup.length > 255) return "'dedup_key' is invalid";
    const incident = incidents.get(dedup);
    if (action === "resolve") {
      if (incident) incident.isOpen = false;
      return null;
    }
    if (action !== "trigger") return "'event_action' is invalid";
    const { summary, source, severity, timestamp } = payload ?? {};
    if (typeof summary !== "string" || summary === "" || summary.length > 1024) return "'summary' is invalid";
    if (typeof source !== "string" || source === "") return "'source' is missing or blank";
    if (!["critical", "error", "warning", "info"].includes(severity)) return "'severity' is invalid";
    if (Number.isNaN(Date.parse(timestamp))) return "'timestamp' is invalid";
    if (incident?.isOpen) incident.events += 1;
    else incidents.set(dedup, { summary, severity, events: 1, isOpen: true });
    return null;
  }

  return {
    port: server.port,
    messages,
    incidents,
    faults,
    problems,
    clear() {
      messages.length = 0;
      incidents.clear();
      faults.length = 0;
      problems.length = 0;
    },
    stop: () => server.stop(true),
  };
}

/** Returns the texts of a block. A null means that Slack would refuse the block. */
function textsOf(block: Json): (string | null)[] {
  const markdown = (part: Json, most: number): string | null =>
    part?.type === "mrkdwn" && typeof part.text === "string" && part.text.length <= most ? part.text : null;
  if (block?.type === "section") return [markdown(block.text, 3_000)];
  if (block?.type === "context" && Array.isArray(block.elements) && block.elements.length <= 10)
    return block.elements.map((element: unknown) => markdown(element, 3_000));
  return [null];
}
