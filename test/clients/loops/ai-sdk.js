import { writeFileSync } from "node:fs";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const saveFile = tool({
  description: "Saves a text file",
  inputSchema: z.object({ path: z.string(), content: z.string() }),
  execute: ({ path, content }) => {
    writeFileSync(path, content);
    return "saved";
  },
});
const options = typeof providerOptions === "undefined" ? {} : { providerOptions };
const result = streamText({
  model,
  ...options,
  prompt: process.env.PROMPT,
  tools: { save_file: saveFile },
  stopWhen: stepCountIs(9),
});
console.log(await result.text);
