/** The stream that takes the log, and the number of lines that it did not take. */
export interface LogOutput {
  write(lines: string): void;
  lost(): number;
}

/**
 * Opens the standard output for the log. Where its reader has ended or its disk is full, lines are lost and counted, and
 * the process serves on: without a listener for `error`, the first lost line would be an uncaught exception.
 */
export function openLogOutput(): LogOutput {
  let lost = 0;
  process.stdout.on("error", () => {});
  return {
    write(lines) {
      process.stdout.write(lines, (error) => {
        if (error) lost += lines.split("\n").length - 1;
      });
    },
    lost: () => lost,
  };
}
