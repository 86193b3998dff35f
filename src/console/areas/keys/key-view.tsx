import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { Status } from "../../ui/text/status.tsx";
import { useNow } from "../../ui/text/time.tsx";

/** A key as the operation `keys.get` returns it. In lists, keys have more fields. */
export type Key = Output<"keys.get">;

/** Shows whether a key is active, disabled or expired. */
export function KeyState({ view }: { view: Pick<Key, "isDisabled" | "expiresAt"> }) {
  const { t } = useTranslation("keys");
  const now = useNow();
  if (view.isDisabled) return <Status level="off">{t("state.disabled")}</Status>;
  if (view.expiresAt !== null && Date.parse(view.expiresAt) <= now)
    return <Status level="warn">{t("state.expired")}</Status>;
  return <Status level="good">{t("state.active")}</Status>;
}

/** Returns functions that describe a key's scopes and models in words. */
export function useKeyWords() {
  const { t } = useTranslation("keys");
  return {
    scopes: (scopes: Key["scopes"]) => {
      if (scopes.includes("ai:*") || scopes.length === 2) return t("scope.all");
      return t(scopes.includes("ai:image") ? "scope.image" : "scope.text");
    },
    models: (models: Key["models"]) =>
      models === "*" ? t("models.all") : t("models.count", { count: models.length }),
  };
}
