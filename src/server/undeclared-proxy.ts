import { plainAddress, type AddressList } from "../lib/cidr.ts";
import type { HttpExchange } from "./http-exchange.ts";

/** Detects requests of members through an undeclared proxy. All clients of such a proxy seem to have one address. */
export class UndeclaredProxy {
  /** The warning; null until a member's request has come through an undeclared proxy. */
  message: string | null = null;
  readonly #trusted: AddressList;
  readonly #onProblem: (message: string, cause: unknown) => void;

  constructor(trusted: AddressList, onProblem: (message: string, cause: unknown) => void) {
    this.#trusted = trusted;
    this.#onProblem = onProblem;
  }

  notice({ request, server }: HttpExchange): void {
    if (this.message !== null || !request.headers.has("x-forwarded-for")) return;
    const peer = plainAddress(server.requestIP(request)?.address ?? "");
    if (this.#trusted.has(peer)) return;
    this.message = `A request from ${peer} names another client in X-Forwarded-For, which is ignored: sign-ins and connections of all clients behind that proxy count as one. Name your proxies in TRUSTED_PROXIES.`;
    this.#onProblem(this.message, null);
  }
}
