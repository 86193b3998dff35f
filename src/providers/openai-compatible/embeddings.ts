import { MAX_VECTOR_BYTES, tooManyNumbers } from "../../dialects/embeddings/index.ts";
import type { EmbeddingUpstream } from "../../gateway/upstreams.ts";
import type { Cancellation } from "../../lib/waiting.ts";
import { isObject } from "../../lib/json.ts";
import {
  brokenResponse,
  parseResponse,
  post,
  readPieces,
  requestIdOf,
  type VendorResponse,
} from "../transport/http.ts";
import type { OpenAiConnection } from "./connection.ts";
import { hasError } from "./errors.ts";

/** Embeddings. Does not change the texts of request and response, and does not parse the numbers of the vectors. */
export function createOpenAiEmbeddings(connection: OpenAiConnection): EmbeddingUpstream {
  return {
    async embed({ raw, upstreamModel, signal }) {
      const url = connection.urlOf("embeddings", () => upstreamModel);
      const request = { url, headers: connection.jsonHeaders, body: raw, signal };
      const response = await post(request, connection.errors.classify);
      const vectors = await readVectors(response, signal);
      const { text } = vectors;
      const parsed = parseResponse(text);
      if (hasError(parsed)) throw connection.errors.classify(response, vectors.restore(text));
      if (!isObject(parsed)) throw brokenResponse("gave no object");
      const restore = (edited: string) => vectors.restore(edited);
      return { kind: "whole", text, parsed, restore, requestId: requestIdOf(response) };
    },
  };
}

async function readVectors(response: VendorResponse, signal: Cancellation): Promise<NumberLists> {
  if (Number(response.headers.get("content-length")) > MAX_VECTOR_BYTES) {
    await response.body?.cancel().catch(() => {});
    throw tooManyNumbers();
  }
  const vectors = new NumberLists();
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const piece of readPieces(response, Number.POSITIVE_INFINITY, signal)) {
    bytes += piece.byteLength;
    if (bytes > MAX_VECTOR_BYTES) throw tooManyNumbers();
    vectors.push(decoder.decode(piece, { stream: true }));
  }
  return vectors;
}

/** Matches a list of numbers and nothing else. */
const LIST = /\[[-+.,\d\seE]+\]/g;
const PLACEHOLDER = /\[(\d+)\]/g;
/** A list that is still open at the end of a piece stays in the text if it is this long; other lists are replaced. */
const MAX_LIST_CHARACTERS = 256 * 1024;

/**
 * Replaces lists of numbers in JSON that arrives in pieces. In `text`, a list contains only its index. So the text can
 * be parsed and edited even if there are millions of numbers. Lists inside strings are replaced too.
 */
export class NumberLists {
  readonly #lists: string[] = [];
  #text = "";
  /** The start of a list that is still incomplete. */
  #rest = "";

  push(piece: string): void {
    const text = this.#rest + piece;
    const open = text.lastIndexOf("[");
    const isOpen = open >= 0 && !text.includes("]", open) && text.length - open < MAX_LIST_CHARACTERS;
    const end = isOpen ? open : text.length;
    this.#text += text.slice(0, end).replace(LIST, (list) => `[${this.#lists.push(list) - 1}]`);
    this.#rest = text.slice(end);
  }

  /** The text so far. In each replaced list, the index of the list is in place of the numbers. */
  get text(): string {
    return this.#text + this.#rest;
  }

  /** Returns the text with the numbers of each list restored. */
  restore(text: string): string {
    return text.replace(PLACEHOLDER, (placeholder, index) => this.#lists[Number(index)] ?? placeholder);
  }
}
