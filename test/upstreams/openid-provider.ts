import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

/** A simulated OpenID provider on loopback: authorization code flow, only with PKCE, and RS256 id tokens. */
export interface OpenIdProvider extends AsyncDisposable {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The user who signs in at the provider. */
  user: Record<string, unknown> & { sub: string };
  /** Fault of the next id token; null for none. */
  fault: "nonce" | "audience" | "issuer" | "signature" | "expired" | "unsigned" | null;
  /** Redeemed codes and reasons of refusals, each in order. */
  redeemed: string[];
  refusals: string[];
}

const CLIENT_ID = "gateway";
const CLIENT_SECRET = "a-client-secret-for-tests";
const KEY_ID = "key-1";
const REQUIRED = ["client_id", "redirect_uri", "state", "nonce", "code_challenge"];

interface Grant {
  redirectUri: string;
  challenge: string;
  nonce: string;
  user: Record<string, unknown>;
}

/** Starts a provider with one client. The client's redirect addresses end with `callbackPath`. */
export function startOpenIdProvider(callbackPath: string): OpenIdProvider {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const others = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const grants = new Map<string, Grant>();
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => respond(request) });
  const provider: OpenIdProvider = {
    issuer: `http://127.0.0.1:${server.port}`,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    user: { sub: "nobody" },
    fault: null,
    redeemed: [],
    refusals: [],
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  const refuse = (error: string, why: string) => {
    provider.refusals.push(why);
    return Response.json({ error, error_description: why }, { status: 400 });
  };

  async function respond(request: Request): Promise<Response> {
    const url = new URL(request.url);
    switch (`${request.method} ${url.pathname}`) {
      case "GET /.well-known/openid-configuration":
        return Response.json(metadata(provider.issuer));
      case "GET /jwks":
        return Response.json({
          keys: [{ ...keys.publicKey.export({ format: "jwk" }), kid: KEY_ID, use: "sig", alg: "RS256" }],
        });
      case "GET /authorize":
        return authorize(url.searchParams);
      case "POST /token":
        return token(request);
      default:
        return refuse("invalid_request", `${request.method} ${url.pathname}`);
    }
  }

  function authorize(query: URLSearchParams): Response {
    const missing = REQUIRED.find((name) => !query.get(name));
    if (missing) return refuse("invalid_request", `no ${missing}`);
    const [redirectUri, state] = [query.get("redirect_uri")!, query.get("state")!];
    if (query.get("client_id") !== CLIENT_ID) return refuse("unauthorized_client", "unknown client");
    if (new URL(redirectUri).pathname !== callbackPath) return refuse("invalid_request", "redirect_uri");
    if (query.get("response_type") !== "code") return refuse("unsupported_response_type", "response_type");
    if (query.get("code_challenge_method") !== "S256") return refuse("invalid_request", "plain PKCE");
    if (!query.get("scope")?.split(" ").includes("openid")) return refuse("invalid_scope", "no openid");
    const code = crypto.randomUUID();
    const challenge = query.get("code_challenge")!;
    grants.set(code, { redirectUri, challenge, nonce: query.get("nonce")!, user: { ...provider.user } });
    const location = new URL(redirectUri);
    location.search = new URLSearchParams({ code, state }).toString();
    return new Response(null, { status: 302, headers: { location: location.href } });
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const code = form.get("code") ?? "";
    const grant = grants.get(code);
    // A code is valid for a single attempt, even if the attempt fails (RFC 6749, 4.1.2).
    grants.delete(code);
    if (form.get("grant_type") !== "authorization_code")
      return refuse("unsupported_grant_type", "grant_type");
    if (form.get("client_id") !== CLIENT_ID || form.get("client_secret") !== CLIENT_SECRET)
      return refuse("invalid_client", "client credentials");
    if (!grant) return refuse("invalid_grant", "unknown code");
    if (form.get("redirect_uri") !== grant.redirectUri) return refuse("invalid_grant", "redirect_uri");
    const verifier = createHash("sha256").update(form.get("code_verifier") ?? "");
    if (verifier.digest("base64url") !== grant.challenge) return refuse("invalid_grant", "code_verifier");
    provider.redeemed.push(code);
    const { fault } = provider;
    provider.fault = null;
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: fault === "issuer" ? "http://127.0.0.1:1" : provider.issuer,
      aud: fault === "audience" ? "another-client" : CLIENT_ID,
      iat: fault === "expired" ? now - 7200 : now,
      exp: fault === "expired" ? now - 3600 : now + 300,
      nonce: fault === "nonce" ? "another-nonce" : grant.nonce,
      ...grant.user,
    };
    const key = fault === "unsigned" ? null : fault === "signature" ? others.privateKey : keys.privateKey;
    return Response.json({
      access_token: crypto.randomUUID(),
      token_type: "Bearer",
      expires_in: 300,
      id_token: jwt(claims, key),
    });
  }
  return provider;
}

function metadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  };
}

function jwt(claims: object, key: KeyObject | null): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode({ alg: key ? "RS256" : "none", kid: KEY_ID, typ: "JWT" })}.${encode(claims)}`;
  return `${signed}.${key ? sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url") : ""}`;
}
