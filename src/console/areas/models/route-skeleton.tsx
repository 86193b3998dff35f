import { Skeleton } from "../../ui/page/skeleton.tsx";

/** As high as a route of one target, so that nothing below it moves. */
export function RouteSkeleton() {
  return <Skeleton className="h-108 w-full sm:h-88" />;
}
