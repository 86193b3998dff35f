import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { Shell } from "./components/shell.tsx";
import { queryClient, sessionQuery } from "./lib/queries.ts";

const root = createRootRoute({ component: Outlet });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search): { next?: string } =>
    typeof search["next"] === "string" ? { next: search["next"] } : {},
  component: lazyRouteComponent(() => import("./pages/sign-in.tsx")),
});

/** Everything but signing in is for who is signed in. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  async beforeLoad({ location }) {
    try {
      return { session: await queryClient.ensureQueryData(sessionQuery) };
    } catch {
      throw redirect({ to: "/sign-in", search: { next: location.href } });
    }
  },
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: "/keys",
  component: lazyRouteComponent(() => import("./pages/keys.tsx")),
});

export const router = createRouter({
  basepath: "/console",
  routeTree: root.addChildren([signIn, signedIn.addChildren([keys])]),
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
