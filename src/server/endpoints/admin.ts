import { operatorMessage } from "../../domain/operator-message.ts";
import { readOperation, type Cost, type Operation } from "../../admin/operation.ts";
import { operations } from "../../admin/operations.ts";
import { runOnce } from "../admin-idempotency.ts";
import type { BodyLimits } from "../entrance/body.ts";
import { suspendIdleTimeout, type HttpExchange } from "../http-exchange.ts";
import { idempotencyKeyOf } from "../entrance/idempotency.ts";
import { MemberSlots } from "../member-slots.ts";
import type { HttpRoute } from "../routes.ts";
import type { Administration } from "../signed-in.ts";
import { exportRoute } from "./admin-export.ts";
import { readInputOf } from "./admin-input.ts";
import { memberRoute } from "./member-route.ts";
import { signInRoutes } from "./admin-sign-in.ts";

/** Maximum number of reports that run at the same time, for one member and for the process. */
const MAX_REPORTS = { ofMember: 16, ofAll: 64 };
/** Maximum number of verifications. A second one at the same time would give the same result. */
const MAX_VERIFICATIONS = { ofMember: 1, ofAll: 1 };

/** Returns one route for each operation of administration, and the routes for exports and for signing in. */
export function adminRoutes(admin: Administration, limits: BodyLimits): HttpRoute[] {
  const slotOf = costSlots();
  const mounted = Object.entries(operations).map(([name, operation]: [string, Operation]) =>
    memberRoute(admin, `admin.${name}`, operation, async (context, exchange) => {
      const input = await readInputOf(exchange, operation, limits);
      using _slot = slotOf(operation.cost, exchange, context.signedIn?.member.id ?? "");
      const act = readOperation(operation, context, input);
      const key = operation.method === "POST" ? idempotencyKeyOf(exchange.request) : null;
      if (key === null) return await act();
      const { signedIn } = context;
      return await runOnce(admin, exchange, { key, signedIn, input }, act);
    }),
  );
  return [...mounted, exportRoute(admin), ...signInRoutes(admin, limits)];
}

/**
 * Returns the slots of expensive operations, which read more than a page. Taking a slot throws 429 when no slot is
 * free. Disposing of a slot releases it.
 */
function costSlots() {
  const slots = {
    report: new MemberSlots(MAX_REPORTS, operatorMessage("error.busy.reports", {})),
    verification: new MemberSlots(
      MAX_VERIFICATIONS,
      "a verification runs in this process: wait until it has ended",
    ),
  };
  return (cost: Cost, exchange: HttpExchange, memberId: string): Disposable => {
    if (cost === "page") return { [Symbol.dispose]: () => {} };
    const release = slots[cost].take(memberId);
    suspendIdleTimeout(exchange);
    return { [Symbol.dispose]: release };
  };
}
