import { Link } from "@tanstack/react-router";
import { ArrowRight, CircleCheck, CircleDashed } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Card } from "../../ui/page/card.tsx";
import type { Overview } from "./overview.ts";

const STEPS = [
  { id: "picture", to: "/playground" },
  { id: "key", to: "/keys" },
  { id: "vendor", to: "/models/providers" },
  { id: "budget", to: "/money" },
  { id: "alert", to: "/settings/alerts" },
] as const;

/** Lists the steps to take after the first start. */
export function Checklist({ steps }: { steps: Overview["checklist"] }) {
  const { t } = useTranslation("overview");
  const done = STEPS.filter(({ id }) => steps[id]).length;
  return (
    <Card title={t("checklist")} about={t("checklist.about", { done, all: STEPS.length })}>
      <ol className="grid gap-3 sm:grid-cols-2 xl:grid-cols-5">
        {STEPS.map(({ id, to }) => {
          const Icon = steps[id] ? CircleCheck : CircleDashed;
          return (
            <li key={id}>
              <Link
                to={to}
                className="group flex h-full items-start gap-3 rounded-md border border-line p-3 hover:bg-hover"
              >
                <Icon
                  size={18}
                  role="img"
                  aria-label={steps[id] ? t("checklist.done") : t("checklist.open")}
                  className={`mt-px shrink-0 ${steps[id] ? "text-good" : "text-muted"}`}
                />
                <span className="min-w-0 flex-1">
                  <span className={`block font-medium ${steps[id] ? "text-muted line-through" : ""}`}>
                    {t(`checklist.${id}`)}
                  </span>
                  <span className="block text-muted">{t(`checklist.${id}.about`)}</span>
                </span>
                <ArrowRight size={16} aria-hidden className="mt-0.5 shrink-0 text-muted" />
              </Link>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
