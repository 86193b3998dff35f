import type { Figures, MessageCode, OperatorMessage } from "../domain/operator-message.ts";
import type { Problem } from "../domain/schema-problems.ts";

/**
 * The error for an action that administration refuses. The message says what to change and contains no secret. `field`
 * is the path of the wrong field in the input; null when no single field is wrong.
 */
export class AdminError extends Error {
  override readonly name = "AdminError";
  /** Code and figures of the message; absent for a message that has none. */
  readonly code?: MessageCode;
  readonly figures?: Figures;

  constructor(
    /** 400 wrong input, 401 not signed in, 403 not allowed, 404 not found, 409 data conflict, 429 too many attempts. */
    readonly status: 400 | 401 | 403 | 404 | 409 | 429,
    readonly field: string | null,
    message: string | OperatorMessage,
    /** `type` distinguishes errors with the same status. A retry may succeed after `retryAfterSeconds`. */
    readonly more: {
      type?: "code_required" | "password_change_required";
      retryAfterSeconds?: number;
      /** The problems that the message lists, in its order. */
      problems?: readonly Problem[];
    } = {},
  ) {
    super(typeof message === "string" ? message : message.message);
    if (typeof message === "string") return;
    this.code = message.code;
    this.figures = message.figures;
  }
}

/** Returns the error that lists the problems of an input. */
export function wrongInput(problems: readonly Problem[]): AdminError {
  const lines = problems.map(({ path, message }) => `${path || "it"} ${message}`);
  return new AdminError(400, problems[0]?.path || null, lines.join("; "), { problems });
}
