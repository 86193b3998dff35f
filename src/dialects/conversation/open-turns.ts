import type { AssistantPart, TextPart, ToolResult, Turn, UserPart } from "./request.ts";

/** A turn to which parts can be added. `results` come before `parts`. */
interface OpenTurn {
  role: Turn["role"];
  results: ToolResult[];
  parts: (TextPart | UserPart | AssistantPart)[];
}

/** Collects turns in reading order and joins successive turns of the same side, in linear time. */
export class OpenTurns {
  readonly #turns: OpenTurn[] = [];
  /** Index of the assistant's last turn; -1 when there is none. */
  #lastAssistant = -1;

  get isEmpty(): boolean {
    return this.#turns.length === 0;
  }

  /** Adds a turn. Ignores a turn without parts. */
  add({ role, parts }: Turn): void {
    if (parts.length === 0) return;
    const last = this.#turns.at(-1);
    const turn = last?.role === role ? last : this.#insert(this.#turns.length, role);
    for (const part of parts) turn.parts.push(part);
    if (role === "assistant") this.#lastAssistant = this.#turns.length - 1;
  }

  /** Adds a tool result to the user's turn after the assistant's last turn. Inserts this turn if it is missing. */
  addResult(result: ToolResult): void {
    if (this.#lastAssistant < 0) return this.add({ role: "user", parts: [result] });
    const next = this.#turns[this.#lastAssistant + 1];
    const turn = next?.role === "user" ? next : this.#insert(this.#lastAssistant + 1, "user");
    turn.results.push(result);
  }

  close(): Turn[] {
    return this.#turns.map(({ role, results, parts }) => {
      return { role, parts: results.length > 0 ? [...results, ...parts] : parts } as Turn;
    });
  }

  #insert(at: number, role: Turn["role"]): OpenTurn {
    const turn: OpenTurn = { role, results: [], parts: [] };
    this.#turns.splice(at, 0, turn);
    return turn;
  }
}
