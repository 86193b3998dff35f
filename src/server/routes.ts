import type { Scope } from "../domain/api-key.ts";
import type { GatewayError } from "../domain/gateway-error.ts";
import type { ClientDisconnected } from "../gateway/routing/call.ts";
import type { AuthenticatedExchange, HttpExchange } from "./http-exchange.ts";

/** Which shape an error takes. */
export type ErrorFamily = "chat" | "images" | "native";

/** One way in. A route is either behind the door, with the scope it asks for, or open for a named reason. */
export type Route = {
  method: "GET" | "POST";
  /** A path, or one with a single `{…}` part. */
  path: string;
  /** Name in logs and metrics. */
  name: string;
  family: ErrorFamily;
} & (
  | {
      auth: "key";
      /** The scope a key needs; null where any key will do. */
      scope: Scope | null;
      /** Headers besides `Authorization` in which the key may stand. */
      keyHeaders?(headers: Headers): readonly string[];
      handle(exchange: AuthenticatedExchange): RouteResult | Promise<RouteResult>;
    }
  | {
      auth: "public";
      /** Why nobody is asked for a key. */
      because: string;
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

export interface RouteMatch {
  route: Route;
  parameter: string;
}

/** A path that is known, but not by this method. Where several protocols share it, it is in none's words. */
export interface OtherMethods {
  allow: string[];
  family: ErrorFamily;
}

/** Finds routes by path; the query is not its business. */
export class RouteTable {
  readonly #exact = new Map<string, Route[]>();
  readonly #patterns: { before: string; after: string; route: Route }[] = [];

  constructor(readonly routes: readonly Route[]) {
    for (const route of routes) {
      const [before = "", after] = route.path.split(/\{[a-z]+\}/);
      if (after === undefined) this.#exact.set(before, [...(this.#exact.get(before) ?? []), route]);
      else this.#patterns.push({ before, after, route });
    }
  }

  /** The route, the methods the path does know, or null for an unknown path. HEAD is answered as GET. */
  find(method: string, path: string): RouteMatch | OtherMethods | null {
    const found = this.#exact.get(path)?.map((route) => ({ route, parameter: "" })) ?? this.#match(path);
    const [first] = found;
    if (!first) return null;
    const wanted = method === "HEAD" ? "GET" : method;
    const match = found.find(({ route }) => route.method === wanted);
    if (match) return match;
    const { family } = first.route;
    const isShared = found.some(({ route }) => route.family !== family);
    return { allow: found.map(({ route }) => route.method), family: isShared ? "images" : family };
  }

  #match(path: string): RouteMatch[] {
    const matches: RouteMatch[] = [];
    for (const { before, after, route } of this.#patterns) {
      if (!path.startsWith(before) || !path.endsWith(after) || path.length <= before.length + after.length)
        continue;
      const parameter = decoded(path.slice(before.length, path.length - after.length));
      if (parameter !== null) matches.push({ route, parameter });
    }
    return matches;
  }
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
