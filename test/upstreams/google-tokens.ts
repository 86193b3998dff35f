import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import type { Answer, ReceivedRequest } from "./connection.ts";
import { sendJson, strikeFirst } from "./delivery.ts";
import { startSimulator, type HttpExchange, type Simulator } from "./simulator.ts";

/** A simulated token server: OAuth for service accounts, and a machine's metadata server. */
export interface TokenServer extends Simulator {
  /** The JSON of the only service account it knows. */
  accountKey: string;
  /** Tokens that were granted, in order. */
  granted: readonly string[];
}

export const SIMULATED_EMAIL = "painter@simulated-project.iam.gserviceaccount.com";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const KEY_ID = "0123456789abcdef";
const METADATA_PATH = "/computeMetadata/v1/instance/service-accounts/default/token";

/** Grants tokens of `lifetimeSeconds`. It refuses statements that break any rule of the vendor's. */
export async function startTokenServer(lifetimeSeconds = 3600): Promise<TokenServer> {
  const granted: string[] = [];
  const grant = async (answer: Answer, { hit }: HttpExchange) => {
    const token = `ya29.simulated-${granted.length + 1}-${crypto.randomUUID()}`;
    granted.push(token);
    const body = { access_token: token, expires_in: lifetimeSeconds, token_type: "Bearer" };
    await sendJson(answer, 200, hit.plan.fault === "no-usage" ? {} : body, hit.plan);
  };
  const simulator = await startSimulator(async (request, answer, exchange) => {
    const plan = exchange.takePlan(undefined);
    if (await strikeFirst(plan, answer)) return;
    if (plan.fault === "error-status")
      return refuse(answer, plan.status ?? 500, "internal_failure", plan.retryAfter);
    const trouble =
      request.path === METADATA_PATH
        ? findMetadataTrouble(request)
        : findTrouble(request, `${simulator.url}/token`);
    return trouble ? refuse(answer, 400, trouble) : grant(answer, exchange);
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

async function refuse(answer: Answer, status: number, error: string, retryAfter?: string): Promise<void> {
  const headers = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
  await sendJson(answer, status, { error, error_description: "Refused." }, {}, headers);
}

function findMetadataTrouble({ method, headers }: ReceivedRequest): string | undefined {
  return method === "GET" && headers["metadata-flavor"] === "Google" ? undefined : "missing_header";
}

/** What is wrong with a statement, if anything (RFC 7523, 3). */
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
