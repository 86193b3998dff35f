import { AdminError } from "../admin/admin-error.ts";
import type { SignedIn } from "../admin/sign-in/signed-in.ts";
import { newId } from "../lib/ids.ts";
import { every } from "../lib/waiting.ts";
import { fingerprintOf } from "./entrance/fingerprint.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { baseHeaders } from "./respond.ts";
import type { Administration } from "./signed-in.ts";

const RENEWAL_MS = 20_000;

/**
 * Runs an operation once for each `Idempotency-Key` of a member. A repetition with the same input within 24 hours gets
 * the first result, including secrets. A repetition is refused while the first run continues, when its input differs,
 * and when its access differs (as with another token of the member). Failures are not stored. The stored result is
 * encrypted with the master key, because it may contain a secret.
 */
export async function runOnce(
  { outcomes, context }: Pick<Administration, "outcomes" | "context">,
  exchange: HttpExchange,
  { key, signedIn, input }: { key: string; signedIn: SignedIn | undefined; input: object },
  act: () => Promise<object>,
): Promise<object> {
  const claim = { keyId: signedIn?.member.id ?? "", key, id: newId("claim"), organizationId: null };
  const fingerprint = await fingerprintOf([exchange.path, input, { access: signedIn?.access }]);
  const claimed = await outcomes.claim(claim, fingerprint);
  const { configuration, store } = context;
  const name = { kind: "outcome", id: `${claim.keyId}/${key}`, field: "body" } as const;
  if (claimed.kind === "stored") {
    const sealed = new TextDecoder().decode(claimed.outcome.body ?? undefined);
    const body = await configuration.unseal(name, { sealed });
    if (body !== null) return replay(exchange, body);
    throw conflict(
      "the first request with this idempotency key is done; no master key here opens its result",
    );
  }
  if (claimed.kind === "other") throw conflict("this idempotency key was used with another request");
  if (claimed.kind === "running")
    throw conflict("the first request with this idempotency key is still running");
  const renewal = every(
    RENEWAL_MS,
    () => outcomes.renew(claim),
    () => {},
  );
  try {
    // Fails here, before the operation runs, if no master key could encrypt its result.
    await configuration.seal(store, name, "");
    const result = await act();
    const { sealed } = await configuration.seal(store, name, JSON.stringify(result));
    const body = new TextEncoder().encode(sealed);
    await outcomes.complete(claim, { status: 200, headers: {}, body, blob: null, bytes: body.length });
    return result;
  } catch (error) {
    await outcomes.release(claim).catch(() => {});
    throw error;
  } finally {
    await renewal.stop();
  }
}

function replay({ requestId }: HttpExchange, body: string): Response {
  const headers = {
    ...baseHeaders(requestId),
    "content-type": "application/json",
    "idempotent-replayed": "true",
  };
  return new Response(body, { headers });
}

function conflict(message: string): AdminError {
  return new AdminError(409, "Idempotency-Key", message);
}
