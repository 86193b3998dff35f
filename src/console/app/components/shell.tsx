import { Link, Outlet } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

/** Navigation at the left, the page at the right. */
export function Shell() {
  const { t } = useTranslation();
  return (
    <div className="flex min-h-screen">
      <nav aria-label={t("product")} className="w-56 border-r p-4">
        <Link to="/keys">{t("nav.keys")}</Link>
      </nav>
      <main className="flex-1 p-6">
        <Outlet />
      </main>
    </div>
  );
}
