import { useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../api/call.ts";
import { FailedState } from "../ui/page/failed-state.tsx";
import { Page } from "../ui/page/page.tsx";

const RETRY_MS = 3_000;

/** Stands for all pages while it cannot be read who is signed in, such as without the database; ends by itself. */
export function AwayPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const router = useRouter();
  useEffect(() => {
    const retry = setInterval(() => void router.invalidate().then(reset), RETRY_MS);
    return () => clearInterval(retry);
  }, [router, reset]);
  const title = error instanceof ApiError && error.status === 503 ? t("away.database") : t("away.gateway");
  return (
    <main className="mx-auto max-w-3xl pt-[10vh]">
      <Page title={title} about={t("away.about")}>
        <FailedState error={error} onRetry={() => void router.invalidate().then(reset)} />
      </Page>
    </main>
  );
}
