import { ArrowLeft, ArrowRight, Brush, GripVertical, ImagePlus, X } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { GridList, GridListItem } from "react-aria-components/GridList";
import { DropIndicator, useDragAndDrop } from "react-aria-components/useDragAndDrop";
import { useTranslation } from "react-i18next";
import { IconButton } from "../../ui/forms/button.tsx";
import { moved, reordered } from "../../ui/forms/order.ts";
import type { Reference } from "./image-call.ts";
import { MaskDialog } from "./mask-dialog.tsx";
import { useObjectUrl } from "./object-url.ts";
import { ReferenceSource } from "./reference-source.tsx";

interface ReferencesProps {
  references: readonly Reference[];
  onChange(references: readonly Reference[]): void;
  /** Maximum number of pictures that any of the chosen models accepts. */
  most: number;
  hasMask: boolean;
}

/** Lists the pictures of an edit in order. The order matters, because the prompt may refer to pictures by number. */
export function ReferenceList(props: ReferencesProps) {
  const { references, onChange, most } = props;
  const { t } = useTranslation("playground");
  const { dragAndDropHooks } = useDragAndDrop({
    // The indicator has no width, so that nothing moves while the user drags a picture.
    renderDropIndicator: (target) => (
      <DropIndicator
        target={target}
        className="-mx-1 w-0 self-stretch rounded-full data-drop-target:outline-2 data-drop-target:outline-accent"
      />
    ),
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    onReorder: ({ keys, target }) =>
      onChange(
        reordered(
          references,
          new Set([...keys].map(String)),
          { to: String(target.key), position: target.dropPosition },
          ({ id }) => id,
        ),
      ),
  });
  const add = (added: readonly Reference[]) => onChange([...references, ...added]);
  return (
    <section aria-label={t("references")} className="flex flex-col gap-2">
      <div className="flex items-baseline justify-between gap-2">
        <span className="font-medium">{t("references")}</span>
        <span className={references.length > most ? "text-xs text-bad" : "text-xs text-muted"}>
          {t("references.count", { used: references.length, most })}
        </span>
      </div>
      {references.length > 0 && (
        <GridList
          aria-label={t("references")}
          items={references}
          dependencies={[props]}
          layout="grid"
          keyboardNavigationBehavior="tab"
          dragAndDropHooks={dragAndDropHooks}
          className="flex flex-wrap gap-2"
        >
          {(item) => <ReferenceItem {...props} reference={item} index={references.indexOf(item)} />}
        </GridList>
      )}
      <ReferenceSource onAdd={add} icon={ImagePlus} />
    </section>
  );
}

function ReferenceItem({
  reference,
  index,
  references,
  onChange,
  most,
  hasMask,
}: ReferencesProps & { reference: Reference; index: number }) {
  const { t } = useTranslation("playground");
  const [isPainting, setPainting] = useState(false);
  const number = index + 1;
  const move = (by: number) => onChange(moved(references, index, by));
  const setMask = (mask: Blob | null) =>
    onChange(references.map((each) => (each.id === reference.id ? { ...each, mask } : each)));
  return (
    <GridListItem
      id={reference.id}
      textValue={t("reference", { number, name: reference.name })}
      className={`relative w-[calc(50%-0.25rem)] overflow-hidden rounded-lg border border-line bg-sunken data-dragging:opacity-50 data-drop-target:border-accent ${index < most ? "" : "opacity-40"}`}
    >
      <Thumbnail reference={reference} hasMask={hasMask && index === 0} />
      <span className="absolute top-1 left-1 rounded bg-black/70 px-1.5 text-xs font-semibold text-white">
        {number}
      </span>
      <AriaButton
        slot="drag"
        aria-label={t("reference.drag", { number })}
        className="absolute top-1 right-1 rounded bg-black/70 p-0.5 text-white"
      >
        <GripVertical size={14} aria-hidden />
      </AriaButton>
      <div className="flex justify-between bg-surface">
        <IconButton
          icon={ArrowLeft}
          label={t("reference.earlier", { number })}
          isDisabled={index === 0}
          onPress={() => move(-1)}
        />
        {hasMask && index === 0 && (
          <IconButton icon={Brush} label={t("mask.paint")} onPress={() => setPainting(true)} />
        )}
        <IconButton
          icon={X}
          label={t("reference.remove", { number })}
          onPress={() => onChange(references.filter(({ id }) => id !== reference.id))}
        />
        <IconButton
          icon={ArrowRight}
          label={t("reference.later", { number })}
          isDisabled={number === references.length}
          onPress={() => move(1)}
        />
      </div>
      {isPainting && <MaskDialog reference={reference} onMask={setMask} onClose={() => setPainting(false)} />}
    </GridListItem>
  );
}

/** Shows the picture and, if its mask has an effect, the mask over it. */
function Thumbnail({ reference: { blob, mask, name }, hasMask }: { reference: Reference; hasMask: boolean }) {
  const { t } = useTranslation("playground");
  const url = useObjectUrl(blob);
  const maskUrl = useObjectUrl(hasMask ? mask : null);
  return (
    <div className="relative aspect-square">
      {url !== null && (
        <img src={url} alt={name} draggable={false} className="absolute inset-0 size-full object-contain" />
      )}
      {maskUrl !== null && (
        <img
          src={maskUrl}
          alt={t("mask.has")}
          draggable={false}
          className="absolute inset-0 size-full object-contain opacity-60"
        />
      )}
    </div>
  );
}
