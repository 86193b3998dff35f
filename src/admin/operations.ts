import { alertOperations } from "./alert-operations.ts";
import { auditOperations } from "./audit-operations.ts";
import { budgetOperations } from "./budget-operations.ts";
import { channelOperations } from "./channel-operations.ts";
import { configurationOperations } from "./configuration-operations.ts";
import { installationOperations } from "./installation-operations.ts";
import { jobOperations } from "./job-operations.ts";
import { keyOperations } from "./key-operations.ts";
import { ledgerOperations } from "./ledger-operations.ts";
import type { z, ZodType } from "zod";
import type { Operation } from "./operation.ts";
import { organizationOperations } from "./organization-operations.ts";
import { priceOperations } from "./price-operations.ts";
import { modelOperations } from "./model-operations.ts";
import { priceTableOperations } from "./price-table.ts";
import { routeOperations } from "./route-operations.ts";
import { memberOperations } from "./member-operations.ts";
import { promptOperations } from "./prompt-operations.ts";
import { requestOperations } from "./request-operations.ts";
import { sessionOperations } from "./session-operations.ts";
import { tokenOperations } from "./token-operations.ts";
import { usageOperations } from "./usage-operations.ts";
import { webhookOperations } from "./webhook-operations.ts";

/** Every operation of administration, by name. */
export const operations = {
  ...organizationOperations,
  ...keyOperations,
  ...budgetOperations,
  ...priceOperations,
  ...priceTableOperations,
  ...routeOperations,
  ...ledgerOperations,
  ...auditOperations,
  ...jobOperations,
  ...webhookOperations,
  ...alertOperations,
  ...installationOperations,
  ...sessionOperations,
  ...memberOperations,
  ...tokenOperations,
  ...channelOperations,
  ...configurationOperations,
  ...modelOperations,
  ...usageOperations,
  ...requestOperations,
  ...promptOperations,
};

export type Operations = typeof operations;
export type OperationName = keyof Operations;

type OperationsByName = { readonly [Name in OperationName]: Operation<ZodType, ShownBy<Name>> };

type ShownBy<Name extends OperationName> = ZodType<
  z.output<Operations[Name]["output"]>,
  z.input<Operations[Name]["output"]>
>;

/** Returns the operation of a name, with the types of its schemas. */
export function operationNamed<Name extends OperationName>(name: Name): Operation<ZodType, ShownBy<Name>> {
  const byName: OperationsByName = operations;
  return byName[name];
}
