import { Brush, Eraser, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { Label } from "react-aria-components/Label";
import { Slider, SliderOutput, SliderThumb, SliderTrack } from "react-aria-components/Slider";
import { ToggleButton } from "react-aria-components/ToggleButton";
import { ToggleButtonGroup } from "react-aria-components/ToggleButtonGroup";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import type { Reference } from "./image-call.ts";
import { MaskCanvas } from "./mask-canvas.tsx";
import { exportMask, type Stroke } from "./mask-painting.ts";

interface MaskDialogProps {
  reference: Reference;
  /** Called with the painted mask, or with null when nothing is painted. */
  onMask(mask: Blob | null): void;
  onClose(): void;
}

/** Size of the largest brush, as a part of the picture's shorter side. */
const LARGEST = 0.5;
const FIRST_SIZE = 12;

/** The dialog in which the user paints over the part of a picture that a model may change. */
export function MaskDialog({ reference, onMask, onClose }: MaskDialogProps) {
  const { t } = useTranslation("playground");
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const [isEraser, setEraser] = useState(false);
  const [percent, setPercent] = useState(FIRST_SIZE);
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const brush = size
    ? Math.max(2, Math.round((Math.min(size.width, size.height) * LARGEST * percent) / 100))
    : 1;
  const done = async () => {
    if (size) onMask(await exportMask(size, strokes));
    onClose();
  };
  const footer = (
    <>
      <Button onPress={onClose}>{t("cancel", { ns: "shell" })}</Button>
      <Button kind="primary" onPress={() => void done()}>
        {t("mask.use")}
      </Button>
    </>
  );
  return (
    <Dialog title={t("mask.title")} isOpen onClose={onClose} size="l" footer={footer}>
      <div className="flex flex-col gap-3 pb-2">
        <p className="text-muted">{t("mask.help")}</p>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Tools isEraser={isEraser} onChange={setEraser} />
          <BrushSize percent={percent} onChange={setPercent} />
          <Button
            icon={Undo2}
            isDisabled={strokes.length === 0}
            onPress={() => setStrokes(strokes.slice(0, -1))}
          >
            {t("mask.undo")}
          </Button>
          <Button icon={Trash2} isDisabled={strokes.length === 0} onPress={() => setStrokes([])}>
            {t("mask.clear")}
          </Button>
        </div>
        <MaskCanvas
          blob={reference.blob}
          strokes={strokes}
          brush={{ size: brush, isEraser }}
          onSize={setSize}
          onStrokes={setStrokes}
        />
      </div>
    </Dialog>
  );
}

function Tools({ isEraser, onChange }: { isEraser: boolean; onChange(isEraser: boolean): void }) {
  const { t } = useTranslation("playground");
  const look =
    "inline-flex h-8 items-center gap-2 rounded px-3 text-muted max-sm:h-10 data-selected:bg-surface data-selected:font-medium data-selected:text-text data-selected:shadow-sm";
  return (
    <ToggleButtonGroup
      aria-label={t("mask.tool")}
      disallowEmptySelection
      selectedKeys={[isEraser ? "eraser" : "brush"]}
      onSelectionChange={(keys) => onChange(keys.has("eraser"))}
      className="flex gap-1 rounded-md bg-sunken p-1"
    >
      <ToggleButton id="brush" className={look}>
        <Brush size={14} aria-hidden /> {t("mask.brush")}
      </ToggleButton>
      <ToggleButton id="eraser" className={look}>
        <Eraser size={14} aria-hidden /> {t("mask.eraser")}
      </ToggleButton>
    </ToggleButtonGroup>
  );
}

function BrushSize({ percent, onChange }: { percent: number; onChange(percent: number): void }) {
  const { t } = useTranslation("playground");
  return (
    <Slider
      value={percent}
      onChange={onChange}
      minValue={1}
      maxValue={100}
      className="flex min-w-56 flex-1 items-center gap-3 sm:flex-none"
    >
      <Label>{t("mask.size")}</Label>
      <SliderTrack className="relative h-6 flex-1 before:absolute before:inset-x-0 before:top-1/2 before:h-1 before:-translate-y-1/2 before:rounded-full before:bg-line-strong">
        <SliderThumb className="top-1/2 size-4 rounded-full bg-accent-solid" />
      </SliderTrack>
      <SliderOutput className="w-10 text-right text-muted">{`${percent} %`}</SliderOutput>
    </Slider>
  );
}
