import { formatTable, printable, type TableRow } from "./table.ts";

export interface CommandPrinter {
  /** Writes text unchanged. Resolves when the reader has taken the text, so that long output needs little memory. */
  write(text: string): Promise<void>;
  /** Prints a line for people. */
  printLine(line: string): void;
  /** Writes warnings to the error output, one on each line. */
  warn(warnings: readonly { path: string; message: string }[]): void;
  /** Prints the rows for people, or the value as JSON. */
  print(isJson: boolean | undefined, value: unknown, rows: readonly TableRow[]): void;
}

/** The outputs of the process, and the environment variables that decide about colors. */
export interface Terminal {
  stdout: TextOutput;
  stderr: TextOutput;
  env: Readonly<Record<string, string | undefined>>;
}

export interface TextOutput {
  /** True when the output is a terminal that a person reads. */
  isTTY?: boolean;
  /** Width of the terminal. */
  columns?: number;
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

/** Tables have colors on a terminal that supports them, unless the user has turned colors off (no-color.org). */
function styleOf({ stdout, env }: Terminal): { isColored: boolean } {
  return { isColored: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb" };
}
