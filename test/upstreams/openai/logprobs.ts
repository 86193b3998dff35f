/** Returns log probabilities. Each piece counts as a token with this number of alternatives (OpenAI chat reference). */
export function logprobsOf(pieces: readonly string[], alternatives: number): object[] {
  const names = Array.from({ length: alternatives }, (_, index) => `other${index}`);
  return pieces.map((piece) => ({
    ...entry(piece, -0.25),
    top_logprobs: names.map((name, index) => entry(name, -1 - index)),
  }));
}

function entry(token: string, logprob: number): object {
  return { token, logprob, bytes: [...Buffer.from(token)] };
}
