import type { Role } from "../admin/roles.ts";
import type { Scope } from "../domain/api-key.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import type { LimitedPipeline } from "../gateway/admission/limit-grant.ts";
import type { ClientDisconnected } from "../gateway/routing/call.ts";
import type { AuthenticatedExchange, HttpExchange } from "./http-exchange.ts";

/** The format of a route's errors. */
export type ErrorFamily = "chat" | "messages" | "responses" | "images" | "native" | "admin";

/** An endpoint. It requires a key or a signed-in member, or it is public for the stated reason. */
export type HttpRoute = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /** The path, which may contain one `{…}` part. */
  path: string;
  /** Name of the route in logs and metrics. */
  name: string;
  family: ErrorFamily;
  /** True when the `{…}` part of the path may have this value. When absent, every value is allowed. */
  takes?(parameter: string): boolean;
  /** Returns another route that serves this exchange, chosen by path or headers; null for this route. */
  routeFor?(exchange: HttpExchange): HttpRoute | null;
  /** True for a route that an overloaded server still serves. */
  isProbe?: true;
} & (
  | {
      auth: "key";
      /** The scope that the key must have; null when any key may call the route. */
      scope: Scope | null;
      /** The pipeline whose limits count the request before its body is read; absent when no limit counts it. */
      pipeline?: LimitedPipeline;
      /** True when the endpoint itself stores the outcomes of requests with an idempotency key. */
      keepsOutcomes?: true;
      /** Returns the headers besides `Authorization` that may contain the key. */
      keyHeaders?(headers: Headers): readonly string[];
      handle(exchange: AuthenticatedExchange): RouteResult | Promise<RouteResult>;
    }
  | {
      auth: "public";
      /** The reason why the route needs no key. */
      because: string;
      handle(exchange: HttpExchange): RouteResult | Promise<RouteResult>;
    }
  | {
      /** The route is for signed-in members. The endpoint itself checks the sign-in. */
      auth: "member";
      /** The lowest accepted role. `reach` is `installation` for data that all organizations share. */
      role: Role;
      reach: "organization" | "installation";
      handle(exchange: HttpExchange): RouteResult | Promise<RouteResult>;
    }
);

/** A response whose body is still being sent after the handler has returned. */
export interface StreamedResponse {
  response: Response;
  /** Resolves when the last byte was sent or cannot be sent. The value is the error that ended the stream, or null. */
  ended: Promise<GatewayError | ClientDisconnected | null>;
}

export type RouteResult = Response | StreamedResponse;

interface RouteMatch {
  route: HttpRoute;
  parameter: string;
}

/** The allowed methods of a known path, for a request with another method. */
export interface OtherMethods {
  allow: string[];
  family: ErrorFamily;
}

/** Finds routes by method and by path without the query. */
export class RouteTable {
  readonly #exact = new Map<string, HttpRoute[]>();
  readonly #patterns: { before: string; after: string; route: HttpRoute }[] = [];

  constructor(readonly routes: readonly HttpRoute[]) {
    for (const route of routes) {
      const [before = "", after] = route.path.split(/\{[a-zA-Z]+\}/);
      if (after === undefined) this.#exact.set(before, [...(this.#exact.get(before) ?? []), route]);
      else this.#patterns.push({ before, after, route });
    }
  }

  /** Returns the routes by the pattern with which the runtime's router matches unchanged request targets. */
  byTarget(): Map<string, ReadonlySet<HttpRoute>> {
    const groups = Map.groupBy(this.routes, ({ path }) => path.replace(/\{.*/, "*"));
    return new Map([...groups].map(([target, routes]) => [target, new Set(routes)]));
  }

  /**
   * Returns the route; the allowed methods for a path that only has other methods; null for an unknown path. HEAD is
   * handled like GET.
   */
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
      // The longest matching pattern is used: a path may match several, because a parameter may contain slashes.
      const length = before.length + after.length;
      if (length < longest) continue;
      if (length > longest) matches = [];
      longest = length;
      matches.push({ route, parameter });
    }
    return matches;
  }
}

function otherMethods(routes: readonly HttpRoute[]): OtherMethods | null {
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
