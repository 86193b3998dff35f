import type { z, ZodType } from "zod";
import type { OperationContext } from "../admin/context.ts";
import { exportList, type ExportFormat, type ExportName } from "../admin/exports/exports.ts";
import { runOperation, type Operation } from "../admin/operation.ts";
import { operationNamed, operations, type OperationName, type Operations } from "../admin/operations.ts";
import type { Progress } from "../lib/progress.ts";
import { exportRemotely, runRemotely, type RemoteGateway } from "./remote.ts";

export type CommandInput<Name extends OperationName> = z.input<Operations[Name]["input"]>;
export type CommandOutput<Name extends OperationName> = z.input<Operations[Name]["output"]>;

/** Names of the operations that return pages. */
export type ListCommandName = {
  [Name in OperationName]: CommandOutput<Name> extends Page ? Name : never;
}[OperationName];
export type ListItem<Name extends ListCommandName> =
  CommandOutput<Name> extends Page<infer Item> ? Item : never;

interface Page<Item = unknown> {
  data: Item[];
  next: string | null;
}

/** Runs operations for commands, in this process or at a remote gateway. */
export interface CommandAdministration {
  /** Runs one operation. A remote gateway does not call `onProgress`. */
  run<Name extends OperationName>(
    name: Name,
    input: CommandInput<Name>,
    onProgress?: Progress,
  ): Promise<CommandOutput<Name>>;
  /** Returns all items of a list, which is read page by page. */
  list<Name extends ListCommandName>(name: Name, input: CommandInput<Name>): Promise<ListItem<Name>[]>;
  /** Returns a list as text, in pieces. */
  export(name: ExportName, filter: ExportFilter): AsyncGenerator<string> | Promise<AsyncGenerator<string>>;
}

type ExportFilter = { format: ExportFormat } & Record<string, unknown>;

/** Returns an object that runs operations on the local store. */
export function localAdministration(admin: OperationContext): CommandAdministration {
  return {
    run: (name, input, onProgress) => runOperation(operationNamed(name), { ...admin, onProgress }, input),
    list: (name, input) => readList(name, input, (page) => runOperation(listNamed(name), admin, page)),
    export: (name, filter) => exportList(admin, name, filter),
  };
}

/** Returns an object that runs operations at a remote gateway. */
export function remoteAdministration(gateway: RemoteGateway): CommandAdministration {
  return {
    run: (name, input) => runRemotely(gateway, operationNamed(name), input),
    list: (name, input) => readList(name, input, (page) => runRemotely(gateway, listNamed(name), page)),
    export: (name, filter) => exportRemotely(gateway, name, filter),
  };
}

type ListsByName = {
  readonly [Name in ListCommandName]: Operation<
    Operations[Name]["input"],
    ZodType<object, Page<ListItem<Name>>>
  >;
};

function listNamed<Name extends ListCommandName>(
  name: Name,
): Operation<Operations[Name]["input"], ZodType<object, Page<ListItem<Name>>>> {
  const lists: ListsByName = operations;
  return lists[name];
}

const PAGE = 1000;

async function readList<Item>(
  name: ListCommandName,
  input: object,
  readPage: (input: object) => Promise<Page<Item>>,
): Promise<Item[]> {
  const hasPages = "limit" in operations[name].input.shape;
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(hasPages ? { ...input, limit: PAGE, cursor } : input);
    items.push(...page.data);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return items;
}
