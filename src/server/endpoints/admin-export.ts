import { operatorMessage } from "../../domain/operator-message.ts";
import { AdminError } from "../../admin/admin-error.ts";
import {
  exportList,
  listOperation,
  type ExportFormat,
  type ExportName,
} from "../../admin/exports/exports.ts";
import { requireAccess } from "../../admin/operation.ts";
import { queryOf, suspendIdleTimeout } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import type { Administration } from "../signed-in.ts";
import { MemberSlots } from "../member-slots.ts";
import { memberRoute } from "./member-route.ts";

const TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/jsonl; charset=utf-8",
};

/**
 * Maximum number of exports that run at the same time, for one member and for the process. Each export reads the
 * database while it runs.
 */
const MOST = { ofMember: 4, ofAll: 32 };

/** Serves lists as files. A file has all entries that match a filter. Each entry is sent as soon as it is read. */
export function exportRoute(admin: Administration): HttpRoute {
  const slots = new MemberSlots(MOST, operatorMessage("error.busy.exports", {}));
  const needs = { method: "GET", path: "/export/{name}", role: "viewer", reach: "organization" } as const;
  return memberRoute(admin, "admin.export", needs, async (context, exchange) => {
    const name = exchange.parameter;
    const operation = listOperation(name);
    if (context.signedIn) requireAccess(operation, context.signedIn);
    const { format = "csv", ...filter } = Object.fromEntries(queryOf(exchange.request.url));
    if (format !== "csv" && format !== "json")
      throw new AdminError(400, "format", "format must be csv or json");
    const release = slots.take(context.signedIn?.member.id ?? "");
    const pieces = await exportList(context, name as ExportName, { ...filter, format }).catch(
      (error: unknown) => {
        release();
        throw error;
      },
    );
    const end = async (): Promise<void> => {
      release();
      await pieces.return(undefined).catch(() => {});
    };
    exchange.request.signal.addEventListener("abort", () => void end(), { once: true });
    suspendIdleTimeout(exchange);
    const file = `${[name, ...rangeOf(filter)].join("-")}.${format === "csv" ? "csv" : "jsonl"}`;
    return new Response(streamOf(pieces, end), {
      headers: {
        ...baseHeaders(exchange.requestId),
        "content-type": TYPES[format],
        "content-disposition": `attachment; filename="${file}"`,
      },
    });
  });
}

/** Returns the days of a time range, for the file's name. */
function rangeOf({ from, to }: Record<string, string>): string[] {
  const days = [from, to].map((time) => (time === undefined ? "" : /^[\d-]{4,10}/.exec(time)?.[0]) ?? "");
  return days.some(Boolean) ? [days[0] || "start", "to", days[1] || "now"] : [];
}

/** Streams the pieces, each made only after the client has taken the previous one. Calls `end` in any case. */
function streamOf(pieces: AsyncGenerator<string>, end: () => Promise<void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(client) {
        try {
          const { done, value } = await pieces.next();
          if (!done) return client.enqueue(encoder.encode(value));
          await end();
          client.close();
        } catch (error) {
          await end();
          throw error;
        }
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  );
}
