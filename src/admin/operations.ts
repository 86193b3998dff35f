import { alertOperations } from "./alerts/operations.ts";
import { auditOperations } from "./audit/operations.ts";
import { budgetOperations } from "./budgets/operations.ts";
import { channelOperations } from "./channels/operations.ts";
import { configurationOperations } from "./configuration/operations.ts";
import { installationOperations } from "./installation/operations.ts";
import { jobOperations } from "./jobs/operations.ts";
import { keyOperations } from "./keys/operations.ts";
import { ledgerOperations } from "./ledger/operations.ts";
import type { z, ZodType } from "zod";
import type { Operation } from "./operation.ts";
import { organizationOperations } from "./organizations/operations.ts";
import { priceOperations } from "./prices/operations.ts";
import { modelOperations } from "./models/operations.ts";
import { priceTableOperations } from "./prices/table.ts";
import { routeOperations } from "./routes/operations.ts";
import { memberOperations } from "./members/operations.ts";
import { promptOperations } from "./prompts/operations.ts";
import { requestOperations } from "./requests/operations.ts";
import { sessionOperations } from "./sign-in/operations.ts";
import { tokenOperations } from "./tokens/operations.ts";
import { usageOperations } from "./usage/operations.ts";
import { webhookOperations } from "./webhooks/operations.ts";

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
