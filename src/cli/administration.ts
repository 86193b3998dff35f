import type { z } from "zod";
import type { OperationContext } from "../admin/context.ts";
import { exportList, type ExportFormat, type ExportName } from "../admin/exports.ts";
import { runOperation, type Operation } from "../admin/operation.ts";
import { operations, type Operations } from "../admin/operations.ts";
import { exportRemotely, runRemotely, type RemoteGateway } from "./remote.ts";

export type OperationName = keyof Operations;
export type Input<Name extends OperationName> = z.input<Operations[Name]["input"]>;
export type Output<Name extends OperationName> = z.output<Operations[Name]["output"]>;

/** Operations that return pages. */
export type ListName = {
  [Name in OperationName]: Output<Name> extends { data: unknown[]; next: string | null } ? Name : never;
}[OperationName];
export type ListItem<Name extends ListName> = Output<Name> extends { data: (infer Item)[] } ? Item : never;

/** What commands do their work by. */
export interface Administration {
  run<Name extends OperationName>(name: Name, input: Input<Name>): Promise<Output<Name>>;
  /** A list as text, piece by piece. */
  export(name: ExportName, filter: ExportFilter): AsyncGenerator<string> | Promise<AsyncGenerator<string>>;
}

type ExportFilter = { format: ExportFormat } & Record<string, unknown>;

const PAGE = 1000;

/** Over the local store. */
export function localAdministration(admin: OperationContext): Administration {
  return {
    run: async (name, input) => (await runOperation(operations[name] as Operation, admin, input)) as never,
    export: (name, filter) => exportList(admin, name, filter),
  };
}

/** Over a gateway elsewhere. */
export function remoteAdministration(gateway: RemoteGateway): Administration {
  return {
    run: async (name, input) => (await runRemotely(gateway, name, input)) as never,
    export: (name, filter) => exportRemotely(gateway, name, filter),
  };
}

/** Every item of a list, page by page. */
export async function readList<Name extends ListName>(
  run: Administration["run"],
  name: Name,
  input: Input<Name>,
): Promise<ListItem<Name>[]> {
  const { shape } = operations[name].input as z.ZodObject;
  const items: ListItem<Name>[] = [];
  let cursor: string | undefined;
  do {
    const paging = "limit" in shape ? { limit: PAGE, cursor } : {};
    const page = (await run(name, { ...(input as object), ...paging } as never)) as {
      data: ListItem<Name>[];
      next: string | null;
    };
    items.push(...page.data);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return items;
}
