/** Numbers that look random. They are the same for the same seed on every machine. */
export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number;
  /** Returns a whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  pick<Choice>(choices: readonly [Choice, ...Choice[]]): Choice;
}

const GOLDEN_STEP = 0x9e3779b9;

/** Returns a generator whose seed consists of all `parts` in order. */
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

/** Returns a 32-bit hash of text and numbers. */
export function hashNumber(...parts: readonly (string | number)[]): number {
  return Bun.hash.xxHash32(parts.join("\u0000"));
}
