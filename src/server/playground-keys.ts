import { AdminError } from "../admin/admin-error.ts";
import { requireAccess } from "../admin/operation.ts";
import { scopedStore } from "../admin/scoped-store.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { requireSameOrigin } from "./session-cookie.ts";
import { readConsoleMember, type Administration } from "./signed-in.ts";

/** The header with which the console's playground names a key by its id, instead of sending its secret. */
export const PLAYGROUND_KEY = "x-gateway-playground-key";

/**
 * Finds the hash of the key that a request of the console may use: its session belongs to an administrator of the key's
 * organization, and the request comes from the console's own origin. Throws `authentication_required` otherwise.
 */
export type PlaygroundKeys = (exchange: HttpExchange, keyId: string) => Promise<string>;

export function playgroundKeys(admin: Administration): PlaygroundKeys {
  return async (exchange, keyId) => {
    try {
      // Reading is checked like changing, because a job can be cancelled by a GET.
      requireSameOrigin(admin, exchange);
      const signedIn = await readConsoleMember(admin, exchange, new Headers());
      requireAccess({ role: "admin", reach: "organization" }, signedIn);
      const key = await scopedStore(admin.context.store, signedIn).keys.get(keyId);
      if (!key) throw new AdminError(404, null, "there is no key with this id that you administer");
      return key.hash;
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      const message = `The playground's request is refused: ${error.message}.`;
      throw new GatewayError("authentication_required", message);
    }
  };
}
