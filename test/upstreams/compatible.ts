import { PERSONAS, type Persona, type Refusal } from "./compatible/personas.table.ts";
import type { SimulatedResponse } from "./http-server.ts";
import { startSimulator, type Simulator } from "./simulator.ts";

export const COMPATIBLE_KEY = "sk-compatible-0123456789";

/**
 * Simulated vendors of chat completions under `{url}/{persona}`, with their documented responses and refusals.
 * `[[refuse name]]` in a prompt requests that refusal. `[[fail]]` requests an error inside the stream.
 */
export function startCompatible(): Promise<Simulator> {
  return startSimulator(async (request, response, exchange) => {
    const [, first = ""] = request.path.split("/");
    // Model Studio's path begins with `compatible-mode` instead of the persona's name.
    const isByHost = first === "compatible-mode";
    const persona = PERSONAS[isByHost ? "dashscope" : first];
    const path = isByHost ? request.path : request.path.slice(`/${first}`.length);
    exchange.takeBehaviour(undefined);
    const isList = path === `${persona?.path}/models` && request.method === "GET" && persona?.models !== null;
    if (!persona || (path !== `${persona.path}/chat/completions` && !isList))
      return answer(response, { status: 404, body: { error: { message: "no such page" } } });
    const authorization = request.headers["authorization"];
    const key = persona.isKeyless ? undefined : `Bearer ${COMPATIBLE_KEY}`;
    if (authorization !== key) return answer(response, { status: 401, body: persona.unauthorized });
    if (isList)
      return answer(response, { status: 200, body: persona.models ?? { object: "list", data: [] } });
    const body = exchange.hit.json();
    const prompt = JSON.stringify(body["messages"]);
    const refused = /\[\[refuse (\w+)\]\]/.exec(prompt)?.[1];
    const refusal = refused === undefined ? persona.findFault?.(body) : persona.refusals[refused];
    if (refusal) return answer(response, refusal);
    const hasTools = Array.isArray(body["tools"]) && !prompt.includes('"tool"');
    const { whole, frames } = (hasTools && persona.tool) || persona;
    if (body["stream"] !== true) return answer(response, { status: 200, body: whole }, persona.leader);
    const failure = prompt.includes("[[fail]]") ? persona.failure : undefined;
    await response.start(200, { "content-type": "text/event-stream" });
    await response.write(
      Buffer.from(writeFrames(persona, failure ? [...frames.slice(0, 2), failure] : frames)),
    );
    await response.end();
  });
}

/** Writes objects as events and texts as separate lines. */
function writeFrames(
  { hasNoEndMark, lineEnd = "\n" }: Persona,
  frames: readonly (object | string)[],
): string {
  const all =
    hasNoEndMark || frames.some((frame) => "error" in Object(frame)) ? frames : [...frames, "data: [DONE]"];
  return all
    .map(
      (frame) => (typeof frame === "string" ? frame : `data: ${JSON.stringify(frame)}`) + lineEnd + lineEnd,
    )
    .join("");
}

async function answer(
  response: SimulatedResponse,
  { status, body, headers }: Refusal,
  leader = "",
): Promise<void> {
  const text = leader + (typeof body === "string" ? body : JSON.stringify(body));
  await response.start(status, { "content-type": "application/json", ...headers });
  await response.write(Buffer.from(text));
  await response.end();
}
