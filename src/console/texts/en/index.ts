import { account } from "./account.ts";
import { alerts } from "./alerts.ts";
import { images } from "./images.ts";
import { jobs } from "./jobs.ts";
import { keys } from "./keys.ts";
import { models } from "./models.ts";
import { money } from "./money.ts";
import { overview } from "./overview.ts";
import { ownKey } from "./own-key.ts";
import { playground } from "./playground.ts";
import { prices } from "./prices.ts";
import { providers } from "./providers.ts";
import { requests } from "./requests.ts";
import { settings } from "./settings.ts";
import { signIn } from "./sign-in.ts";
import { shell } from "./shell.ts";

/** Every text in English, by area; the other languages have the same names. */
export const en = {
  account,
  alerts,
  images,
  jobs,
  keys,
  models,
  money,
  overview,
  ownKey,
  playground,
  prices,
  providers,
  requests,
  settings,
  shell,
  signIn,
};
export type Texts = { [Area in keyof typeof en]: Record<keyof (typeof en)[Area], string> };
