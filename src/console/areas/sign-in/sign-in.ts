import { ApiError, send } from "../../api/call.ts";
import type { Session } from "../../api/queries.ts";

export interface SignInFields {
  name: string;
  password: string;
  code?: string;
}

export type SignedInMember = Session;

export async function signIn(credentials: SignInFields): Promise<SignedInMember> {
  return await send("POST", "/session", credentials);
}

/** True when the name and the password were right, but the code is missing or wrong. */
export function needsCode(error: unknown): boolean {
  return error instanceof ApiError && error.type === "code_required";
}

/** True when the gateway refused the name and the password. */
export function isWrong(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && !needsCode(error);
}
