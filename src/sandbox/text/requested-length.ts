/** How long an answer the prompt asks for. */
export interface WantedLength {
  /** Words between spaces, or Chinese characters. */
  unit: "words" | "characters";
  count: number;
}

const WORDS = /(?<![\d.,])(\d{1,3}(?:,\d{3})+|\d{1,7})[\s-]+words?\b/i;
const CHARACTERS = /(?<!\d)(\d{1,7})\s*[个個]?\s*(?:汉|漢)?[字词詞]/;

/** Finds "50 words", "a 1,000-word essay", "50字" or "50个字"; null when the prompt names no length. */
export function readWantedLength(prompt: string): WantedLength | null {
  const words = WORDS.exec(prompt)?.[1];
  if (words !== undefined) return { unit: "words", count: Number(words.replaceAll(",", "")) };
  const characters = CHARACTERS.exec(prompt)?.[1];
  return characters === undefined ? null : { unit: "characters", count: Number(characters) };
}
