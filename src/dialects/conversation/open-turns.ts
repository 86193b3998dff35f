import type { AssistantPart, TextPart, ToolResult, Turn, UserPart } from "./request.ts";

/** A turn while it is read. Results of calls stand before the user's other parts. */
interface OpenTurn {
  role: Turn["role"];
  results: ToolResult[];
  parts: (TextPart | UserPart | AssistantPart)[];
}

/** Turns in the order of their reading, neighbours of one side joined. Takes time linear in the parts. */
export class OpenTurns {
  readonly #turns: OpenTurn[] = [];
  /** Position of the last turn of the assistant; -1 before one. */
  #lastAssistant = -1;

  get isEmpty(): boolean {
    return this.#turns.length === 0;
  }

  /** A turn without parts is left out. */
  add({ role, parts }: Turn): void {
    if (parts.length === 0) return;
    const last = this.#turns.at(-1);
    const turn = last?.role === role ? last : this.#insert(this.#turns.length, role);
    for (const part of parts) turn.parts.push(part);
    if (role === "assistant") this.#lastAssistant = this.#turns.length - 1;
  }

  /** Puts the result of a call into the user's turn after the last turn of the assistant, even where others follow. */
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
