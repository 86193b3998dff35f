import { Option, type Command } from "commander";
import { z, type ZodType } from "zod";
import { limitsSchema, queryTimeSchema, timeSchema } from "../admin/input.ts";
import { operations, type OperationName } from "../admin/operations.ts";
import type { Progress } from "../lib/progress.ts";
import type { CommandInput, ListItem, ListCommandName, CommandOutput } from "./administration.ts";
import type { CommandContext, StoreAccess } from "./context.ts";
import { CommandEnd, runLongOperation } from "./long-work.ts";
import { FIELD_READERS } from "./field-readers.ts";
import { collect, readLimit, readSwitch, readTime, readWord, UNSET } from "./options.ts";
import type { TableRow } from "./table.ts";

/**
 * The option or argument for one field of an operation, in the form of the help: flags, or an argument such as `<id>`,
 * then two spaces and the description.
 */
type FieldOption = string | ({ usage: string } & FieldDetails);

interface FieldDetails {
  /** Default of the command line. If absent, the default in the schema applies, if the schema has one. */
  default?: string | number;
  /** True for a required option, false for an optional one. If absent, the schema decides. */
  isRequired?: boolean;
  /**
   * Reads the option's text; a result of `UNSET` sets the field to null. If absent, the field's name or else its schema
   * decides how the text is read.
   */
  read?(text: string, earlier?: unknown): unknown;
  choices?: readonly string[];
}

/**
 * Options and arguments by the field that they set, in the order of the help. `settings.linkHours` is a nested field.
 */
export type FieldOptions<Name extends OperationName> = {
  readonly [Field in FieldPath<CommandInput<Name>>]?: FieldOption;
};

type FieldPath<Fields> = {
  [Field in keyof Fields & string]: Field | `${Field}.${keyof NonNullable<Fields[Field]> & string}`;
}[keyof Fields & string];

/** A command that runs one operation. */
interface OperationCommand<Name extends OperationName, Result = CommandOutput<Name>> {
  description: string;
  fields?: FieldOptions<Name>;
  /** Options that set no field, with their descriptions. `input` gets their values. */
  options?: Readonly<Record<string, string>>;
  /** Makes the operation's input from the fields and the values of `options`. */
  input?: (
    given: CommandInput<Name>,
    options: Readonly<Record<string, unknown>>,
  ) => CommandInput<Name> | Promise<CommandInput<Name>>;
  /** Returns the rows of the printed table; null for no table. */
  rows?: (result: Result) => readonly TableRow[] | null;
  /** Returns the value that `--json` prints. Without this function and without `rows`, the command has no `--json`. */
  json?: (result: Result) => unknown;
  /** For an operation that takes minutes: a sentence that a terminal shows until the operation reports its progress. */
  step?: string;
  /** For an operation that takes minutes and changes something: a sentence about the state after an interruption. */
  whenInterrupted?: string;
  /** Returns a text for people, to be printed after the table; null for none. */
  line?: (result: Result, given: CommandInput<Name>) => string | null;
  /** Returns the reason to exit with 1 although the operation has succeeded; null for success. */
  failure?: (result: Result, given: CommandInput<Name>) => string | null;
  /** True when the command exits with `DIFFERENCES`. */
  differs?: (result: Result, given: CommandInput<Name>) => boolean;
}

/** Exit code of a command that compares, when it finds differences. */
const DIFFERENCES = 3;

/** Adds a command that runs an operation and prints its result. */
export function addOperation<Name extends OperationName>(
  parent: Command,
  cli: CommandContext,
  [commandName, name]: readonly [command: string, operation: Name],
  declared: OperationCommand<Name>,
): void {
  add(parent, commandName, name, declared, cli, (input, onProgress) =>
    accessFor(name, cli).run(name, input, onProgress),
  );
}

/** Returns the store methods for a command. A command that only reads must not make a database that does not exist. */
function accessFor(name: OperationName, cli: CommandContext): StoreAccess {
  return operations[name].method === "GET" ? cli.existing : cli;
}

/** Adds a command that prints a table of all items of a list. */
export function addList<Name extends ListCommandName>(
  parent: Command,
  cli: CommandContext,
  [commandName, name]: readonly [command: string, operation: Name],
  { row, ...declared }: Pick<OperationCommand<Name>, "description" | "fields"> & ListColumns<Name>,
): void {
  const rows = (items: ListItem<Name>[]) => items.map(row);
  add(parent, commandName, name, { ...declared, rows }, cli, (input) =>
    accessFor(name, cli).list(name, input),
  );
}

interface ListColumns<Name extends ListCommandName> {
  /** Returns one row of the table: its cells by heading. */
  row: (item: ListItem<Name>) => TableRow;
  json?: (items: ListItem<Name>[]) => unknown;
}

function add<Name extends OperationName, Result>(
  parent: Command,
  commandName: string,
  name: Name,
  declared: OperationCommand<Name, Result>,
  cli: CommandContext,
  run: (input: CommandInput<Name>, onProgress?: Progress) => Promise<Result>,
): void {
  const { description, fields = {}, rows, json, line, failure, step, whenInterrupted } = declared;
  const command = parent.command(commandName).description(description);
  const read = addFields(command, name, fields);
  for (const [flags, text] of Object.entries(declared.options ?? {})) command.option(flags, text);
  if (rows || json) command.option("--json", "print JSON");
  command.action(async () => {
    const given = read();
    const input = (await declared.input?.(given, command.opts())) ?? given;
    const result = await (step === undefined
      ? run(input)
      : runLongOperation(cli, { step, whenInterrupted }, (onProgress) => run(input, onProgress)));
    const isJson = command.opts<{ json?: boolean }>().json;
    const table = rows?.(result) ?? null;
    if (isJson || table) cli.print(isJson, json ? json(result) : result, table ?? []);
    const text = isJson ? null : (line?.(result, given) ?? null);
    if (text !== null) cli.printLine(text);
    const problem = failure?.(result, given) ?? null;
    if (problem !== null) throw new Error(problem);
    if (declared.differs?.(result, given)) throw new CommandEnd(DIFFERENCES);
  });
}

/**
 * Adds the options and arguments for an operation's fields. Returns a function that, when the command runs, reads the
 * operation's input from the options and arguments.
 */
export function addFields<Name extends OperationName>(
  command: Command,
  name: Name,
  fields: FieldOptions<Name>,
): () => CommandInput<Name> {
  const values: (readonly [path: string, value: () => unknown])[] = [];
  const entries: [path: string, field: FieldOption][] = Object.entries(fields);
  for (const [path, field] of entries) {
    const { usage, ...details } = typeof field === "string" ? { usage: field } : field;
    const [flags = "", text] = usage.split(/ {2}(.*)/s);
    const located = fieldAt(operations[name].input, path);
    if (flags.startsWith("-")) {
      const option = withDetails(new Option(flags, text), details, located);
      command.addOption(option);
      values.push([path, () => command.getOptionValue(option.attributeName())]);
    } else {
      const position = command.registeredArguments.length;
      command.argument(flags, text ?? "", details.read ?? readerOf(located));
      values.push([path, () => command.processedArgs[position]]);
    }
  }
  return () => {
    const input: Record<string, unknown> = {};
    for (const [path, valueOf] of values) {
      const value = valueOf();
      if (value !== undefined) setAt(input, path.split("."), value === UNSET ? null : value);
    }
    // The cast is safe, because the operation checks the input by its schema.
    return input as CommandInput<Name>;
  };
}

function withDetails(option: Option, { read, choices, ...details }: FieldDetails, located: Located): Option {
  const { schema, isNeeded } = located;
  const parser = read ?? readerOf(located);
  // A schema's default is not shown if the option's text has another form than the value.
  const isWorded = read !== undefined || located.name in FIELD_READERS;
  if (choices) option.choices(choices);
  else if (parser && !option.isBoolean()) option.argParser(parser);
  const words = withoutWrappers(schema);
  // The help and the completion show these values. The parser already checks the value.
  if (words instanceof z.ZodEnum) option.argChoices = words.options.map(String);
  if (details.isRequired ?? (isNeeded && details.default === undefined)) option.makeOptionMandatory();
  if (details.default !== undefined) option.default(details.default);
  else if (schema instanceof z.ZodDefault && typeof schema.def.defaultValue === "string" && !isWorded)
    option.default(schema.def.defaultValue);
  return option;
}

/** Returns the reader that a field's name or schema requires; undefined when the text is used unchanged. */
function readerOf({ name, schema: wrapped }: Located): FieldDetails["read"] {
  const own = FIELD_READERS[name];
  if (own) return own;
  const schema = withoutWrappers(wrapped);
  if (schema === limitsSchema) return readLimit;
  if (schema === timeSchema || schema === queryTimeSchema) return readTime;
  if (schema instanceof z.ZodEnum) return readWord(...schema.options.map(String));
  if (schema instanceof z.ZodBoolean) return readSwitch;
  return schema instanceof z.ZodArray ? collect : undefined;
}

interface Located {
  name: string;
  schema: ZodType;
  isNeeded: boolean;
}

function fieldAt(root: ZodType, path: string): Located {
  let [name, schema, isNeeded] = ["", root, true];
  for (const part of path.split(".")) {
    const object = withoutWrappers(schema);
    const field = object instanceof z.ZodObject ? object.shape[part] : undefined;
    if (!field) throw new Error(`the operation has no field "${path}"`);
    [name, schema] = [part, field];
    isNeeded &&= !field.safeParse(undefined).success;
  }
  return { name, schema, isNeeded };
}

/** Returns the schema of the value without the wrappers that allow an absent value or null. */
function withoutWrappers(schema: ZodType): ZodType {
  const isWrapper =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable;
  return isWrapper ? withoutWrappers(schema.unwrap() as ZodType) : schema;
}

function setAt(target: Record<string, unknown>, [name = "", ...below]: string[], value: unknown): void {
  if (below.length === 0) target[name] = value;
  else {
    const part: Record<string, unknown> = { ...Object(target[name]) };
    setAt(part, below, value);
    target[name] = part;
  }
}
