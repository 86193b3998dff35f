import {
  Outlet,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  useRouter,
  retainSearchParams,
  type ErrorComponentProps,
  type RouteComponent,
} from "@tanstack/react-router";
import { useCallback, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { parseSearch, readSearch, renderSearch, type Search } from "./address.ts";
import { ApiError } from "./api/call.ts";
import { needsOf, type PageNeeds } from "./api/page-needs.ts";
import { queryClient, sessionQuery } from "./api/queries.ts";
import OverviewPage from "./areas/overview/index.tsx";
import { Shell } from "./shell/shell.tsx";
import { RotateCw, ShieldAlert } from "lucide-react";
import { useCan, useSession } from "./api/session.ts";
import { Button } from "./ui/forms/button.tsx";
import { Card } from "./ui/page/card.tsx";
import { EmptyState } from "./ui/page/empty-state.tsx";
import { awayReason, FailedState } from "./ui/page/failed-state.tsx";
import { Page } from "./ui/page/page.tsx";
import { ButtonLink } from "./ui/text/link.tsx";

const root = createRootRoute({
  component: Outlet,
  validateSearch: readSearch,
  search: { middlewares: [retainSearchParams<Search>(["organization"])] },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./areas/sign-in/index.tsx")),
});

const ownKey = createRoute({
  getParentRoute: () => root,
  path: "/key",
  component: lazyRouteComponent(() => import("./areas/own-key/index.tsx")),
});

/** The parent of all pages that need a session. Only the sign-in page and the page for holders of a key need none. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  errorComponent: AwayPage,
  async beforeLoad({ location, matches }) {
    // The page's chunks are loaded while the session is read.
    for (const { routeId } of matches) void router.routesById[routeId].options.component?.preload?.();
    const session = await queryClient.ensureQueryData(sessionQuery).catch(nullWhereSignedOut);
    if (!session || session.mustChangePassword)
      throw redirect({ to: "/sign-in", search: { next: location.href } });
    return { session };
  },
});

/** Returns null when nobody is signed in. Only a 401 means this; any other failure is thrown. */
function nullWhereSignedOut(error: unknown): null {
  if (error instanceof ApiError && error.status === 401) return null;
  throw error;
}

type Page = () => Promise<{ default: RouteComponent }>;

function page<const Path extends string>(path: Path, load: Page) {
  const Shown = lazyRouteComponent(load);
  const needs = needsOf(path);
  const Fenced =
    needs && Object.assign(() => <ForRole needs={needs} page={Shown} />, { preload: Shown.preload });
  return createRoute({
    getParentRoute: () => signedIn,
    path,
    component: Fenced ?? Shown,
    errorComponent: ProblemPage,
  });
}

/** Shows the page to members with the role and the reach that it needs. Shows a notice to all others. */
function ForRole({ needs: [role, reach], page: Shown }: { needs: PageNeeds; page: RouteComponent }) {
  const { t } = useTranslation();
  const own = useSession().role;
  const can = useCan();
  if (can(role, reach)) return <Shown />;
  const isAboutReach = can(role);
  return (
    <Page title={t("notForRole")}>
      <Card>
        <EmptyState icon={ShieldAlert} action={<ButtonLink to="/">{t("nav.overview")}</ButtonLink>}>
          {isAboutReach
            ? t("notForRole.reach")
            : t("notForRole.role", { role: t(`role.${role}`), own: t(`role.${own}`) })}
        </EmptyState>
      </Card>
    </Page>
  );
}

const pages = [
  page("/", async () => ({ default: OverviewPage })),
  page("/playground", () => import("./areas/playground/index.tsx")),
  page("/playground/chat", () =>
    import("./areas/playground/text.tsx").then(({ ChatPage }) => ({ default: ChatPage })),
  ),
  page("/playground/messages", () =>
    import("./areas/playground/text.tsx").then(({ MessagesPage }) => ({ default: MessagesPage })),
  ),
  page("/requests", () => import("./areas/requests/index.tsx")),
  page("/requests/$id", () => import("./areas/requests/request.tsx")),
  page("/jobs", () => import("./areas/jobs/index.tsx")),
  page("/jobs/$id", () => import("./areas/jobs/job.tsx")),
  page("/images", () => import("./areas/images/index.tsx")),
  page("/images/gallery", () => import("./areas/images/gallery.tsx")),
  page("/keys", () => import("./areas/keys/index.tsx")),
  page("/keys/new", () => import("./areas/keys/new.tsx")),
  page("/keys/$id", () => import("./areas/keys/key.tsx")),
  page("/models", () => import("./areas/models/index.tsx")),
  page("/models/detail", () => import("./areas/models/model.tsx")),
  page("/models/providers", () => import("./areas/providers/index.tsx")),
  page("/models/providers/add", () => import("./areas/providers/add.tsx")),
  page("/models/providers/$id", () => import("./areas/providers/provider.tsx")),
  page("/models/prices", () => import("./areas/prices/index.tsx")),
  page("/money", () => import("./areas/money/index.tsx")),
  page("/money/usage", () => import("./areas/usage/index.tsx")),
  page("/money/ledger", () => import("./areas/money/ledger.tsx")),
  page("/settings", () => import("./areas/organizations/index.tsx")),
  page("/settings/members", () => import("./areas/members/index.tsx")),
  page("/settings/webhooks", () => import("./areas/webhooks/index.tsx")),
  page("/settings/alerts", () => import("./areas/alerts/index.tsx")),
  page("/settings/audit", () => import("./areas/audit/index.tsx")),
  page("/settings/configuration", () => import("./areas/configuration/index.tsx")),
  page("/settings/account", () => import("./areas/account/index.tsx")),
] as const;

export const router = createRouter({
  basepath: "/console",
  routeTree: root.addChildren([signIn, ownKey, signedIn.addChildren(pages)]),
  parseSearch,
  stringifySearch: renderSearch,
  defaultPreload: "intent",
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: ProblemPage,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

/** Shown in place of a page that failed. The navigation of signed-in members stays visible. */
function ProblemPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  return (
    <Page title={t("problem.title")}>
      <FailedState error={error} onRetry={reset} />
    </Page>
  );
}

function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <Page title={t("notFound.title")}>
      <div>
        <ButtonLink to="/">{t("nav.overview")}</ButtonLink>
      </div>
    </Page>
  );
}

const RETRY_MS = 3_000;

/**
 * Shown in place of all pages while the signed-in member cannot be read, for example because the database is
 * unavailable. Tries again by itself.
 */
function AwayPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const router = useRouter();
  const retry = useCallback(() => void router.invalidate().then(reset), [router, reset]);
  useEffect(() => {
    const timer = setInterval(retry, RETRY_MS);
    return () => clearInterval(timer);
  }, [retry]);
  const reason = awayReason(error);
  return (
    <main className="mx-auto max-w-3xl pt-[10vh]">
      <Page title={t(reason ?? "problem.title")} about={t("away.about")}>
        {reason ? (
          <div>
            <Button icon={RotateCw} onPress={retry}>
              {t("retry")}
            </Button>
          </div>
        ) : (
          <FailedState error={error} onRetry={retry} />
        )}
      </Page>
    </main>
  );
}
