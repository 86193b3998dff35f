import { useTranslation } from "react-i18next";

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
  "link secret",
  "configuration",
  "prompt",
  "mail",
  "export",
] as const;

const ACTIONS = [
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
] as const;

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
