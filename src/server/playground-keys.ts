import { operatorMessage } from "../domain/operator-message.ts";
import { AdminError } from "../admin/admin-error.ts";
import { requireAccess } from "../admin/operation.ts";
import { scopedStore } from "../admin/scoped/store.ts";
import { isObject } from "../lib/json.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { Actor } from "../admin/actor.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { requireSameOrigin } from "./session-cookie.ts";
import { originOf, readConsoleMember, type Administration } from "./signed-in.ts";
import type { KeyRecord } from "../admin/keys/schema.ts";

/** The header in which the console's playground sends the id of a key instead of its secret. */
export const PLAYGROUND_KEY = "x-gateway-playground-key";

/**
 * Returns the hash of the key that a request of the console may use, and writes the member into the exchange. The
 * session must belong to an administrator of the key's organization, and the request must come from the console's own
 * origin. Otherwise throws `authentication_required`. The first use of a key in a session writes an audit row.
 */
export type PlaygroundKeys = (exchange: HttpExchange, keyId: string) => Promise<string>;

/** Maximum number of audited uses that a process remembers. Any other use is looked up in the audit. */
const MAX_REMEMBERED = 10_000;

export function playgroundKeys(admin: Administration): PlaygroundKeys {
  const audited = new Map<string, Promise<void>>();

  /** Ensures that the use is audited. Every request of the session waits for the row before a vendor is called. */
  async function audit(use: Use): Promise<void> {
    const name = `${use.sessionId} ${use.key.id}`;
    let noted = audited.get(name);
    if (!noted) {
      if (audited.size >= MAX_REMEMBERED) audited.clear();
      audited.set(name, (noted = noteUse(admin, use)));
      noted.catch(() => audited.delete(name));
    }
    await noted;
  }

  return async (exchange, keyId) => {
    try {
      // A GET is checked like a change, because it can cancel a job.
      requireSameOrigin(admin, exchange);
      const signedIn = await readConsoleMember(admin, exchange, new Headers());
      requireAccess({ role: "admin", reach: "organization" }, signedIn);
      const key = await scopedStore(admin.context.store, signedIn).keys.get(keyId);
      if (!key) throw new AdminError(404, null, operatorMessage("error.playgroundKey", {}));
      const { member, session } = signedIn;
      const by = { actor: member.name, source: `http/${originOf(admin, exchange).address}` };
      await audit({ by, key, sessionId: session?.id ?? "" });
      exchange.source = `playground/${member.name}`;
      return key.hash;
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      const message = `The playground's request is refused: ${error.message}.`;
      throw new GatewayError("authentication_required", message);
    }
  };
}

interface Use {
  by: Actor;
  key: KeyRecord;
  sessionId: string;
}

/** Writes the audit row for a session and a key, unless the row was written earlier, maybe by another process. */
async function noteUse({ context: { store } }: Administration, { by, key, sessionId }: Use): Promise<void> {
  const act = { kind: "key", action: "use" } as const;
  const earlier = await store.audit.list({ ...act, actor: by.actor, subject: key.id, limit: LAST_USES });
  if (earlier.some(({ after }) => isObject(after) && after["session"] === sessionId)) return;
  const { id: subject, organizationId } = key;
  await store.audit.note({ ...act, by, subject, organizationId, detail: { session: sessionId } });
}

/** Number of recent uses to search. A member has few in a session, which ends after some hours. */
const LAST_USES = 100;
