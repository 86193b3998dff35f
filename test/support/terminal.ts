import { PROGRAM, until } from "./gateway.ts";

/** Timeout that suffices even if many programs start at the same time. */
const SHOWN_MS = 60_000;

interface OnTerminal extends AsyncDisposable {
  /** Returns all output of the command, including the terminal's escapes. */
  shown(): string;
  /** Waits until the output contains a text. */
  untilShown(text: string): Promise<void>;
  /** Presses Ctrl-C. */
  interrupt(): void;
  exited: Promise<number>;
}

/** Starts a command of the program as a process on its own pseudo terminal. */
export function startOnTerminal(args: readonly string[], env: Record<string, string>): OnTerminal {
  let shown = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([...PROGRAM, ...args], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], TERM: "xterm-256color", ...env },
    terminal: {
      cols: 100,
      rows: 30,
      data: (_, data) => void (shown += decoder.decode(data, { stream: true })),
    },
  });
  return {
    shown: () => shown,
    async untilShown(text) {
      const isShown = () => shown.includes(text) || undefined;
      await until(`"${text}" on the terminal`, isShown, SHOWN_MS);
    },
    interrupt: () => void child.terminal?.write("\u0003"),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      child.terminal?.close();
    },
  };
}
