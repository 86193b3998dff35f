import { ArrowDown, ArrowUp, GripVertical, Trash2 } from "lucide-react";
import { Button } from "react-aria-components/Button";
import { GridList, GridListItem } from "react-aria-components/GridList";
import { Input } from "react-aria-components/Input";
import { NumberField } from "react-aria-components/NumberField";
import { DropIndicator, useDragAndDrop } from "react-aria-components/useDragAndDrop";
import { useController, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { IconButton } from "../../ui/forms/button.tsx";
import { INPUT } from "../../ui/forms/field-class.ts";
import { messageOf } from "../../ui/forms/field-frame.tsx";
import { moved, reordered } from "../../ui/forms/order.ts";
import { formatShare } from "../../ui/text/format.ts";
import { sharesOf, targetName, type DraftTarget, type RouteDraft } from "./route-draft.ts";

const MAX_WEIGHT = 1_000_000;

/**
 * A field for the targets of a route. The user orders them by dragging, by keys or by buttons. In a weighted route each
 * target has a weight.
 */
export function TargetsField({ isEditable }: { isEditable: boolean }) {
  const { t } = useTranslation("models");
  const { field, fieldState } = useController<RouteDraft, "targets">({ name: "targets" });
  const strategy = useWatch<RouteDraft, "strategy">({ name: "strategy" });
  const targets = field.value;
  const shares = sharesOf({ strategy, targets });
  const dragAndDropHooks = useReordering(targets, isEditable, field.onChange);
  return (
    <div className="flex flex-col gap-1.5">
      <GridList
        aria-label={t("route.targets")}
        items={targets.map((target, index) => ({ id: targetName(target), target, index }))}
        dependencies={[strategy, isEditable, targets]}
        dragAndDropHooks={dragAndDropHooks}
        keyboardNavigationBehavior="tab"
        disallowTypeAhead
        renderEmptyState={() => <p className="p-4 text-muted">{t("route.targets.empty")}</p>}
        className="flex flex-col gap-1 rounded-lg border border-line p-1.5"
      >
        {({ id, target, index }) => (
          <GridListItem
            id={id}
            textValue={id}
            className="flex flex-wrap items-center gap-x-2 gap-y-1 rounded-md bg-surface px-1.5 py-1 hover:bg-hover data-dragging:opacity-50"
          >
            {isEditable && <Handle name={id} />}
            <span className="w-5 text-right text-muted">{index + 1}</span>
            <span className="min-w-40 flex-1 break-all">
              <span className="font-medium">{target.channel}</span>{" "}
              <span className="text-muted">{target.upstreamModel}</span>
            </span>
            {strategy === "weighted" && (
              <Weight
                target={target}
                share={shares[index] ?? 0}
                isEditable={isEditable}
                onChange={(weight) => field.onChange(targets.with(index, { ...target, weight }))}
              />
            )}
            {isEditable && <Actions targets={targets} index={index} name={id} onChange={field.onChange} />}
          </GridListItem>
        )}
      </GridList>
      <TargetsProblem error={fieldState.error} />
    </div>
  );
}

function useReordering(
  targets: readonly DraftTarget[],
  isEditable: boolean,
  onChange: (targets: DraftTarget[]) => void,
) {
  const { dragAndDropHooks } = useDragAndDrop({
    isDisabled: !isEditable,
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    onReorder: ({ keys, target: { key, dropPosition } }) => {
      if (dropPosition !== "on")
        onChange(
          reordered(
            targets,
            new Set([...keys].map(String)),
            { to: String(key), position: dropPosition },
            targetName,
          ),
        );
    },
    renderDropIndicator: (target) => (
      <DropIndicator target={target} className="h-0.5 rounded-full data-drop-target:bg-accent" />
    ),
  });
  return dragAndDropHooks;
}

function Handle({ name }: { name: string }) {
  const { t } = useTranslation("models");
  return (
    <Button
      slot="drag"
      aria-label={t("route.drag", { target: name })}
      className="flex size-8 shrink-0 cursor-grab items-center justify-center rounded-md text-muted"
    >
      <GripVertical size={16} aria-hidden />
    </Button>
  );
}

/** The buttons that move a target up or down, or remove it. */
function Actions({
  targets,
  index,
  name,
  onChange,
}: {
  targets: readonly DraftTarget[];
  index: number;
  name: string;
  onChange(targets: DraftTarget[]): void;
}) {
  const { t } = useTranslation("models");
  return (
    <span className="flex">
      <IconButton
        icon={ArrowUp}
        label={t("route.up", { target: name })}
        isDisabled={index === 0}
        onPress={() => onChange(moved(targets, index, -1))}
      />
      <IconButton
        icon={ArrowDown}
        label={t("route.down", { target: name })}
        isDisabled={index === targets.length - 1}
        onPress={() => onChange(moved(targets, index, 1))}
      />
      <IconButton
        icon={Trash2}
        label={t("route.removeTarget", { target: name })}
        onPress={() => onChange(targets.toSpliced(index, 1))}
      />
    </span>
  );
}

function Weight({
  target,
  share,
  isEditable,
  onChange,
}: {
  target: DraftTarget;
  share: number;
  isEditable: boolean;
  onChange(weight: number): void;
}) {
  const { t } = useTranslation("models");
  return (
    <span className="flex items-center gap-2">
      <span className="min-w-28 text-right text-muted">
        {t("route.share", { share: formatShare(share) })}
      </span>
      {isEditable && (
        <NumberField
          aria-label={t("route.weight", { target: targetName(target) })}
          value={target.weight}
          minValue={1}
          maxValue={MAX_WEIGHT}
          onChange={(weight) => Number.isNaN(weight) || onChange(weight)}
          className="w-24"
        >
          <Input className={`${INPUT} text-right`} />
        </NumberField>
      )}
    </span>
  );
}

/** Shows the gateway's error about a target. The path of the error may be any path below the field. */
function TargetsProblem({ error }: { error: unknown }) {
  const message = messageOf(error);
  return message === undefined ? null : (
    <p role="alert" className="text-xs text-bad">
      {message}
    </p>
  );
}
