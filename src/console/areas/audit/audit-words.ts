import type { AuditAction, ChangeKind } from "../../../admin/audit/schema.ts";
import { useTranslation } from "react-i18next";

/** Every kind of row in the audit log. The type check requires a text for each kind, and for each action. */
export const AUDIT_KINDS = [
  "organization",
  "key",
  "budget",
  "price",
  "ledger",
  "channel",
  "model",
  "member",
  "admin token",
  "webhook",
  "alert",
  "link secret",
  "prompt",
  "mail",
  "export",
] as const satisfies readonly ChangeKind[];

export const ACTIONS = [
  "create",
  "update",
  "remove",
  "rotate",
  "refund",
  "correct prices",
  "archive",
  "read",
  "redeliver",
  "reseal",
  "test",
  "list models",
  "use",
  "reset password",
  "change password",
  "sign in",
  "sign out",
  "fail to sign in",
  "turn on TOTP",
  "turn off TOTP",
] as const satisfies readonly AuditAction[];

/** Returns functions that describe actions and kinds in words. Unknown actions and kinds keep their recorded names. */
export function useAuditWords() {
  const { t } = useTranslation("settings");
  return {
    kind: (kind: string) => {
      const known = AUDIT_KINDS.find((each) => each === kind);
      return known ? t(`kind.${known}`) : kind;
    },
    action: (action: string) => {
      const known = ACTIONS.find((each) => each === action);
      return known ? t(`action.${known}`) : action;
    },
  };
}
