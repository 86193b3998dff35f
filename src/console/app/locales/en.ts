import { account } from "./en/account.ts";
import { alerts } from "./en/alerts.ts";
import { images } from "./en/images.ts";
import { jobs } from "./en/jobs.ts";
import { keys } from "./en/keys.ts";
import { models } from "./en/models.ts";
import { money } from "./en/money.ts";
import { overview } from "./en/overview.ts";
import { ownKey } from "./en/own-key.ts";
import { playground } from "./en/playground.ts";
import { prices } from "./en/prices.ts";
import { providers } from "./en/providers.ts";
import { requests } from "./en/requests.ts";
import { settings } from "./en/settings.ts";
import { signIn } from "./en/sign-in.ts";
import { shell } from "./en/shell.ts";

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
