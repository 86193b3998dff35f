import { chatRequestBody, PUBLIC_MODEL, UPSTREAM_MODEL } from "./chat-samples.ts";
import { wireRequest } from "./client-connection.ts";
import type { LoadPlan } from "./load.ts";
import type { ServerProcess } from "./processes.ts";
import type { Stage } from "./stage.ts";

/** A server of the comparison, and how chat is requested from it. */
export interface Contender {
  name: string;
  server: ServerProcess;
  /** Path of chat completions. */
  path: string;
  key: string;
  headers: Record<string, string>;
  model: string;
  /** Whether the client requests the usage chunk of a stream. */
  includeUsage: boolean;
}

/** The key that the mock's callers use; it accepts any. */
export const MOCK_KEY = "bench-upstream";

/** A server that knows the mock's model by the mock's name and has no keys of its own. */
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

/** This gateway replaces the model's name and requests the usage chunk itself. */
export function ourContender(name: string, { gateway }: Stage): Contender {
  return { ...plainContender(name, gateway), key: gateway.key, model: PUBLIC_MODEL, includeUsage: false };
}

/** The load of W1, and with an interval between frames that of W2. */
export function planOf(contender: Contender, paceMs?: number): LoadPlan {
  const { server, path, key, headers, model } = contender;
  const stream = paceMs !== undefined && { stream: true, includeUsage: contender.includeUsage, paceMs };
  const body = chatRequestBody({ model, ...stream });
  const request = wireRequest({ method: "POST", path, key, headers, body });
  return { address: server.address, requests: [request], expectedStatus: 200 };
}
