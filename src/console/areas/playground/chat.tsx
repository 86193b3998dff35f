import { PlaygroundFrame } from "./frame.tsx";
import { TextBench } from "./text-bench.tsx";

export default function PlaygroundChatPage() {
  return (
    <PlaygroundFrame type="text">
      {(keyId, models) => <TextBench key={keyId} keyId={keyId} protocol="chat" models={models} />}
    </PlaygroundFrame>
  );
}
