import type { GatewayError } from "../../domain/gateway-error.ts";
import type { TokenUsage, UsagePolicy } from "../../domain/usage.ts";
import type { TextStream } from "../dialect.ts";
import { Delivered } from "./translated-stream.ts";
import { eventsOf, type Reply, type ReplyWriter } from "./reply.ts";

/** The stream of a whole reply, for a caller that requested a stream. One `push` returns all events. */
export class WholeStream implements TextStream {
  readonly #reply: Reply;
  readonly #writer: ReplyWriter;
  readonly #delivered: Delivered;
  isDone = false;

  constructor(reply: Reply, writer: ReplyWriter, policy: UsagePolicy) {
    this.#reply = reply;
    this.#writer = writer;
    this.#delivered = new Delivered(policy);
  }

  get hasContent(): boolean {
    return this.#delivered.hasContent;
  }

  get lack(): TextStream["lack"] {
    return this.#delivered.isEmpty ? "empty" : null;
  }

  push(): Uint8Array {
    let output = "";
    if (this.isDone) return Buffer.from(output);
    for (const event of eventsOf(this.#reply)) {
      this.#delivered.add(event);
      if (event.type !== "usage") output += this.#writer.write(event);
    }
    this.isDone = true;
    return Buffer.from(output);
  }

  end(): Uint8Array {
    return Buffer.from(this.#writer.end(this.usage()));
  }

  get text(): string {
    return this.#delivered.text;
  }

  usage(): TokenUsage {
    return this.#delivered.usage(this.isDone);
  }

  errorFrame(error: GatewayError): Uint8Array {
    return Buffer.from(this.#writer.fail(error));
  }
}
