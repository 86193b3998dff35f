import { clearMergeCache, countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { CountReply, CountRequest } from "./index.ts";

/* Counts texts one after the other, in a thread that has the tokenizer's tables in memory. */

declare const self: Worker;

self.onmessage = ({ data: { id, text } }: MessageEvent<CountRequest>) => {
  const reply: CountReply = { id, tokens: countPieces(text) };
  postMessage(reply);
};

/** Length of a piece in UTF-16 code units. For a piece without spaces, the time grows with the square of its length. */
const PIECE_UNITS = 512;
/** Lets the library count names of special tokens, such as `<|endoftext|>`. By default these names make it throw. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

function countPieces(text: string): number {
  let tokens = 0;
  for (let from = 0; from < text.length;) {
    const to = endOfPiece(text, from);
    tokens += countTokens(text.slice(from, to), AS_TEXT);
    from = to;
  }
  // The cache is cleared, because callers' texts must not stay in memory after the count.
  clearMergeCache();
  return tokens;
}

/**
 * Returns the position before the piece's last space, because the tokenizer counts a space with the word after it. For
 * a piece without a space, and for the last piece, returns its end.
 */
function endOfPiece(text: string, from: number): number {
  const end = from + PIECE_UNITS;
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(" ", end);
  return space > from ? space : end;
}
