import { afterAll, afterEach } from "bun:test";

/*
 * Loaded before every test file. Checks responses of gateways, also to official clients, against the schemas that the
 * protocol's vendor publishes. A test fails when a response during it does not match.
 */
const problems: string[] = [];
const send = globalThis.fetch;

async function sendAndWatch(...call: Parameters<typeof fetch>): Promise<Response> {
  const response = await send(...call);
  if (!response.headers.has("x-gateway-request-id")) return response;
  const { watchResponse } = await import("./watch.ts");
  return watchResponse(new URL(response.url).pathname, response, (problem) => void problems.push(problem));
}

function failOnProblems(): void {
  if (problems.length === 0) return;
  throw new Error(`not as published:\n${problems.splice(0).slice(0, 5).join("\n")}`);
}

globalThis.fetch = Object.assign(sendAndWatch, { preconnect: send.preconnect });
afterEach(failOnProblems);
afterAll(failOnProblems);
