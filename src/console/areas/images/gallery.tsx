import { Images } from "lucide-react";
import { Collection, GridList, GridListLoadMoreItem } from "react-aria-components/GridList";
import { GridLayout, Size, Virtualizer } from "react-aria-components/Virtualizer";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import type { Input } from "../../api/call.ts";
import { useKeyOptions, useModelOptions } from "../../api/options.ts";
import { useOrganization } from "../../api/organization.ts";
import { useList } from "../../api/queries.ts";
import { AreaTabs } from "../../shell/area-tabs.tsx";
import { FilterSelect } from "../../ui/filters/filter-select.tsx";
import { EmptyState } from "../../ui/page/empty-state.tsx";
import { FailedState } from "../../ui/page/failed-state.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Skeleton } from "../../ui/page/skeleton.tsx";
import { ButtonLink } from "../../ui/text/link.tsx";
import { PictureCard } from "./picture-card.tsx";

export default function GalleryPage() {
  const { t } = useTranslation("images");
  const { id } = useOrganization();
  const { filters } = useFilters();
  const models = useModelOptions();
  const keys = useKeyOptions(id ?? undefined);
  const { model, key: keyId } = filters;
  return (
    <Page title={t("title")} about={t("gallery.about")} tabs={<AreaTabs area="images" />}>
      <section aria-label={t("gallery")} className="flex flex-col gap-4">
        <div className="flex flex-wrap gap-2">
          <FilterSelect name="model" label={t("model")} options={models} />
          <FilterSelect name="key" label={t("key")} options={keys} />
        </div>
        <Gallery
          filters={{
            ...(id !== null && { organizationId: id }),
            ...(model !== undefined && { model }),
            ...(keyId !== undefined && { keyId }),
          }}
        />
      </section>
    </Page>
  );
}

/** Minimum size of a card: a square picture, two lines of facts and one line of buttons. */
const LEAST = new Size(152, 232);
const MOST = new Size(300, 380);
const SPACE = new Size(12, 12);
const SKELETONS = 8;

/**
 * Lists the delivered pictures that are still stored, newest first. Only the pictures in or near the visible part are
 * in the document.
 */
function Gallery({ filters }: { filters: Input<"pictures.list"> }) {
  const { t } = useTranslation("images");
  const list = useList("pictures.list", filters);
  if (list.error && list.rows === undefined)
    return <FailedState error={list.error} at={list.failedAt} onRetry={list.retry} />;
  if (list.rows === undefined) return <GallerySkeleton />;
  if (list.rows.length === 0) {
    return (
      <div className="rounded-lg border border-dashed border-line">
        <EmptyState icon={Images} action={<ButtonLink to="/playground">{t("gallery.make")}</ButtonLink>}>
          {t("gallery.none")}
        </EmptyState>
      </div>
    );
  }
  return (
    <Virtualizer
      layout={GridLayout}
      layoutOptions={{ minItemSize: LEAST, maxItemSize: MOST, minSpace: SPACE, preserveAspectRatio: true }}
    >
      <GridList
        aria-label={t("gallery")}
        layout="grid"
        keyboardNavigationBehavior="tab"
        className="h-[calc(100dvh-16rem)] min-h-96 overflow-auto rounded-lg border border-line bg-surface"
      >
        <Collection items={list.rows}>{(picture) => <PictureCard picture={picture} />}</Collection>
        <GridListLoadMoreItem onLoadMore={list.readMore} isLoading={list.isReadingMore}>
          <p className="py-3 text-center text-muted">{t("loading", { ns: "shell" })}</p>
        </GridListLoadMoreItem>
      </GridList>
    </Virtualizer>
  );
}

function GallerySkeleton() {
  const { t } = useTranslation();
  return (
    <div
      role="status"
      aria-label={t("loading")}
      className="grid h-[calc(100dvh-16rem)] min-h-96 grid-cols-[repeat(auto-fill,minmax(200px,1fr))] content-start gap-3 overflow-hidden rounded-lg border border-line bg-surface p-3"
    >
      {Array.from({ length: SKELETONS }, (_, index) => (
        <Skeleton key={index} className="h-72" />
      ))}
    </div>
  );
}
