/** The output of the log. `lost` returns the number of lines that could not be written. */
export interface LogOutput {
  write(lines: string): void;
  lost(): number;
}

/**
 * Opens the standard output for the log. If the reader of the output has ended, or the disk with the output is full,
 * lines are lost and counted. The process continues, because of the listener for `error`. Without this listener the
 * first lost line would end the process.
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
