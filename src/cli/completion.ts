import { Argument, type Command, type Option } from "commander";
import type { CommandContext } from "./context.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** Adds the command `completion`. It prints a script for a shell, made from the declarations of all commands. */
export function addCompletionCommand(program: Command, cli: CommandContext): void {
  program
    .command("completion")
    .description("print a script that completes commands, options and their words")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: (typeof SHELLS)[number]) => cli.write(SCRIPTS[shell](wordsOf(program))));
}

/** The words that may follow a command. `path` is the names so far: `""`, `keys`, `keys create`. */
interface CommandWords {
  path: string;
  /** Names of the command's subcommands, each with its description. */
  commands: readonly (readonly [name: string, description: string])[];
  options: readonly OptionWords[];
  /** Values of the command's first argument, if they are known. */
  values: readonly string[];
}

interface OptionWords {
  /** Long name, such as `--format`; the short name if there is no long name. */
  name: string;
  description: string;
  takesValue: boolean;
  choices: readonly string[];
}

function wordsOf(program: Command): CommandWords[] {
  const shared = program.options.map(optionWords);
  const wordsWithin = (command: Command, path: string): CommandWords[] => [
    {
      path,
      commands: command.commands.map((inner) => [inner.name(), inner.description()]),
      options: [...command.options.map(optionWords), ...(command === program ? [] : shared), HELP],
      values: command.registeredArguments[0]?.argChoices ?? [],
    },
    ...command.commands.flatMap((inner) => wordsWithin(inner, `${path} ${inner.name()}`.trim())),
  ];
  return wordsWithin(program, "");
}

const HELP: OptionWords = { name: "--help", description: "print help", takesValue: false, choices: [] };

function optionWords({
  long,
  short,
  description,
  required,
  optional,
  argChoices,
  flags,
}: Option): OptionWords {
  // The values of an option come from `choices`, or from its flags: `--format <csv|jsonl>`.
  const [, listed] = /<([\w-]+(?:\|[\w-]+)+)>/.exec(flags) ?? [];
  return {
    name: long ?? short ?? "",
    description,
    takesValue: required || optional,
    choices: argChoices ?? listed?.split("|") ?? [],
  };
}

/** Name of the executable and of the package's command. The shell completes the words after this name. */
const NAME = "gateway";

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], (all: readonly CommandWords[]) => string>> = {
  bash: (all) => `# Completions of ${NAME} for bash: source <(${NAME} completion bash)
_${NAME}() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} at="" each index candidates="" takes=0
  for ((index = 1; index < COMP_CWORD; index += 1)); do
    each=\${COMP_WORDS[index]}
    if ((takes)); then takes=0; continue; fi
    case "$at|$each" in
${all.flatMap(({ path, commands }) => commands.map(([name]) => `      ${quoted(`${path}|${name}`)}) at=${quoted(`${path} ${name}`.trim())} ;;`)).join("\n")}
${all.flatMap(({ path, options }) => options.filter(({ takesValue }) => takesValue).map(({ name }) => `      ${quoted(`${path}|${name}`)}) takes=1 ;;`)).join("\n")}
    esac
  done
  case "$at|$before" in
${all.flatMap(({ path, options }) => options.filter(({ takesValue }) => takesValue).map(({ name, choices }) => `    ${quoted(`${path}|${name}`)}) candidates=${quoted(choices.join(" "))}; takes=2 ;;`)).join("\n")}
  esac
  if ((takes != 2)); then
    case "$at" in
${all.map(({ path, commands, values, options }) => `      ${quoted(path)}) candidates=${quoted([...commands.map(([name]) => name), ...values, ...options.map(({ name }) => name)].join(" "))} ;;`).join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$candidates" -- "$word"))
}
complete -o default -F _${NAME} ${NAME}
`,
  zsh: (all) => `#compdef ${NAME}
# Completions of ${NAME} for zsh: source <(${NAME} completion zsh)
(($+functions[compdef])) || { autoload -U compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
${SCRIPTS.bash(all)}`,
  fish: (all) => `# Completions of ${NAME} for fish: ${NAME} completion fish | source
complete -c ${NAME} -f
function __${NAME}_path
    set -l at
    for word in (commandline -opc)[2..]
        switch "$at|$word"
${all.flatMap(({ path, commands }) => commands.map(([name]) => `            case ${quoted(`${path}|${name}`)}\n                set at ${`${path} ${name}`.trim()}`)).join("\n")}
        end
    end
    test "$at" = "$argv"
end
${all
  .flatMap(({ path, commands, values, options }) => {
    const line = (rest: string) =>
      `complete -c ${NAME} -n ${quoted(`__${NAME}_path ${path}`.trim())} ${rest}`;
    return [
      ...commands.map(([name, description]) => line(`-a ${quoted(name)} -d ${quoted(description)}`)),
      ...values.map((value) => line(`-a ${quoted(value)}`)),
      ...options.map(({ name, description, takesValue, choices }) =>
        line(
          [
            `-l ${name.replace(/^--/, "")}`,
            `-d ${quoted(description)}`,
            ...(takesValue ? ["-r"] : []),
            ...(choices.length > 0 ? [`-a ${quoted(choices.join(" "))}`] : []),
          ].join(" "),
        ),
      ),
    ];
  })
  .join("\n")}
`,
};

/** Returns a text in quotes, as one word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
