import { AdminError } from "../../admin/admin-error.ts";
import { LiveEvents, type LiveEvent } from "../../admin/overview/live-events.ts";
import { endOf } from "../../admin/sign-in/sessions.ts";
import type { SignedIn } from "../../admin/sign-in/signed-in.ts";
import { suspendIdleTimeout } from "../http-exchange.ts";
import type { Lifecycle } from "../endpoint.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import type { Administration } from "../signed-in.ts";
import { MemberSlots } from "../member-slots.ts";
import { memberRoute } from "./member-route.ts";
import { every } from "../../lib/waiting.ts";

/** Maximum number of connections to one process: of one member, and of all members. */
const MOST = { ofMember: 10, ofAll: 200 };
const CHECK_MS = 1_000;
/** Number of checks between two SSE comments. Proxies close connections that are silent for too long. */
const COMMENT_CHECKS = 15;
/** Number of connection checks for each check of the session. */
const SESSION_CHECKS = 3;

/** Sends the console server-sent events about changes, so that the console reloads only the changed data. */
export function eventsRoute(admin: Administration, lifecycle: Lifecycle): HttpRoute {
  const events = new LiveEvents(admin.context);
  const slots = new MemberSlots(MOST, "too many connections follow the events");
  const needs = { method: "GET", path: "/events", role: "viewer", reach: "organization" } as const;
  return memberRoute(admin, "admin.events", needs, async ({ signedIn }, exchange) => {
    if (!signedIn?.session)
      throw new AdminError(403, null, "this needs a session: an admin token is not enough");
    const close = slots.take(signedIn.member.id);
    suspendIdleTimeout(exchange);
    const isOver = () => lifecycle.phase !== "serving";
    const body = streamOf(admin, { events, signedIn, isOver, close, signal: exchange.request.signal });
    return new Response(body, {
      headers: {
        ...baseHeaders(exchange.requestId),
        "content-type": "text/event-stream; charset=utf-8",
        "x-accel-buffering": "no",
      },
    });
  });
}

interface Following {
  events: LiveEvents;
  signedIn: SignedIn;
  /** True when the server is about to stop. */
  isOver(): boolean;
  /** Called once, when the connection has ended. */
  close(): void;
  signal: AbortSignal;
}

function streamOf(admin: Administration, following: Following): ReadableStream<Uint8Array> {
  const { events, signedIn, isOver, close, signal } = following;
  const encoder = new TextEncoder();
  let end = (): void => {};
  return new ReadableStream<Uint8Array>({
    start(client) {
      const send = (text: string): void => client.enqueue(encoder.encode(text));
      const unfollow = events.follow((event) => {
        // A client that does not read loses the events beyond its buffer. When it reconnects, it reloads all data.
        const data = dataFor(signedIn, event);
        if ((client.desiredSize ?? 0) > -MAX_WAITING && data !== null)
          send(`event: ${event.kind}\ndata: ${JSON.stringify(data)}\n\n`);
      });
      let checks = 0;
      const check = (): void => {
        checks += 1;
        if (isOver() || signal.aborted) return end();
        if (checks % COMMENT_CHECKS === 0) send(": still here\n\n");
        if (checks % SESSION_CHECKS === 0)
          hasSession(admin, signedIn).then(
            (isOpen) => !isOpen && end(),
            () => {},
          );
      };
      const checking = every(CHECK_MS, check, () => {});
      end = () => {
        end = () => {};
        void checking.stop();
        unfollow();
        close();
        try {
          client.close();
        } catch {
          // The stream is already closed, because the client has disconnected.
        }
      };
      signal.addEventListener("abort", () => end(), { once: true });
      send(": following\n\n");
    },
    cancel: () => end(),
  });
}

const MAX_WAITING = 64;

/**
 * Returns the data of an event for a member; null when the event does not concern the member. For an event of no
 * organization, members of only some organizations get an empty object, because the data may name channels.
 */
function dataFor({ access }: SignedIn, { organizationId, data }: LiveEvent): object | null {
  if (access.organizations === "*") return data;
  if (organizationId === null) return {};
  return access.organizations.includes(organizationId) ? data : null;
}

/** True while the session exists and has not ended. The check does not prolong the session. */
async function hasSession({ context }: Administration, { member, session }: SignedIn): Promise<boolean> {
  const sessions = await context.store.sessions.list(member.id);
  const own = sessions.find(({ id }) => id === session?.id);
  return own !== undefined && context.clock.now() <= endOf(own);
}
