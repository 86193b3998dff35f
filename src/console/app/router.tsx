import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
  type RouteComponent,
} from "@tanstack/react-router";
import { NotFoundPage, ProblemPage } from "./components/problem-page.tsx";
import { Shell } from "./components/shell.tsx";
import { queryClient, sessionQuery } from "./lib/queries.ts";
import { parseSearch, renderSearch, type Search } from "./lib/search.ts";

const root = createRootRoute({
  component: Outlet,
  validateSearch: (search): Search => search as Search,
  search: { middlewares: [retainSearchParams<Search>(["organization"])] },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./pages/sign-in.tsx")),
});

const ownKey = createRoute({
  getParentRoute: () => root,
  path: "/key",
  component: lazyRouteComponent(() => import("./pages/own-key.tsx")),
});

/** Everything else is for who is signed in. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  async beforeLoad({ location }) {
    const session = await queryClient.ensureQueryData(sessionQuery).catch(() => null);
    if (!session || session.mustChangePassword)
      throw redirect({ to: "/sign-in", search: { next: location.href } });
    return { session };
  },
});

type Page = () => Promise<{ default: RouteComponent }>;

function page<const Path extends string>(path: Path, load: Page) {
  return createRoute({
    getParentRoute: () => signedIn,
    path,
    component: lazyRouteComponent(load),
    errorComponent: ProblemPage,
  });
}

const pages = [
  page("/", () => import("./pages/overview.tsx")),
  page("/playground", () => import("./pages/playground.tsx")),
  page("/playground/chat", () => import("./pages/playground-chat.tsx")),
  page("/playground/messages", () => import("./pages/playground-messages.tsx")),
  page("/requests", () => import("./pages/requests.tsx")),
  page("/requests/$id", () => import("./pages/request.tsx")),
  page("/jobs", () => import("./pages/jobs.tsx")),
  page("/jobs/$id", () => import("./pages/job.tsx")),
  page("/images", () => import("./pages/image-controls.tsx")),
  page("/images/gallery", () => import("./pages/gallery.tsx")),
  page("/keys", () => import("./pages/keys/index.tsx")),
  page("/keys/new", () => import("./pages/keys/new.tsx")),
  page("/keys/$id", () => import("./pages/keys/key.tsx")),
  page("/models", () => import("./pages/models.tsx")),
  page("/models/detail", () => import("./pages/model.tsx")),
  page("/models/providers", () => import("./pages/providers.tsx")),
  page("/models/providers/add", () => import("./pages/provider-add.tsx")),
  page("/models/providers/$id", () => import("./pages/provider.tsx")),
  page("/models/prices", () => import("./pages/prices/index.tsx")),
  page("/money", () => import("./pages/money/index.tsx")),
  page("/money/ledger", () => import("./pages/money/ledger.tsx")),
  page("/settings", () => import("./pages/settings/organizations.tsx")),
  page("/settings/members", () => import("./pages/settings/members.tsx")),
  page("/settings/webhooks", () => import("./pages/settings/webhooks.tsx")),
  page("/settings/alerts", () => import("./pages/alerts/index.tsx")),
  page("/settings/audit", () => import("./pages/settings/audit.tsx")),
  page("/settings/configuration", () => import("./pages/settings/configuration.tsx")),
  page("/settings/account", () => import("./pages/account.tsx")),
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
