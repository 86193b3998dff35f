import { chatRequestBody, PUBLIC_MODEL, UPSTREAM_MODEL } from "./chat-samples.ts";
import { wireRequest } from "./client-connection.ts";
import type { LoadPlan } from "./load.ts";
import type { ServerProcess } from "./processes.ts";
import type { Stage } from "./stage.ts";

/** A server that takes part in the comparison, and the settings for sending chat requests to it. */
export interface Contender {
  name: string;
  server: ServerProcess;
  /** Path of chat completions. */
  path: string;
  key: string;
  headers: Record<string, string>;
  model: string;
  /** True when the client must request a stream's usage chunk. This gateway requests that chunk itself. */
  includeUsage: boolean;
}

/** The key for calls to the mock, which accepts any key. */
export const MOCK_KEY = "bench-upstream";

/** Returns a server as a contender. The server uses the mock's own model name and does not check keys. */
export function plainContender(name: string, server: ServerProcess): Contender {
  return {
    name,
    server,
    path: "/v1/chat/completions",
    key: MOCK_KEY,
    headers: {},
    model: UPSTREAM_MODEL,
    includeUsage: true,
  };
}

/** Returns this gateway as a contender. The gateway replaces the model's name and requests the usage chunk itself. */
export function ourContender(name: string, { gateway }: Stage): Contender {
  return { ...plainContender(name, gateway), key: gateway.key, model: PUBLIC_MODEL, includeUsage: false };
}

/** Returns the load of W1 or, with an interval between frames, of W2. */
export function planOf(contender: Contender, paceMs?: number): LoadPlan {
  const { server, path, key, headers, model } = contender;
  const stream = paceMs !== undefined && { stream: true, includeUsage: contender.includeUsage, paceMs };
  const body = chatRequestBody({ model, ...stream });
  const request = wireRequest({ method: "POST", path, key, headers, body });
  return { address: server.address, requests: [request], expectedStatus: 200 };
}
