import { PlaygroundFrame } from "./frame.tsx";
import { TextBench } from "./text-bench.tsx";

export default function PlaygroundMessagesPage() {
  return (
    <PlaygroundFrame type="text">
      {(keyId, models) => <TextBench key={keyId} keyId={keyId} protocol="messages" models={models} />}
    </PlaygroundFrame>
  );
}
