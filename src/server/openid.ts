import type * as OpenIdClient from "openid-client";
import type { IdentityClaims, IdentitySettings } from "../admin/sign-in/identity-provider.ts";

/** The data that the browser stores during a sign-in. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

/** Signs members in at the configured OpenID provider, by the authorization code flow with PKCE, state and nonce. */
export interface OpenId {
  /**
   * Begins a sign-in. Returns the address for redirecting the browser, and the data that the browser must store. Throws
   * when the provider cannot be reached.
   */
  begin(redirectUri: string): Promise<{ location: string; pending: PendingSignIn }>;
  /**
   * Finishes a sign-in. `url` is the address to which the provider redirected the browser. Returns the claims that the
   * provider has signed. Throws if the state, nonce, code, signature, issuer, audience or a time is wrong.
   */
  finish(url: URL, pending: PendingSignIn): Promise<IdentityClaims>;
}

const TIMEOUT_SECONDS = 10;
const TOLERANCE_SECONDS = 30;

/** Loads the library at its first use, because few installations have an OpenID provider. */
const library = () => import("openid-client");

/** Returns the sign-ins at a provider. The provider's metadata are fetched at the first use, and after a failure. */
export function openId(settings: IdentitySettings): OpenId {
  let discovered: Promise<OpenIdClient.Configuration> | null = null;
  const configuration = () => {
    discovered ??= discover(settings).catch((error: unknown) => {
      discovered = null;
      throw error;
    });
    return discovered;
  };
  return {
    async begin(redirectUri) {
      const client = await library();
      const pending = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: "S256",
      });
      return { location: url.href, pending };
    },
    async finish(url, { state, nonce, verifier }) {
      const client = await library();
      const tokens = await client.authorizationCodeGrant(await configuration(), url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new Error("the identity provider sent no id token");
      return readClaims(claims, settings);
    },
  };
}

async function discover({
  issuer,
  clientId,
  clientSecret,
}: IdentitySettings): Promise<OpenIdClient.Configuration> {
  const client = await library();
  const url = new URL(issuer);
  return client.discovery(
    url,
    clientId,
    { [client.clockTolerance]: TOLERANCE_SECONDS },
    client.ClientSecretPost(clientSecret),
    {
      timeout: TIMEOUT_SECONDS,
      // Plain http is possible only on this machine, because the settings refuse it for any other address.
      execute: [
        client.enableNonRepudiationChecks,
        ...(url.protocol === "http:" ? [client.allowInsecureRequests] : []),
      ],
    },
  );
}

function readClaims(claims: OpenIdClient.IDToken, { roleClaim }: IdentitySettings): IdentityClaims {
  const email = claims["email"];
  const isVerified = claims["email_verified"] === true && typeof email === "string";
  const named = roleClaim === null ? [] : claims[roleClaim];
  const groups = Array.isArray(named) ? named : [named];
  return {
    identity: JSON.stringify([claims.iss, claims.sub]),
    verifiedEmail: isVerified ? email.toLowerCase() : null,
    groups: groups.filter((group) => typeof group === "string"),
  };
}
