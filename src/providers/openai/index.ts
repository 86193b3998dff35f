import type { Provider } from "../provider.ts";
import { connect } from "./connection.ts";
import { openAiSettings, type OpenAiSettings } from "./settings.ts";
import { createImageUpstream } from "./images.ts";
import { createTextUpstream } from "./text.ts";

/** OpenAI, and every vendor that speaks its chat completions or images protocol at an address of its own. */
export const openai: Provider<OpenAiSettings> = {
  name: "openai",
  settings: openAiSettings,
  text: (settings) => createTextUpstream(connect(settings)),
  image: (settings) => createImageUpstream(connect(settings)),
};
