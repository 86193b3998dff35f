import { Check, Copy } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { useTranslation } from "react-i18next";
import { useCopy } from "./copy.ts";

/** Shows an identifier. Pressing the identifier copies it. */
export function Id({ value, isShort = false }: { value: string; isShort?: boolean }) {
  const { t } = useTranslation();
  const { isCopied, copy } = useCopy(value);
  const Icon = isCopied ? Check : Copy;
  return (
    <Button
      onPress={() => void copy()}
      aria-label={isCopied ? t("copied") : t("copyOf", { text: value })}
      className="group inline-flex max-w-full items-center gap-1.5 rounded-sm font-mono text-xs text-muted hover:text-text"
    >
      <span className={isShort ? "max-w-26 truncate" : "truncate"}>{value}</span>
      <Icon size={12} aria-hidden className="shrink-0 opacity-60 group-hover:opacity-100" />
    </Button>
  );
}
