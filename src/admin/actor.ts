/** The author of a change, as recorded in the audit. */
export interface Actor {
  /**
   * Name of a member or of the operating system's user; `bootstrap` for a start of the gateway; `unknown` for a sign-in
   * without a known member.
   */
  actor: string;
  /** The program or admin token, and the machine or address that the change comes from, such as `cli/ada@host`. */
  source?: string;
}
