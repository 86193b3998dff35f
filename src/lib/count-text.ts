/**
 * Returns a count with its noun, or with the words of a sentence that agree with it: `1 picture`, `2 entries`, `3 charges
 * are`. The plural may be left out when it only adds an `s`.
 */
export function countText(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
