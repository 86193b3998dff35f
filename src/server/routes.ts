import type { Role } from "../admin/roles.ts";
import type { Scope } from "../domain/api-key.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import type { LimitedPipeline } from "../gateway/admission/limit-grant.ts";
import type { ClientDisconnected } from "../gateway/routing/call.ts";
import type { AuthenticatedExchange, HttpExchange } from "./http-exchange.ts";

/** The shape of a route's errors. */
export type ErrorFamily = "chat" | "messages" | "responses" | "images" | "native" | "admin";

/** An endpoint: one that needs a key with a scope, or a public one with the reason for it. */
export type Route = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /** A path, or one with a single `{…}` part. */
  path: string;
  /** Name in logs and metrics. */
  name: string;
  family: ErrorFamily;
  /** Whether the `{…}` part may be this; any may where it is absent. */
  takes?(parameter: string): boolean;
  /** The route that serves an exchange in place of this one, by its path or headers; null for this one. */
  routeFor?(exchange: HttpExchange): Route | null;
  /** Served by an overloaded server, too. */
  isProbe?: true;
} & (
  | {
      auth: "key";
      /** The scope a key needs; null where any key will do. */
      scope: Scope | null;
      /** What the request counts in the limits before its body is read; absent where nothing is limited. */
      pipeline?: LimitedPipeline;
      /** Keeps the outcomes of requests with an idempotency key by itself. */
      keepsOutcomes?: true;
      /** Headers besides `Authorization` in which the key may stand. */
      keyHeaders?(headers: Headers): readonly string[];
      handle(exchange: AuthenticatedExchange): RouteResult | Promise<RouteResult>;
    }
  | {
      auth: "public";
      /** Why it needs no key. */
      because: string;
      handle(exchange: HttpExchange): RouteResult | Promise<RouteResult>;
    }
  | {
      /** For who is signed in to administer; the endpoint checks that itself. */
      auth: "member";
      /** What it needs: the least role, and whether it concerns what all organizations share. */
      role: Role;
      reach: "organization" | "installation";
      handle(exchange: HttpExchange): RouteResult | Promise<RouteResult>;
    }
);

/** A response that goes on after its handler has returned. */
export interface StreamedResponse {
  response: Response;
  /** Resolves once, when the last byte has gone or never will: with what ended it early, or null. */
  ended: Promise<GatewayError | ClientDisconnected | null>;
}

export type RouteResult = Response | StreamedResponse;

interface RouteMatch {
  route: Route;
  parameter: string;
}

/** The methods of a known path that was called with another one. */
export interface OtherMethods {
  allow: string[];
  family: ErrorFamily;
}

/** Finds routes by method and path, without the query. */
export class RouteTable {
  readonly #exact = new Map<string, Route[]>();
  readonly #patterns: { before: string; after: string; route: Route }[] = [];

  constructor(readonly routes: readonly Route[]) {
    for (const route of routes) {
      const [before = "", after] = route.path.split(/\{[a-zA-Z]+\}/);
      if (after === undefined) this.#exact.set(before, [...(this.#exact.get(before) ?? []), route]);
      else this.#patterns.push({ before, after, route });
    }
  }

  /** The routes by the pattern of their target in the runtime's router, which compares targets as they were sent. */
  byTarget(): Map<string, ReadonlySet<Route>> {
    const groups = Map.groupBy(this.routes, ({ path }) => path.replace(/\{.*/, "*"));
    return new Map([...groups].map(([target, routes]) => [target, new Set(routes)]));
  }

  /** The route, the methods the path has, or null for an unknown path. HEAD is handled as GET. */
  find(method: string, path: string): RouteMatch | OtherMethods | null {
    const wanted = method === "HEAD" ? "GET" : method;
    const exact = this.#exact.get(path);
    for (const route of exact ?? []) if (route.method === wanted) return { route, parameter: "" };
    const found = exact ? [] : this.#match(path);
    const match = found.find((each) => each.route.method === wanted);
    return match ?? otherMethods(exact ?? found.map((each) => each.route));
  }

  #match(path: string): RouteMatch[] {
    let matches: RouteMatch[] = [];
    let longest = 0;
    for (const { before, after, route } of this.#patterns) {
      if (!path.startsWith(before) || !path.endsWith(after) || path.length <= before.length + after.length)
        continue;
      const parameter = decoded(path.slice(before.length, path.length - after.length));
      if (parameter === null || route.takes?.(parameter) === false) continue;
      // A parameter may have slashes, so a path of a longer pattern may match a shorter one, too.
      const length = before.length + after.length;
      if (length < longest) continue;
      if (length > longest) matches = [];
      longest = length;
      matches.push({ route, parameter });
    }
    return matches;
  }
}

function otherMethods(routes: readonly Route[]): OtherMethods | null {
  const [first] = routes;
  if (!first) return null;
  const isShared = routes.some(({ family }) => family !== first.family);
  return { allow: routes.map(({ method }) => method), family: isShared ? "images" : first.family };
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
