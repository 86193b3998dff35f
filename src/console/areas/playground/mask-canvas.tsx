import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { useTranslation } from "react-i18next";
import { paintStrokes, type Point, type Stroke } from "./mask-painting.ts";
import { useObjectUrl } from "./object-url.ts";

interface MaskCanvasProps {
  blob: Blob;
  strokes: readonly Stroke[];
  /** `size` is in pixels of the picture. */
  brush: { size: number; isEraser: boolean };
  /** Called with the picture's size once it is known. */
  onSize(size: { width: number; height: number }): void;
  onStrokes(strokes: readonly Stroke[]): void;
}

/**
 * A picture on which the user paints with the pointer or with keys. The arrow keys move the brush, with Shift in larger
 * steps. The space bar starts and ends a stroke.
 */
export function MaskCanvas({ blob, strokes, brush, onSize, onStrokes }: MaskCanvasProps) {
  const { t } = useTranslation("playground");
  const url = useObjectUrl(blob);
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) paintStrokes(canvas.current, strokes);
  }, [strokes, size]);
  const drawing = useDrawing(strokes, brush, onStrokes);
  const keys = useKeyDrawing(size, brush.size, drawing);
  const pointAt = ({ clientX, clientY, currentTarget }: PointerEvent<HTMLCanvasElement>): Point => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    const { width: across, height: down } = currentTarget;
    return { x: ((clientX - left) / width) * across, y: ((clientY - top) / height) * down };
  };
  return (
    <div
      style={size ? fitted(size) : {}}
      className="relative mx-auto w-full overflow-hidden rounded-lg bg-sunken"
    >
      {url !== null && (
        <img
          src={url}
          alt=""
          draggable={false}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => {
            setSize({ width, height });
            onSize({ width, height });
          }}
          className="absolute inset-0 size-full"
        />
      )}
      {size && (
        <canvas
          ref={canvas}
          {...size}
          tabIndex={0}
          role="application"
          aria-label={t("mask.canvas")}
          className="absolute inset-0 size-full cursor-crosshair touch-none opacity-60 -outline-offset-2!"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            drawing.begin(pointAt(event));
          }}
          onPointerMove={(event) =>
            event.currentTarget.hasPointerCapture(event.pointerId) && drawing.go(pointAt(event))
          }
          onPointerUp={drawing.end}
          onKeyDown={keys.onKeyDown}
        />
      )}
      {size && <Cursor at={keys.at} brush={brush.size} size={size} />}
    </div>
  );
}

/** Returns the style for the largest size that fits the dialog and has the picture's ratio. */
function fitted({ width, height }: { width: number; height: number }) {
  return { aspectRatio: `${width} / ${height}`, maxWidth: `calc(52dvh * ${width / height})` };
}

/** Shows where the keys have moved the brush; nothing before the first key. */
function Cursor({
  at,
  brush,
  size,
}: {
  at: Point | null;
  brush: number;
  size: { width: number; height: number };
}) {
  if (!at) return null;
  const style = {
    left: `${((at.x - brush / 2) / size.width) * 100}%`,
    top: `${((at.y - brush / 2) / size.height) * 100}%`,
    width: `${(brush / size.width) * 100}%`,
    height: `${(brush / size.height) * 100}%`,
  };
  return (
    <span
      aria-hidden
      style={style}
      className="pointer-events-none absolute rounded-full border-2 border-white outline-2 outline-black"
    />
  );
}

interface Drawing {
  begin(point: Point): void;
  go(point: Point): void;
  end(): void;
}

/** Returns the functions that add a stroke. */
function useDrawing(
  strokes: readonly Stroke[],
  { size, isEraser }: MaskCanvasProps["brush"],
  onStrokes: (strokes: readonly Stroke[]) => void,
): Drawing {
  const current = useRef<Stroke | null>(null);
  const before = useRef<readonly Stroke[]>(strokes);
  return {
    begin(point) {
      before.current = strokes;
      current.current = { isEraser, size, points: [point] };
      onStrokes([...strokes, current.current]);
    },
    go(point) {
      if (!current.current) return;
      current.current = { ...current.current, points: [...current.current.points, point] };
      onStrokes([...before.current, current.current]);
    },
    end() {
      current.current = null;
    },
  };
}

const STEPS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

function useKeyDrawing(size: { width: number; height: number } | null, brush: number, drawing: Drawing) {
  const [at, setAt] = useState<Point | null>(null);
  const isDown = useRef(false);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!size) return;
    const from = at ?? { x: size.width / 2, y: size.height / 2 };
    const step = STEPS[event.key];
    if (event.key === " ") {
      isDown.current = !isDown.current;
      if (isDown.current) drawing.begin(from);
      else drawing.end();
      setAt(from);
    } else if (step) {
      const reach = (brush / 2) * (event.shiftKey ? 4 : 1);
      const to = {
        x: Math.min(Math.max(from.x + step.x * reach, 0), size.width),
        y: Math.min(Math.max(from.y + step.y * reach, 0), size.height),
      };
      if (isDown.current) drawing.go(to);
      setAt(to);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return { at, onKeyDown };
}
