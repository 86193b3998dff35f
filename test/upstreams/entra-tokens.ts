import type { ReceivedRequest } from "./http-server.ts";
import { startSimulator, type Simulator } from "./simulator.ts";
import { applyEarlyFault, sendJson } from "./transport.ts";

/** A simulated Microsoft Entra: a token server for one application, and a machine's metadata service. */
export interface EntraServer extends Simulator {
  /** Granted tokens, in order. */
  granted: readonly string[];
}

export const TENANT = "11111111-2222-3333-4444-555555555555";
export const CLIENT = "66666666-7777-8888-9999-000000000000";
export const CLIENT_SECRET = "sim~secret.0123456789/+=";

const RESOURCE = "https://cognitiveservices.azure.com";
const METADATA_PATH = "/metadata/identity/oauth2/token";

/** Starts the server, which refuses every other application, secret, scope and form. */
export async function startEntra(): Promise<EntraServer> {
  const granted: string[] = [];
  const simulator = await startSimulator(async (request, response, exchange) => {
    const behaviour = exchange.takeBehaviour(undefined);
    if (await applyEarlyFault(behaviour, response)) return;
    const isMachine = request.path === METADATA_PATH;
    const error = isMachine ? findMetadataTrouble(request) : findTrouble(request);
    if (error !== undefined) return sendJson(response, error === "invalid_client" ? 401 : 400, { error });
    const token = `eyJ0eXAi.simulated-${granted.length + 1}.${crypto.randomUUID()}`;
    granted.push(token);
    // The metadata service writes numbers as text.
    const lifetime = isMachine ? "86399" : 3599;
    await sendJson(response, 200, { token_type: "Bearer", expires_in: lifetime, access_token: token });
  });
  return Object.assign(simulator, { granted });
}

function findMetadataTrouble({ method, headers, query }: ReceivedRequest): string | undefined {
  if (method !== "GET" || headers["metadata"] !== "true" || !query.has("api-version")) return "bad_request";
  if (![null, CLIENT].includes(query.get("client_id"))) return "identity_not_found";
  return query.get("resource") === RESOURCE ? undefined : "invalid_resource";
}

function findTrouble({ method, path, headers, body }: ReceivedRequest): string | undefined {
  const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
  if (method !== "POST" || path !== `/${TENANT}/oauth2/v2.0/token` || !isForm) return "invalid_request";
  const form = new URLSearchParams(body.toString("utf8"));
  if (form.get("grant_type") !== "client_credentials") return "unsupported_grant_type";
  if (form.get("client_id") !== CLIENT || form.get("client_secret") !== CLIENT_SECRET)
    return "invalid_client";
  return form.get("scope") === `${RESOURCE}/.default` ? undefined : "invalid_scope";
}
