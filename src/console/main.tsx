import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense, useEffect, useState } from "react";
import { I18nProvider } from "react-aria-components/I18nProvider";
import { createRoot } from "react-dom/client";
import { useTranslation } from "react-i18next";
import { queryClient } from "./api/queries.ts";
import { router } from "./router.tsx";
import { startI18n } from "./texts/i18n.ts";
import { whenToastsAreNeeded } from "./ui/overlay/toast.ts";

const Toasts = lazy(async () => ({ default: (await import("./ui/overlay/toasts.tsx")).Toasts }));

/** Replaces the first paint, once there is a page to show in its place. */
async function start(): Promise<void> {
  await Promise.all([startI18n(), router.load()]);
  const root = document.getElementById("root");
  if (root)
    createRoot(root).render(
      <StrictMode>
        <Console />
      </StrictMode>,
    );
}

// Not awaited here, because the chunks of pages import this chunk and so would wait for it.
void start();

function Console() {
  const { i18n } = useTranslation();
  const [hasToasts, setHasToasts] = useState(false);
  useEffect(() => whenToastsAreNeeded(() => setHasToasts(true)), []);
  return (
    <I18nProvider locale={i18n.language}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        {hasToasts && (
          <Suspense>
            <Toasts />
          </Suspense>
        )}
      </QueryClientProvider>
    </I18nProvider>
  );
}
