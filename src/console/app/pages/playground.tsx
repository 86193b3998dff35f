import { PlaygroundFrame } from "./playground/frame.tsx";
import { ImageBench } from "./playground/image-bench.tsx";

export default function PlaygroundPage() {
  return (
    <PlaygroundFrame type="image">
      {(keyId, models) => <ImageBench key={keyId} keyId={keyId} models={models} />}
    </PlaygroundFrame>
  );
}
