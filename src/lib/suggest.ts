/** Maximum length of a compared word: the time grows with the product of both lengths, and the words are untrusted. */
const MAX_LENGTH = 100;

/** Returns the candidate most similar to a mistyped word, or undefined when none is similar enough. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance && distance < Math.max(wanted.length, candidate.length)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns the figure `meant` of a sentence, the most similar candidate; no figure when no candidate is similar. */
export function meantBy(word: string, candidates: Iterable<string>): { meant: string } | null {
  const meant = suggest(word, candidates);
  return meant === undefined ? null : { meant };
}

/** Returns the end of an error message: `; did you mean "port"?`, or an empty text when no candidate is similar. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const meant = suggest(word, candidates);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}

/**
 * Returns the number of insertions, deletions, replacements and swaps of adjacent characters that turn one word into
 * the other (Damerau-Levenshtein).
 */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let distance = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      );
      const isSwap =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
