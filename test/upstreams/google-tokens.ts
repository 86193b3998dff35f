import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import type { SimulatedResponse, ReceivedRequest } from "./http-server.ts";
import { sendJson, applyEarlyFault } from "./transport.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";

/** A simulated token server: OAuth for service accounts, and a metadata server. */
export interface TokenServer extends Simulator {
  /** JSON of the only accepted service account. */
  accountKey: string;
  /** Granted tokens, in order. */
  granted: readonly string[];
}

export const SIMULATED_EMAIL = "painter@simulated-project.iam.gserviceaccount.com";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const KEY_ID = "0123456789abcdef";
const METADATA_PATH = "/computeMetadata/v1/instance/service-accounts/default/token";

/** Grants tokens that last `lifetimeSeconds`. Refuses assertions that break a rule of the vendor. */
export async function startTokenServer(lifetimeSeconds = 3600): Promise<TokenServer> {
  const granted: string[] = [];
  const grant = async (response: SimulatedResponse, { hit }: HttpExchange) => {
    const token = `ya29.simulated-${granted.length + 1}-${crypto.randomUUID()}`;
    granted.push(token);
    const body = { access_token: token, expires_in: lifetimeSeconds, token_type: "Bearer" };
    await sendJson(response, 200, hit.behaviour.fault === "no-usage" ? {} : body, hit.behaviour);
  };
  const simulator = await startSimulator(async (request, response, exchange) => {
    const behaviour = exchange.takeBehaviour(undefined);
    if (await applyEarlyFault(behaviour, response)) return;
    if (behaviour.fault === "error-status")
      return refuse(response, behaviour.status ?? 500, "internal_failure", behaviour.retryAfter);
    const error =
      request.path === METADATA_PATH
        ? findMetadataTrouble(request)
        : findTrouble(request, `${simulator.url}/token`);
    return error ? refuse(response, 400, error) : grant(response, exchange);
  });
  const accountKey = JSON.stringify({
    type: "service_account",
    project_id: "simulated-project",
    private_key_id: KEY_ID,
    private_key: PRIVATE_KEY,
    client_email: SIMULATED_EMAIL,
    token_uri: `${simulator.url}/token`,
  });
  return Object.assign(simulator, { accountKey, granted });
}

const PAIR = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PRIVATE_KEY = PAIR.privateKey.export({ type: "pkcs8", format: "pem" });
const PUBLIC_KEY = createPublicKey(PAIR.publicKey.export({ type: "spki", format: "pem" }));

async function refuse(
  response: SimulatedResponse,
  status: number,
  error: string,
  retryAfter?: string,
): Promise<void> {
  const headers = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
  await sendJson(response, status, { error, error_description: "Refused." }, {}, headers);
}

function findMetadataTrouble({ method, headers }: ReceivedRequest): string | undefined {
  return method === "GET" && headers["metadata-flavor"] === "Google" ? undefined : "missing_header";
}

/** Returns the error of an assertion, or undefined (RFC 7523, 3). */
function findTrouble({ method, path, headers, body }: ReceivedRequest, audience: string): string | undefined {
  const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
  if (method !== "POST" || path !== "/token" || !isForm) return "invalid_request";
  const form = new URLSearchParams(body.toString("utf8"));
  if (form.get("grant_type") !== GRANT_TYPE) return "unsupported_grant_type";
  const [header = "", claims = "", signature = "", ...rest] = (form.get("assertion") ?? "").split(".");
  const signed = Buffer.from(`${header}.${claims}`);
  if (rest.length > 0 || !verify("RSA-SHA256", signed, PUBLIC_KEY, Buffer.from(signature, "base64url")))
    return "invalid_grant";
  const now = Date.now() / 1000;
  const { alg, kid } = Object(JSON.parse(Buffer.from(header, "base64url").toString()));
  const { iss, scope, aud, iat, exp } = Object(JSON.parse(Buffer.from(claims, "base64url").toString()));
  const isTimely = Number.isInteger(iat) && iat <= now && exp > now && exp - iat <= 3600;
  const isSound = alg === "RS256" && kid === KEY_ID && iss === SIMULATED_EMAIL && aud === audience;
  if (!isSound || !isTimely) return "invalid_grant";
  return scope === SCOPE ? undefined : "invalid_scope";
}
