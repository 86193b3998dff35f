/** The output of the log. `lost` returns the number of lines that could not be written. */
export interface LogOutput {
  write(lines: string): void;
  lost(): number;
}

/**
 * Opens the standard output for the log. If its reader has ended or its disk is full, lines are lost and counted, and
 * the process continues. Without the listener for `error`, the first lost line would end the process.
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
