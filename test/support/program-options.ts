import { parseArgs, type ParseArgsOptionDescriptor } from "node:util";

type ProgramOption = ParseArgsOptionDescriptor & {
  /** Name of the value in the usage text, such as `N`; absent for a switch. */
  value?: string;
  /** Description of the option in the usage text. */
  help: string;
};

type ProgramOptions = Readonly<Record<string, ProgramOption>>;

interface Program<Options extends ProgramOptions> {
  /** Command in the usage text, such as `npm run soak --`. */
  command: string;
  /** Purpose of the program, in one or two sentences. */
  does: string;
  options: Options;
  args?: readonly string[];
}

/**
 * Reads the options of a program. `--help` prints the usage text and exits with 0. Invalid arguments print the usage
 * text to the error output and exit with 2.
 */
export function readOptions<const Options extends ProgramOptions>(program: Program<Options>) {
  const { options, args = process.argv.slice(2) } = program;
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(usageOf(program));
    process.exit(0);
  }
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usageOf(program)}`);
    process.exit(2);
  }
}

function usageOf({ command, does, options }: Program<ProgramOptions>): string {
  const rows = Object.entries(options).map(([name, { value, help, multiple, default: fallback }]) => {
    const flags = value === undefined ? `--${name}` : `--${name} ${value}`;
    const notes = [
      ...(multiple ? ["may be repeated"] : []),
      ...(fallback === undefined || fallback === "" || fallback === false ? [] : [`default ${fallback}`]),
    ];
    return [flags, notes.length > 0 ? `${help} (${notes.join(", ")})` : help] as const;
  });
  const width = Math.max(...rows.map(([flags]) => flags.length), "--help".length);
  const lines = [...rows, ["--help", "print this"] as const].map(
    ([flags, help]) => `  ${flags.padEnd(width)}  ${help}\n`,
  );
  return `Usage: ${command} [options]\n\n${does}\n\n${lines.join("")}`;
}
