import type { z, ZodType } from "zod";
import type { OperationContext } from "../admin/context.ts";
import { exportList, type ExportFormat, type ExportName } from "../admin/exports/exports.ts";
import { runOperation, type Operation } from "../admin/operation.ts";
import { operationNamed, operations, type OperationName, type Operations } from "../admin/operations.ts";
import { exportRemotely, runRemotely, type RemoteGateway } from "./remote.ts";

export type Input<Name extends OperationName> = z.input<Operations[Name]["input"]>;
export type Output<Name extends OperationName> = z.input<Operations[Name]["output"]>;

/** Operations that return pages. */
export type ListName = {
  [Name in OperationName]: Output<Name> extends Page ? Name : never;
}[OperationName];
export type ListItem<Name extends ListName> = Output<Name> extends Page<infer Item> ? Item : never;

interface Page<Item = unknown> {
  data: Item[];
  next: string | null;
}

/** Access of commands to operations. */
export interface Administration {
  run<Name extends OperationName>(name: Name, input: Input<Name>): Promise<Output<Name>>;
  /** Every item of a list, page by page. */
  list<Name extends ListName>(name: Name, input: Input<Name>): Promise<ListItem<Name>[]>;
  /** A list as text, piece by piece. */
  export(name: ExportName, filter: ExportFilter): AsyncGenerator<string> | Promise<AsyncGenerator<string>>;
}

type ExportFilter = { format: ExportFormat } & Record<string, unknown>;

/** Over the local store. */
export function localAdministration(admin: OperationContext): Administration {
  return {
    run: (name, input) => runOperation(operationNamed(name), admin, input),
    list: (name, input) => readList(name, input, (page) => runOperation(listNamed(name), admin, page)),
    export: (name, filter) => exportList(admin, name, filter),
  };
}

/** Over a gateway elsewhere. */
export function remoteAdministration(gateway: RemoteGateway): Administration {
  return {
    run: (name, input) => runRemotely(gateway, operationNamed(name), input),
    list: (name, input) => readList(name, input, (page) => runRemotely(gateway, listNamed(name), page)),
    export: (name, filter) => exportRemotely(gateway, name, filter),
  };
}

type ListsByName = {
  readonly [Name in ListName]: Operation<Operations[Name]["input"], ZodType<object, Page<ListItem<Name>>>>;
};

function listNamed<Name extends ListName>(
  name: Name,
): Operation<Operations[Name]["input"], ZodType<object, Page<ListItem<Name>>>> {
  const lists: ListsByName = operations;
  return lists[name];
}

const PAGE = 1000;

async function readList<Item>(
  name: ListName,
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
