import { Skeleton } from "../../ui/page/skeleton.tsx";
import { CHECKLIST_HEIGHT, useHasChecklist } from "./checklist.tsx";

/** The page's layout before anything is known. */
export function OverviewSkeleton() {
  const hasChecklist = useHasChecklist();
  return (
    <div className="flex flex-col gap-4">
      {hasChecklist && <Skeleton className={CHECKLIST_HEIGHT} />}
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3 xl:grid-cols-6">
        {["a", "b", "c", "d", "e", "f"].map((tile) => (
          <Skeleton key={tile} className="h-24 w-full" />
        ))}
      </div>
      <Skeleton className="h-88 w-full" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-88 w-full" />
        <Skeleton className="h-88 w-full" />
      </div>
    </div>
  );
}
