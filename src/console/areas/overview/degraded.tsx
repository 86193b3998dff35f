import { TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Time } from "../../ui/text/time.tsx";
import type { Overview } from "./overview.ts";

/** Parts that do not work as they should, with since when. */
export function Degraded({ parts }: { parts: Overview["degraded"] }) {
  const { t } = useTranslation("overview");
  if (parts.length === 0) return null;
  return (
    <section aria-label={t("degraded")} className="rounded-lg border border-line bg-warn-soft px-4 py-3">
      <ul className="flex flex-col gap-2">
        {parts.map(({ part, since, message }) => (
          <li key={part} className="flex items-start gap-3">
            <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-warn" />
            <span className="min-w-0 flex-1">
              <span className="font-medium">{part}</span> <span className="text-muted">{message}</span>
            </span>
            {since !== null && (
              <span className="text-muted">
                {t("since")} <Time at={since} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
