import type { ImageReply } from "../../domain/image.ts";
import { saneCount } from "../../domain/usage.ts";

/** The usage of an image call from a vendor's counts; undefined when input or output is missing or impossible. */
export function readImageUsage(input: unknown, output: unknown, total: unknown): ImageReply["usage"] {
  const counts = { input: saneCount(input), output: saneCount(output) };
  if (counts.input === null || counts.output === null) return undefined;
  return {
    input: counts.input,
    output: counts.output,
    total: saneCount(total) ?? counts.input + counts.output,
  };
}
