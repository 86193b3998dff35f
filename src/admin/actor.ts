/** The author of a change, as recorded in the audit. */
export interface Actor {
  /** Name of the operating system's user, or `bootstrap`, or the id of a member. */
  actor: string;
  /** The program and machine that the change comes from, such as `cli@host`. */
  source?: string;
}
