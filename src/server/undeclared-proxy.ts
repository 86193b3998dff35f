import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";
import { plainAddress, type AddressList } from "../lib/cidr.ts";
import type { HttpExchange } from "./http-exchange.ts";

/** Detects requests of members through an undeclared proxy. All clients of such a proxy seem to have one address. */
export class UndeclaredProxy {
  /** Address of the proxy; null until a member's request has come through an undeclared proxy. */
  peer: string | null = null;
  readonly #trusted: AddressList;
  readonly #onProblem: (message: string, cause: unknown) => void;

  constructor(trusted: AddressList, onProblem: (message: string, cause: unknown) => void) {
    this.#trusted = trusted;
    this.#onProblem = onProblem;
  }

  notice({ request, server }: HttpExchange): void {
    if (this.peer !== null || !request.headers.has("x-forwarded-for")) return;
    const peer = plainAddress(server.requestIP(request)?.address ?? "");
    if (this.#trusted.has(peer)) return;
    this.peer = peer;
    this.#onProblem(this.message.message, null);
  }

  /** The warning, once there is a proxy. */
  get message(): OperatorMessage {
    return operatorMessage("part.proxy", { peer: this.peer ?? "" });
  }
}
