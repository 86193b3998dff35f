import { formatTable, printable, type TableRow } from "./table.ts";

/** Prints the results of commands. */
export interface CommandPrinter {
  /** Writes text as it is and waits until the reader has taken it, so that long output needs little memory. */
  write(text: string): Promise<void>;
  /** A line for people. */
  printLine(line: string): void;
  /** Writes warnings to the error output, one a line. */
  warn(warnings: readonly { path: string; message: string }[]): void;
  /** The rows for people, or the value as JSON. */
  print(isJson: boolean | undefined, value: unknown, rows: readonly TableRow[]): void;
}

/** Output of the process, and the environment that says how to write to it. */
interface Terminal {
  stdout: TextOutput;
  stderr: TextOutput;
  env: Readonly<Record<string, string | undefined>>;
}

export interface TextOutput {
  /** True where a person reads it on a terminal. */
  isTTY?: boolean;
  write(text: string, onWritten?: (error?: Error | null) => void): unknown;
}

export function openPrinter(terminal: Terminal): CommandPrinter {
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        terminal.stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    printLine: (line) => void terminal.stdout.write(`${line}\n`),
    warn(warnings) {
      for (const { path, message } of warnings)
        terminal.stderr.write(`${printable(`warning: ${path} ${message}`)}\n`);
    },
    print(isJson, value, rows) {
      terminal.stdout.write(
        isJson ? `${JSON.stringify(value, null, 2)}\n` : formatTable(rows, styleOf(terminal)),
      );
    },
  };
}

/** Tables have colors on a terminal that shows them, unless its user wants none (no-color.org). */
function styleOf({ stdout, env }: Terminal): { isColored: boolean } {
  return { isColored: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb" };
}
