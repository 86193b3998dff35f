import { operatorMessage } from "../domain/operator-message.ts";
import { DependencyError } from "../gateway/dependency-error.ts";
import { type ZodType, z } from "zod";
import { AdminError } from "./admin-error.ts";
import type { OperationContext } from "./context.ts";
import { readInput } from "./input.ts";
import { isAtLeast, type Role } from "./roles.ts";
import type { SignedIn } from "./sign-in/signed-in.ts";

/**
 * One action of administration. The HTTP interface, the command line, the console's client and the OpenAPI document are
 * all made from operations, so all of them offer the same actions.
 */
export interface Operation<Input extends ZodType = ZodType, Output extends Shown = Shown> {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below `/admin/v1`, with at most one `{…}` part, which is a field of the input. */
  path: string;
  /** One sentence without a full stop, for documents. */
  summary: string;
  /** The lowest role that may run the operation. */
  role: Role;
  /** `installation` requires a member of all organizations, because the operation concerns shared things. */
  reach: "organization" | "installation";
  cost: Cost;
  /** True when a member who must first change the password may run the operation. */
  beforePasswordChange?: true;
  /**
   * Schema of the input. The input joins the variable part of the path with the query of a GET or DELETE, or with the
   * JSON body of other methods.
   */
  input: Input;
  /** Schema of the result. It writes times and amounts as texts and leaves out fields that it does not declare. */
  output: Output;
  run(context: OperationContext, input: z.output<Input>): Promise<z.output<Output>>;
}

/**
 * The amount of data that an operation reads. `page`: rows that its input selects, a page of a list, or records that
 * people have configured. `report`: whole tables, or sums over a range. `verification`: the whole ledger or audit, with
 * every hash or amount.
 */
export type Cost = "page" | "report" | "verification";

type Shown = ZodType<object, object>;

/** Declares an operation with the types of its schemas. */
export function operation<Input extends ZodType, Output extends Shown>(
  declared: Operation<Input, Output>,
): Operation<Input, Output> {
  return declared;
}

/**
 * Runs an operation for the caller in the context. The operation's changes are in force in this process when this
 * function returns. Throws an `AdminError`: 403 without the required access, 400 for input that the schema refuses, or
 * the operation's own error.
 */
export async function runOperation<Input extends ZodType, Output extends Shown>(
  operation: Operation<Input, Output>,
  context: OperationContext,
  input: unknown,
): Promise<z.input<Output>> {
  return await readOperation(operation, context, input)();
}

/**
 * Checks access and input, and returns a function that runs the operation. Throws an `AdminError`: 403 without the
 * required access, or 400 for input that the schema refuses.
 */
export function readOperation<Input extends ZodType, Output extends Shown>(
  operation: Operation<Input, Output>,
  context: OperationContext,
  input: unknown,
): () => Promise<z.input<Output>> {
  if (context.signedIn) requireAccess(operation, context.signedIn);
  const fields = readInput(operation.input, input);
  return async () => {
    const result = await operation.run(context, fields);
    if (operation.method !== "GET") await applyChange(context);
    return z.encode(operation.output, result);
  };
}

/**
 * Applies a change in this process. An unavailable database is no error here: the change is committed, and every
 * process reads it when the database is available again.
 */
async function applyChange({ configuration }: OperationContext): Promise<void> {
  await configuration.apply().catch((error: unknown) => {
    if (!(error instanceof DependencyError)) throw error;
  });
}

/** Throws an `AdminError` 403 unless the signed-in caller has the required access. */
export function requireAccess(
  { role, reach, beforePasswordChange }: Pick<Operation, "role" | "reach" | "beforePasswordChange">,
  { access, member }: SignedIn,
): void {
  if (member.mustChangePassword && !beforePasswordChange)
    throw new AdminError(403, null, operatorMessage("error.passwordFirst", {}), {
      type: "password_change_required",
    });
  if (!isAtLeast(access.role, role))
    throw new AdminError(403, null, operatorMessage("error.role", { role, own: access.role }));
  if (reach === "installation" && access.organizations !== "*")
    throw new AdminError(403, null, operatorMessage("error.reach", {}));
}
