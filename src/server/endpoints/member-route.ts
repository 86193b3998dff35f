import { AdminError } from "../../admin/admin-error.ts";
import type { OperationContext } from "../../admin/context.ts";
import { requireAccess, type Operation } from "../../admin/operation.ts";
import { scopedStore } from "../../admin/scoped/store.ts";
import type { HttpExchange } from "../http-exchange.ts";
import { adminErrorBody, baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { readCaller, type Administration } from "../signed-in.ts";

/** Handles a member's request. Returns an object to send as JSON, or a `Response`. */
type Act = (context: OperationContext, exchange: HttpExchange) => Promise<object>;

/** Returns a route below `/admin/v1` for members with a role. `act` gets a store of their organizations' rows. */
export function memberRoute(
  admin: Administration,
  name: string,
  needs: Pick<Operation, "method" | "path" | "role" | "reach" | "beforePasswordChange">,
  act: Act,
): HttpRoute {
  const { method, path, role, reach } = needs;
  return {
    method,
    path: `/admin/v1${path}`,
    name,
    family: "admin",
    auth: "member",
    role,
    reach,
    handle: (exchange) =>
      rendered(exchange, async () => {
        const headers = new Headers(baseHeaders(exchange.requestId));
        const { signedIn, by } = await readCaller(admin, exchange, headers);
        requireAccess(needs, signedIn);
        const store = scopedStore(admin.context.store, signedIn);
        const context = { ...admin.context, store, by, signedIn };
        const result = await act(context, exchange);
        return result instanceof Response ? result : Response.json(result, { headers });
      }),
  };
}

/** Runs the handler of an administrative request. Renders an `AdminError`; other errors are thrown unchanged. */
export async function rendered(
  { requestId }: HttpExchange,
  respond: () => Promise<Response>,
): Promise<Response> {
  try {
    return await respond();
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const { status, field, message, more, code, figures } = error;
    const headers: Record<string, string> = baseHeaders(requestId);
    if (more.retryAfterSeconds !== undefined) headers["retry-after"] = String(more.retryAfterSeconds);
    const body = adminErrorBody(status, message, { field, requestId, ...more, code, figures });
    return Response.json(body, { status, headers });
  }
}
