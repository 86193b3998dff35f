import { readInput } from "../../admin/input.ts";
import { runOperation, type Operation } from "../../admin/operation.ts";
import { operations } from "../../admin/operations.ts";
import { runOnce } from "../admin-idempotency.ts";
import type { BodyLimits } from "../body-limits.ts";
import { idempotencyKeyOf } from "../idempotency.ts";
import type { Route } from "../routes.ts";
import type { Administration } from "../signed-in.ts";
import { exportRoute } from "./admin-export.ts";
import { readInputOf } from "./admin-input.ts";
import { memberRoute } from "./member-route.ts";
import { signInRoutes } from "./admin-sign-in.ts";

/** One route for each operation of administration, and those of signing in. */
export function adminRoutes(admin: Administration, limits: BodyLimits): Route[] {
  const mounted = Object.entries(operations).map(([name, operation]: [string, Operation]) =>
    memberRoute(admin, `admin.${name}`, operation, async (context, exchange) => {
      const input = await readInputOf(exchange, operation, limits);
      const act = () => runOperation(operation, context, input);
      const key = operation.method === "POST" ? idempotencyKeyOf(exchange.request) : null;
      if (key === null) return await act();
      // Before anything is made of it, so that what no operation takes costs nothing more.
      readInput(operation.input, input);
      const { signedIn } = context;
      return await runOnce(admin, exchange, { key, signedIn, input }, act);
    }),
  );
  return [...mounted, exportRoute(admin), ...signInRoutes(admin, limits)];
}
