import { PlaygroundFrame } from "./frame.tsx";
import { ImageBench } from "./image-bench.tsx";

export default function PlaygroundPage() {
  return (
    <PlaygroundFrame type="image">
      {(keyId, models) => <ImageBench key={keyId} keyId={keyId} models={models} />}
    </PlaygroundFrame>
  );
}
