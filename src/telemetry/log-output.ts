/** The stream that the log is written to, with the number of lines that it did not accept. */
export interface LogOutput {
  write(lines: string): void;
  lost(): number;
}

/**
 * Opens the standard output for the log. When its reader has ended or its disk is full, lines are lost and counted, but
 * the process continues: without a listener for `error`, the first lost line would end the process with an uncaught
 * exception.
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
