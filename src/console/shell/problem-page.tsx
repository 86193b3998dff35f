import type { ErrorComponentProps } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { FailedState } from "../ui/page/failed-state.tsx";
import { ButtonLink } from "../ui/text/link.tsx";
import { Page } from "../ui/page/page.tsx";

/** In place of a page that could not be shown; the navigation stays. */
export function ProblemPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  return (
    <Page title={t("problem.title")}>
      <FailedState error={error} onRetry={reset} />
    </Page>
  );
}

export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("notFound.title")}>
      <div>
        <ButtonLink to="/">{t("nav.overview")}</ButtonLink>
      </div>
    </Page>
  );
}
