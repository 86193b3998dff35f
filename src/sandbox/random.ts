/** Pseudo-random numbers. The same seed gives the same numbers on every machine. */
export interface Random {
  /** Returns a number that is at least 0 and less than 1. */
  next(): number;
  /** Returns an integer that is at least 0 and less than `limit`. */
  below(limit: number): number;
  pick<Choice>(choices: readonly [Choice, ...Choice[]]): Choice;
}

const GOLDEN_STEP = 0x9e3779b9;

/** Returns a generator. All `parts`, in order, make up its seed. */
export function createRandom(...parts: readonly (string | number)[]): Random {
  let state = hashNumber(...parts);
  const next = () => {
    state = (state + GOLDEN_STEP) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { next, below, pick: (choices) => choices[below(choices.length)] ?? choices[0] };
}

/** Returns a 32-bit hash of texts and numbers. */
export function hashNumber(...parts: readonly (string | number)[]): number {
  return Bun.hash.xxHash32(parts.join("\u0000"));
}
