import type { LinkProps } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { useEffect, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { TextLink } from "../text/link.tsx";

interface PageProps {
  title: string;
  /** One sentence about the purpose of the page. */
  about?: ReactNode;
  /** Buttons beside the title. At most one of them is primary. */
  actions?: ReactNode;
  /** The tabs of the area, made with `RouteTabs`. */
  tabs?: ReactNode;
  /** A link back to the list from which the record comes. */
  back?: { to: NonNullable<LinkProps["to"]>; label: string };
  children: ReactNode;
}

/** The frame of a page for users who are signed in. It also sets the document's title. */
export function Page({ title, about, actions, tabs, back, children }: PageProps) {
  useDocumentTitle(title);
  return (
    <div className="mx-auto flex w-full max-w-[150rem] flex-col gap-6 px-4 py-6 sm:px-8">
      <header className="flex flex-col gap-4">
        {back && (
          <nav aria-label={back.label} className="-mb-2">
            <TextLink to={back.to}>
              <span className="inline-flex items-center gap-1">
                <ChevronLeft size={14} aria-hidden />
                {back.label}
              </span>
            </TextLink>
          </nav>
        )}
        <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
          <div className="min-w-0 flex-[1_1_14rem]">
            <h1 className="text-xl leading-7 font-semibold tracking-tight break-words">{title}</h1>
            {about !== undefined && <p className="mt-1 max-w-prose text-muted">{about}</p>}
          </div>
          {actions !== undefined && (
            <div className="flex max-w-full min-w-0 flex-wrap items-center gap-2">{actions}</div>
          )}
        </div>
        {tabs}
      </header>
      {children}
    </div>
  );
}

export function useDocumentTitle(title: string): void {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${title} · ${t("product")}`;
  }, [title, t]);
}
