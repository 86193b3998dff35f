import { AdminError } from "../admin/admin-error.ts";
import type { AdminContext } from "../admin/context.ts";
import { isAtLeast } from "../admin/roles.ts";
import type { SignedIn } from "../admin/sessions.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import { readMember, requireSameSite } from "./endpoints/admin.ts";

/** The header with which the console's playground names a key by its id, instead of sending its secret. */
export const PLAYGROUND_KEY = "x-gateway-playground-key";

/**
 * Finds the hash of the key that a request of the console may use: its session belongs to an administrator of the key's
 * organization, and the request comes from the console's own origin. Throws `authentication_required` otherwise.
 */
export type PlaygroundKeys = (request: Request, keyId: string) => Promise<string>;

export function playgroundKeys(context: Pick<AdminContext, "store" | "clock">): PlaygroundKeys {
  return async (request, keyId) => {
    const { access } = await readConsoleMember(context, request).catch(asRefusal);
    const key = await context.store.keys.get(keyId);
    const isTheirs =
      key && (access.organizations === "*" || access.organizations.includes(key.organizationId));
    if (!isTheirs) throw refusal("There is no key with this id that you administer.");
    if (!isAtLeast(access.role, "admin"))
      throw refusal("Using a key in the playground needs the role admin.");
    return key.hash;
  };
}

/** Reading is checked like changing, because a job can be cancelled by a GET. */
async function readConsoleMember(
  context: Pick<AdminContext, "store" | "clock">,
  request: Request,
): Promise<SignedIn> {
  requireSameSite(request);
  return await readMember(context, request);
}

function asRefusal(error: unknown): never {
  throw error instanceof AdminError
    ? refusal(`The playground's request is refused: ${error.message}.`)
    : error;
}

function refusal(message: string): GatewayError {
  return new GatewayError("authentication_required", message);
}
