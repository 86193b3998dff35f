import { type ImageTokens, type ModalityTokens, saneCount } from "../../domain/usage.ts";

/** A vendor's counts, which are untrusted and may have any type. */
interface ReportedCounts {
  input: unknown;
  output: unknown;
  inputDetails?: ReportedDetails | undefined;
  outputDetails?: ReportedDetails | undefined;
}

interface ReportedDetails {
  text: unknown;
  image: unknown;
}

/**
 * Reads the usage of an image call from a vendor's counts; undefined when input or output is missing or impossible.
 * Impossible details are dropped. The total is always the sum of input and output.
 */
export function readImageUsage(reported: ReportedCounts): ImageTokens | undefined {
  const [input, output] = [saneCount(reported.input), saneCount(reported.output)];
  if (input === null || output === null) return undefined;
  const inputDetails = readDetails(reported.inputDetails);
  const outputDetails = readDetails(reported.outputDetails);
  return {
    input,
    output,
    total: input + output,
    ...(inputDetails && sumOf(inputDetails) === input && { inputDetails }),
    // The output may also contain tokens of thoughts, which are neither text nor image.
    ...(outputDetails && sumOf(outputDetails) <= output && { outputDetails }),
  };
}

function readDetails(reported: ReportedDetails | undefined): ModalityTokens | undefined {
  const [text, image] = [saneCount(reported?.text), saneCount(reported?.image)];
  return text === null || image === null ? undefined : { text, image };
}

function sumOf({ text, image }: ModalityTokens): number {
  return text + image;
}
